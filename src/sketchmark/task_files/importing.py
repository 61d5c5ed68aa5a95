"""What `import` means inside a task's own Python files.

Such a file may import its neighbours, or be a part of a larger package of which only the folders are here. In plain
Python that takes `sys.path` and `sys.modules`, which everybody shares: a stray `openai.py` would stand in for an SDK
that is not installed, and one folder's `utils` for another's. So each folder has imports of its own: its files run
with an `__import__` that asks Python first, as always, and only for what is not installed looks at what `provided`
holds, at the files beside, and at the package that the folder lies in. Nothing outside these files notices.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from threading import RLock
from types import MappingProxyType, ModuleType
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.task_files.spare import NotInstalled, spare_imports

_PYTHONS = builtins.__import__
_NOTHING: Mapping[str, str] = MappingProxyType({})


Notify = Callable[[str], None]
"""Takes notices for the user, one line each. The command that was given prints them."""


def unheard(notice: str) -> None:
    """Drop a notice."""


class Imports:
    """The modules of one folder, each run once, and found by its files alone.

    `provided` maps the name of a module that may not be installed to one of ours that does the same.
    """

    def __init__(self, folder: Path, provided: Mapping[str, str] = _NOTHING, notify: Notify = unheard) -> None:
        self._folder = folder.resolve()
        self._provided = provided
        self._notify = notify
        self._modules: dict[str, ModuleType] = {}
        self._names: dict[str, str] = {}
        """A module's name in `sys.modules`, which is ours -> its name here."""
        self._spare: dict[str, frozenset[int]] = {}
        """File -> lines of imports that it can do without."""
        self._lock = RLock()

    def run(self, file: Path, wanted: frozenset[str] | None = None) -> ModuleType:
        """The module of a file of this folder. Where all that is `wanted` of it is known, what else it imports need
        not be installed."""
        file = file.parent.resolve() / file.name  # a link lies where it lies: its neighbours are those of the folder
        if not file.is_relative_to(self._folder):
            raise BadInput(f"{file} lies outside {self._folder}", "have its folder there, not a link to it")
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
        """Python's `__import__`, for the files of this folder."""
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
        """What stands beside our files is imported from them with a dot as well."""
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
            )  # a folder around ours: what it runs is not needed
        return None

    def _place(self, name: str) -> Path | None:
        """Beside our files, or in a package that they lie in, by its name: where the module would be, less `.py`."""
        first, *rest = name.split(".")
        around = next((one for one in self._folder.parents if one.name == first), None)
        for base in (self._folder / first, *([around] if around else [])):
            place = base.joinpath(*rest)
            if place.is_dir() or place.with_suffix(".py").is_file():
                return place
        return None

    def _run_too(self, name: str, file: Path) -> ModuleType:
        """A file that nobody named but another one's import."""
        self._notify(f"running {file} too, which is imported")
        return self._run(name, file)

    def _run(self, name: str, file: Path) -> ModuleType:
        """Run a file under a module name of its own, which is the only thing that others could see of it."""
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
