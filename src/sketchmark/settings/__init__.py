"""Settings of a run, declared once.

`Settings` is the record behind every way to ask for a run. The options of `sketchmark run`, the keywords of
`sketchmark.run`, the keys of a run file, the settings in run.json and those that a worker is sent are all read from
its fields. To add a setting, add a field here and run `docs/make_settings.py`.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files import from_home

Name = str | os.PathLike[str]
Names = Name | Sequence[Name]
"""One name, several with commas, or a list of them, as Python takes them. A question file may be a Path."""

Arguments = str | Mapping[str, Any]
"""`"rows=8,max_steps=20"` as on the command line, or a mapping, as Python takes them."""

Folder = str | Path | None
Prices = str | Path | Mapping[str, Mapping[str, float]] | None
"""A price table, or its file."""

Limit = int | float
"""A count of samples, or a fraction of each task's (0.1)."""

# Types of the record. The word says how a value is written on the command line, in Python and in a run file.
_Text = Annotated[str, "text"]
_Flag = Annotated[bool, "flag"]
_Whole = Annotated[int, "whole"]
_Count = Annotated[int, Meta(ge=1), "whole"]
_AtLeast0 = Annotated[float, Meta(ge=0), "number"]
_Above0 = Annotated[float, Meta(gt=0), "number"]
_Limit = Annotated[int | float, "limit"]
_Names = Annotated[str, "names"]
_Words = Annotated[str, "words"]  # names that may be spelled with dashes
_Arguments = Annotated[dict[str, Any], "arguments"]
_Path = Annotated[str, "path"]
_Paths = Annotated[tuple[str, ...], "paths"]
_Output = Annotated[str, "output"]
_Prices = Annotated[str | dict[str, Any], "prices"]
_Shard = Annotated[str, "shard"]
_Model = Annotated[str, "model"]  # in Python, also an instance
_BatchSize = Annotated[int | str, "batch size"]


@dataclass(frozen=True)
class Setting:
    """A field of `Settings`, described.

    `where` lists the places that have it: C command line, P Python, run file (F whole file, T task entry, M model
    entry), J run.json, W worker.
    """

    where: str
    help: str
    flag: str = ""
    """Short option, or another spelling."""
    choices: tuple[str, ...] = ()
    """Values that the command line accepts."""
    shows_default: bool = True
    hidden: bool = False
    """Left out of help and docs."""


