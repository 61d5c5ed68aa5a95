"""The finished transcript of one model on one sample.

The scores of an episode, how they are made, and totals over several tasks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sketchmark.episode.model import Model, Reply
from sketchmark.episode.sample import Context, Part, Sample
from sketchmark.media import Picture
from sketchmark.secrets import redact

Act = Literal["show", "say", "draw", "describe", "skip"]


@dataclass(frozen=True)
class Turn:
    """One thing that happened at the desk.

    `added` is what the turn left in the context. `suffix` was sent with this one call and then taken away again,
    so the exact context of any call is: all that earlier turns added, plus its own suffix.
    `describe` is a drawing put into words (text_cot); `skip` records something the protocol left out, and why.
    """

    act: Act
    added: tuple[Part, ...] = ()
    suffix: str = ""
    reply: Reply | None = None
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Failure:
    """Why an episode ended early. `kind` is what the failure table counts."""

    kind: str
    message: str
    blames_model: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", redact(self.message))  # an exception of a plug-in may quote its key


@dataclass(frozen=True)
class Episode:
    """Everything shown, said and drawn, in order. Scorers, statistics and viewers need nothing else."""

    sample: Sample
    turns: tuple[Turn, ...]
    failure: Failure | None = None
    started: float = 0.0
    """Unix time; it also tells a retried episode from the failed one before it."""

    seconds: float = 0.0
    settings: dict[str, str] = field(default_factory=dict)
    """What the episode was played with: mode, canvas, steps."""

    stops_run: bool = False
    """No other episode will escape what ended this one. Of use while a run plays; not written down."""

    repeat: int = 0
    """Which of several episodes of the sample this is."""

    branch: int = 0
    """Which of several answers on the same drawings this is."""

    def contexts(self) -> Iterator[tuple[Turn, Context]]:
        """Every call with the exact context that was sent."""
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
        """The last thing said; empty when the episode did not get that far."""
        if self.failure or not self.says:
            return ""
        return self.says[-1]

    @property
    def drawings(self) -> list[Picture]:
        """What the model drew itself, in order (never the canvas it was shown instead)."""
        return [turn.reply.picture for turn in self.turns if turn.act == "draw" and turn.reply and turn.reply.picture]

    @property
    def draw_attempts(self) -> int:
        return sum(turn.act == "draw" for turn in self.turns)


@dataclass(frozen=True)
class Scores:
    """What a scorer says of one episode: named numbers (None: does not apply here), notes for the reader, and
    whether an answer could be read at all. The note `answer` is what was read: two scorings are told apart by it."""

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

Settler = Callable[[Sequence[Mapping[str, Any]], str], Mapping[str, Mapping[str, float | None]]]
"""(score rows, scoring) -> sample -> its values, for samples whose score the other rows decide too."""


@dataclass(frozen=True)
class Share:
    """What one task counts for in a benchmark's total: `items` is its weight and how many samples a whole run has.

    Tasks of one `source` ask about the same items: their samples of one name are not independent. `scores` names, by
    scoring, a score that goes in instead of the task's headline.
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
        """Category → its weight: all its items."""
        return {
            category: sum(share.items for share in self.shares if share.category == category)
            for category in dict.fromkeys(share.category for share in self.shares)
        }

    def overall(self, categories: Mapping[str, float]) -> float:
        """The overall score from the score of every category."""
        return sum(weight * categories[name] for name, weight in self.weights.items()) / sum(self.weights.values())
