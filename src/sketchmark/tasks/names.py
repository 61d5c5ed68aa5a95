"""Names of code in task files: which code a name means, and whether a file may use it.

Our code has aliases: `mmsi.questions` is the entry `questions` of the `ALIASES` in the benchmark's folder. A world's
`WORLD` gives such names too, a user's world included. `mmsi` is short for `mmsi.samples`. Run folders name code by
alias, so that it can move.

`module:name` is looked up in `sketchmark.benchmarks`, then in the .py files that the user included (those next to the
task file first), then on the import path. An untrusted task file never reaches the import path. In our package it
reaches only what benchmarks offer to task files, not helpers or imported modules.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from sketchmark.errors import BadInput, UnknownName
from sketchmark.tasks.imports import Imports, Notify, blamed, unheard
from sketchmark.tasks.schema import TaskFile
from sketchmark.worlds import Worlds, installed_worlds

_OURS = "sketchmark.benchmarks."
_OFFERED = (_OURS, "sketchmark.episode.protocol")
"""Modules that define what an untrusted file may name, besides what a module lists in `__all__`. A Protocol is from
the second."""

_TRUST = "--trust-code runs it; it can do anything you can"
_WHERE = (
    "module:name, inside sketchmark.benchmarks or importable; code next to an included YAML file needs --trust-code"
)
_SAMPLES = "samples"
"""The entry that the bare name of a benchmark or world means."""


class IncludedFiles:
    """The Python files that the user included, found by their names on disk. A file given by name runs at once. A
    file in a trusted folder runs when a task names it, or when it defines a requested model."""

    def __init__(self, notify: Notify = unheard) -> None:
        self._notify = notify
        self._modules: dict[Path, ModuleType] = {}
        self._by_hand: dict[Path, None] = {}
        self._imports: dict[Path, Imports] = {}
        self._waiting: list[Path] = []

    def run(self, path: Path) -> ModuleType:
        """Run a file that the user gave by name."""
        self._by_hand[path.resolve()] = None
        return self._run(path)

    def trust(self, folder: Path) -> None:
        """Trust a folder. Nothing runs yet."""
        self._waiting += sorted(folder.glob("*.py"))

    def named(self, stem: str, beside: Path | None, *, by_hand: bool) -> ModuleType | None:
        """Return the file of that name; if there are several, the one next to the task file, otherwise the last."""
        waiting = [] if by_hand else [path.resolve() for path in self._waiting]
        found = [path for path in (*self._by_hand, *waiting) if path.stem == stem]
        near = [path for path in found if beside is not None and path.parent == beside.resolve()]
        return self._run((near or found)[-1]) if found else None

    def classes(self) -> dict[str, Path]:
        """Return the model classes in trusted folders by lower-case name. The files are parsed, not run."""
        return {
            name.lower(): path
            for path in self._waiting
            for name, bases in _classes_in(path)
            if any(base.endswith("Model") for base in bases)
        }

    def defining(self, name: str) -> ModuleType | None:
        """Run the file of a trusted folder that defines a class of that name, in any case."""
        for path in self._waiting:
            if any(name == one.lower() for one, _ in _classes_in(path)):
                return self._run(path)
        return None

    def worlds(self) -> dict[str, Callable[[], ModuleType]]:
        """The files that define a WORLD, by name (for `__init__.py` that of its folder). They are read, not run."""
        found = [path for path in (*self._by_hand, *map(Path.resolve, self._waiting)) if defines_world(path)]
        return {
            (path.parent.name if path.name == "__init__.py" else path.stem): functools.partial(self._run, path)
            for path in found
        }

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
    """The names that one task file may use, and the code they mean."""

    def __init__(
        self,
        included: IncludedFiles | None = None,
        beside: Path | None = None,
        *,
        anywhere: bool = True,
        worlds: Worlds | None = None,
    ) -> None:
        self.worlds = worlds or installed_worlds()
        self._included = included or IncludedFiles()
        self._beside = beside
        self._anywhere = anywhere

    def refuse_foreign(self, task: str, file: TaskFile) -> None:
        """Refuse now what would be refused later. Imports only the folders of our own benchmarks."""
        for dotted in named_in(file):
            if self._is_alias(dotted):
                continue
            if ":" not in dotted:
                raise _unknown(dotted)
            if self._anywhere:
                continue
            module, _, attribute = dotted.partition(":")
            ours = _is_ours(module) and not attribute.startswith("_")
            if not ours and self._included.named(module, self._beside, by_hand=True) is None:
                raise BadInput(f"task {task!r} names code outside Sketchmark: {dotted}", _TRUST)

    def _is_alias(self, dotted: str) -> bool:
        return _target(dotted) is not None or self._of_a_world(dotted) is not None

    def _of_a_world(self, alias: str) -> Any:
        """Return the code that an alias of a world names, or None."""
        name, _, code = alias.partition(".")
        if name in self.worlds:
            return self.worlds[name].code(code or _SAMPLES)
        return None if is_code(alias) else self._protocols().get(alias)

    def _protocols(self) -> dict[str, Any]:
        return {name: protocol for world in self.worlds for name, protocol in world.protocols.items()}

    @property
    def protocols(self) -> list[str]:
        """The protocols of our benchmarks and worlds that any task file may name."""
        return [*self._protocols(), *(name for name in _shared() if not is_code(name))]

    def find(self, dotted: str) -> Any:
        if (target := _target(dotted)) is not None:
            place, _, attribute = target.partition(":")
            return getattr(importlib.import_module(place), attribute)
        if (found := self._of_a_world(dotted)) is not None:
            return found
        if ":" not in dotted:
            raise _unknown(dotted)
        module_name, _, attribute = dotted.partition(":")
        for module in self._modules(module_name):
            if not hasattr(module, attribute):
                continue
            found = getattr(module, attribute)
            if self._may(module, attribute, found):
                return found
        raise _unknown(dotted)

    def bound(self, entry: str | Mapping[str, Any]) -> Any:
        """Return the code of an alias or `module:name`, or of `{use: NAME, …}` with its arguments filled in."""
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


def is_code(protocol: str) -> bool:
    """Return whether a protocol is named as code, and not by the name of a built-in one."""
    return ":" in protocol or "." in protocol


def by_alias(dotted: str) -> str:
    """Return the alias of what `module:name` means in `sketchmark.benchmarks`; any other name unchanged."""
    if ":" not in dotted or _target(dotted) is not None:
        return dotted
    target = _OURS + dotted.removeprefix(_OURS)
    package = target.removeprefix(_OURS).partition(":")[0].partition(".")[0]
    names: dict[str, str] = {of: name for name, of in _shared().items()}
    of_package = _aliases(package).items()
    names |= {of: package if name == _SAMPLES else f"{package}.{name}" for name, of in of_package}
    return names.get(target, dotted)


def _target(alias: str) -> str | None:
    """Return the `module:name` of an alias; None if it is not an alias."""
    shared = _shared()
    if alias in shared or ":" in alias:
        return shared.get(alias)
    package, _, name = alias.partition(".")
    return _aliases(package).get(name or _SAMPLES)


def _shared() -> Mapping[str, str]:
    """Return the aliases of code that several benchmarks share."""
    found: Mapping[str, str] = importlib.import_module(_OURS.rstrip(".")).ALIASES
    return found


def _aliases(name: str) -> Mapping[str, str]:
    """The aliases of the benchmark of that name."""
    ours = name.isidentifier() and _is_ours(name)
    return getattr(importlib.import_module(_OURS + name), "ALIASES", {}) if ours else {}


def _unknown(dotted: str) -> UnknownName:
    return UnknownName(f"cannot find {dotted!r}", _WHERE)


def named_in(file: TaskFile) -> list[str]:
    """Return every name of code in a task file."""
    entries = [file.source, *file.scorers, file.aggregate, file.settle, file.submission, file.replies, file.total]
    entries += [file.drawn, file.combine, *([] if isinstance(file.guesses, list) else [file.guesses])]
    entries += [block.protocol for block in file.modes.values() if is_code(block.protocol)]
    named = [entry.get("use") if isinstance(entry, Mapping) else entry for entry in entries]
    return [name for name in named if name]


def _classes_in(path: Path) -> list[tuple[str, list[str]]]:
    """Return (name, bases as written) of every class at the top of a file."""
    return [
        (node.name, [ast.unparse(base) for base in node.bases])
        for node in _statements(path)
        if isinstance(node, ast.ClassDef)
    ]


def defines_world(path: Path) -> bool:
    """Return whether a file has `WORLD = World(…)` or `WORLD = ….world(…)`: read, not run."""
    assigned = [node for node in _statements(path) if isinstance(node, ast.Assign | ast.AnnAssign)]
    return any(
        isinstance(target, ast.Name)
        and target.id == "WORLD"
        and ast.unparse(node.value.func).endswith(("World", ".world"))
        for node in assigned
        if isinstance(node.value, ast.Call)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    )


def _statements(path: Path) -> list[ast.stmt]:
    """The top of a file; nothing where it cannot be read."""
    try:
        return ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _is_ours(module: str) -> bool:
    """Return whether a module is inside `sketchmark.benchmarks`. The lookup imports its parent packages, which are
    ours."""
    try:
        return importlib.util.find_spec(_OURS + module.removeprefix(_OURS)) is not None
    except ModuleNotFoundError:
        return False
