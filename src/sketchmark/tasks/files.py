"""Task files: YAML with `include:`, found in folders. No code runs here.

A file that cannot be read does not block the others of its folder. The modes of a question that has no prompts
come from `_generic_drawing.yaml`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.files.yaml import Glance, checked, glance, load, load_with_repeats, nearly
from sketchmark.tasks.schema import GroupFile, ModeBlock, TaskFile

FILE_MODES = ("direct", "visual_cot", "text_cot")
"""The usual modes of a task file, also as the ending of its name: `mmsi_visual_cot`."""

BLIND = "blind"
"""The mode `direct` without its images. Every task with `direct` has it, and no file needs to name it."""

TEXT_INPUT = "text_input"
"""The mode `direct` with the puzzle as text in place of its image, in generated worlds."""

MODES = (*FILE_MODES, BLIND, TEXT_INPUT)
OURS = "sketchmark"
"""First part of an `include:` that names a built-in file."""

OWN_PROMPT = "own"
"""The `variant` of a sample that brings a `generation_prompt`."""

_GENERIC = "_generic_drawing.yaml"
_MOST_FILES = 50
_MOST_LIKE = 40
"""Modes in a row, each `like` the next."""

_PACKAGE = Path(__file__).resolve().parents[1]
_BENCHMARKS = _PACKAGE / "benchmarks"


def built_in_files() -> list[Path]:
    """Return the task files of the benchmarks and worlds."""
    return [path for folder in (_BENCHMARKS, _PACKAGE / "worlds") for path in yaml_files(folder)]


def yaml_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.yaml") if not path.name.startswith("_"))


def task_files_in(folder: Path, meant: Callable[[Glance, str], bool]) -> Iterator[tuple[Path, Glance]]:
    """Yield the YAML files of a folder that are `meant` as task files. Any other file is skipped, whatever it is."""
    for file in sorted(path for path in folder.rglob("*.yaml") if not path.is_dir()):
        seen = glance(file)
        if meant(seen, file.name):
            yield file, seen


@dataclass(frozen=True)
class Unread:
    """A file that cannot be read, with the error for users who ask for a task by one of its names."""

    file: Path
    names: tuple[str, ...]
    labels: tuple[str, ...]
    error: BadInput

    @classmethod
    def of(cls, file: Path, seen: Glance, error: BadInput) -> Unread:
        """Collect the names that it gives itself, as far as they can be read. If `task` is a list, `group` is the
        name."""
        task, group = seen.keys.get("task", []), seen.keys.get("group", [])
        named, labels = (task, [*group, *seen.keys.get("tag", [])]) if len(task) == 1 else (group[:1], [])
        return cls(file, (*named, file.stem), tuple(labels), error)


def in_words(files: Sequence[Unread]) -> str:
    count = "1 file" if len(files) == 1 else f"{len(files)} files, the first"
    return f"{count}: {files[0].error}"


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay `over` on `base`, mapping by mapping. Any other value is replaced."""
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result


def lineage(modes: Mapping[str, ModeBlock], name: str, where: str) -> list[str]:
    """Return the mode and those it is `like`, the nearest first."""
    names = [name]
    while (like := modes[names[-1]].like) in modes:
        if like in names:
            raise BadInput(f"{where}: modes.{name}.like goes in a circle: {' → '.join([*names, like][:8])}")
        names.append(like)
        if len(names) > _MOST_LIKE:
            raise BadInput(f"{where}: modes.{name}.like leads through more than {_MOST_LIKE} modes")
    return names


def is_built_in(path: Path) -> bool:
    return path.is_relative_to(_PACKAGE)


@cache
def read_built_in(path: Path) -> dict[str, Any]:
    """Read a task or group file of ours with its `include:` files merged beneath it, and check it."""
    config, repeated = load_with_includes(path, lambda config: False, lambda config, there, folder: config)
    if repeated:
        raise BadInput(repeated)
    check_own(config, f"task file {path}")
    return config


def check_own(config: Mapping[str, Any], where: str) -> TaskFile | GroupFile:
    """Check a task or group of our own shape."""
    if "tasks" in config:
        return checked(config, GroupFile, where, known=("tasks",))
    found = checked(config, TaskFile, where, known=("tasks",))
    for name in found.modes:
        lineage(found.modes, name, where)
    return found


