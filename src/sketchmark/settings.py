"""`key=value,key=value`: arguments as the command line takes them.

What a user asks of a run: the types of the options, the request, and the command as run.json keeps it.

What the numbers of a run may be, for whoever asks from Python; the command line refuses the same, in click's words
(`tests/core/test_notebook.py` holds the two together).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from msgspec import Struct

from sketchmark.errors import BadInput, SketchmarkError


def parse_arguments(text: str | None) -> dict[str, Any]:
    """`k=v,k2=v2` as in lmms-eval: true/false, numbers and quoted text are understood; the rest stays text."""
    import yaml

    values: dict[str, Any] = {}
    for piece in filter(None, (text or "").split(",")):
        key, equals, value = piece.partition("=")
        if not equals:
            raise BadInput(f"{piece!r} is not key=value", "write arguments as key=value,key=value")
        try:
            scalar = yaml.safe_load(value) if value else ""
        except yaml.YAMLError:
            scalar = value
        kept = isinstance(scalar, (bool, int, float)) or (isinstance(scalar, str) and value[:1] in ("'", '"'))
        values[key.strip().replace("-", "_")] = scalar if kept else value
    return values


_SPELLING = re.compile(r"(\d{1,9})/(\d{1,9})")

Name = str | os.PathLike[str]
Names = Name | Sequence[Name]
"""One name, several with commas, or a list of them; a file of questions may be a Path."""

Arguments = str | Mapping[str, Any]
"""`"rows=8,max_steps=20"` as on the command line, or a mapping."""

Folder = str | Path | None

Prices = str | Path | Mapping[str, Mapping[str, float]] | None
"""A price table, or the file of one."""

Limit = int | float
"""A count of samples, or a share of each task's (0.1)."""


@dataclass(frozen=True)
class Shard:
    """A part of a run: every n-th sample of each cell, for machines that share nothing but a disk, or not even that.

    `index` of `of`, counted from 0. By its number and not by a random draw, so that every machine knows its part
    without asking, and easy and hard samples of a sorted set are spread over all."""

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        found = _SPELLING.fullmatch(text.strip())
        if not found:
            raise BadInput(f"--shard {text[:40]!r} is no shard", "write 0/3, 1/3 and 2/3 for the parts of three")
        index, of = int(found[1]), int(found[2])
        if index >= of:
            last = f"0/{of} to {of - 1}/{of}" if of > 1 else "0/1"
            raise BadInput(
                f"there is no shard {index}/{of}", f"shards are counted from 0: {last}" if of else "the whole is 0/1"
            )
        return cls(index, of)

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    @property
    def suffix(self) -> str:
        """Of a folder's name: shards on one disk must not meet."""
        return f"-shard-{self.index}-of-{self.of}"

    def plays(self, number: int) -> bool:
        return number % self.of == self.index

    def size(self, total: int | None) -> int | None:
        """How many of so many samples are its own."""
        return None if total is None else len(range(self.index, total, self.of))


WHOLE = Shard(0, 1)


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


@dataclass(frozen=True)
class Request:
    """What the user asked for, as plain values. Everything here that shapes an answer ends up in run.json."""

    model: str
    tasks: str
    modes: tuple[str, ...] = ()
    canvases: tuple[str, ...] = ("own",)
    """`all`, alone: every one that the task and the model allow."""
    steps: str = "truth"
    prompts: str = ""
    limit: int | float | None = None
    """A count of samples, or a share of each task's."""
    seed: int = 0
    data: Path | None = None
    model_args: dict[str, Any] = field(default_factory=dict)
    task_args: dict[str, Any] = field(default_factory=dict)
    generation: dict[str, Any] = field(default_factory=dict)
    on_draw_failure: str = "fail"
    include: tuple[Path, ...] = ()
    trust_code: bool = False
    shard: Shard | None = None
    asked: Asked | None = None
    """The same as a command, with how it is scored; for run.json alone."""


def default_folder(model: str, shard: Shard | None = None) -> Path:
    """The same command finds the same folder again, which is what makes resuming a matter of repeating it."""
    name = "".join(c if c.isalnum() or c in "._-" else "-" for c in model)
    return Path("runs") / f"{name}{shard.suffix if shard else ''}"


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
        plain = "," not in value and parse_arguments(f"key={value}").get("key") == value
        return value if plain else f"'{value}'"
    return str(value)


_LEAST = {"concurrency": 1, "max_requests_per_minute": 1, "max_cost": 0, "replicas": 1, "num_gpus": 0}
_ABOVE = {"time_limit": 0}
_WHOLE = ("seed", "concurrency", "max_requests_per_minute", "replicas")


def plain_number(value: object) -> object:
    """A number of another library, such as NumPy's, as Python's own; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def refuse_out_of_range(**given: object) -> None:
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise BadInput(f"{name} is {value!r}, which is no number")
        if name in _WHOLE and not isinstance(value, int):
            raise BadInput(f"{name} is {value}", "it must be a whole number")
        if name in _LEAST and value < _LEAST[name]:
            raise BadInput(f"{name} is {value}", f"it must be at least {_LEAST[name]}")
        if name in _ABOVE and not value > _ABOVE[name]:
            raise BadInput(f"{name} is {value}", f"it must be above {_ABOVE[name]}")
