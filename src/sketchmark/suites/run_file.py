"""What a run file may say. The keys are the options of `sketchmark run`, and mean the same.

What belongs to one start and not to the suite (`--fresh`, `--cache`, `--trust-code`, where results go…) is said on
the command line: a file that somebody sent must not delete, write elsewhere or run code.

Several models that are to play the same tasks, each in a run folder of its own under one parent.

A run file, checked before anything of it is played. It may come from somebody else: what it can read lies in its
own folder, what it can write in the folder of the command line, and it runs no code and holds no key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn

from msgspec import Meta, Struct

from sketchmark.errors import BadInput
from sketchmark.files.yaml import Count, checked, dotted, line_of, load
from sketchmark.secrets import keys_in
from sketchmark.settings import Prices, Shard, default_folder

Names = str | list[str]
"""One name, several with commas, or a list."""

OF_THE_COMMAND = frozenset(
    (
        *("draw", "output_path", "retry_failed", "fresh", "cache", "no_cache", "trust_code", "strict_leaks"),
        *("engine", "ray_address", "replicas", "num_gpus", "shard", "quiet"),
    )
)
"""Options of `sketchmark run` that are no keys: they are for the person who starts it."""

Arguments = dict[str, Any]
FolderName = Annotated[
    str, Meta(extra={"pattern": r"[A-Za-z0-9_\-][A-Za-z0-9_.\-]{0,99}", "written as": "letters, digits, _ . and -"})
]


class Asked(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What can be said for all tasks, or for some of them."""

    mode: Names | None = None
    canvas: Names | None = None
    steps: str | None = None
    prompts: str | None = None
    limit: int | float | None = None
    task_args: Arguments = {}
    gen_kwargs: Arguments = {}
    data: str | None = None
    scoring: Names | None = None
    on_draw_failure: str | None = None
    time_limit: float | None = None


