"""Imports inside the Python files that come with a task.

Such a file may import its neighbours, or belong to a larger package of which only some folders are present. Plain
Python would need `sys.path` and `sys.modules` for this, which are shared: a stray `openai.py` would replace an SDK
that is not installed, and one folder's `utils` another's. So each folder has its own `__import__`. It asks Python
first. Only for a module that is not installed, it looks in `provided`, next to the file, and in the package around
the folder. Code outside these files is not affected.

One file often serves many tasks and imports packages that most of them do not need. An import that the wanted
functions do not use may fail (`spare_imports`).
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from types import MappingProxyType, ModuleType
from typing import Any, NoReturn

from sketchmark.errors import BadInput, SketchmarkError

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def spare_imports(file: Path, wanted: frozenset[str]) -> frozenset[int]:
    """Return the lines of imports at the top of a file that neither the `wanted` functions use, nor code of the
    file that these use, nor code that runs on import. Imports inside `try` are never spare: their author has
    handled the error."""
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError):
        return frozenset()
    defined: dict[str, set[str]] = {}
    used = set(wanted)
    for node in body:
        if isinstance(node, Definition):
            defined[node.name] = set(_names(node))
            used.update(name for part in _run_at_once(node) for name in _names(part))
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            used.update(_names(node))
    waiting = list(used)
    while waiting:
        new = defined.get(waiting.pop(), set()) - used
        used |= new
        waiting += new
    return frozenset(
        line
        for node in body
        if isinstance(node, ast.Import | ast.ImportFrom) and (used | {"*"}).isdisjoint(_bound(node))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )


def _names(node: ast.AST) -> Iterator[str]:
    return (one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def _run_at_once(node: Definition) -> list[ast.expr]:
    """Return the parts of a definition that run on import: decorators, default values, bases."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases]
    arguments = node.args
    return [*node.decorator_list, *arguments.defaults, *(one for one in arguments.kw_defaults if one)]


def _bound(node: ast.Import | ast.ImportFrom) -> set[str]:
    return {alias.asname or alias.name.partition(".")[0] for alias in node.names}


class NotInstalled(ModuleType):
    """A placeholder for a missing module and everything imported from it. It fails when it is used."""

    def __init__(self, name: str, missing: str) -> None:
        super().__init__(name)
        self.__missing = missing

    def __getattr__(self, name: str) -> NotInstalled:
        if name.startswith("__"):
            raise AttributeError(name)
        return NotInstalled(f"{self.__name__}.{name}", self.__missing)

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise ModuleNotFoundError(f"No module named {self.__missing!r}", name=self.__missing)

    __iter__ = __getitem__ = __enter__ = __mro_entries__ = __call__


_PYTHONS = builtins.__import__
_NOTHING: Mapping[str, str] = MappingProxyType({})


Notify = Callable[[str], None]
"""Takes notices for the user, one line each. The command prints them."""


def unheard(notice: str) -> None:
    """Drop a notice."""


