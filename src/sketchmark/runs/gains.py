"""Two cells brought together, sample by sample: the one place where a difference between them is computed.

results.json, the viewer, the report and `sketchmark compare` all show what is found here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sketchmark.runs.format import CellAbout
from sketchmark.runs.results import withheld
from sketchmark.runs.results_format import Gain
from sketchmark.runs.rows import ScoredSample
from sketchmark.stats import Difference, Interval, holm, interval, paired_difference, verdict

Rows = Mapping[str, ScoredSample]
"""By key (`episode_key`), in the order of the samples."""

MODE_PAIRS = (("direct", "visual_cot"), ("direct", "text_cot"), ("text_cot", "visual_cot"))
"""The modes that are compared within a run. The last asks whether it is the picture, or just more tokens."""


@dataclass(frozen=True)
class Pair:
    before: float
    after: float
    cluster: str | int | float | None
    groups: Mapping[str, Any]
    drawing_right: bool | None
    """Of the `after` side."""


@dataclass(frozen=True)
class Pairs:
    """Pairs that both sides scored, and how many samples are missing from them. None at all where a side's scores are
    `withheld`, with the reason."""

    pairs: Sequence[Pair]
    unpaired: int = 0
    unscored: int = 0
    withheld: str = ""

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


def pair(before: Rows, after: Rows, metric: str, metric_before: str = "") -> Pairs:
    """`metric_before` where the two sides are measured in different scores, as two tasks are."""
    if reason := withheld(before.values()) or withheld(after.values()):
        return Pairs([], withheld=reason)
    pairs = []
    unscored = 0
    shared = [name for name in before if name in after]
    for name in shared:
        a, b = before[name], after[name]
        value_a, value_b = a.value(metric_before or metric), b.value(metric)
        if value_a is not None and value_b is not None:
            cluster = a.sample if a.cluster is None else a.cluster
            pairs.append(Pair(value_a, value_b, cluster, a.groups, b.drawing_right))
        elif not (a.scored and b.scored):
            unscored += 1
    return Pairs(pairs, unpaired=len(before) + len(after) - 2 * len(shared), unscored=unscored)


def gain_of(cell: CellAbout, found: Difference) -> Gain:
    return Gain(
        task=cell.task,
        mode=cell.mode,
        canvas=cell.canvas,
        metric=cell.headline,
        gain=found.mean,
        ci95=(found.low, found.high),
        p=found.p,
        helped=found.helped,
        hurt=found.hurt,
        same=found.same,
        n=found.n,
        p_holm=found.p,
        verdict=verdict(found.mean, found.p),
    )


def correct(made: Sequence[Gain], beside: Sequence[float | None] = ()) -> None:
    """Judge them together, and with the p values of differences `beside` them."""
    for gain, p in zip(made, holm([*(gain.p for gain in made), *beside]), strict=False):
        gain.p_holm, gain.verdict = p, verdict(gain.gain, p)


def gains(cells: Mapping[str, CellAbout], rows: Callable[[str], Rows]) -> list[Gain]:
    """Each mode that is not direct minus direct on the same samples, in the task's headline score; none where the
    scores of either are withheld.

    They are judged with all that `compare` shows of the run, so that table and report call the same things clear.
    What it does not show (other canvases, modes of one's own) is judged apart.
    """

    def change(before: str, name: str) -> Difference | None:
        cell, base = cells[name], f"{cells[name].task}.{before}"
        if base not in cells or cell.mode == before or not cell.headline or cell.headline in cell.less_is_better:
            return None
        found = pair(rows(base), rows(name), cell.headline).difference()
        return found if found.n else None

    made = [gain_of(cells[name], found) for name in cells if (found := change("direct", name))]
    compared = [gain for gain in made if _compared("direct", gain)]
    texts = [name for name, cell in cells.items() if _compared("text_cot", cell)]
    correct(compared, [found.p for name in texts if (found := change("text_cot", name))])
    correct([gain for gain in made if gain not in compared])
    return made


def _compared(before: str, cell: CellAbout | Gain) -> bool:
    return cell.canvas == "own" and (before, cell.mode) in MODE_PAIRS
