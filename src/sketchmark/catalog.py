"""The catalog: tasks and models by name, built in, from installed plug-ins, and from paths given with --include.

A task is a YAML file whose name is the task's name; a group is a YAML file with `group:` and `tasks:`. Names match
without regard to case, dashes and underscores (`VQA-RAD` is `vqa_rad`). A name that ends in a mode
(`maze_visual_cot`) selects that mode. Included files of lmms-eval's shape are also known by their `task:` and by
their group or tag. `uni_mmmu*` selects all matching tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sketchmark.benchmarks.questions import SOURCE, SUFFIXES, is_questions, task_name
from sketchmark.episode.model import Model
from sketchmark.errors import BadInput, UnknownName
from sketchmark.lmms_eval import (
    LmmsTasks,
    is_group,
    is_lmms_eval,
    may_be_a_task,
    members_of,
    mode_in,
    name_of,
    read_config,
    wants_a_group_score,
)
from sketchmark.lmms_eval.shape import our_config
from sketchmark.models import Registry, Understood, meant_by, suggestion, understood
from sketchmark.tasks import Task, TaskOptions
from sketchmark.tasks.files import (
    FILE_MODES,
    MODES,
    Unread,
    built_in_files,
    drawing_modes,
    in_words,
    is_built_in,
    read_built_in,
    task_files_in,
    yaml_files,
)
from sketchmark.tasks.imports import Notify, unheard
from sketchmark.tasks.names import CodeNames, IncludedFiles, defines_world
from sketchmark.worlds import Worlds, installed_task_files, task_files

Found = TypeVar("Found")

_QUESTIONS = Path(__file__).parent / "benchmarks" / "questions" / "_questions.yaml"
"""The task file that runs and scores any question file."""

_WORLDS = Path(__file__).parent / "worlds"
_HARD = "_hard"
"""End of the name of a world's task with its hardest samples."""
_MOST_GROUPS = 20
"""Maximum depth of groups in groups."""


@dataclass(frozen=True)
class Pick:
    """A requested task, and the mode that its name selects, if any."""

    task: str
    mode: str | None = None