class Imports:
    """The modules of one folder, each run once, and known only to its files.

    `provided` maps the name of a module that may not be installed to one of ours that does the same.
    """

    def __init__(self, folder: Path, provided: Mapping[str, str] = _NOTHING, notify: Notify = unheard) -> None:
        self._folder = folder.resolve()
        self._provided = provided
        self._notify = notify
        self._modules: dict[str, ModuleType] = {}
        self._names: dict[str, str] = {}
        """Our unique name of a module in `sys.modules` -> its name here."""
        self._spare: dict[str, frozenset[int]] = {}
        """File -> lines of spare imports."""
        self._lock = RLock()

    def run(self, file: Path, wanted: frozenset[str] | None = None) -> ModuleType:
        """Return the module of a file in this folder. If all that is `wanted` of it is known, its other imports
        need not be installed."""
        file = file.parent.resolve() / file.name  # a link's neighbours are those of its folder
        if not file.is_relative_to(self._folder):
            raise BadInput(f"{file} is outside {self._folder}", "have its folder there, not a link to it")
        name = ".".join(file.relative_to(self._folder).with_suffix("").parts)
        with self._lock:
            if known := self._modules.get(name):
                return known
            if wanted is not None:
                self._spare[str(file)] = spare_imports(file, wanted)
            return self._run(name, file)

    def __call__(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Import as Python's `__import__` does, for the files of this folder."""
        spare = sys._getframe(1).f_lineno in self._spare.get(str((globals or {}).get("__file__")), ())
        try:
            if level:
                return self._import(self._absolute(name, globals or {}, level), fromlist)
            return self._installed_or_ours(name, globals, locals, fromlist)
        except ModuleNotFoundError as error:
            if not spare:
                raise
            return NotInstalled(name, error.name or name)

    def _installed_or_ours(
        self,
        name: str,
        globals: Mapping[str, Any] | None,
        locals: Mapping[str, Any] | None,
        fromlist: Sequence[str] | None,
    ) -> ModuleType:
        try:
            return _PYTHONS(name, globals, locals, fromlist or (), 0)
        except ModuleNotFoundError as error:
            if error.name != name.partition(".")[0]:
                raise
            return self._import(name, fromlist)

    def _absolute(self, name: str, globals: Mapping[str, Any], level: int) -> str:
        """Resolve a relative import among our files."""
        inside = [part for part in self._names.get(str(globals.get("__package__")), "").split(".") if part]
        if level > len(inside) + 1:
            raise ImportError("attempted relative import beyond the folder of the task")
        return ".".join([*inside[: len(inside) - level + 1], *([name] if name else [])])

    def _import(self, name: str, fromlist: Sequence[str] | None) -> ModuleType:
        if not name:  # from . import neighbour
            beside = ModuleType("beside")
            for part in fromlist or ():
                setattr(beside, part, self._found(part))
            return beside
        first, *rest = name.split(".")
        with self._lock:
            top = leaf = self._found(first)
            for number, part in enumerate(rest, start=2):
                child = self._found(".".join(name.split(".")[:number]))
                setattr(leaf, part, child)
                leaf = child
            for part in fromlist or ():
                if not hasattr(leaf, part) and (child_found := self._module(f"{name}.{part}")):
                    setattr(leaf, part, child_found)
        return leaf if fromlist else top

    def _found(self, name: str) -> ModuleType:
        if found := self._module(name):
            return found
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    def _module(self, name: str) -> ModuleType | None:
        if known := self._modules.get(name):
            return known
        if name in self._provided:
            return self._modules.setdefault(name, import_module(self._provided[name]))
        place = self._place(name)
        if place and place.with_suffix(".py").is_file():
            return self._run_too(name, place.with_suffix(".py"))
        if place and not self._folder.is_relative_to(place) and (place / "__init__.py").is_file():
            return self._run_too(name, place / "__init__.py")
        if (place and place.is_dir()) or any(one.startswith(f"{name}.") for one in self._provided):
            return self._modules.setdefault(
                name, ModuleType(name)
            )  # a folder around ours; its own code is not needed
        return None

    def _place(self, name: str) -> Path | None:
        """Return the path of a module without `.py`: next to our files, or in a package around them."""
        first, *rest = name.split(".")
        around = next((one for one in self._folder.parents if one.name == first), None)
        for base in (self._folder / first, *([around] if around else [])):
            place = base.joinpath(*rest)
            if place.is_dir() or place.with_suffix(".py").is_file():
                return place
        return None

    def _run_too(self, name: str, file: Path) -> ModuleType:
        """Run a file that another file imports."""
        self._notify(f"running {file} too, which is imported")
        return self._run(name, file)

    def _run(self, name: str, file: Path) -> ModuleType:
        """Run a file under a unique module name, which is all that other code can see of it."""
        digest = hashlib.sha256(f"{self._folder}\n{file}".encode()).hexdigest()[:12]
        own = f"sketchmark_included_{name.rpartition('.')[2]}_{digest}"
        spec = importlib.util.spec_from_file_location(own, file)
        if spec is None or spec.loader is None:
            raise BadInput(f"{file} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        module.__package__ = f"{own}.package"
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": self}
        self._names[module.__package__] = package
        self._modules[name] = sys.modules[own] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del self._modules[name], sys.modules[own]
            raise
        return module


INSTALLED_AS = {
    "PIL": "pillow",
    "azure": "azure-identity",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dotenv": "python-dotenv",
    "fitz": "pymupdf",
    "google": "google-genai",
    "lmms_eval": "lmms-eval",
    "rouge_score": "rouge-score",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Packages whose import name differs from the name to install."""


@contextmanager
def blamed(what: str, how: str = "failed") -> Iterator[None]:
    """Turn an error in the user's code into one line with its place; also an attempt to exit the program."""
    try:
        yield
    except (SketchmarkError, KeyboardInterrupt, GeneratorExit):
        raise
    except ModuleNotFoundError as error:
        raise BadInput(f"{what} {how}: there is no module {error.name}", _to_install(error.name or "")) from error
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise BadInput(f"{what} {how}: {reason}") from error


def _to_install(module: str) -> str:
    top = module.partition(".")[0]
    package = INSTALLED_AS.get(top, top)
    if find_spec(top) is not None:
        return f"{package} is installed here, in a version that has none"
    if top == "lmms_eval":
        return f"pip install {package} (2.4 GB), or --include the task's folder in a copy of lmms-eval's source"
    return f"pip install {package}, if that is its name"
