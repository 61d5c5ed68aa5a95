"""Task files: YAML with `include:`, found by folder. Nothing here runs anybody's code."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput

MODES = ("direct", "visual_cot", "text_cot")


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` laid on `base`, mapping by mapping; anything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result


def yaml_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.yaml") if not path.name.startswith("_"))


@cache
def read_config(path: Path, above: tuple[Path, ...] = ()) -> dict[str, Any]:
    """A YAML file with its `include:` files merged beneath it. `above` are the files that include it."""
    import yaml

    if path in above:
        raise BadInput(f"task file {path} includes itself")

    try:
        config = yaml.load(path.read_text("utf-8"), Loader=_loader())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"cannot read task file {path}: {error}") from error
    if not isinstance(config, dict):
        raise BadInput(f"task file {path} is not a mapping")
    base: dict[str, Any] = {}
    includes = config.pop("include", [])
    for name in [includes] if isinstance(includes, str) else includes:
        base = merged(base, read_config((path.parent / name).resolve(), (*above, path.resolve())))
    return merged(base, config)


@cache
def _loader() -> Any:
    """The safe YAML loader, with lmms-eval's `!function` kept as plain text until the code is trusted."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    Loader.add_constructor("!function", lambda loader, node: {"!function": loader.construct_scalar(node)})
    return Loader


def is_group(config: Mapping[str, Any]) -> bool:
    """lmms-eval also writes `group:` into single tasks, as a label."""
    return "group" in config and ("tasks" in config or isinstance(config.get("task"), list))


def members_of(config: Mapping[str, Any]) -> list[str]:
    members = config.get("tasks") or config["task"]
    return [str(member["task"] if isinstance(member, Mapping) else member) for member in members]


def name_of(path: Path) -> str:
    named = read_config(path).get("task")
    return named if isinstance(named, str) else path.stem


def mode_in(name: str, config: Mapping[str, Any]) -> str | None:
    if config.get("output_type") == "generate_visual_cot":
        return "visual_cot"
    return next((mode for mode in MODES if name.lower().endswith(f"_{mode}")), None)


def code_named(config: Mapping[str, Any]) -> list[str]:
    """Every `module:name` that a task file would have looked up."""
    scorers = config.get("scorers", ())
    entries = [config.get("source"), *(scorers if isinstance(scorers, list) else [scorers])]
    entries += [config.get("aggregate"), config.get("submission")]
    modes = config.get("modes", {})
    entries += [block.get("protocol") for block in modes.values() if isinstance(block, Mapping)]
    named = [entry.get("use") if isinstance(entry, Mapping) else entry for entry in entries]
    return [name for name in named if isinstance(name, str) and ":" in name]
