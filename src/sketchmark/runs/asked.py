"""The command that played a cell, as run.json keeps it, and as it is typed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from sketchmark.errors import SketchmarkError


class Asked(Struct, kw_only=True, omit_defaults=True, frozen=True):
    """The command that played a cell last, option by option; what is absent was not given."""

    model: str
    """`--model`."""

    named: bool = True
    """false: the model or the judge was an object made in Python, which no command can name."""

    tasks: str = ""
    """`--tasks`."""

    mode: str = "direct"
    """`--mode`."""

    canvas: str = "own"
    """`--canvas`."""

    steps: str = "truth"
    """`--steps`."""

    prompts: str = ""
    """`--prompts`."""

    limit: int | float | None = None
    """`--limit`: a count, or a share of each task's samples (`limits` has what it came to)."""

    seed: int = 0
    """`--seed`."""

    data: str = ""
    """`--data`."""

    model_args: dict[str, Any] = {}
    """`--model_args`, without secrets."""

    task_args: dict[str, Any] = {}
    """`--task_args`."""

    gen_kwargs: dict[str, Any] = {}
    """`--gen_kwargs`."""

    on_draw_failure: str = "fail"
    """`--on-draw-failure`."""

    scoring: str = "strict"
    """`--scoring`."""

    judge: str = ""
    """`--judge`."""

    judge_args: dict[str, Any] = {}
    """`--judge_args`, without secrets."""

    time_limit: float | None = None
    """`--time-limit`."""

    include: list[str] = []
    """`--include`, as given."""

    trust_code: bool = False
    """`--trust-code`."""

    shard: str = ""
    """`--shard`."""


_MAPPINGS = ("model_args", "task_args", "gen_kwargs", "judge_args")
_FIRST = ("model", "tasks", "mode")
"""Shown whether they are the default or not: they are what one reads a command for."""


def command(asked: Asked, output_path: str) -> list[str] | None:
    """`sketchmark run …` word by word; None where no command says the same: a model that is an object in Python, or a
    value that an option cannot hold."""
    if not asked.named:
        return None
    words = ["sketchmark", "run"]
    for name, value in _given(asked):
        option = f"--{name.replace('_', '-')}"
        if name in _MAPPINGS:
            text = _written(value)
            if text is None:
                return None
            words += [option, text]
        elif name == "include":
            words += [word for path in value for word in (option, path)]
        else:
            words += [option] if value is True else [option, str(value)]
    words += ["--output-path", output_path]
    return words if all(word.isprintable() for word in words) else None


def _given(asked: Asked) -> Iterator[tuple[str, Any]]:
    """What differs from the default, in the order of the fields."""
    default = Asked(model="")
    for name in Asked.__struct_fields__:
        value = getattr(asked, name)
        if name != "named" and (name in _FIRST or value != getattr(default, name)):
            yield name, value


def _written(arguments: Mapping[str, Any]) -> str | None:
    """`key=value,key=value`, if that is read back as the same."""
    from sketchmark.key_values import parse_arguments

    text = ",".join(f"{key}={_value(value)}" for key, value in arguments.items())
    try:
        same = parse_arguments(text) == arguments
    except (SketchmarkError, ValueError, RecursionError):  # whatever a stranger's run.json holds
        same = False
    return text if same else None


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value:
        from sketchmark.key_values import parse_arguments

        plain = "," not in value and parse_arguments(f"key={value}").get("key") == value
        return value if plain else f"'{value}'"
    return str(value)
