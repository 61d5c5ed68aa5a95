"""Run files: several models and the tasks that each of them runs, in YAML.

The keys are the settings of a run and mean the same. Settings of one invocation (`--fresh`, `--cache`,
`--trust-code`, where results go…) are given on the command line: an untrusted file must not delete, write
elsewhere or run code. So a run file reads only in its own folder, writes only in the folder that the command line
names, runs no code and holds no key. It is checked before anything of it is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

from msgspec import Meta, Struct, defstruct

from sketchmark.errors import BadInput
from sketchmark.files.yaml import checked, dotted, line_of, load
from sketchmark.secrets import keys_in, texts_in
from sketchmark.settings import Prices, Shard, default_folder, fields, pair_name, split_names

OF_THE_COMMAND = frozenset(field.name for field in fields("C") if not set("FTM") & set(field.about.where))
"""Settings that are not keys: they are for the person who starts the run."""

Names = str | list[str]
"""One name, several with commas, or a list."""

_TYPES: dict[str, Any] = {
    "text": str,
    "whole": int,
    "number": float,
    "limit": int | float,
    "names": Names,
    "words": Names,
    "arguments": dict[str, Any],
    "path": str,
    "paths": Names,
    "prices": str | dict[str, dict[str, float]],
    "model": str,
    "batch size": int | str,
}
"""The kind of a setting → its type in a run file."""

FolderName = Annotated[
    str, Meta(extra={"pattern": r"[A-Za-z0-9_\-][A-Za-z0-9_.\-]{0,99}", "written as": "letters, digits, _ . and -"})
]


def _block(name: str, where: str, own: list[tuple[str, Any] | tuple[str, Any, Any]]) -> Any:
    """Make the type of a mapping in a run file: its own keys, and the settings that have a place there."""
    settings: list[tuple[str, Any, Any]] = []
    taken = {"model", "tasks", *(key[0] for key in own)}
    for field in fields(where):
        kind = _TYPES[field.kind]
        if field.bounds != Meta():
            kind = Annotated[kind, field.bounds]
        if field.name not in taken:
            settings.append((field.name, kind, {}) if field.kind == "arguments" else (field.name, kind | None, None))
    return defstruct(name, [*own, *settings], frozen=True, kw_only=True, forbid_unknown_fields=True)


def _entries(kind: Any) -> Any:
    listed: Any = list  # for mypy, which takes `list[kind]` for a type that it should know
    return Annotated[listed[str | kind], Meta(min_length=1)]


TaskEntry = _block("TaskEntry", "T", [("task", Names)])
"""Tasks with their own settings, which override those of the file."""

ModelEntry = _block("ModelEntry", "M", [("model", str), ("name", FolderName | None, None)])
"""A model with its own settings, which override those of its tasks and of the file. `name` is that of its folder."""

RunFile = _block("RunFile", "F", [("models", _entries(ModelEntry)), ("tasks", str | _entries(TaskEntry))])
"""Models, and the tasks that each of them runs."""


@dataclass(frozen=True)
class TaskSet:
    """Tasks of a model that share their settings."""

    tasks: str
    options: Mapping[str, Any]
    """As `sketchmark.run` takes them."""


@dataclass(frozen=True)
class SuiteModel:
    """A model of a run file and its sets of tasks, which share one run folder."""

    name: str
    """Name of the folder."""

    model: str
    starts: tuple[TaskSet, ...]
    drawer: str = ""

    @property
    def shown(self) -> str:
        """Its model, with the drawer if there is one."""
        return pair_name(self.model, self.drawer)


@dataclass(frozen=True)
class NamedVariable:
    """An environment variable that a run file names as the key of a model."""

    model: str
    name: str
    where: str
    """Its place in the file, for an error."""


@dataclass(frozen=True)
class Suite:
    parent: Path
    entries: tuple[SuiteModel, ...]
    prices: Prices = None
    max_cost: float | None = None
    """Cost limit of all models together, per invocation."""

    file: Path | None = None
    """The run file, or None for models named on the command line."""

    variables: tuple[NamedVariable, ...] = ()
    """Environment variables that the file names."""

    allowed: tuple[str, ...] = ()
    """Variables that the command line lets it name."""

    def path(self, entry: SuiteModel) -> Path:
        return self.parent / entry.name

    @property
    def prices_file(self) -> Path | str | None:
        """The file that holds the prices."""
        return self.file if isinstance(self.prices, Mapping) else self.prices


def of_models(models: Sequence[str], tasks: str, output_path: Path | None, **options: Any) -> Suite:
    """Make a suite of `--model a,b`: the same tasks for each, in the folder that each has in a single run."""
    prices, max_cost = options.get("prices"), options.pop("max_cost", None)
    shard, drawer = options.get("shard", ""), options.get("drawer") or ""
    found = [
        SuiteModel(folder_name(pair_name(model, drawer), shard), model, (TaskSet(tasks, options),), drawer)
        for model in models
    ]
    refuse_shared_folders(
        found, "name every model once; a run file gives two of one name different folders by `name:`"
    )
    return Suite(output_path or default_folder("model").parent, tuple(found), prices, max_cost)


def folder_name(model: str, shard: str = "") -> str:
    """Return the folder name that a single run of this model has. It never leads out of the parent folder."""
    name = default_folder(model, Shard.parse(shard) if shard else None).name
    return name.lstrip(".") or "model"


def refuse_shared_folders(entries: Iterable[SuiteModel], hint: str) -> None:
    """Refuse two models in one folder, which would be one run. Some file systems ignore upper and lower case."""
    seen: dict[str, SuiteModel] = {}
    for entry in entries:
        other = seen.setdefault(entry.name.lower(), entry)
        if other is not entry:
            raise BadInput(f"{other.shown} and {entry.shown} would share the run folder {entry.name}", hint)


_RUN_CODE = ("code", "trust_remote_code")
"""Arguments of models that run the code that comes with their weights."""

_GIVE = "give --{} on the command line"
_TRUST = f"{_GIVE.format('trust-code')}, if you trust it"

_MERGED = ("task_args", "gen_kwargs")

Keys = tuple[object, ...]


def read_suite(path: Path, output_path: Path | None = None, *, trust_code: bool = False, **over: Any) -> Suite:
    """Read a run file. `over` are settings that override it, as `sketchmark.run` takes them."""
    if path.suffix not in (".yaml", ".yml"):
        raise BadInput(f"{path} is not a run file", "a run file is YAML; tasks are named with --tasks")
    config = load(path, "run file")
    where = f"run file {path}"
    config = _with_models(config, where)
    if "models" not in config and {"source", "modes", "dataset_path", "scorers"} & config.keys():
        raise BadInput(f"{path} is a task file", f"run it with --include {path} --tasks {path.stem}")
    for key in keys_in({str(name): value for name, value in config.items()}):
        raise BadInput(
            f"{where}, line {line_of(path, _keys(key))}: {dotted(_keys(key))} is a key or looks like one",
            "keys stand in the environment, never in a run file: api_key_env: NAME names the variable",
        )
    for keys, block in _blocks(config):
        for name in [key for key in block if key in OF_THE_COMMAND]:
            raise BadInput(
                f"{where}, line {line_of(path, (*keys, name))}: {dotted((*keys, name))} is not for a run file to say",
                f"give it on the command line: --{name.replace('_', '-')}",
            )
    found = checked(config, RunFile, where, line_of=partial(line_of, path))
    return _File(path, found, where, trust_code).suite(output_path, over)


def _with_models(config: dict[Any, Any], where: str) -> dict[Any, Any]:
    """Accept `model:` for `models:`, and one model for a list of them; names may have commas between them."""
    if "model" in config and "models" in config:
        raise BadInput(f"{where} has both model: and models:", "name all models under models:")
    key = "model" if "model" in config else "models"
    if key not in config or not isinstance(config[key], (str, Mapping)):
        return {("models" if name == "model" else name): value for name, value in config.items()}
    one = config[key]
    listed = list(split_names(one)) if isinstance(one, str) else [one]
    return {("models" if name == key else name): (listed if name == key else value) for name, value in config.items()}


def _keys(dotted: str) -> Keys:
    return tuple(int(key) if key.isdecimal() else key for key in dotted.split("."))


def _blocks(config: Mapping[Any, Any]) -> Iterator[tuple[Keys, Mapping[Any, Any]]]:
    """Find the mappings that hold settings: the file and its entries."""
    yield (), config
    for key in ("models", "tasks"):
        listed = config.get(key)
        for place, one in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(one, Mapping):
                yield (key, place), one


class _File:
    """A run file of the right shape, to be made into a `Suite`."""

    def __init__(self, path: Path, file: Any, where: str, trust_code: bool) -> None:
        self._path, self._folder, self._file = path, path.parent, file
        self._where, self._trust = where, trust_code

    def suite(self, output_path: Path | None, over: Mapping[str, Any]) -> Suite:
        whole = {**self._settings(self._file, ()), "trust_code": self._trust}
        max_cost = over.get("max_cost", whole.pop("max_cost", None))
        whole["include"] = [*whole.get("include", ()), *over.get("include", ())]
        over = {name: value for name, value in over.items() if name not in ("max_cost", "include")}
        tasks = self._tasks()
        entries = []
        for place, one in enumerate(self._file.models):
            model = ModelEntry(model=one) if isinstance(one, str) else one
            own = self._settings(model, ("models", place))
            starts = tuple(
                TaskSet(names, _laid_over(_laid_over(_laid_over(whole, asked), own), over)) for names, asked in tasks
            )
            drawer = own.get("drawer", whole.get("drawer", ""))
            name = folder_name(model.name or pair_name(model.model, drawer), over.get("shard", ""))
            entries.append(SuiteModel(name, model.model, starts, drawer))
        refuse_shared_folders(entries, f"give one of them another `name:` in {self._where}")
        parent = output_path or Path("runs") / folder_name(self._path.stem)
        prices, allowed = over.get("prices", whole.get("prices")), split_names(over.get("allow_env") or ())
        return Suite(parent, tuple(entries), prices, max_cost, self._path, tuple(self._variables()), allowed)

    def _variables(self) -> Iterator[NamedVariable]:
        """Find the arguments that name environment variables, such as `api_key_env: A|B`."""
        whole = self._file
        blocks: list[tuple[str, Mapping[str, Any], Keys]] = [
            (whole.judge or "", whole.judge_args, ("judge_args",)),
            (whole.drawer or "", whole.drawer_args, ("drawer_args",)),
        ]
        for place, one in enumerate(whole.models):
            if not isinstance(one, str):
                blocks.append((one.model, one.model_args, ("models", place, "model_args")))
                drawer = one.drawer or whole.drawer or ""
                blocks.append((drawer, one.drawer_args, ("models", place, "drawer_args")))
        for model, arguments, keys in blocks:
            for name, value in arguments.items():
                if name.endswith("_env") and value:
                    where = f"{self._where}, line {line_of(self._path, (*keys, name))}: {dotted((*keys, name))}"
                    yield from (NamedVariable(model, one.strip(), where) for one in str(value).split("|"))

    def _tasks(self) -> list[tuple[str, dict[str, Any]]]:
        """List tasks with their own settings. Those without any come first, together."""
        listed = [self._file.tasks] if isinstance(self._file.tasks, str) else self._file.tasks
        plain: list[str] = []
        found: list[tuple[str, dict[str, Any]]] = []
        for place, one in enumerate(listed):
            keys = ("tasks", place)
            if isinstance(one, str):
                plain += self._named(one, keys)
            else:
                found.append((",".join(self._named(one.task, (*keys, "task"))), self._settings(one, keys)))
        return [*([(",".join(plain), {})] if plain else []), *found]

    def _named(self, names: str | list[str], keys: Keys) -> list[str]:
        """Find a task that is named by a file from the run file's folder, as all other files."""
        listed = names.split(",") if isinstance(names, str) else names
        return [
            str(self._below(name, keys, "put it next to the run file")) if "/" in name or Path(name).suffix else name
            for name in map(str.strip, listed)
        ]

    def _settings(self, block: Struct, keys: Keys) -> dict[str, Any]:
        """Return the settings of a mapping, as `sketchmark.run` takes them, if they are harmless."""
        found: dict[str, Any] = {}
        for field in fields("P"):
            value = getattr(block, field.name, None)
            if value is None or value == {} or field.name in ("model", "tasks"):
                continue
            found[field.name] = self._harmless(field.name, value, (*keys, field.name))
        return found

    def _harmless(self, name: str, value: Any, keys: Keys) -> Any:
        if name == "include":
            return [self._included(one) for one in split_names(value)]
        if name in ("data", "prices") and isinstance(value, str):
            return self._below(value, keys)
        if name in ("model_args", "drawer_args", "judge_args", "extractor_args") and not self._trust:
            for argument in _RUN_CODE:
                if value.get(argument):
                    self._refuse((*keys, argument), "has code run", _TRUST)
        if name == "task_args":
            for argument, given in value.items():
                if any(path[:1] in ("/", "~") or ".." in Path(path).parts for path in texts_in(given)):
                    self._refuse((*keys, argument), "leads out of its folder", _GIVE.format("task-args"))
        return value

    def _included(self, name: str) -> Path:
        if name.endswith(".py") and not self._trust:
            self._refuse(("include",), "names code", _TRUST)
        return self._below(name, ("include",))

    def _below(self, name: str, keys: Keys, hint: str = "") -> Path:
        """Find a file that a run file names, from the run file's folder. It must be in that folder."""
        path = self._folder / name
        inside = "\0" not in name and path.resolve().is_relative_to(self._folder.resolve())
        if not inside or any(part.startswith(".") for part in Path(name).parts):
            self._refuse(keys, "leads out of its folder", hint or _GIVE.format(keys[-1]))
        return path

    def _refuse(self, keys: Keys, why: str, hint: str) -> NoReturn:
        raise BadInput(f"{self._where}, line {line_of(self._path, keys)}: {dotted(keys)} {why}", hint)


def _laid_over(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Let the nearer setting win. Arguments are merged one by one."""
    merged = {name: {**under.get(name, {}), **over[name]} for name in _MERGED if isinstance(over.get(name), Mapping)}
    return {name: value for name, value in {**under, **over, **merged}.items() if value is not None}
