"""Task files: YAML with `include:`, found by folder and checked before anything else sees them. No code runs here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from sketchmark.errors import BadInput
from sketchmark.task_files.checking import checked
from sketchmark.task_files.foreign import (
    LmmsEvalFile,
    LmmsEvalGroup,
    members_in,
    refuse_near_misses,
    refuse_settings,
)
from sketchmark.task_files.functions import named_from
from sketchmark.task_files.schema import GroupFile, ModeBlock, TaskFile
from sketchmark.task_files.yaml_text import Glance, load_with_repeats

MODES = ("direct", "visual_cot", "text_cot")
OURS = "sketchmark"
"""How an `include:` begins that names a built-in file."""

_MOST_FILES = 50
_MOST_LIKE = 40
"""Modes in a row, each `like` the next."""

_BUILT_IN = Path(__file__).resolve().parents[1] / "tasks"
_KEYS = frozenset((*TaskFile.__struct_fields__, *GroupFile.__struct_fields__, *LmmsEvalFile.__struct_fields__))


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` laid on `base`, mapping by mapping; anything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result


def yaml_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.yaml") if not path.name.startswith("_"))


def may_be_a_task(seen: Glance, name: str) -> bool:
    """Whether a YAML file that lies in an included folder is meant for us at all: it has at least one key of a task
    file, or nobody can tell. What begins with `_` is there to be included, but for lmms-eval, if it says `task:`."""
    if name.startswith("_"):
        return "task" in seen.keys
    return seen.broken or not _KEYS.isdisjoint(seen.keys)


@cache
def read_config(path: Path) -> dict[str, Any]:
    """A task file with its `include:` files merged beneath it, checked."""
    repeated: list[str] = []
    config = _with_includes(path, (), [], repeated)
    if repeated and not (is_lmms_eval(config) or _is_lmms_eval_group(config)):
        raise BadInput(repeated[0])
    checked_config(config, f"task file {path}")
    return config


def checked_config(config: Mapping[str, Any], where: str) -> Struct:
    """The file as what it is: a task, a group, or either of lmms-eval's shape."""
    kind: type[Struct] = TaskFile
    if is_group(config):
        kind = LmmsEvalGroup if _is_lmms_eval_group(config) else GroupFile
    elif is_lmms_eval(config):
        kind = LmmsEvalFile
    found = checked(config, kind, where, known=("tasks",))
    if isinstance(found, LmmsEvalFile):
        refuse_near_misses(config, where)
    elif not isinstance(found, TaskFile):
        refuse_settings(config, where)
    if isinstance(found, TaskFile):
        for name in found.modes:
            lineage(found.modes, name, where)
    return found


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


def _with_includes(path: Path, above: tuple[Path, ...], seen: list[Path], repeated: list[str]) -> dict[str, Any]:
    """`above` are the files that include this one, `seen` all that were read so far, `repeated` says which of them
    have a key twice: for lmms-eval the last one counts."""
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
        base = merged(base, _with_includes(_included(path, name), (*above, path.resolve()), seen, repeated))
    plain = base | config
    return plain if is_lmms_eval(plain) else merged(base, config)  # lmms-eval replaces what is said again as a whole


def _included(path: Path, name: str) -> Path:
    """The file that `path` includes. A stranger's task file must not have others of this machine read: it reaches its
    own folder and those beside it, where task sets keep what they share, and the built-in tasks, by the name
    `sketchmark/…`; no link leads further."""
    first, *rest = Path(name).parts or (".",)
    found = (path.parent / name).resolve()
    if first == OURS and not found.exists():
        found = _BUILT_IN.joinpath(*rest).resolve()
    if found.is_relative_to(_BUILT_IN):
        return found
    hidden = any(part.startswith(".") for part in rest) or (first.startswith(".") and first != "..")
    if hidden or Path(name).is_absolute() or not found.is_relative_to(path.parent.resolve().parent):
        raise BadInput(
            f"task file {path}: include {name[:80]!r} leads out of its folder",
            "name a file in the task's folder, below it, or in a folder beside it",
        )
    return found


def is_lmms_eval(config: Mapping[str, Any]) -> bool:
    return "dataset_path" in config or "doc_to_text" in config


def is_group(config: Mapping[str, Any]) -> bool:
    """lmms-eval also writes `group:` into single tasks, as a label."""
    return "tasks" in config or _is_lmms_eval_group(config)


def _is_lmms_eval_group(config: Mapping[str, Any]) -> bool:
    return "tasks" not in config and "group" in config and isinstance(config.get("task"), list)


def members_of(config: Mapping[str, Any]) -> list[str]:
    return list(members_in(config.get("tasks") or config["task"]))


def name_of(path: Path) -> str:
    named = read_config(path).get("task")
    return named if isinstance(named, str) else path.stem


def mode_in(name: str, config: Mapping[str, Any]) -> str | None:
    if config.get("output_type") == "generate_visual_cot":
        return "visual_cot"
    return next((mode for mode in MODES if name.lower().endswith(f"_{mode}")), None)
