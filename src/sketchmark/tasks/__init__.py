"""Tasks: data, protocols by mode, scorers and what is reported. Declared in YAML (docs/add-a-task.md)."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from sketchmark.episode import Aggregator, Combiner, Episode, Scorer, Settler, Total, rules_of
from sketchmark.episode.model import Options
from sketchmark.episode.protocol import PROTOCOLS, FilledPrompts, Protocol
from sketchmark.episode.sample import Draft, Drafts, Sample
from sketchmark.errors import BadInput, MissingExtra, UnknownName
from sketchmark.files.yaml import checked
from sketchmark.tasks.files import BLIND, lineage, merged
from sketchmark.tasks.names import CodeNames, by_alias, is_code
from sketchmark.tasks.published import FILE, Published, published_beside
from sketchmark.tasks.schema import ModeBlock, Settings, TaskFile
from sketchmark.worlds import World, refuse_training_seed

RA_AL = "ra-al"
"""The scoring that every task has: does the drawing follow the reasoning, and the answer the drawing? It uses
stored drawings and is reported next to a run's own scores (`sketchmark score RUN --scoring ra-al`)."""

_GENERATION = ("max_new_tokens", "temperature", "seed")


Guesser = Callable[[Sample], Sequence[str]]
"""(sample) -> the replies that a guesser chooses among."""

SubmissionWriter = Callable[[Iterable[Episode], Path], list[Path]]
"""(episodes, folder) -> the files it wrote."""

RepliesReader = Callable[[Mapping[str, Any]], Sample | None]
"""(row of a file of replies) -> the sample that the row holds; None if it holds none and the data are needed."""


@dataclass(frozen=True)
class TaskOptions:
    """Choices for a whole run: prompt set, model name for per-model prompts, step counting."""

    prompts: str = ""
    model: str = ""
    steps: str = "truth"


@dataclass(frozen=True)
class Mode:
    """One mode of a task: a protocol, its prompts, its settings."""

    name: str
    protocol_name: str
    protocol: Protocol
    prompts: Mapping[str, Any]
    settings: Mapping[str, Any]
    in_words: bool
    saying: Options
    drawing: Options
    blind: bool = False
    """No image of a sample is shown."""

    def fill(self, sample: Sample, steps: str) -> FilledPrompts:
        return FilledPrompts(sample, self.prompts, steps, self.settings, self.blind)

    def describe(self) -> dict[str, Any]:
        """Return everything that shapes the requests of this mode, for run.json and for noticing a change."""
        return {
            "protocol": self.protocol_name,
            "prompts": dict(self.prompts),
            "settings": dict(self.settings),
            "in_words": self.in_words,
            "saying": self.saying.key(),
            "drawing": self.drawing.key(),
            "blind": self.blind,
        }


