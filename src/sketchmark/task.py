"""A task: data, protocols by mode, scorers and what is reported. Declared in YAML; read docs/add-a-task.md."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sketchmark.episode import Episode
from sketchmark.errors import BadInput, MissingExtra, UnknownName
from sketchmark.models.base import Model, Options
from sketchmark.parts import Sample
from sketchmark.protocols import Protocol, protocol
from sketchmark.task_files.prompts import FilledPrompts
from sketchmark.task_files.reading import merged

_GENERATION = ("max_new_tokens", "temperature", "seed")


@dataclass(frozen=True)
class Scores:
    """What a scorer says of one episode: named numbers (None: does not apply here), notes for the reader, and
    whether an answer could be read at all."""

    values: Mapping[str, float | None]
    notes: Mapping[str, Any] = field(default_factory=dict)
    unparsed: bool = False


@dataclass(frozen=True)
class Grading:
    """How to score: `scoring` names the rules (strict unless asked otherwise); `judge` is any model, or None."""

    scoring: str = "strict"
    judge: Model | None = None


Scorer = Callable[[Sample, Episode, Grading], "Scores | Awaitable[Scores]"]
Aggregator = Callable[[Sequence[Mapping[str, Any]], str], Mapping[str, Any]]
"""(score rows, scoring) -> a data set's own summary, beside the means that every task gets."""


@dataclass(frozen=True)
class TaskOptions:
    """What the user picks for a whole run: prompt set, model name for per-model prompts, step counting."""

    prompts: str = ""
    model: str = ""
    steps: str = "truth"


@dataclass(frozen=True)
class Mode:
    """One way to play a task: a protocol, its prompts, its settings."""

    name: str
    protocol_name: str
    protocol: Protocol
    prompts: Mapping[str, Any]
    settings: Mapping[str, Any]
    in_words: bool
    saying: Options
    drawing: Options

    def fill(self, sample: Sample, steps: str) -> FilledPrompts:
        return FilledPrompts(sample, self.prompts, steps, self.settings)

    def describe(self) -> dict[str, Any]:
        """All that shapes the requests of this mode, for run.json and for noticing a change."""
        return {
            "protocol": self.protocol_name,
            "prompts": dict(self.prompts),
            "settings": dict(self.settings),
            "in_words": self.in_words,
            "saying": self.saying.key(),
            "drawing": self.drawing.key(),
        }


