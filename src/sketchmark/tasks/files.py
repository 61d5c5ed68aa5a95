"""Task files: the YAML in which a task is declared, how it is read, checked, and filled in for a sample.

The task files of a folder that a user includes. One that cannot be read hinders no other.

Task files: YAML with `include:`, found by folder. No code runs here.

The modes of a question that brings no prompts of its own, from `_generic_drawing.yaml`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.files.yaml import Glance, glance, load, load_with_repeats, nearly
from sketchmark.tasks.imports import named_from
from sketchmark.tasks.schema import ModeBlock


def task_files_in(folder: Path, meant: Callable[[Glance, str], bool]) -> Iterator[tuple[Path, Glance]]:
    """What lies beside tasks and is not `meant` for us is passed over, whatever it is."""
    for file in sorted(path for path in folder.rglob("*.yaml") if not path.is_dir()):
        seen = glance(file)
        if meant(seen, file.name):
            yield file, seen


@dataclass(frozen=True)
class Unread:
    """A file that cannot be read, and why: for whoever asks for a task by one of its names."""

    file: Path
    names: tuple[str, ...]
    labels: tuple[str, ...]
    error: BadInput

    @classmethod
    def of(cls, file: Path, seen: Glance, error: BadInput) -> Unread:
        """The names that it gives itself, as far as can be seen. Where `task` is a list, `group` is the name."""
        task, group = seen.keys.get("task", []), seen.keys.get("group", [])
        named, labels = (task, [*group, *seen.keys.get("tag", [])]) if len(task) == 1 else (group[:1], [])
        return cls(file, (*named, file.stem), tuple(labels), error)


def in_words(files: Sequence[Unread]) -> str:
    count = "1 file" if len(files) == 1 else f"{len(files)} files, the first"
    return f"{count}: {files[0].error}"


MODES = ("direct", "visual_cot", "text_cot")
OURS = "sketchmark"
"""How an `include:` begins that names a built-in file."""

_MOST_FILES = 50
_MOST_LIKE = 40
"""Modes in a row, each `like` the next."""

_PACKAGE = Path(__file__).resolve().parents[1]
_BENCHMARKS = _PACKAGE / "benchmarks"


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` laid on `base`, mapping by mapping; anything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result


def built_in_files() -> list[Path]:
    """The task files of the benchmarks and worlds."""
    return [path for folder in (_BENCHMARKS, _PACKAGE / "worlds") for path in yaml_files(folder)]


def yaml_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.yaml") if not path.name.startswith("_"))


def lineage(modes: Mapping[str, ModeBlock], name: str, where: str) -> list[str]:
    """The mode and those it is `like`, the nearest first, as far as they are there."""
    names = [name]
    while (like := modes[names[-1]].like) in modes:
        if like in names:
            raise BadInput(f"{where}: modes.{name}.like goes in a circle: {' → '.join([*names, like][:8])}")
        names.append(like)
        if len(names) > _MOST_LIKE:
            raise BadInput(f"{where}: modes.{name}.like leads through more than {_MOST_LIKE} modes")
    return names


def load_with_includes(path: Path, is_foreign: Callable[[Mapping[str, Any]], bool]) -> tuple[dict[str, Any], str]:
    """A task file with its `include:` files merged beneath it, not checked, and a message if a key is there twice.

    Where `is_foreign` holds, what a file says again replaces the included value as a whole."""
    repeated: list[str] = []
    config = _with_includes(path, (), [], repeated, is_foreign)
    return config, next(iter(repeated), "")


def _with_includes(
    path: Path,
    above: tuple[Path, ...],
    seen: list[Path],
    repeated: list[str],
    is_foreign: Callable[[Mapping[str, Any]], bool],
) -> dict[str, Any]:
    """`above` are the files that include this one, `seen` all that were read so far, `repeated` says which of them
    have a key twice."""
    if path.resolve() in above:
        raise BadInput(f"task file {path} includes itself")
    seen.append(path)
    if len(seen) > _MOST_FILES:
        raise BadInput(f"task file {seen[0]} includes more than {_MOST_FILES} files")
    config, twice = load_with_repeats(path)
    repeated += [twice] if twice else []
    if above and (there := os.path.relpath(path.parent.resolve(), above[0].parent)) != ".":
        config = named_from(config, there, path.parent)
    includes = config.pop("include", [])
    names = [includes] if isinstance(includes, str) else includes
    if not isinstance(names, list) or not all(isinstance(name, str) and "\0" not in name for name in names):
        raise BadInput(f"task file {path}: include must be a file's name, or a list of them")
    base: dict[str, Any] = {}
    for name in names:
        found = _with_includes(_included(path, name), (*above, path.resolve()), seen, repeated, is_foreign)
        base = merged(base, found)
    plain = base | config
    return plain if is_foreign(plain) else merged(base, config)


def _included(path: Path, name: str) -> Path:
    """The file that `path` includes. A stranger's task file must not have others of this machine read: it reaches its
    own folder and those beside it, where task sets keep what they share, and the built-in tasks, by the name
    `sketchmark/…`; no link leads further."""
    first, *rest = Path(name).parts or (".",)
    found = (path.parent / name).resolve()
    if first == OURS and not found.exists():
        found = _BENCHMARKS.joinpath(*rest).resolve()
    if found.is_relative_to(_PACKAGE):
        return found
    hidden = any(part.startswith(".") for part in rest) or (first.startswith(".") and first != "..")
    if hidden or Path(name).is_absolute() or not found.is_relative_to(path.parent.resolve().parent):
        raise BadInput(
            f"task file {path}: include {name[:80]!r} leads out of its folder",
            "name a file in the task's folder, below it, or in a folder beside it",
        )
    return found


NAME = "_generic_drawing.yaml"

OWN_PROMPT = "own"
"""The `variant` of a sample that brings a `generation_prompt`."""


def modes(beside: Path) -> dict[str, Any]:
    """direct, visual_cot and text_cot for samples with the field `question` and the pictures `visuals`; a file of the
    same name in the folder `beside` goes over ours."""
    found = _ours()
    own = beside / NAME
    if own.is_file():
        given = load(own)
        if set(given) != {"modes"} or not isinstance(given["modes"], dict):
            raise BadInput(f"{own} must hold `modes` and nothing else", "with the prompts that differ from ours")
        _refuse_near_misses(given["modes"], own)
        found = merged(found, given["modes"])
    return found


@cache
def _ours() -> dict[str, Any]:
    found: dict[str, Any] = load(Path(__file__).with_name(NAME))["modes"]
    return found


def _refuse_near_misses(given: Mapping[str, Any], own: Path) -> None:
    """Modes and prompts of other names may be there, for a protocol or a prompt that asks for them; nearly the same
    name is meant to be ours, and would not be read."""
    prompts = {prompt for mode in _ours().values() for prompt in mode["prompts"]}
    for mode, block in given.items():
        if meant := nearly(str(mode), _ours()):
            raise BadInput(f"{own}: unknown mode {mode}", f"did you mean {meant}?")
        for prompt in block.get("prompts", ()) if isinstance(block, Mapping) else ():
            if meant := nearly(str(prompt), prompts):
                raise BadInput(f"{own}: unknown prompt modes.{mode}.prompts.{prompt}", f"did you mean {meant}?")
