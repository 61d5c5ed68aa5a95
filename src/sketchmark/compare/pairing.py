"""Two cells' items brought together, sample by sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sketchmark.runs.scored import Groups, ScoredSample
from sketchmark.stats import Difference, Interval, interval, paired_difference


@dataclass(frozen=True)
class Pair:
    before: float
    after: float
    cluster: str | int | float | None
    groups: Groups
    drawing_right: bool | None
    """Of the `after` side."""


@dataclass(frozen=True)
class Pairs:
    """Pairs that both sides scored, and how many samples are missing from them."""

    pairs: Sequence[Pair]
    unpaired: int = 0
    unscored: int = 0

    def where(self, wanted: Callable[[Pair], bool]) -> Pairs:
        return Pairs([pair for pair in self.pairs if wanted(pair)])

    @property
    def clusters(self) -> list[str | int | float | None]:
        return [pair.cluster for pair in self.pairs]

    @property
    def before(self) -> list[float]:
        return [pair.before for pair in self.pairs]

    @property
    def after(self) -> list[float]:
        return [pair.after for pair in self.pairs]

    def difference(self) -> Difference:
        return paired_difference(self.before, self.after, self.clusters)

    def scores(self) -> tuple[Interval, Interval]:
        return interval(self.before, self.clusters), interval(self.after, self.clusters)


def pair(before: Mapping[str, ScoredSample], after: Mapping[str, ScoredSample]) -> Pairs:
    pairs = []
    unscored = 0
    shared = [name for name in before if name in after]
    for name in shared:
        a, b = before[name], after[name]
        if a.value is not None and b.value is not None:
            pairs.append(Pair(a.value, b.value, a.groups.get("cluster"), a.groups, b.drawing_right))
        elif not (a.scored and b.scored):
            unscored += 1
    return Pairs(pairs, unpaired=len(before) + len(after) - 2 * len(shared), unscored=unscored)
