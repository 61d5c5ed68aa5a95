"""Functions and templates that a task file of lmms-eval's shape names, and the form in which their results are kept.

`!function module.name` is the user's own Python, next to the task file. Callers ask for trust first.

Results of `process_results` are kept in a line of scores and given to an aggregation later, unchanged. JSON has no
tuples, sets, arrays or keys other than texts, so these are kept under a key that begins with `!`. A value that cannot
be kept comes back as an object that fails with a message when the aggregation uses it. Most such values are images of
documents, which aggregations do not use.
"""

from __future__ import annotations

import json
import logging
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from sketchmark.errors import BadInput, MissingExtra
from sketchmark.lmms_eval.shape import FUNCTION, function_file
from sketchmark.tasks.imports import INSTALLED_AS, Imports, Notify, blamed, unheard


class Functions:
    """The functions that one task file names. Nothing runs before one of them is requested."""

    def __init__(self, names: list[str], folder: Path, provided: Mapping[str, str], notify: Notify = unheard) -> None:
        self._folder, self._provided, self._notify = folder, provided, notify
        self._imports: dict[Path, Imports] = {}
        self._wanted: dict[str, set[str]] = {}
        for name in names:
            self._wanted.setdefault(name.rpartition(".")[0], set()).add(name.rpartition(".")[2])

    @property
    def files(self) -> list[str]:
        """The files and modules that run for them: a file next to the task file, or a module."""
        named = [name for name in self._wanted if name]
        return [f"{name}.py" if function_file(self._folder, name).is_file() else name for name in named]

    def __getitem__(self, entry: Mapping[str, Any]) -> Callable[..., Any]:
        found = self.value(entry)
        if not callable(found):
            raise BadInput(f"!function {entry[FUNCTION]} is not a function")
        return found  # type: ignore[no-any-return]

    def value(self, entry: Mapping[str, Any]) -> Any:
        """Return the object of that name, which need not be a function."""
        module_name, _, name = str(entry[FUNCTION]).rpartition(".")
        if not module_name:
            raise BadInput(f"!function {name} names no module", f"write !function utils.{name} for one in utils.py")
        with blamed(f"!function {entry[FUNCTION]}", "cannot be loaded"):
            module = self._module(module_name, name)
        if (found := getattr(module, name, None)) is None:
            raise BadInput(f"!function {entry[FUNCTION]}: there is no such function in {module.__file__}")
        return found

    def _module(self, name: str, wanted: str) -> ModuleType:
        place = (self._folder / name.rpartition("/")[0]).resolve()
        imports = self._imports.setdefault(place, Imports(place, self._provided, self._notify))
        file = function_file(self._folder, name)
        if file.is_file():
            return imports.run(file, frozenset(self._wanted.get(name, ())))
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name.partition(".")[0]:
                raise
        try:
            return imports(name, fromlist=("__name__",))
        except ModuleNotFoundError as error:
            top = name.partition(".")[0]
            if top in INSTALLED_AS or not f"{name}.".startswith(f"{error.name}."):
                raise
            raise BadInput(
                f"!function {name}.{wanted}: there is no {function_file(Path(), name)} in {self._folder}",
                f"nor is a module {top} installed",
            ) from error


_COLUMN = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_NEW_LINE = re.compile(r"\r\n|\r")


def is_plain(template: str) -> bool:
    """Return whether a template contains only `{{column}}`. Anything more is a small program."""
    rest = _COLUMN.sub("", template)
    return not any(sign in rest for sign in ("{{", "{%", "{#"))


def filled(template: str, doc: Mapping[str, Any], where: str) -> str:
    """Fill in a template as Jinja does: it loses one newline at its end."""
    if not is_plain(template):
        return _rendered(template, doc, where)

    def column(match: re.Match[str]) -> str:
        if match[1] not in doc:
            raise BadInput(f"{where} has no column {match[1]!r}", f"it has: {', '.join(doc)}")
        return str(doc[match[1]])

    return _COLUMN.sub(column, _NEW_LINE.sub("\n", template).removesuffix("\n"))