class Task:
    """A task as its YAML file declares it."""

    def __init__(self, name: str, config: Mapping[str, Any], choices: TaskOptions | None = None) -> None:
        self.name = name
        self.config = config
        self.choices = choices or TaskOptions()
        self.about = str(config.get("about", "")).strip()
        self.headline = str(config.get("headline", ""))
        self.breakdown: list[str] = list(config.get("breakdown", ()))
        if "source" not in config or "modes" not in config:
            raise BadInput(f"task {name!r} needs `source` and `modes`", "see docs/add-a-task.md")
        self.prompt_sets = {"default", *config.get("prompt_sets", {})}
        if self.choices.prompts and self.choices.prompts not in self.prompt_sets:
            raise UnknownName(
                f"task {name!r} has no prompt set {self.choices.prompts!r}",
                f"there are: {', '.join(sorted(self.prompt_sets))}",
            )

    @property
    def modes(self) -> list[str]:
        return list(self.config["modes"])

    def mode(self, name: str) -> Mode:
        blocks: Mapping[str, Any] = self.config["modes"]
        if name not in blocks:
            raise UnknownName(f"task {self.name!r} has no mode {name!r}", f"it has: {', '.join(blocks)}")
        block = _inherit(blocks, name)
        kwargs = merged(self.config.get("lmms_eval_specific_kwargs", {}), block.get("lmms_eval_specific_kwargs", {}))
        chosen = self.config.get("prompt_sets", {}).get(self.choices.prompts, {}).get(name, {})
        prompts = {
            **block.get("prompts", {}),
            **kwargs.get("default", {}),
            **chosen,
            **for_model(kwargs, self.choices.model),
        }
        if self.choices.steps == "model":
            prompts |= block.get("free_running", {})
        bagel: Mapping[str, Any] = kwargs.get("bagel_interleaved", {})
        settings = {
            **{k: v for k, v in bagel.items() if k in ("task_type", "num_images")},
            **block.get("settings", {}),
        }
        settings |= {k: prompts.pop(k) for k in ("plan_tokens", "max_steps", "num_images") if k in prompts}
        generation = {**self.config.get("generation", {}), **block.get("generation", {})}
        drawing = {k: v for k, v in bagel.items() if k != "task_type"} | dict(block.get("drawing", {}))
        protocol_name = str(block.get("protocol", "direct"))
        return Mode(
            name=name,
            protocol_name=protocol_name,
            protocol=find(protocol_name) if ":" in protocol_name else protocol(protocol_name),
            prompts=prompts,
            settings=settings,
            in_words=bool(block.get("in_words", False)),
            saying=_options(generation),
            drawing=_options({**generation, "max_new_tokens": None, **drawing}),
        )

    def samples(self, *, seed: int = 0, data: Path | None = None, limit: int | None = None) -> Iterator[Sample]:
        """The items, streamed: nothing holds the whole set. Generated worlds have no end, so they name a
        `default_limit` for those who name none."""
        source = dict(self.config["source"])
        make = find(source.pop("use"))
        most = limit if limit is not None else self.config.get("default_limit")
        return itertools.islice(make(seed=seed, data=data, **source), most)

    def describe_source(self, seed: int) -> dict[str, Any]:
        return {**self.config["source"], "seed": seed}

    def check_scoring(self, name: str, *, with_judge: bool) -> None:
        """Refuse before the first call what could not be scored after the last. A task that lists no `scorings`
        checks the name itself."""
        known: Mapping[str, str | None] = self.config.get("scorings", {name: None})
        if name not in known:
            raise UnknownName(f"task {self.name!r} has no scoring {name!r}", f"there are: {', '.join(known)}")
        if name in self.config.get("judged_scorings", ()) and not with_judge:
            raise BadInput(f"scoring {name!r} judges answers with a model", "give --judge, or use --scoring strict")
        extra = known[name]
        if extra and importlib.util.find_spec(extra) is None:
            raise MissingExtra(f"scoring {name}", extra)

    @property
    def scorers(self) -> list[Scorer]:
        return [_bound(entry) for entry in self.config.get("scorers", ())]

    @property
    def aggregate(self) -> Aggregator | None:
        entry = self.config.get("aggregate")
        return _bound(entry) if entry else None


def for_model(kwargs: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The block of a model's provider or alias, and over it that of its full name."""
    names = {model.partition("/")[0], model} - {"default"}
    return {key: value for name in sorted(names, key=len) for key, value in kwargs.get(name, {}).items()}


_WHERE = "module:name, inside sketchmark.tasks or importable; code beside an included YAML file needs --trust-code"


def find(dotted: str) -> Any:
    """`package.module:name`, inside `sketchmark.tasks` or anywhere on the import path."""
    module_name, _, attribute = dotted.partition(":")
    for candidate in (f"sketchmark.tasks.{module_name}", module_name):
        try:
            module = importlib.import_module(candidate)
        except ModuleNotFoundError as error:
            if error.name and candidate.startswith(error.name):
                continue
            raise
        if hasattr(module, attribute):
            return getattr(module, attribute)
    raise UnknownName(f"cannot find {dotted!r}", _WHERE)


def _bound(entry: str | Mapping[str, Any]) -> Any:
    if isinstance(entry, str):
        return find(entry)
    import functools

    settings = dict(entry)
    return functools.partial(find(settings.pop("use")), **settings)


def _inherit(blocks: Mapping[str, Any], name: str) -> dict[str, Any]:
    """`like: other_mode` starts from that mode's block; prompts and settings merge, the rest is replaced."""
    block = dict(blocks[name])
    if "like" not in block:
        return block
    return merged(_inherit(blocks, block.pop("like")), block)


def _options(settings: Mapping[str, Any]) -> Options:
    known = {key: settings[key] for key in _GENERATION if key in settings}
    return Options(**known, extra={key: value for key, value in settings.items() if key not in _GENERATION})