class TaskEntry(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tasks with settings of their own, over those of the file."""

    task: Names


class ModelEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model with settings of its own, over those of its tasks and of the file."""

    model: str
    name: FolderName | None = None
    """Of its run folder."""
    model_args: Arguments = {}
    gen_kwargs: Arguments = {}
    mode: Names | None = None
    canvas: Names | None = None
    concurrency: Count | None = None
    batch_size: int | str | None = None
    max_requests_per_minute: Count | None = None
    time_limit: float | None = None


class RunFile(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Models and the tasks that each of them plays."""

    models: Annotated[list[str | ModelEntry], Meta(min_length=1)]
    tasks: str | Annotated[list[str | TaskEntry], Meta(min_length=1)]
    seed: int = 0
    judge: str | None = None
    judge_args: Arguments = {}
    concurrency: Count | None = None
    include: Names = []
    prices: str | dict[str, dict[str, float]] | None = None
    max_cost: Annotated[float, Meta(ge=0)] | None = None


@dataclass(frozen=True)
class TaskSet:
    """One start of a run: tasks that share their settings."""

    tasks: str
    options: Mapping[str, Any]
    """As `sketchmark.run` takes them."""


@dataclass(frozen=True)
class SuiteModel:
    """A model of the suite and all that it plays, start by start, into one run folder."""

    name: str
    """Of the folder."""

    model: str
    starts: tuple[TaskSet, ...]


@dataclass(frozen=True)
class Suite:
    parent: Path
    entries: tuple[SuiteModel, ...]
    prices: Prices = None
    max_cost: float | None = None
    """Of all models together, in one start."""

    file: Path | None = None
    """The run file, if there is one."""

    def path(self, entry: SuiteModel) -> Path:
        return self.parent / entry.name

    @property
    def prices_file(self) -> Path | str | None:
        """Where the prices stand."""
        return self.file if isinstance(self.prices, Mapping) else self.prices


def of_models(models: Sequence[str], tasks: str, output_path: Path | None, **options: Any) -> Suite:
    """`--model a,b`: the same start for each, into the folders that each would have by itself."""
    prices, max_cost = options.get("prices"), options.pop("max_cost", None)
    shard = options.get("shard", "")
    found = [SuiteModel(folder_name(model, shard), model, (TaskSet(tasks, options),)) for model in models]
    refuse_shared_folders(found, "name every model once; a run file tells two of one name apart by `name:`")
    return Suite(output_path or default_folder("model").parent, tuple(found), prices, max_cost)


def folder_name(model: str, shard: str = "") -> str:
    """As a run of this model alone would call it; never one that leads elsewhere."""
    name = default_folder(model, Shard.parse(shard) if shard else None).name
    return name.lstrip(".") or "model"


def refuse_shared_folders(entries: Iterable[SuiteModel], hint: str) -> None:
    """Two models in one folder would be one run. Some file systems do not tell large letters from small ones."""
    seen: dict[str, SuiteModel] = {}
    for entry in entries:
        other = seen.setdefault(entry.name.lower(), entry)
        if other is not entry:
            raise BadInput(f"{other.model} and {entry.model} would share the run folder {entry.name}", hint)


_RUN_CODE = ("code", "trust_remote_code")
"""Arguments of models that have code run which lies beside their weights."""

_GIVE = "give --{} on the command line"
_TRUST = f"{_GIVE.format('trust-code')}, if you trust it"

_MERGED = ("task_args", "gen_kwargs")

Keys = tuple[object, ...]


def read_suite(path: Path, output_path: Path | None = None, *, trust_code: bool = False, **over: Any) -> Suite:
    """The suite of a run file. `over` are options that go over what it says, as `sketchmark.run` takes them."""
    if path.suffix not in (".yaml", ".yml"):
        raise BadInput(f"{path} is no run file", "a run file is YAML; tasks are named with --tasks")
    config = load(path, "run file")
    where = f"run file {path}"
    lines = _Lines(path)
    if "models" not in config and {"source", "modes", "dataset_path", "scorers"} & config.keys():
        raise BadInput(f"{path} is a task file", f"play it with --include {path} --tasks {path.stem}")
    for key in keys_in({str(name): value for name, value in config.items()}):
        raise BadInput(
            f"{where}{lines.told(_keys(key))}: {dotted(_keys(key))} is a key or looks like one",
            "keys stand in the environment, never in a run file: api_key_env: NAME names the variable",
        )
    for keys, block in _blocks(config):
        _refuse_options(where, lines, keys, block)
    found = checked(config, RunFile, where, line_of=lines)
    file = _File(path, found, where, lines, trust_code)
    return file.suite(output_path, over)


class _Lines:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, keys: Keys) -> int:
        return line_of(self._path, keys)

    def told(self, keys: Keys) -> str:
        return f", line {self(keys)}"


def _keys(dotted: str) -> Keys:
    return tuple(int(key) if key.isdecimal() else key for key in dotted.split("."))


def _blocks(config: Mapping[Any, Any]) -> Iterator[tuple[Keys, Mapping[Any, Any]]]:
    """The mappings that hold options: the file, and its entries."""
    yield (), config
    for key in ("models", "tasks"):
        listed = config.get(key)
        for place, one in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(one, Mapping):
                yield (key, place), one


def _refuse_options(where: str, lines: _Lines, keys: Keys, block: Mapping[Any, Any]) -> None:
    for name in block:
        if name in OF_THE_COMMAND:
            raise BadInput(
                f"{where}{lines.told((*keys, name))}: {dotted((*keys, name))} is not for a run file to say",
                f"give it on the command line: --{str(name).replace('_', '-')}",
            )


class _File:
    """A run file that is of the right shape, made into starts."""

    def __init__(self, path: Path, file: RunFile, where: str, lines: _Lines, trust_code: bool) -> None:
        self._folder, self._file, self._where, self._lines = path.parent, file, where, lines
        self._path = path
        self._trust = trust_code

    def suite(self, output_path: Path | None, over: Mapping[str, Any]) -> Suite:
        file = self._file
        whole = {
            **self._asked(file, ()),
            "seed": file.seed,
            "judge": file.judge,
            "judge_args": self._harmless(file.judge_args, ("judge_args",)),
            "concurrency": file.concurrency,
            "include": [*map(self._included, _listed(file.include)), *over.get("include", ())],
            "prices": self._below(file.prices, ("prices",)) if isinstance(file.prices, str) else file.prices,
            "trust_code": self._trust,
        }
        max_cost = over.get("max_cost", file.max_cost)
        over = {name: value for name, value in over.items() if name not in ("max_cost", "include")}
        tasks = self._tasks()
        models = [one if isinstance(one, ModelEntry) else ModelEntry(model=one) for one in file.models]
        entries = []
        for place, model in enumerate(models):
            own = _given(model, ("model", "name"))
            own["model_args"] = self._harmless(model.model_args, ("models", place, "model_args"))
            starts = tuple(
                TaskSet(names, _laid_over(_laid_over(_laid_over(whole, asked), own), over)) for names, asked in tasks
            )
            name = folder_name(model.name or model.model, over.get("shard", ""))
            entries.append(SuiteModel(name, model.model, starts))
        refuse_shared_folders(entries, f"give one of them a `name:` of its own in {self._where}")
        parent = output_path or Path("runs") / folder_name(self._path.stem)
        return Suite(parent, tuple(entries), over.get("prices", whole["prices"]), max_cost, self._path)

    def _tasks(self) -> list[tuple[str, dict[str, Any]]]:
        """Names, with what is asked of them alone. Those without settings of their own are one start."""
        listed = [self._file.tasks] if isinstance(self._file.tasks, str) else self._file.tasks
        plain: list[str] = []
        found: list[tuple[str, dict[str, Any]]] = []
        for place, one in enumerate(listed):
            keys = ("tasks", place)
            if isinstance(one, str):
                plain += self._named(one, keys)
            else:
                found.append((",".join(self._named(one.task, (*keys, "task"))), self._asked(one, keys)))
        return [*([(",".join(plain), {})] if plain else []), *found]

    def _named(self, names: str | list[str], keys: Keys) -> list[str]:
        """Where a task is named by a file, that is found from where the run file lies, as all others are."""
        return [
            str(self._below(name, keys, "put it beside the run file")) if "/" in name or Path(name).suffix else name
            for name in map(str.strip, _listed(names))
        ]

    def _asked(self, block: Asked, keys: Keys) -> dict[str, Any]:
        asked = _given(block, ("models", "tasks", "task", *_OF_THE_FILE))
        if block.data is not None:
            asked["data"] = self._below(block.data, (*keys, "data"))
        for name, value in block.task_args.items():
            if isinstance(value, str) and (value[:1] in ("/", "~") or ".." in Path(value).parts):
                self._refuse((*keys, "task_args", name), "leads out of its folder", _GIVE.format("task-args"))
        return asked

    def _included(self, name: str) -> Path:
        if name.endswith(".py") and not self._trust:
            self._refuse(("include",), "names code", _TRUST)
        return self._below(name, ("include",))

    def _below(self, name: str, keys: Keys, hint: str = "") -> Path:
        """A file or folder that a run file names, from where it lies: of this machine it reaches its own folder."""
        path = self._folder / name
        inside = "\0" not in name and path.resolve().is_relative_to(self._folder.resolve())
        if not inside or any(part.startswith(".") for part in Path(name).parts):
            self._refuse(keys, "leads out of its folder", hint or _GIVE.format(keys[-1]))
        return path

    def _harmless(self, arguments: Mapping[str, Any], keys: Keys) -> dict[str, Any]:
        for name in _RUN_CODE:
            if arguments.get(name) and not self._trust:
                self._refuse((*keys, name), "has code run", _TRUST)
        return dict(arguments)

    def _refuse(self, keys: Keys, why: str, hint: str) -> NoReturn:
        raise BadInput(f"{self._where}{self._lines.told(keys)}: {dotted(keys)} {why}", hint)


_OF_THE_FILE = ("seed", "judge", "judge_args", "concurrency", "include", "prices", "max_cost")


def _given(block: Asked | ModelEntry, without: Iterable[str]) -> dict[str, Any]:
    values = {name: getattr(block, name) for name in block.__struct_fields__ if name not in without}
    return {name: value for name, value in values.items() if value not in (None, {})}


def _laid_over(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """The nearer word goes; of arguments, argument by argument."""
    merged = {name: {**under.get(name, {}), **over[name]} for name in _MERGED if isinstance(over.get(name), Mapping)}
    return {name: value for name, value in {**under, **over, **merged}.items() if value is not None}


def _listed(names: str | list[str]) -> list[str]:
    return names.split(",") if isinstance(names, str) else names
