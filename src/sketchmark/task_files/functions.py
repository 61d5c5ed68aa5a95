"""`!function module.name` in a task file: the user's own Python, found beside it. Callers ask for trust first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.task_files.code import reach, run_file

FUNCTION = "!function"
"""How the YAML reader keeps the tag: `!function utils.name` is read as `{"!function": "utils.name"}`."""


def functions_in(config: object) -> list[str]:
    """Every function that a config names, in order."""
    if isinstance(config, Mapping):
        if set(config) == {FUNCTION}:
            return [str(config[FUNCTION])]
        return [name for value in config.values() for name in functions_in(value)]
    if isinstance(config, list):
        return [name for value in config for name in functions_in(value)]
    return []


def function(entry: Mapping[str, Any], folder: Path) -> Callable[..., Any]:
    module_name, _, name = str(entry[FUNCTION]).rpartition(".")
    file = folder / f"{module_name.replace('.', '/')}.py"
    try:
        module = _module(file.resolve()) if file.is_file() else import_module(module_name)
    except Exception as error:  # the user's code: anything may come
        raise BadInput(f"!function {entry[FUNCTION]} cannot be loaded: {type(error).__name__}: {error}") from error
    found = getattr(module, name, None)
    if not callable(found):
        raise BadInput(f"!function {entry[FUNCTION]}: there is no such function in {file}")
    return found  # type: ignore[no-any-return]


@cache
def _module(file: Path) -> ModuleType:
    """Run once."""
    reach(file.parent)
    return run_file(file)