class Catalog:
    """All tasks and models in reach. Built once per command; reads YAML only when a task is opened."""

    def __init__(self, include: tuple[Path, ...] = (), trust_code: bool = False, notify: Notify = unheard) -> None:
        """Find all task files. `notify` receives notices for the user, such as which code runs."""
        self._notify = notify
        self._trust = trust_code
        self._models = Registry()
        self._tagged: dict[str, list[str]] = {}
        self._foreign: set[Path] = set()
        self._unread: dict[str, Unread] = {}
        self._without_score: list[str] = []
        self._code = IncludedFiles(notify)
        self._files = {path.stem.lower(): path for path in built_in_files()}
        for point in metadata.entry_points(group="sketchmark.tasks"):
            self._files |= {path.stem.lower(): path for path in yaml_files(Path(str(point.load())))}
        self._files |= {path.stem.lower(): path for path in installed_task_files()}
        self._tag_worlds([*yaml_files(_WORLDS), *installed_task_files()])
        for path in include:
            self._include(path)
        self.worlds = Worlds(self._code.worlds())

    def _tag_worlds(self, files: Sequence[Path]) -> None:
        """Put the tasks of worlds into the groups `worlds` and `worlds_hard`."""
        for stem in (path.stem for path in files):
            group = f"{_WORLDS.name}{_HARD}" if stem.endswith(_HARD) else _WORLDS.name
            members = self._tagged.setdefault(group, [])
            members += [stem] if stem not in members else []

    @cached_property
    def _lmms(self) -> LmmsTasks:
        return LmmsTasks(self._trust, self._notify)

    def _include(self, path: Path) -> None:
        """Add a path. A .py file given by the user runs. Python inside a folder runs only when a task needs it,
        and only with --trust-code."""
        if not path.exists():
            raise BadInput(f"--include {path}: no such file or folder")
        if path.suffix == ".py":
            self._models.add(self._code.run(path))
            files = task_files(path) if defines_world(path) else []
            self._include_files(files)
            self._tag_worlds(files)
            return
        if path.is_file():
            _check(path)
            self._include_files([path])
            return
        readable = []
        for file, seen in task_files_in(path, may_be_a_task):
            try:
                _check(file)
                readable.append(file)
            except BadInput as error:
                self._keep(Unread.of(file, seen, error))
        self._include_files(readable)
        if self._trust:
            self._code.trust(path)

    def _keep(self, one: Unread) -> None:
        """Remember a file that cannot be read, so that its names and labels select no other file instead."""
        for name in one.names:
            self._files.pop(name.lower(), None)
            self._unread[name.lower()] = one
        for label in one.labels:
            self._tagged.setdefault(label.lower(), []).append(one.names[0])

    def _include_files(self, files: Sequence[Path]) -> None:
        """Add task files. A `task:` name in a file takes precedence over file names."""
        self._files |= {file.stem.lower(): file for file in files}
        self._foreign |= set(files)
        for file in files:
            self._include_names(file)

    def _include_names(self, file: Path) -> None:
        config = read_config(file)
        named = config.get("task")
        if isinstance(named, str):
            self._files[named.lower()] = file
            for label in (*_listed(config.get("group")), *_listed(config.get("tag"))):
                self._tagged.setdefault(label.lower(), []).append(named)
        elif isinstance(named, list) and "group" in config:
            self._files[str(config["group"]).lower()] = file

    def task_names(self) -> list[str]:
        return sorted({name_of(path) for path in self._files.values() if not is_group(read_config(path))})

    def summary(self, name: str) -> dict[str, Any]:
        """Return what a listing needs, without importing the task's code."""
        config = read_config(self._files[name.lower()])
        if is_lmms_eval(config):
            config = {"modes": drawing_modes(self._files[name.lower()].parent)}
        return {
            "modes": list(config.get("modes", ["direct"])),
            "about": str(config.get("about", "")).strip(),
            "generated": "default_limit" in config,
        }

    def family(self, name: str) -> str:
        """Return the name of the folder of a task's file. The built-in worlds are one family."""
        path = self._files[name.lower()]
        return _WORLDS.name if path.is_relative_to(_WORLDS) else path.parent.name

    def group_names(self) -> list[str]:
        files = {_group_name(path) for path in self._files.values() if is_group(read_config(path))}
        return sorted(files | set(self._tagged))

    def unread(self, wanted: Callable[[str], bool]) -> list[Unread]:
        """Return the files of included folders that cannot be read and have such a name."""
        found = {one.file: one for one in self._unread.values() if any(map(wanted, one.names))}
        return sorted(found.values(), key=lambda one: one.file)

    def group_members(self, name: str) -> list[str]:
        path = self._files.get(name.lower())
        config = read_config(path) if path else {}
        return members_of(config) if is_group(config) else self._tagged[name.lower()]

    def pick(self, names: str) -> list[Pick]:
        """Resolve `maze,mmsi_visual_cot` into tasks, with groups opened and duplicates removed."""
        picks: dict[Pick, None] = {}
        self._without_score.clear()
        for name in filter(None, (part.strip() for part in names.split(","))):
            for pick in self._picks(name):
                picks[pick] = None
        if not picks:
            raise BadInput("no task named", "give --tasks, for example --tasks maze,sliding")
        if self._without_score:
            names = ", ".join(self._without_score)
            self._notify(f"{names}: each task has its score, the group has none (aggregate_metric_list)")
        return list(picks)

    def _file(self, name: str) -> Path | None:
        """Return the task file of that name, as written or else with dashes and case ignored. A file that cannot
        be read raises its error."""
        if name.lower() in self._files:
            return self._files[name.lower()]
        unread = self._unread.get(name.lower())
        if unread is None and (path := _alike(name, self._files)):
            return path
        if unread := unread or _alike(name, self._unread):
            raise unread.error
        return None

    def _aliased(self, name: str) -> Path | None:
        """Return the task file with this alias. It is searched last, so that an alias hides no other name."""
        return next((path for path in self._files.values() if _bare(name) in map(_bare, _aliases(path))), None)

    def _picks(self, name: str, inside: tuple[str, ...] = ()) -> list[Pick]:
        """Resolve one name. `inside` are the groups that lead to it."""
        if Path(name).suffix and is_questions(name):
            return [Pick(name)]
        if name in inside or len(inside) > _MOST_GROUPS:
            raise BadInput(f"group {inside[0]!r} contains itself: {' → '.join([*inside, name][:8])}")
        path = self._file(name)
        members = self._tagged.get(name.lower())
        if path is not None:
            file = _opened(path)
            if file.members is None:
                return [Pick(file.name, file.mode)]
            members = file.members
            if not is_built_in(path) and wants_a_group_score(file.config):
                self._without_score.append(name)
        if members is not None:
            return [pick for member in members for pick in self._picks(member, (*inside, name))]
        if any(sign in name for sign in "*?["):
            return [pick for fitting in self._fitting(name) for pick in self._picks(fitting, (*inside, name))]
        for mode in MODES:
            if name.lower().replace("-", "_").endswith(f"_{mode}"):
                return [Pick(pick.task, mode) for pick in self._picks(name[: -len(mode) - 1], inside)]
        if (aliased := self._aliased(name)) is not None:
            return [Pick(name_of(aliased))]
        raise UnknownName(f"no task or group named {name!r}", self._suggest(name, list(self._files)))

    def _fitting(self, pattern: str) -> list[str]:
        """Return the tasks that match a pattern; groups only if no task matches, because their tasks would appear
        twice."""
        unread = self.unread(lambda name: fits(name, pattern))
        for known in (self.task_names(), self.group_names()):
            if found := [name for name in known if fits(name, pattern)]:
                if unread:
                    self._notify(f"{pattern}: without what could not be read, {in_words(unread)}")
                return found
        if unread:
            raise unread[0].error
        known = [*self.task_names(), *self.group_names()]
        raise UnknownName(f"no task or group fits {pattern!r}", near_misses(pattern, known))

    def task(self, name: str, choices: TaskOptions | None = None, arguments: Mapping[str, Any] | None = None) -> Task:
        if Path(name).suffix.lower() in SUFFIXES:
            return _with_arguments(_questions(Path(name), choices), arguments)
        path = self._file(name) or self._aliased(name)
        if path is None:
            raise UnknownName(f"no task named {name!r}", self._suggest(name, list(self._files)))
        file = _opened(path)
        code = CodeNames(
            self._code, path.parent, anywhere=self._trust or path not in self._foreign, worlds=self.worlds
        )
        if file.members is not None:
            raise BadInput(f"{name!r} is a group", f"its tasks are: {', '.join(file.members)}")
        config: Mapping[str, Any] = file.config
        if not is_built_in(path):
            if is_lmms_eval(config):
                config, code = self._lmms.adopt(path, choices.model if choices else "")
            else:
                config = our_config(path)
        found = Task(file.name, config, choices, code, path.parent)
        code.refuse_foreign(name, found.declared)
        return _with_arguments(found, arguments)

    def played(self, name: str, source: Mapping[str, Any], data: Path | None = None) -> Task:
        """Return the task of an existing run's cell, for scoring. A question file need not exist any more, because
        all are scored alike, unless an included task file says otherwise. A file of lmms-eval's shape is scored by
        its documents, which are read from `data`."""
        if source.get("use") == SOURCE and self._file(name) not in self._foreign:
            return Task(name, read_config(_QUESTIONS))
        task = self.task(name)
        if is_lmms_eval(read_config(self._file(name) or _QUESTIONS)):
            self._lmms.read_from(task, data)
        return task

    def model_names(self) -> list[str]:
        return sorted({*self._models.names(), *self._code.classes()})

    def understood(
        self, model: str, arguments: Mapping[str, Any], drawer: str, drawer_args: Mapping[str, Any]
    ) -> Understood:
        """Resolve another tool's name of a model, and report how it was understood."""
        found = understood(model, arguments, drawer, drawer_args)
        if found.told:
            self._notify(found.told)
        return found

    def model(self, name: str, arguments: Mapping[str, Any] | None = None) -> Model:
        """Return a model by name: built in, installed, or defined in a file that the user includes."""
        provider = meant_by(name).provider
        if not self._models.knows(provider) and (defining := self._code.defining(provider.lower())):
            self._models.add(defining)
        return self._models.model(
            name, arguments, lambda unknown: self._suggest(unknown, self.model_names()), self.worlds
        )

    def _suggest(self, name: str, known: list[str]) -> str:
        if "/" in name or Path(name).suffix:
            return f"a file of questions ends in {', '.join(SUFFIXES)}; a task file is named by --include"
        return suggestion(name, known)


