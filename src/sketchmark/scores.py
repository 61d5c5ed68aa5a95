"""The scores of an episode, how they are made, and totals over several tasks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sketchmark.episode import Episode
from sketchmark.models.base import Model
from sketchmark.parts import Sample


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