class Task:
    """A task as its YAML file declares it. `config` is that file with its includes merged."""

    def __init__(
        self,
        name: str,
        config: Mapping[str, Any],
        choices: TaskOptions | None = None,
        code: CodeNames | None = None,
        folder: Path | None = None,
    ) -> None:
        """Check the config. `folder` is the folder of its file, which may also hold published scores."""
        self.name = name
        self.folder = folder
        self.config = config
        self.choices = choices or TaskOptions()
        self.declared = file = checked(config, TaskFile, f"task {name!r}")
        self._code = code or CodeNames()
        self.about = file.about.strip()
        self.headline = file.headline
        self.less_is_better = file.less_is_better
        self.breakdown = file.breakdown
        if not file.source or not file.modes:
            raise BadInput(
                f"task {name!r} needs `source` and `modes`",
                "source: {use: 'module:name'} makes samples, modes: {direct: {protocol: direct, …}} runs them",
            )
        if (alias := by_alias(file.source["use"])) != file.source["use"]:
            self.config = {**config, "source": {**config["source"], "use": alias}}
            self.declared = file = checked(self.config, TaskFile, f"task {name!r}")
        _check_mode_names(name, file)
        self.prompt_sets = {"default", *file.prompt_sets}
        if file.default_prompts not in {"", *self.prompt_sets}:
            raise BadInput(f"task {name!r}: default_prompts: there is no prompt set {file.default_prompts!r}")
        if self.choices.prompts and self.choices.prompts not in self.prompt_sets:
            raise UnknownName(
                f"task {name!r} has no prompt set {self.choices.prompts!r}",
                f"there are: {', '.join(sorted(self.prompt_sets))}",
            )

    def world_of(self, sample: Sample) -> World | None:
        return self._code.worlds.of(sample.target)

    @property
    def modes(self) -> list[str]:
        """The modes of the file, and `blind` if `direct` is one of them."""
        declared = self.declared.modes
        return list(dict.fromkeys((*declared, *[BLIND] * ("direct" in declared))))

    def mode(self, name: str) -> Mode:
        file, where = self.declared, f"task {self.name!r}"
        if name not in self.modes:
            raise UnknownName(f"{where} has no mode {name!r}", f"it has: {', '.join(self.modes)}")
        if name == BLIND and name not in file.modes:
            return replace(self.mode("direct"), name=BLIND, blind=True)
        block = self._block(name)
        kwargs = merged(file.lmms_eval_specific_kwargs, block.lmms_eval_specific_kwargs)
        chosen = file.prompt_sets.get(self.choices.prompts or file.default_prompts, {}).get(name, {})
        prompts = {
            **_plain(block.prompts),
            **kwargs.get("default", {}),
            **_plain(chosen),
            **for_model(kwargs, self.choices.model),
        }
        if self.choices.steps == "model":
            prompts |= _plain(block.free_running)
        settings = dict(block.settings)
        settings |= {k: prompts.pop(k) for k in ("plan_tokens", "max_steps", "num_images") if k in prompts}
        checked(settings, Settings, f"{where}, settings of mode {name!r}")
        layouts = {key: value for key, value in prompts.items() if isinstance(value, list | dict)}
        checked({"prompts": layouts}, ModeBlock, f"{where}, mode {name!r}")
        generation = {**file.generation, **block.generation}
        return Mode(
            name=name,
            protocol_name=by_alias(block.protocol),
            protocol=self._protocol(block.protocol),
            prompts=prompts,
            settings=settings,
            in_words=block.in_words,
            saying=_options(generation),
            drawing=_options({**generation, "max_new_tokens": None, **block.drawing}),
        )

    def plays_by_code(self, name: str) -> bool:
        """Return whether a mode's protocol is code that has to run, and not one of ours by name."""
        return is_code(self._block("direct" if name == BLIND and name not in self.declared.modes else name).protocol)

    def _block(self, name: str) -> ModeBlock:
        """Return a mode's block. `like: other_mode` starts from that mode: mappings merge, other values are
        replaced."""
        where = f"task {self.name!r}"
        block: dict[str, Any] = {}
        for one in reversed(lineage(self.declared.modes, name, where)):
            block = merged(block, self.config["modes"][one])
        return checked(block, ModeBlock, f"{where}, mode {name!r}")

    def _protocol(self, name: str) -> Protocol:
        if name in PROTOCOLS:
            return PROTOCOLS[name]
        if not is_code(name) and name not in self._code.protocols:
            known = ", ".join((*PROTOCOLS, *self._code.protocols))
            raise UnknownName(f"no protocol named {name!r}", f"there are: {known}")
        found = self._code.find(name)
        if not isinstance(found, Protocol):
            raise BadInput(f"task {self.name!r}: {name} is not a protocol", "make it a sketchmark.Protocol")
        return found

    def samples(self, *, seed: int = 0, data: Path | None = None, limit: int | None = None) -> Iterator[Sample]:
        return (draft.sample for draft in self.drafts(seed=seed, data=data, limit=limit))

    def drafts(self, *, seed: int = 0, data: Path | None = None, limit: int | None = None) -> Iterator[Draft]:
        """Stream the samples, without holding all of them. Generated worlds are endless, so they have a
        `default_limit`. A source that takes a `limit` receives it and may fetch less; one that takes `beside`
        receives the folder of the task's file."""
        refuse_training_seed(seed)
        source = dict(self.declared.source)
        make = self._code.find(source.pop("use"))
        most = limit if limit is not None else self.declared.default_limit
        if "limit" in (known := self.source_parameters()):
            source.setdefault("limit", most)
        if "beside" in known:
            source.setdefault("beside", self.folder)
        try:
            inspect.signature(make).bind(seed=seed, data=data, **source)
        except (TypeError, ValueError) as error:
            raise BadInput(f"task {self.name!r}: source: {error}", "check the arguments next to `use`") from error
        found = make(seed=seed, data=data, **source)
        return itertools.islice(found.drafts if isinstance(found, Drafts) else map(Draft.of, found), most)

    def with_source(self, arguments: Mapping[str, Any]) -> Task:
        """Return the same task with other arguments for its source."""
        source = {**self.config["source"], **arguments}
        return Task(self.name, {**self.config, "source": source}, self.choices, self._code, self.folder)

    def source_parameters(self) -> dict[str, inspect.Parameter]:
        """Return the parameters of the function that yields the samples, for --task_args."""
        return dict(inspect.signature(self._code.find(self.declared.source["use"])).parameters)

    def published(self, mode: str) -> list[Published]:
        """Return the published scores of this task in a mode."""
        if self.folder is None or not (self.folder / FILE).is_file():
            return []
        return published_beside(self.folder, self.name, mode)

    def describe_source(self, seed: int) -> dict[str, Any]:
        return {**self.declared.source, "seed": seed}

    def check_scoring(self, name: str, *, with_judge: bool) -> None:
        """Refuse a scoring that would fail after the last call. A task that lists no `scorings` checks the name
        itself."""
        if name == RA_AL:
            raise BadInput(
                f"{RA_AL} looks at stored drawings", f"run first, then sketchmark score RUN --scoring {RA_AL}"
            )
        name = rules_of(name)
        known = self.declared.scorings if "scorings" in self.config else {name: None}
        if name not in known:
            raise UnknownName(f"task {self.name!r} has no scoring {name!r}", f"there are: {', '.join(known)}")
        if name in self.declared.judged_scorings and not with_judge:
            raise BadInput(f"scoring {name!r} judges answers with a model", "give --judge, or use --scoring strict")
        _ = self.total
        extra = known[name]
        if extra and importlib.util.find_spec(extra) is None:
            raise MissingExtra(f"scoring {name}", extra)

    @cached_property
    def scorers(self) -> list[Scorer]:
        """Found once: every episode is scored by them."""
        return [self._code.bound(entry) for entry in self.declared.scorers]

    @property
    def aggregate(self) -> Aggregator | None:
        return self._code.bound(self.declared.aggregate) if self.declared.aggregate else None

    @property
    def guesses(self) -> Guesser | None:
        """The replies that a guesser chooses among; None if the file does not say."""
        declared = self.declared.guesses
        if declared is None:
            return None
        return (lambda sample: declared) if isinstance(declared, list) else self._code.bound(declared)

    @property
    def drawn(self) -> Scorer | None:
        """The scorer of drawings and of their agreement with the answer; None if the drawings cannot be read."""
        return self._code.bound(self.declared.drawn) if self.declared.drawn else None

    @property
    def settle(self) -> Settler | None:
        return self._code.bound(self.declared.settle) if self.declared.settle else None

    @property
    def combine(self) -> Combiner | None:
        return self._code.bound(self.declared.combine) if self.declared.combine else None

    @property
    def total(self) -> Total | None:
        if not self.declared.total:
            return None
        found = self._code.find(self.declared.total)()
        if not isinstance(found, Total):
            raise BadInput(f"task {self.name!r}: {self.declared.total} returns no sketchmark.episode.Total")
        return found

    @property
    def submission(self) -> SubmissionWriter | None:
        return self._code.bound(self.declared.submission) if self.declared.submission else None

    @property
    def replies(self) -> RepliesReader | None:
        return self._code.find(self.declared.replies) if self.declared.replies else None


def _check_mode_names(task: str, file: TaskFile) -> None:
    """Check that modes named elsewhere in the file exist."""
    named = {f"modes.{name}.like": block.like for name, block in file.modes.items() if block.like}
    named |= {f"prompt_sets.{chosen}": mode for chosen, modes in file.prompt_sets.items() for mode in modes}
    for where, mode in named.items():
        if mode not in file.modes:
            raise BadInput(f"task {task!r}: {where} names the mode {mode!r}", f"there are: {', '.join(file.modes)}")


def _plain(prompts: Mapping[str, Any]) -> dict[str, Any]:
    """Return prompts as the file has them: layout blocks are mappings."""
    plain: dict[str, Any] = msgspec.to_builtins(prompts)
    return plain


def for_model(kwargs: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Merge the block of a model's provider or alias with that of its full name, which takes precedence."""
    names = {model.partition("/")[0], model} - {"default"}
    return {key: value for name in sorted(names, key=len) for key, value in kwargs.get(name, {}).items()}


def _options(settings: Mapping[str, Any]) -> Options:
    known = {key: settings[key] for key in _GENERATION if key in settings}
    return Options(**known, extra={key: value for key, value in settings.items() if key not in _GENERATION})
