"""`module:name` in a task file: the one place where it becomes code, and where it is decided whether it may.

A name is looked for in `sketchmark.tasks`, then among the .py files that the user included (those beside the task
file first), then on the import path. A task file from elsewhere that is not trusted never gets to the import path,
and of ours it gets only what a task brings for task files: not the modules and helpers that happen to be in reach.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from sketchmark.errors import BadInput, UnknownName
from sketchmark.task_files.functions import blamed
from sketchmark.task_files.importing import Imports, Notify, unheard
from sketchmark.task_files.schema import TaskFile

_OURS = "sketchmark.tasks."
_OFFERED = (_OURS, "sketchmark.protocols")
"""Where an object of ours must be defined to be named by a stranger's file, unless its module lists it in `__all__`;
a Protocol is of the second."""

_TRUST = "--trust-code runs it; it can do anything you can"
_WHERE = "module:name, inside sketchmark.tasks or importable; code beside an included YAML file needs --trust-code"


class IncludedFiles:
    """The Python files that the user included, found by the name they have on disk. One that was named by hand is run
    at once; one in a trusted folder is run when a task names it, or a model is asked for that it defines."""

    def __init__(self, notify: Notify = unheard) -> None:
        self._notify = notify
        self._modules: dict[Path, ModuleType] = {}
        self._by_hand: dict[Path, None] = {}
        self._imports: dict[Path, Imports] = {}
        self._waiting: list[Path] = []

    def run(self, path: Path) -> ModuleType:
        """A file that was named by hand."""
        self._by_hand[path.resolve()] = None
        return self._run(path)

    def trust(self, folder: Path) -> None:
        """Runs nothing yet."""
        self._waiting += sorted(folder.glob("*.py"))

    def named(self, stem: str, beside: Path | None, *, by_hand: bool) -> ModuleType | None:
        """The file of that name; of several the one beside the task file, else the last."""
        waiting = [] if by_hand else [path.resolve() for path in self._waiting]
        found = [path for path in (*self._by_hand, *waiting) if path.stem == stem]
        near = [path for path in found if beside is not None and path.parent == beside.resolve()]
        return self._run((near or found)[-1]) if found else None

    def classes(self) -> dict[str, Path]:
        """Classes in trusted folders that call themselves models, by their names in lower case: read, not run."""
        return {
            name.lower(): path
            for path in self._waiting
            for name, bases in _classes_in(path)
            if any(base.endswith("Model") for base in bases)
        }

    def defining(self, name: str) -> ModuleType | None:
        """The file of a trusted folder that defines a class of that name, in whatever case."""
        for path in self._waiting:
            if any(name == one.lower() for one, _ in _classes_in(path)):
                return self._run(path)
        return None

    def _run(self, path: Path) -> ModuleType:
        path = path.resolve()
        if path not in self._modules:
            if path not in self._by_hand:
                self._notify(f"running {path} (--trust-code)")
            with blamed(f"--include {path}", "cannot be loaded"):
                self._modules[path] = self._imported(path.parent).run(path)
        return self._modules[path]

    def _imported(self, folder: Path) -> Imports:
        return self._imports.setdefault(folder, Imports(folder, notify=self._notify))


class CodeNames:
    """What one task file may name, and what its names stand for."""

    def __init__(
        self, included: IncludedFiles | None = None, beside: Path | None = None, *, anywhere: bool = True
    ) -> None:
        self._included = included or IncludedFiles()
        self._beside = beside
        self._anywhere = anywhere

    def refuse_foreign(self, task: str, file: TaskFile) -> None:
        """Say before anything runs what would be refused later. Imports nothing but the folders of our own tasks."""
        if self._anywhere:
            return
        for dotted in named_in(file):
            module, _, attribute = dotted.partition(":")
            ours = _is_ours(module) and not attribute.startswith("_")
            if not ours and self._included.named(module, self._beside, by_hand=True) is None:
                raise BadInput(f"task {task!r} names code outside Sketchmark: {dotted}", _TRUST)

    def find(self, dotted: str) -> Any:
        module_name, _, attribute = dotted.partition(":")
        for module in self._modules(module_name):
            if not hasattr(module, attribute):
                continue
            found = getattr(module, attribute)
            if self._may(module, attribute, found):
                return found
        raise UnknownName(f"cannot find {dotted!r}", _WHERE)

    def bound(self, entry: str | Mapping[str, Any]) -> Any:
        """`module:name`, or `{use: module:name, …}` with its arguments filled in."""
        if isinstance(entry, str):
            return self.find(entry)
        settings = dict(entry)
        return functools.partial(self.find(settings.pop("use")), **settings)

    def _modules(self, name: str) -> Iterator[ModuleType]:
        if _is_ours(name):
            yield importlib.import_module(_OURS + name.removeprefix(_OURS))
        included = self._included.named(name, self._beside, by_hand=not self._anywhere)
        if included is not None:
            yield included
        if self._anywhere:
            try:
                yield importlib.import_module(name)
            except ModuleNotFoundError as error:
                if not (error.name and (name == error.name or name.startswith(f"{error.name}."))):
                    raise

    def _may(self, module: ModuleType, attribute: str, found: object) -> bool:
        if self._anywhere or not module.__name__.startswith(_OURS):
            return True
        if attribute in getattr(module, "__all__", ()):
            return True
        made_in = getattr(found, "__module__", None) or ""
        return not attribute.startswith("_") and made_in.startswith(_OFFERED)


def named_in(file: TaskFile) -> list[str]:
    """Every `module:name` of a task file."""
    entries = [file.source, *file.scorers, file.aggregate, file.settle, file.submission, file.replies, file.total]
    entries += [file.drawn, *([] if isinstance(file.guesses, list) else [file.guesses])]
    entries += [block.protocol for block in file.modes.values() if ":" in block.protocol]
    named = [entry.get("use") if isinstance(entry, Mapping) else entry for entry in entries]
    return [name for name in named if name]


def _classes_in(path: Path) -> list[tuple[str, list[str]]]:
    """(name, its bases as they are written) of every class at the top of a file."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [
        (node.name, [ast.unparse(base) for base in node.bases])
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    ]


def _is_ours(module: str) -> bool:
    """Whether a module lies inside `sketchmark.tasks`. Looking imports its parent packages, which are ours too."""
    try:
        return importlib.util.find_spec(_OURS + module.removeprefix(_OURS)) is not None
    except ModuleNotFoundError:
        return False
