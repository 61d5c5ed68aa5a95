"""The transcript of one model on one sample, and the scores that it gets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sketchmark.episode.model import Model, Reply
from sketchmark.episode.sample import Context, Part, Sample
from sketchmark.errors import BadInput
from sketchmark.media import Picture
from sketchmark.secrets import redact

Act = Literal["show", "say", "draw", "describe", "skip"]


@dataclass(frozen=True)
class Turn:
    """One event at the desk.

    `added` is what the turn left in the context. `suffix` was sent with this call only. So the context of a call is
    everything that earlier turns added, and the call's own suffix. `describe` is a drawing described in text
    (text_cot). `skip` records something that the protocol left out, and why.
    """

    act: Act
    added: tuple[Part, ...] = ()
    suffix: str = ""
    reply: Reply | None = None
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Failure:
    """The reason why an episode ended early. The failure table counts `kind`."""

    kind: str
    message: str
    blames_model: bool = False
    traceback: str = ""
    """The last frames of an exception in code of your own: a model, protocol or task."""

    def __post_init__(self) -> None:
        for name in ("message", "traceback"):  # an exception of a plug-in may quote its key
            object.__setattr__(self, name, redact(getattr(self, name)))


@dataclass(frozen=True)
class Episode:
    """Everything shown, said and drawn, in order. Scorers, statistics and viewers need nothing else."""

    sample: Sample
    turns: tuple[Turn, ...]
    failure: Failure | None = None
    started: float = 0.0
    """Unix time. A retried episode differs from the failed one in it."""
    seconds: float = 0.0
    settings: dict[str, str] = field(default_factory=dict)
    """Mode, canvas and steps of the episode."""
    stops_run: bool = False
    """Further episodes would fail the same way. Used during a run and not written to disk."""
    repeat: int = 0
    """Number of this episode among several of the same sample."""
    branch: int = 0
    """Number of this answer among several on the same drawings."""
    seeds: Mapping[str, int] = field(default_factory=dict)
    """Seeds of a further repeat or branch: `say` and `draw` → seed, where one was given."""

    def contexts(self) -> Iterator[tuple[Turn, Context]]:
        """Yield every call with the exact context that was sent."""
        context = Context()
        for turn in self.turns:
            if turn.reply is not None:
                yield turn, context + ([Part(turn.suffix)] if turn.suffix else [])
            context = context + turn.added

    @property
    def says(self) -> list[str]:
        return [turn.reply.text for turn in self.turns if turn.act == "say" and turn.reply]

    @property
    def answer(self) -> str:
        """The last thing said; empty if the episode failed or ended before that."""
        if self.failure or not self.says:
            return ""
        return self.says[-1]

    @property
    def drawings(self) -> list[Picture]:
        """The images that the model drew itself, in order. A canvas shown instead of a drawing is not included."""
        return [turn.reply.picture for turn in self.turns if turn.act == "draw" and turn.reply and turn.reply.picture]

    @property
    def draw_attempts(self) -> int:
        return sum(turn.act == "draw" for turn in self.turns)


@dataclass(frozen=True)
class Scores:
    """A scorer's result for one episode: named numbers (None: not applicable), notes for the reader, and whether
    the answer could not be parsed. The note `answer` is the parsed answer; two scorings are compared by it."""

    values: Mapping[str, float | None]
    notes: Mapping[str, Any] = field(default_factory=dict)
    unparsed: bool = False


@dataclass(frozen=True)
class Grading:
    """The rules of scoring by name (`scoring`), a model as judge, and one that quotes answers, or None."""

    scoring: str = "strict"
    judge: Model | None = None
    extractor: Model | None = None


Scorer = Callable[[Sample, Episode, Grading], "Scores | Awaitable[Scores]"]
Aggregator = Callable[[Sequence[Mapping[str, Any]], str], Mapping[str, Any]]
"""(score rows, scoring) -> a benchmark's own summary, in addition to the means of every task."""


class Totals(dict[str, Any]):
    """A benchmark's own summary: number → value, and what to know about some of them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.counts: dict[str, int] = {}
        """Number → the samples that it is of."""
        self.remarks: list[str] = []
        """Remarks on the numbers, such as why one has no interval."""
        self.proportions: list[str] = []
        """Numbers that cannot leave 0..1, although the values of samples can."""


Settler = Callable[[Sequence[Mapping[str, Any]], str], Mapping[str, Mapping[str, float | None]]]
"""(score rows, scoring) -> sample -> its values, for samples whose score depends on other rows."""


Combiner = Callable[[Sequence[Mapping[str, Any]], str], Mapping[str, Scores]]
"""(score rows of all repeats, scoring) -> sample -> the scores that its repeats have together."""


@dataclass(frozen=True)
class Share:
    """One task's part in the total of a benchmark. `items` is its weight and the number of samples of a complete run.

    Tasks of one `source` ask about the same items, so their samples of the same name are not independent. `scores`
    names, by scoring, a score that is used instead of the task's headline score.
    """

    task: str
    category: str
    items: int
    source: str = ""
    scores: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Total:
    """A benchmark whose score is a mean over several tasks, weighted by constants."""

    name: str
    shares: Sequence[Share]

    @property
    def weights(self) -> dict[str, int]:
        """Category → the sum of its items."""
        return {
            category: sum(share.items for share in self.shares if share.category == category)
            for category in dict.fromkeys(share.category for share in self.shares)
        }

    def overall(self, categories: Mapping[str, float]) -> float:
        """Compute the overall score from the scores of all categories."""
        return sum(weight * categories[name] for name, weight in self.weights.items()) / sum(self.weights.values())


EXTRACTED = "extracted"


def rules_of(scoring: str) -> str:
    """Return the scoring whose rules parse the text: strict for `extracted`."""
    return "strict" if scoring == EXTRACTED else scoring


UNASKED = "the extractor is not asked", f"add --scoring {EXTRACTED}"


def check_extractor(scorings: Sequence[str], *, given: bool) -> None:
    """Refuse the scoring `extracted` without an extractor, and an extractor without the scoring."""
    if EXTRACTED in scorings and not given:
        raise BadInput(f"scoring {EXTRACTED!r} asks a text model about unparsed replies", "add --extractor MODEL")
    if given and EXTRACTED not in scorings:
        raise BadInput(*UNASKED)