def load_with_includes(
    path: Path, is_foreign: Callable[[Mapping[str, Any]], bool], relocated: Callable[[Any, str, Path], Any]
) -> tuple[dict[str, Any], str]:
    """Read a task file with its `include:` files merged beneath it, not checked, and a message if a key is repeated.

    For a file that `is_foreign`, a key replaces the included value as a whole. `relocated(config, there, folder)`
    rewrites what a file in another `folder` names relative to it; `there` is the way from the first file.
    """
    reader = _Including(is_foreign, relocated)
    return reader.read(path, ()), next(iter(reader.repeated), "")


@dataclass
class _Including:
    is_foreign: Callable[[Mapping[str, Any]], bool]
    relocated: Callable[[Any, str, Path], Any]
    seen: list[Path] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    """Messages about keys that a file has twice."""

    def read(self, path: Path, above: tuple[Path, ...]) -> dict[str, Any]:
        """Read a file that the files `above` include, one through the other."""
        if path.resolve() in above:
            raise BadInput(f"task file {path} includes itself")
        self.seen.append(path)
        if len(self.seen) > _MOST_FILES:
            raise BadInput(f"task file {self.seen[0]} includes more than {_MOST_FILES} files")
        config, twice = load_with_repeats(path)
        self.repeated += [twice] if twice else []
        if above and (there := os.path.relpath(path.parent.resolve(), above[0].parent)) != ".":
            config = self.relocated(config, there, path.parent)
        includes = config.pop("include", [])
        names = [includes] if isinstance(includes, str) else includes
        if not isinstance(names, list) or not all(isinstance(name, str) and "\0" not in name for name in names):
            raise BadInput(f"task file {path}: include must be a file's name, or a list of them")
        base: dict[str, Any] = {}
        for name in names:
            base = merged(base, self.read(_included(path, name), (*above, path.resolve())))
        plain = base | config
        return plain if self.is_foreign(plain) else merged(base, config)


def _included(path: Path, name: str) -> Path:
    """Return the file that `path` includes.

    An untrusted task file must not make us read other files of this machine. It can include files of its folder and
    of sibling folders, where task sets keep what they share, and the built-in tasks as `sketchmark/…`. Links do
    not lead further. `sketchmark/NAME/…` is a benchmark, `sketchmark/worlds/NAME/…` a world.
    """
    first, *rest = Path(name).parts or (".",)
    found = (path.parent / name).resolve()
    if first == OURS and not found.exists():
        found = next((path for path in (_BENCHMARKS, _PACKAGE) if path.joinpath(*rest).exists()), _BENCHMARKS)
        found = found.joinpath(*rest).resolve()
    if found.is_relative_to(_PACKAGE):
        return found
    hidden = any(part.startswith(".") for part in rest) or (first.startswith(".") and first != "..")
    if hidden or Path(name).is_absolute() or not found.is_relative_to(path.parent.resolve().parent):
        raise BadInput(
            f"task file {path}: include {name[:80]!r} leads out of its folder",
            "name a file in the task's folder, below it, or in a sibling folder",
        )
    return found


def drawing_modes(folder: Path) -> dict[str, Any]:
    """Return direct, visual_cot and text_cot for samples with the field `question` and the images `visuals`. A file
    `_generic_drawing.yaml` in the task's `folder` overrides our prompts."""
    found = _ours()
    own = folder / _GENERIC
    if own.is_file():
        given = load(own)
        if set(given) != {"modes"} or not isinstance(given["modes"], dict):
            raise BadInput(f"{own} must hold `modes` and nothing else", "with the prompts that differ from ours")
        _refuse_near_misses(given["modes"], own)
        found = merged(found, given["modes"])
    return found


@cache
def _ours() -> dict[str, Any]:
    found: dict[str, Any] = load(Path(__file__).with_name(_GENERIC))["modes"]
    return found


def _refuse_near_misses(given: Mapping[str, Any], own: Path) -> None:
    """Refuse a mode or prompt whose name is nearly one of ours: it would not be read. Other names are allowed, for a
    protocol or a prompt that uses them."""
    prompts = {prompt for mode in _ours().values() for prompt in mode["prompts"]}
    for mode, block in given.items():
        if meant := nearly(str(mode), _ours()):
            raise BadInput(f"{own}: unknown mode {mode}", f"did you mean {meant}?")
        for prompt in block.get("prompts", ()) if isinstance(block, Mapping) else ():
            if meant := nearly(str(prompt), prompts):
                raise BadInput(f"{own}: unknown prompt modes.{mode}.prompts.{prompt}", f"did you mean {meant}?")