class Settings(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that a user can ask of a run, as plain data."""

    model: Annotated[
        _Text,
        Setting(
            "CPMJW", "provider/name or an alias, several with commas; see `sketchmark list models`.", flag="-m"
        ),
    ] = ""  # fmt: skip
    named: Annotated[
        _Flag, Setting("J", "false: the model, judge or extractor was made in Python, so no command can name it.")
    ] = True
    tasks: Annotated[
        _Names,
        Setting(
            "CPTJW", "Tasks, groups, patterns ('mmmu*') or question files, with commas; `list` lists them.", flag="-t"
        ),
    ] = ""
    mode: Annotated[
        _Words, Setting("CPFTMJW", "direct, visual_cot, text_cot, blind, text_input; several with commas.")
    ] = "direct"
    canvas: Annotated[
        _Words,
        Setting(
            "CPFTMJW", "Shown for its drawing: own, blank, other, oracle, corrupt, caption, source; several, or all."
        ),
    ] = "own"
    drawer: Annotated[
        _Model, Setting("CPFMJW", "A second model, which makes the drawings; --model then only generates text.")
    ] = ""
    draw: Annotated[
        _Text | None,
        Setting(
            "CP",
            "Let the model draw by writing SVG, which is rendered: for models that return no images.",
            choices=("svg",),
        ),
    ] = None
    steps: Annotated[
        _Text, Setting("CPFTJW", "Step count set by: truth (as published) or model.")
    ] = "truth"  # fmt: skip
    limit: Annotated[
        _Limit | None, Setting("CPFTJW", "Run and score only the first N samples per task, or a fraction (0.1).")
    ] = None
    repeats: Annotated[
        _Count | None,
        Setting("CPFTJW", "Independent episodes of each sample [default: 1, or as the task says].", flag="--epochs"),
    ] = None
    answers: Annotated[_Count, Setting("CPFTJW", "Final answers to each finished drawing.")] = 1
    shard: Annotated[
        _Shard, Setting("CPJ", "One shard of the run: 0/3, 1/3, 2/3; `sketchmark merge` joins them.")
    ] = ""
    seed: Annotated[_Whole, Setting("CPFJW", "Seed of generated puzzles.")] = 0
    output_path: Annotated[
        _Output,
        Setting("CP", "Run folder, or the folder of several models' runs [default: runs/MODEL, runs/RUN_FILE]."),
    ] = ""
    tag: Annotated[
        _Names, Setting("CPFMJ", "Labels of the run, with commas: `compare` and the viewer filter and group by them.")
    ] = ""
    model_args: Annotated[_Arguments, Setting("CPMJW", "key=value,key=value for the model.")] = {}
    drawer_args: Annotated[_Arguments, Setting("CPFMJW", "key=value,… for the drawer.")] = {}
    task_args: Annotated[
        _Arguments, Setting("CPFTJW", "key=value,… for the tasks' data (rows=8,max_steps=20).")
    ] = {}  # fmt: skip
    gen_kwargs: Annotated[
        _Arguments, Setting("CPFTMJW", "key=value,… over the tasks' generation settings.")
    ] = {}  # fmt: skip
    prompts: Annotated[_Text, Setting("CPFTJW", "A prompt set of the task (see `sketchmark show TASK`).")] = ""
    data: Annotated[_Path, Setting("CPFTJ", "Folder or file of the task's data.")] = ""
    scoring: Annotated[
        _Names, Setting("CPFTJW", "Scoring of answers, comma-separated; the first gives the run's scores.")
    ] = "strict"  # fmt: skip
    judge: Annotated[_Model, Setting("CPFJ", "A model that judges open answers.")] = ""
    judge_args: Annotated[_Arguments, Setting("CPFJ", "key=value,… for the judge.")] = {}
    extractor: Annotated[
        _Model, Setting("CPFJ", "A text model that quotes the answer of unparsed replies (scoring extracted).")
    ] = ""
    extractor_args: Annotated[_Arguments, Setting("CPFJ", "key=value,… for the extractor.")] = {}
    concurrency: Annotated[_Count, Setting("CPFM", "Episodes at once.", flag="-c")] = 100
    batch_size: Annotated[_BatchSize, Setting("CPM", "For local weights: N or auto.")] = ""
    time_limit: Annotated[_Above0 | None, Setting("CPFTMJW", "Seconds an episode may take.")] = None
    max_requests_per_minute: Annotated[_Count | None, Setting("CPM", "Keep below the provider's limit.")] = None
    on_draw_failure: Annotated[
        _Text, Setting("CPFTJW", "What to do when a drawing call returns no image.", choices=("fail", "continue"))
    ] = "fail"
    retry_failed: Annotated[_Flag, Setting("CP", "Also rerun model failures.")] = False
    fresh: Annotated[_Flag, Setting("CP", "Delete the contents of the run folder and start over.")] = False
    cache: Annotated[_Path, Setting("CP", "Folder of the call cache [default: ~/.cache/sketchmark].")] = ""
    no_cache: Annotated[_Flag, Setting("CP", "Bypass the call cache.")] = False
    include: Annotated[
        _Paths, Setting("CPFJW", "Tasks or models of your own: a YAML or Python file, or a folder.")
    ] = ()  # fmt: skip
    trust_code: Annotated[
        _Flag, Setting("CPJW", "Run Python that a task in an --include folder names. It can do anything you can.")
    ] = False
    allow_env: Annotated[
        _Names, Setting("CP", "Environment variables that a run file may name as keys, besides its providers' own.")
    ] = ""
    strict_leaks: Annotated[_Flag, Setting("CP", "Stop when a generation prompt contains an answer option.")] = False
    prices: Annotated[_Prices, Setting("CPF", "YAML price table of model, judge and extractor.")] = ""
    max_cost: Annotated[
        _AtLeast0 | None, Setting("CPF", "Cost limit of this invocation; needs --prices.")
    ] = None  # fmt: skip
    engine: Annotated[
        _Text,
        Setting(
            "CP",
            "Where episodes run: this process, worker processes, or a Ray cluster. auto: processes if scripted "
            "players have much to do, else local.",
            choices=("auto", "local", "processes", "ray"),
        ),
    ] = "auto"
    ray_address: Annotated[
        _Text | None,
        Setting("CP", "Address of the Ray cluster [default: $RAY_ADDRESS, one on this machine, or a new one]."),
    ] = None
    replicas: Annotated[
        _Count | None,
        Setting(
            "CP", "Workers, each with a separate model [default: one per core, CPU or --num-gpus of the cluster]."
        ),
    ] = None
    num_gpus: Annotated[_AtLeast0, Setting("CP", "GPUs of each replica (--engine ray).", shows_default=False)] = 0
    quiet: Annotated[_Flag | None, Setting("CP", "No progress, no table.", flag="-q")] = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Settings:
        """Read settings as people write them. None is a setting left out, and a NumPy number is a number."""
        for name in given.keys() - {field.name for field in fields("P")}:
            raise TypeError(f"there is no setting {name!r}")
        read = {name: FIELDS[name].read(value) for name, value in given.items() if value is not None}
        try:
            return msgspec.convert(read, cls)
        except msgspec.ValidationError as error:
            raise BadInput(f"these settings cannot be used: {error}") from error

    def only(self, where: str) -> Settings:
        """Keep what has a place in `where`; the rest is as by default."""
        return Settings(**{field.name: getattr(self, field.name) for field in fields(where)})

    @property
    def model_and_drawer(self) -> str:
        """Name of the model, with its drawer if it has one: `openai/a + diffusers/b`."""
        return pair_name(self.model, self.drawer)

    @property
    def modes(self) -> tuple[str, ...]:
        return split_names(self.mode)

    @property
    def canvases(self) -> tuple[str, ...]:
        return split_names(self.canvas)

    @property
    def scorings(self) -> tuple[str, ...]:
        """The first gives the run's scores."""
        return split_names(self.scoring)

    @property
    def part(self) -> Shard | None:
        return Shard.parse(self.shard) if self.shard else None

    @property
    def data_path(self) -> Path | None:
        return Path(self.data) if self.data else None

    @property
    def included(self) -> tuple[Path, ...]:
        return tuple(map(Path, self.include))


AND = " + "
"""Between the names of a model and its drawer."""


def pair_name(model: str, drawer: str) -> str:
    """Name a model, with its drawer if it has one."""
    return f"{model}{AND}{drawer}" if drawer else model


_LARGEST = 2**53
"""Larger numbers are not exact in JSON, and overflow counters."""


@dataclass(frozen=True)
class Field:
    """A field of `Settings`, with what its type says."""

    name: str
    default: Any
    kind: str
    """The word of its type."""
    bounds: Meta
    about: Setting

    @property
    def option(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    def read(self, value: Any) -> Any:
        """Return the value as the record holds it."""
        if self.kind in ("names", "words"):
            names = [str(from_home(name)) if name.startswith("~") else name for name in split_names(value)]
            return (
                ",".join(name.replace("-", "_") if self.kind == "words" else name for name in names) or self.default
            )
        if self.kind == "arguments":
            return parse_arguments(value) if isinstance(value, str) else dict(value)
        if self.kind == "paths":
            return tuple(str(from_home(one)) for one in ([value] if isinstance(value, (str, os.PathLike)) else value))
        if self.kind in ("path", "output", "prices") and isinstance(value, (str, os.PathLike)):
            return str(from_home(value)) if value else ""
        if self.kind in ("whole", "number", "limit"):
            return self._number(value)
        if self.kind == "shard":
            return str(Shard.parse(str(value))) if value else ""
        return bool(value) if self.kind == "flag" else plain_number(value)

    def _number(self, value: object) -> int | float:
        number, least, above = plain_number(value), self.bounds.ge, self.bounds.gt
        if not isinstance(number, (int, float)) or isinstance(number, bool):
            raise BadInput(f"{self.name} is {number!r}, which is not a number")
        if self.kind == "whole" and not isinstance(number, int):
            raise BadInput(f"{self.name} is {number}", "it must be a whole number")
        if abs(number) > _LARGEST or (self.kind == "number" and math.isnan(number)):
            shown = number if not abs(number) > 10**30 else "a number of more than 30 digits"
            raise BadInput(f"{self.name} is {shown}", f"it must be at most {_LARGEST}")
        if least is not None and number < least:
            raise BadInput(f"{self.name} is {number}", f"it must be at least {least}")
        if above is not None and not number > above:
            raise BadInput(f"{self.name} is {number}", f"it must be above {above}")
        return number


def _field(name: str, hint: Any, default: Any) -> Field:
    said = _metadata(hint)
    kind = next(one for one in said if isinstance(one, str))
    bounds = next((one for one in said if isinstance(one, Meta)), Meta())
    about = next(one for one in said if isinstance(one, Setting))
    return Field(name, default, kind, bounds, about)


def _metadata(hint: Any) -> list[Any]:
    inner = [one for part in get_args(hint) for one in _metadata(part)]
    return [*getattr(hint, "__metadata__", ()), *inner]


FIELDS = {
    name: _field(name, hint, getattr(Settings(), name))
    for name, hint in get_type_hints(Settings, include_extras=True).items()
}


def fields(where: str) -> list[Field]:
    """Find the fields that have a place in all of `where`."""
    return [field for field in FIELDS.values() if set(where) <= set(field.about.where)]


def plain_number(value: object) -> object:
    """A number of another library, such as NumPy's, as Python's own; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def split_names(names: Names) -> tuple[str, ...]:
    listed = names.split(",") if isinstance(names, str) else [names] if isinstance(names, os.PathLike) else names
    return tuple(name for part in listed if (name := os.fspath(part).strip()))


def parse_arguments(text: str | None) -> dict[str, Any]:
    """Read `k=v,k2=v2` as lmms-eval does: true, false, numbers and quoted text are understood; the rest is text."""
    import yaml

    values: dict[str, Any] = {}
    for piece in filter(None, _pieces(text or "")):
        key, equals, value = piece.partition("=")
        if not equals:
            raise BadInput(f"{piece!r} is not key=value", "write arguments as key=value,key=value")
        try:
            scalar = yaml.safe_load(value) if value else ""
        except (yaml.YAMLError, ValueError):  # 2026-13-45 looks like a date
            scalar = value
        kept = isinstance(scalar, (bool, int, float)) or (isinstance(scalar, str) and value[:1] in ("'", '"'))
        values[key.strip().replace("-", "_")] = scalar if kept else value
    return values


def _pieces(text: str) -> list[str]:
    """Split at commas, but not inside `{…}` or `[…]`: a value may be JSON. An unmatched bracket is a letter."""
    pieces, start, depth = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "{[") - (letter in "}]")
        if letter == "," and depth == 0:
            pieces.append(text[start:place])
            start = place + 1
    return [*pieces, text[start:]] if depth == 0 else text.split(",")


_SPELLING = re.compile(r"(\d{1,9})/(\d{1,9})")


@dataclass(frozen=True)
class Shard:
    """A part of a run: every n-th sample of each cell, for machines that share at most a disk.

    `index` of `of`, counted from 0. Samples are chosen by their number and not at random. So every machine knows its
    part without asking, and easy and hard samples of a sorted dataset are spread over all."""

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        found = _SPELLING.fullmatch(text.strip())
        if not found:
            raise BadInput(f"--shard {text[:40]!r} is not a shard", "write 0/3, 1/3 and 2/3 for the parts of three")
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
        """The end of the folder's name: shards on one disk must not meet."""
        return f"-shard-{self.index}-of-{self.of}"

    def plays(self, number: int) -> bool:
        return number % self.of == self.index

    def size(self, total: int | None) -> int | None:
        """Count the shard's own samples among so many."""
        return None if total is None else len(range(self.index, total, self.of))


WHOLE = Shard(0, 1)


def default_folder(model: str, shard: Shard | None = None) -> Path:
    """The same command finds the same folder again, so repeating a command resumes its run."""
    name = "".join(c if c.isalnum() or c in "._-" else "-" for c in model)
    return Path("runs") / f"{name}{shard.suffix if shard else ''}"


_ALWAYS = ("model", "tasks", "mode")
"""In a command also where they are the default: people read a command for these."""


def command(settings: Settings, output_path: str) -> list[str] | None:
    """Write `sketchmark run …` word by word, None if no command says the same (a model made in Python, for one)."""
    if not settings.named:
        return None
    words = ["sketchmark", "run"]
    for field in fields("CJ"):
        value = getattr(settings, field.name)
        if value == field.default and field.name not in _ALWAYS:
            continue
        if field.kind == "arguments":
            text = _written(value)
            if text is None:
                return None
            words += [field.option, text]
        elif field.kind == "paths":
            words += [word for path in value for word in (field.option, path)]
        else:
            words += [field.option] if value is True else [field.option, str(value)]
    words += ["--output-path", output_path]
    return words if all(word.isprintable() for word in words) else None


def _written(arguments: Mapping[str, Any]) -> str | None:
    """Return `key=value,key=value`, if that is read back as the same."""
    text = ",".join(f"{key}={_value(value)}" for key, value in arguments.items())
    try:
        same = parse_arguments(text) == arguments
    except (SketchmarkError, ValueError, RecursionError):  # an untrusted run.json may hold anything
        same = False
    return text if same else None


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value:
        plain = "," not in value and parse_arguments(f"key={value}").get("key") == value
        return value if plain else f"'{value}'"
    return str(value)
