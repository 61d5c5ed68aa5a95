"""Task files: YAML with `include:`, found by folder. No code runs here."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.task_files.functions import named_from
from sketchmark.task_files.schema import ModeBlock
from sketchmark.task_files.yaml_text import load_with_repeats

MODES = ("direct", "visual_cot", "text_cot")
OURS = "sketchmark"
"""How an `include:` begins that names a built-in file."""

_MOST_FILES = 50
_MOST_LIKE = 40
"""Modes in a row, each `like` the next."""

_BUILT_IN = Path(__file__).resolve().parents[1] / "tasks"


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` laid on `base`, mapping by mapping; anything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result


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
