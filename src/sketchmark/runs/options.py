"""How a run is played and scored, beside what is asked of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sketchmark.runs.staff import Engine
from sketchmark.scores import Grading

Price = Callable[[Mapping[str, int]], float]
"""Usage -> what it cost, in the currency of the price table."""


@dataclass
class Budget:
    """Stops a start of a run cleanly once it has cost `limit`; what is played stays, and the next start, which may
    cost as much again, resumes it."""

    limit: float | None = None
    price: Price | None = None
    spent: float = 0.0
    judge_price: Price | None = None
    judge_spent: float = 0.0
    """Of what was spent, the judge's part."""

    def charge(self, usage: Mapping[str, int]) -> None:
        if self.price is not None:
            self.spent += self.price(usage)

    def charge_judge(self, usage: Mapping[str, int]) -> None:
        if self.judge_price is not None:
            cost = self.judge_price(usage)
            self.spent += cost
            self.judge_spent += cost

    @property
    def used_up(self) -> bool:
        return self.limit is not None and self.spent >= self.limit


@dataclass(frozen=True)
class RunOptions:
    """What a person may change between two starts of the same run.

    Nothing here shapes what the model is asked, so a resumed run may differ in it. It is not without effect:
    `time_limit` decides which episodes end as failures, and `grading` how answers are read.
    """

    concurrency: int = 100
    time_limit: float | None = None
    retry_failed: bool = False
    fresh: bool = False
    grading: Grading = field(default_factory=Grading)
    scored_beside: tuple[str, ...] = ()
    """Other scorings of the same episodes, to stand beside the run's own."""

    budget: Budget = field(default_factory=Budget)
    engine: Engine = field(default_factory=Engine)
    """Who plays."""

    warnings: tuple[str, ...] = ()
    """What the checks before the first call found; it goes into the summary."""