def _rendered(template: str, doc: Mapping[str, Any], where: str) -> str:
    """Render a template with Jinja, as lmms-eval does. Only for trusted files: a template can run without end."""
    try:
        jinja, sandbox = import_module("jinja2"), import_module("jinja2.sandbox")
    except ImportError as error:
        raise MissingExtra(f"{where}, whose template is more than columns,", "templates") from error
    environment = sandbox.SandboxedEnvironment(undefined=jinja.StrictUndefined)
    environment.filters["regex_replace"] = lambda text, pattern, repl, count=0: re.sub(
        pattern, repl, text, count=count
    )
    try:
        return str(environment.from_string(template).render(**doc))
    except (jinja.TemplateError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{where}: its template fails: {type(error).__name__}: {error}") from error


@contextmanager
def quiet() -> Iterator[None]:
    """Silence an aggregation, which may print tables and warnings on every call."""
    loguru = sys.modules.get("loguru")
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    if loguru:
        loguru.logger.disable("")
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            yield
    finally:
        logging.disable(before)
        if loguru:
            loguru.logger.enable("")


_MARK = "!"
_TUPLE, _SET, _FROZEN, _PAIRS, _FLOAT, _ARRAY, _LOST = (
    "!tuple",
    "!set",
    "!frozenset",
    "!dict",
    "!float",
    "!array",
    "!lost",
)
_KINDS = {_TUPLE: tuple, _SET: set, _FROZEN: frozenset}
_ARRAYS = frozenset(
    ["bool", "float16", "float32", "float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]
)

_DEEPEST = 30
"""Maximum levels. Each uses up to three of the levels that a line may have."""

_LARGEST = 2**4000
"""Larger integers are not written as numbers."""


def written(value: Any, depth: int = 0) -> Any:
    """Return a value in JSON's terms; NumPy numbers become Python's."""
    if depth > _DEEPEST:
        return {_LOST: "something too deep to keep"}
    if hasattr(value, "item") and hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int) and abs(value) < _LARGEST:
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {_FLOAT: repr(float(value))}
    if isinstance(value, Mapping):
        pairs = [[written(key, depth + 1), written(one, depth + 1)] for key, one in value.items()]
        plain = all(isinstance(key, str) for key, _ in pairs) and not (len(pairs) == 1 and pairs[0][0][:1] == _MARK)
        return dict(pairs) if plain else {_PAIRS: pairs}
    if isinstance(value, list):
        return [written(one, depth + 1) for one in value]
    if isinstance(value, tuple):
        return {_TUPLE: [written(one, depth + 1) for one in value]}
    if isinstance(value, (set, frozenset)):
        kind = _SET if isinstance(value, set) else _FROZEN
        return {kind: sorted((written(one, depth + 1) for one in value), key=json.dumps)}
    if type(value).__module__.partition(".")[0] == "numpy" and str(getattr(value, "dtype", "")) in _ARRAYS:
        return {_ARRAY: [str(value.dtype), written(value.tolist(), depth + 1)]}
    return {_LOST: f"a {type(value).__module__}.{type(value).__qualname__}"}


def read(value: Any) -> Any:
    """Return what was written. Every call makes new objects, so that changing one does not change another."""
    if isinstance(value, list):
        return [read(one) for one in value]
    if not isinstance(value, dict):
        return value
    held: Any
    mark, held = next(iter(value.items())) if len(value) == 1 else ("", None)
    if mark in _KINDS:
        return _KINDS[mark](map(read, held))
    if mark == _PAIRS:
        return {read(key): read(one) for key, one in held}
    if mark == _FLOAT:
        return float(held)
    if mark == _ARRAY and held[0] in _ARRAYS:
        import numpy

        return numpy.array(read(held[1]), dtype=held[0])
    if mark == _LOST:
        return _Lost(str(held))
    return {key: read(one) for key, one in value.items()}


class _Lost:
    """A value that was not kept. Any use of it fails."""

    def __init__(self, what: str) -> None:
        self.__dict__["what"] = what

    def __fail(self, *_: object) -> NoReturn:
        raise TypeError(f"process_results gave {self.__dict__['what']} here, which a run cannot keep")

    __getattr__ = __bool__ = __iter__ = __len__ = __getitem__ = __contains__ = __call__ = __fail
    __eq__ = __ne__ = __lt__ = __gt__ = __hash__ = __str__ = __repr__ = __float__ = __int__ = __fail
    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __fail