def fits(name: str, pattern: str) -> bool:
    """Match as in a shell, without regard to case: `uni_mmmu*`."""
    return fnmatchcase(name.lower(), pattern.lower())


def near_misses(pattern: str, known: Sequence[str]) -> str:
    """Suggest the most similar names for a pattern that matches nothing."""
    letters = "".join(sign for sign in pattern.lower() if sign not in "*?[]!")
    begins = {name.lower()[: len(letters)]: name for name in known}
    close = get_close_matches(letters, [*map(str.lower, known), *begins], n=3)
    named = dict.fromkeys(begins.get(one, one) for one in close)
    return f"did you mean {' or '.join(named)}?" if named else "see `sketchmark list tasks` and `list models`"


def _listed(labels: str | list[str] | None) -> list[str]:
    return [labels] if isinstance(labels, str) else labels or []


class _Opened(NamedTuple):
    """A task file or group file: its name, the mode that the name implies, and a group's members."""

    config: Mapping[str, Any]
    name: str
    mode: str | None
    members: list[str] | None


def _opened(path: Path) -> _Opened:
    """Open a file. A built-in one has our own shape; another may have lmms-eval's."""
    if is_built_in(path):
        config = read_built_in(path)
        mode = next((mode for mode in FILE_MODES if path.stem.endswith(f"_{mode}")), None)
        return _Opened(config, path.stem, mode, config.get("tasks"))
    config, name = read_config(path), name_of(path)
    return _Opened(config, name, mode_in(name, config), members_of(config) if is_group(config) else None)


