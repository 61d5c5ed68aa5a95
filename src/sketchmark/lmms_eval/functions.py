"""Results of `process_results` as a line of scores keeps them, and as an aggregation gets them back: the same.

JSON has no tuples, no sets, no arrays and no keys but texts, and a number that became a text, or a key that did, is
counted wrong by code that nobody here can read. So what JSON cannot say is kept under a key that begins with `!`.
What cannot be kept at all comes back as something that fails, in words, as soon as the aggregation uses it: most such
things are pictures of documents, which none does.

Texts of a task file with places for a document's columns.

What the functions, templates and filters of a task file make of a document and of a reply.
"""

from __future__ import annotations

import ast
import inspect
import json
import math
import re
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from sketchmark.errors import BadInput, MissingExtra
from sketchmark.files.tables import datasets_library
from sketchmark.lmms_eval.filters import FILTERS, Filter
from sketchmark.lmms_eval.shape import Config, features, functions, mapping, pipelines, read_config
from sketchmark.lmms_eval.stand_ins import MODULES
from sketchmark.tasks.imports import FUNCTION, Functions, Notify, blamed, functions_in, unheard

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
"""Levels; each takes up to three of those that a line may have."""

_LARGEST = 2**4000
"""Whole numbers beyond are not written as numbers."""


def written(value: Any, depth: int = 0) -> Any:
    """As JSON can say it; numpy's numbers become Python's."""
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
    """What was written, as often as it is asked for: no two share anything that one of them could change."""
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
    """Anything that is done with it fails."""

    def __init__(self, what: str) -> None:
        self.__dict__["what"] = what

    def __fail(self, *_: object) -> NoReturn:
        raise TypeError(f"process_results gave {self.__dict__['what']} here, which a run cannot keep")

    __getattr__ = __bool__ = __iter__ = __len__ = __getitem__ = __contains__ = __call__ = __fail
    __eq__ = __ne__ = __lt__ = __gt__ = __hash__ = __str__ = __repr__ = __float__ = __int__ = __fail
    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __fail


_COLUMN = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_NEW_LINE = re.compile(r"\r\n|\r")


def is_plain(template: str) -> bool:
    """Whether there is nothing in it but `{{column}}`. Anything more is a small program."""
    rest = _COLUMN.sub("", template)
    return not any(sign in rest for sign in ("{{", "{%", "{#"))


def filled(template: str, doc: Mapping[str, Any], where: str) -> str:
    """As Jinja does it, also where it is not needed: a template loses one new line at its end."""
    if not is_plain(template):
        return _rendered(template, doc, where)

    def column(match: re.Match[str]) -> str:
        if match[1] not in doc:
            raise BadInput(f"{where} has no column {match[1]!r}", f"it has: {', '.join(doc)}")
        return str(doc[match[1]])

    return _COLUMN.sub(column, _NEW_LINE.sub("\n", template).removesuffix("\n"))


def _rendered(template: str, doc: Mapping[str, Any], where: str) -> str:
    """By Jinja, as lmms-eval does it. Only for files whose code is trusted: a template can run for ever."""
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


Document = Mapping[str, Any]


