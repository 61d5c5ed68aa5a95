"""`module:name` in a task file: the one place where it becomes code, and where it is decided whether it may.

A name is looked for in `sketchmark.tasks`, then among the .py files that the user included (those beside the task
file first), then on the import path. A task file from elsewhere that is not trusted never gets to the import path,
and of ours it gets only what a task brings for task files: not the modules and helpers that happen to be in reach.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from sketchmark.errors import BadInput, UnknownName
from sketchmark.task_files.schema import TaskFile

_OURS = "sketchmark.tasks."
_OFFERED = (_OURS, "sketchmark.protocols")
"""Where an object of ours must be defined to be named by a stranger's file, unless its module lists it in `__all__`;
a Protocol is of the second."""

_TRUST = "--trust-code runs it; it can do anything you can"
_WHERE = "module:name, inside sketchmark.tasks or importable; code beside an included YAML file needs --trust-code"


class IncludedFiles:
    """The Python files that were run because the user said so, found by the name they have on disk."""

    def __init__(self) -> None:
        self._modules: dict[Path, ModuleType] = {}
        self._by_hand: set[Path] = set()

    def run(self, path: Path, *, by_hand: bool) -> ModuleType:
        try:
            module = run_file(path)
        except Exception as error:  # the user's code: anything may come
            raise BadInput(f"--include {path} cannot be loaded: {type(error).__name__}: {error}") from error
        self._modules[path.resolve()] = module
        if by_hand:
            self._by_hand.add(path.resolve())
        return module

    def named(self, stem: str, beside: Path | None, *, by_hand: bool) -> ModuleType | None:
        """The file of that name; of several the one beside the task file, else the last."""
        found = [path for path in self._modules if path.stem == stem and (path in self._by_hand or not by_hand)]
        near = [path for path in found if beside is not None and path.parent == beside.resolve()]
        return self._modules[(near or found)[-1]] if found else None


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


def run_file(path: Path) -> ModuleType:
    """Run a Python file under a module name of its own: a file called openai.py must not stand in for the SDK, and
    two folders may both have a utils.py."""
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    name = f"sketchmark_included_{path.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadInput(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        raise
    return module


def reach(folder: Path) -> None:
    """Let the Python files of a trusted folder import each other. Last on the path: they replace nobody's module."""
    if str(folder.resolve()) not in sys.path:
        sys.path.append(str(folder.resolve()))


def _is_ours(module: str) -> bool:
    """Whether a module lies inside `sketchmark.tasks`. Looking imports its parent packages, which are ours too."""
    try:
        return importlib.util.find_spec(_OURS + module.removeprefix(_OURS)) is not None
    except ModuleNotFoundError:
        return False