def _check(file: Path) -> None:
    """Check a file and its drawing prompts."""
    if is_lmms_eval(read_config(file)):
        drawing_modes(file.parent)


def _group_name(path: Path) -> str:
    """Return a group's name. Our group files have the file's name, lmms-eval's the value of `group:`."""
    config = read_config(path)
    return path.stem if "tasks" in config else str(config["group"])


def _aliases(path: Path) -> list[str]:
    """Return the aliases of a task file; lmms-eval's files have none."""
    config = read_config(path)
    return [] if is_lmms_eval(config) else config.get("aliases", [])


def _questions(path: Path, choices: TaskOptions | None) -> Task:
    """Return a question file as a task. The file is read when samples are needed: a worker elsewhere receives
    samples and has no such file."""
    config = read_config(_QUESTIONS)
    source = {**config["source"], "file": path.name}
    about = f"Questions of your own, from {path.name}."
    return Task(task_name(path), {**config, "source": source, "about": about}, choices, folder=path.parent)


def _with_arguments(task: Task, arguments: Mapping[str, Any] | None) -> Task:
    if not arguments:
        return task
    return task.with_source(_checked(task, arguments))


def _alike(name: str, known: Mapping[str, Found]) -> Found | None:
    return next((found for other, found in known.items() if _bare(other) == _bare(name)), None)


def _bare(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


_KINDS: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,)}


def _checked(of: Task, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Check arguments against the annotations of the task's data source."""
    task, parameters = of.name, of.source_parameters()
    of_the_file = ("file", "instructions") if of.declared.source["use"] == SOURCE else ()
    for inner in ("seed", "data", "origin", "limit", "beside", *of_the_file):
        parameters.pop(inner, None)
    checked: dict[str, Any] = {}
    for name, value in arguments.items():
        if name not in parameters:
            raise BadInput(f"task {task!r} takes no argument {name}", f"it takes: {', '.join(sorted(parameters))}")
        kind = parameters[name].annotation
        kind = kind if isinstance(kind, str) else getattr(kind, "__name__", "")
        if kind in _KINDS and (not isinstance(value, _KINDS[kind]) or (isinstance(value, bool) and kind != "bool")):
            raise BadInput(f"task {task!r}: {name}={value} is not of the kind {kind}")
        checked[name] = str(value) if kind == "str" else value
    return checked