class TaskCode:
    """Nothing is run before it is asked for."""

    def __init__(self, path: Path, notify: Notify = unheard) -> None:
        self.path, self.config = path, read_config(path)
        self.names = functions(self.config)
        self._functions = Functions(self.names, path.parent, MODULES, notify)
        self._filters: dict[str, list[Filter]] | None = None

    @property
    def files(self) -> list[str]:
        """What of the user's is run."""
        return self._functions.files

    def check(self) -> None:
        """Every function that is named is there: what could not be scored after the last call is told before the
        first, and before data is fetched."""
        columns = functions_in(features(self.config))
        for name in self.names:
            if name not in columns:
                self._functions[{FUNCTION: name}]
        self.features()

    def features(self) -> Any:
        """`datasets.Features`, None where the data's own will do."""
        if (entry := features(self.config)) is None:
            return None
        found = self._functions.value(entry)
        if not isinstance(found, datasets_library("a task file of lmms-eval's shape").Features):
            raise BadInput(f"dataset_kwargs.features of {self.path}: {entry[FUNCTION]} is no datasets.Features")
        return found

    def function(self, key: str) -> Callable[..., Any]:
        return self._functions[self.config[key]]

    def text(self, key: str, doc: Document, settings: Config | None, where: str) -> str:
        """A function, a column's name, or a template."""
        entry = self.config[key]
        if isinstance(entry, Mapping):
            return str(self.called(key, doc, settings, where))
        return str(doc[str(entry)]) if str(entry) in doc else filled(str(entry), doc, where)

    def target(self, doc: Document, setting: Any, where: str) -> str | list[str]:
        """What the file's own metrics compare with; several where any of them will do."""
        entry = self.config.get("doc_to_target", "")
        if isinstance(entry, Mapping):
            found = self.called("doc_to_target", doc, setting, where)
        else:
            found = doc[entry] if entry in doc else _listed(filled(str(entry), doc, where))
        return [str(one) for one in found] if isinstance(found, (list, tuple)) else str(found)

    def called(self, key: str, doc: Document, settings: Any, where: str) -> Any:
        """lmms-eval passes the settings as a second argument where the file has any."""
        function = self.function(key)
        second = [*inspect.signature(function).parameters.values()][1:2]
        needed = bool(second) and second[0].default is second[0].empty and second[0].kind is not second[0].VAR_KEYWORD
        with blamed(f"{key} of {where}"):
            if second and settings is not None:
                return function(doc, dict(settings) if isinstance(settings, Mapping) else settings)
            return function(doc, {}) if needed else function(doc)

    def processed(self, answer: str, doc: Document, all_docs: Any, where: str) -> dict[str, Any]:
        """`process_results` on an answer, by each pipeline of filters."""
        process = self.function("process_results")
        wants_all = self.config.get("full_docs") and "full_docs" in inspect.signature(process).parameters
        found: dict[str, Any] = {}
        for suffix, replies in self.filtered(answer, doc, where).items():
            with blamed(f"process_results of {where}"):
                one = dict(process(doc, replies, **({"full_docs": all_docs} if wants_all else {})))
            found |= {f"{name}{suffix}": value for name, value in one.items()}
        return found

    def filtered(self, answer: str, doc: Document, where: str) -> dict[str, list[Any]]:
        """What `process_results` is given, for each pipeline: as lmms-eval hands it on, without spaces around, and
        with nothing for None."""
        if self._filters is None:
            self._filters = {
                suffix: [self._filter(step) for step in steps] for suffix, steps in pipelines(self.config).items()
            }
        found = {}
        for suffix, steps in self._filters.items():
            replies: Any = [[answer]]
            for step in steps:
                with blamed(f"the filter {type(step).__name__} on {where}"):
                    replies = list(step.apply(replies, [doc]))
            left = list(replies[0]) if isinstance(replies[0], (list, tuple)) else [replies[0]]
            found[suffix] = [one.strip() if isinstance(one, str) else "" if one is None else one for one in left]
        return found

    def reduce(self, metric: Config, results: Sequence[Any], folder: Path) -> Any:
        """The file's own aggregation, of results as they are kept; one that writes files is told where."""
        function = self._functions[metric["aggregation"]]
        told = Namespace(
            output_path=str(folder),
            log_samples_suffix="model_outputs",
            model="model",
            tasks=str(self.config.get("task", self.path.stem)),
        )
        return function(read(list(results)), **({"args": told} if self.writes_files(metric) else {}))

    def writes_files(self, metric: Config) -> bool:
        return "args" in inspect.signature(self._functions[metric["aggregation"]]).parameters

    def _filter(self, step: Config) -> Filter:
        settings = {key: value for key, value in step.items() if key != "function"}
        named = step["function"]
        make = self._functions[named] if mapping(named) else FILTERS[str(named)]
        with blamed(f"the filter {mapping(named).get(FUNCTION, named)} of {self.path}"):
            made: Filter = make(**settings)
            return made


def _listed(text: str) -> str | list[Any]:
    """A template that comes out as a list of Python's is one, as in lmms-eval: `{{answers}}` of a list of answers."""
    if not (text.startswith("[") and text.endswith("]")):
        return text
    try:
        found = ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return text
    return found if isinstance(found, list) else text
