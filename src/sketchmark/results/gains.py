"""Differences between two cells, sample by sample: the pairs, and the gain of one mode over another.

results.json, the viewer, the report, the audit and `sketchmark compare` all show what is computed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchmark.folder.builders import as_rows
from sketchmark.folder.columns import Floats, Places, Rows
from sketchmark.folder.format import CellRecord, Score
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.results_format import Gain
from sketchmark.results.repeats import averaged, same_samples, sample_codes
from sketchmark.results.summary import PERSON, Mask, interval_of, withheld
from sketchmark.stats.differences import Difference, holm, paired_difference, verdict
from sketchmark.stats.intervals import (
    UPPER,
    Crossed,
    Interval,
    Labels,
    crossed_interval,
    interval,
    t_quantile,
    t_upper_tail,
)
from sketchmark.stats.repeats import Groups
from sketchmark.tasks.files import BLIND, TEXT_INPUT

SEEING = (BLIND, "direct")
PERCEPTION = ("direct", TEXT_INPUT)
MODE_PAIRS = (("direct", "visual_cot"), ("direct", "text_cot"), ("text_cot", "visual_cot"), SEEING, PERCEPTION)
"""Modes that are compared within a run. text_cot with visual_cot shows whether the image helps, or only more tokens;
blind with direct, whether seeing helps; direct with text_input, what perception loses."""


@dataclass(frozen=True)
class Pair:
    before: float
    after: float
    cluster: str | int | float | None
    groups: Mapping[str, Any]
    drawing_right: bool | None
    """On the `after` side."""


@dataclass(frozen=True)
class CrossedPairs:
    """Pairs of which a side has several people: their contributions to the difference, and both scores."""

    contributions: Crossed
    scores: tuple[Interval, Interval]

    def difference(self, found: Difference) -> Difference:
        """Return the difference with an interval and a p for other people and other samples."""
        variance, df = self.contributions.variance()
        if found.mean is None or variance <= 1e-12:
            return found
        error = variance**0.5
        half = t_quantile(UPPER, df) * error
        ends = found.mean - half, found.mean + half
        if all(one.low is None or 0 <= one.low <= (one.high or 0) <= 1 for one in self.scores):
            ends = max(-1.0, ends[0]), min(1.0, ends[1])
        p = 2 * t_upper_tail(abs(found.mean) / error, df)
        return replace(found, low=ends[0], high=ends[1], p=p, method="two-way")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs that both sides scored, and the number of samples missing from them. If a side's scores are `withheld`,
    there are no pairs."""

    before: Floats
    after: Floats
    sides: tuple[Rows, Rows]
    at: tuple[Places, Places]
    """The row of each pair on either side."""
    unpaired: int = 0
    unscored: int = 0
    withheld: str = ""
    crossed: CrossedPairs | None = None

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> Pairs:
        """Make pairs one by one, each of a sample with its number as id unless it has a cluster."""
        sides = []
        for values in ([one.before for one in pairs], [one.after for one in pairs]):
            sides.append(
                as_rows(
                    Score(
                        index=number, sample=str(number), scored=True, values={"": value},
                        groups={**one.groups, "cluster": one.cluster},
                        notes={} if one.drawing_right is None else {"frames_right": [one.drawing_right]},
                    )
                    for number, (one, value) in enumerate(zip(pairs, values, strict=True))
                )
            )  # fmt: skip
        every = np.arange(len(pairs))
        return cls(sides[0].metric(""), sides[1].metric(""), (sides[0], sides[1]), (every, every))

    def __len__(self) -> int:
        return len(self.before)

    @property
    def pairs(self) -> list[Pair]:
        """The pairs one by one."""
        return list(map(self._pair, range(len(self))))

    def _pair(self, number: int) -> Pair:
        one = self.sides[0].at(int(self.at[0][number]))
        cluster = one.sample if one.cluster is None else one.cluster
        drawn = int(self.drawing_right[number])
        right = None if drawn < 0 else drawn == 1
        return Pair(float(self.before[number]), float(self.after[number]), cluster, one.groups, right)

    def where(self, wanted: Mask) -> Pairs:
        return Pairs(self.before[wanted], self.after[wanted], self.sides, (self.at[0][wanted], self.at[1][wanted]))

    @property
    def clusters(self) -> Labels | None:
        """The cluster of each pair as a number; None if every sample is independent."""
        labels, shared = self.sides[0].labels()
        return labels[self.at[0]] if shared else None

    @property
    def drawing_right(self) -> NDArray[np.int8]:
        """On the `after` side: 1 right, 0 wrong, -1 unknown. Drawings that are right in some repeats only are
        neither."""
        rows, at = self.sides[1], self.at[1]
        drawn = rows.drawing_right()
        if rows.repeats:
            samples = Groups(sample_codes(rows))
            least, most = (find(drawn)[samples.of] for find in (samples.min, samples.max))
            drawn = np.where(least == most, drawn, -1)
        return drawn[at]

    def group_keys(self) -> list[str]:
        """Return the group keys of the samples in the order of their first appearance."""
        return self.sides[0].names("groups", self.at[0])

    def group(self, key: str) -> tuple[NDArray[Any], list[Any]]:
        """Return the number of each pair's value of a group key (-1 without it), and the values."""
        rows = self.sides[0]
        return rows.group(key)[self.at[0]], rows.group_values(key)

    def difference(self) -> Difference:
        found = paired_difference(self.before, self.after, self.clusters)
        return self.crossed.difference(found) if self.crossed else found

    def scores(self) -> tuple[Interval, Interval]:
        if self.crossed:
            return self.crossed.scores
        return interval(self.before, self.clusters), interval(self.after, self.clusters)


def pair(before: Mapping[str, Score], after: Mapping[str, Score], metric: str, metric_before: str = "") -> Pairs:
    """Pair two cells. `metric_before` is the score of the first if the two differ, as those of two tasks may."""
    one, other = as_rows(before), as_rows(after)
    if reason := withheld(one) or withheld(other):
        none = np.zeros(0, np.intp)
        return Pairs(np.zeros(0), np.zeros(0), (one, other), (none, none), withheld=reason)
    if any(len(np.unique(side.group(PERSON))) > 1 for side in (one, other)):
        found = _pair_repeated(one, other, metric, metric_before or metric)
        return replace(found, crossed=_crossed(one, other, metric, metric_before or metric))
    if one.repeats or other.repeats:
        return _pair_repeated(one, other, metric, metric_before or metric)
    mine, theirs = one.align(other)
    values = one.metric(metric_before or metric)[mine], other.metric(metric)[theirs]
    both = ~(np.isnan(values[0]) | np.isnan(values[1]))
    unscored = int((~both & ~(one.scored[mine] & other.scored[theirs])).sum())
    return Pairs(
        values[0][both],
        values[1][both],
        (one, other),
        (mine[both], theirs[both]),
        unpaired=len(one) + len(other) - 2 * len(mine),
        unscored=unscored,
    )


def _pair_repeated(before: Rows, after: Rows, metric: str, metric_before: str) -> Pairs:
    """Pair the samples of two cells by their means over all repeats, which need not be equally many."""
    mine, firsts = averaged(before, before.metric(metric_before))
    theirs, seconds = averaged(after, after.metric(metric))
    one, other = same_samples(before, mine, after, theirs)
    there, scored = (
        [{sample for sample, keep in zip(rows.samples, kept, strict=True) if keep} for rows, kept in each]
        for each in (
            [(rows, np.ones(len(rows), bool)) for rows in (before, after)],
            [(rows, rows.scored) for rows in (before, after)],
        )
    )
    return Pairs(
        firsts[one],
        seconds[other],
        (before, after),
        (mine[one], theirs[other]),
        unpaired=len(there[0] ^ there[1]),
        unscored=len((there[0] & there[1]) - (scored[0] & scored[1])),
    )


def _crossed(before: Rows, after: Rows, metric: str, metric_before: str) -> CrossedPairs | None:
    """Return the contribution of every answer to the difference: its deviation from the mean of its side, with the
    same weight for all samples. Answers of a model have no person."""
    sides = []
    for rows, name in ((before, metric_before), (after, metric)):
        values = rows.metric(name)
        there = rows.where(~np.isnan(values))
        sides.append((there, there.metric(name), np.array(list(there.samples), dtype=object)))
    shared = set(sides[0][2].tolist()) & set(sides[1][2].tolist())
    if not shared:
        return None
    contributions, people, samples, scores = [], list[object](), list[object](), []
    for sign, (rows, values, ids) in zip((-1, 1), sides, strict=True):
        chosen = np.array([one in shared for one in ids.tolist()], bool)
        rows, values, ids = rows.where(chosen), values[chosen], ids[chosen]
        names, codes = rows.group_values(PERSON), rows.group(PERSON)
        counts = Counter(ids.tolist())
        weights = np.array([1 / (len(shared) * counts[one]) for one in ids.tolist()])
        contributions.append(sign * weights * (values - float(np.sum(weights * values))))
        people += [str(names[code]) if code >= 0 else None for code in codes.tolist()]
        clusters = [row.sample if row.cluster is None else row.cluster for row in rows.values()]
        samples += clusters
        several = len(np.unique(codes)) > 1
        scores.append(crossed_interval(values, codes, ids, clusters) if several else interval_of(rows, values))
    numbered = {one: number for number, one in enumerate(dict.fromkeys(one for one in people if one is not None))}
    who = np.array([-1 if one is None else numbered[one] for one in people], np.intp)
    places = {one: number for number, one in enumerate(dict.fromkeys(samples))}
    what = np.array([places[one] for one in samples], np.intp)
    return CrossedPairs(Crossed(np.concatenate(contributions), who, what), (scores[0], scores[1]))


def gain_of(cell: CellRecord, found: Difference, over: str = "direct") -> Gain:
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
        over=over,
    )


def correct(made: Sequence[Gain], family: str, beside: Sequence[float | None] = ()) -> None:
    """Correct the p values of gains together, and with the p values `beside` them. `family` says of what they are."""
    if not made:
        return
    ps = [*(gain.p for gain in made), *beside]
    tests = sum(p is not None for p in ps)
    for gain, p in zip(made, holm(ps), strict=False):
        gain.p_holm, gain.verdict, gain.family = p, verdict(gain.gain, p), f"{family}: {tests}"


def gains(cells: Mapping[str, CellRecord], rows: Callable[[str], Mapping[str, Score]]) -> list[Gain]:
    """Return each mode's gain over direct, and direct's over blind, on the same samples, in the task's headline
    score, unless the scores of either are withheld. Gains are corrected together with all differences that `compare`
    shows of the run, so that table and report agree. Other canvases and custom modes, which it does not show, are
    corrected separately."""

    def change(before: str, name: str) -> Difference | None:
        cell, base = cells[name], f"{cells[name].task}.{before}"
        if base not in cells or cell.mode == before or not cell.headline or cell.headline in cell.less_is_better:
            return None
        found = pair(rows(base), rows(name), cell.headline).difference()
        return found if found.n else None

    sighted = [name for name, cell in cells.items() if cell.mode != BLIND]
    made = [
        gain_of(cells[name], found, over)
        for over, names in (("direct", sighted), (BLIND, [name for name in sighted if cells[name].mode == "direct"]))
        for name in names
        if (found := change(over, name))
    ]
    compared = [gain for gain in made if _compared(gain.over, gain)]
    texts = [name for name, cell in cells.items() if _compared("text_cot", cell)]
    beside = [found.p for name in texts if (found := change("text_cot", name))]
    correct(compared, "differences of modes in this run", beside)
    correct([gain for gain in made if gain not in compared], "gains on other canvases and of other modes in this run")
    return made


def _compared(before: str, cell: CellRecord | Gain) -> bool:
    return cell.canvas == "own" and (before, cell.mode) in MODE_PAIRS


def live_gains(run: RunView) -> list[Gain]:
    """Return the gains of results.json, on the samples that both sides have scored so far."""
    about = {name: cell.about for name, cell in run.cells.items()}
    return gains(about, lambda name: run.cells[name].scored())


def paired(before: CellView, after: CellView, family: Sequence[tuple[CellView, CellView]]) -> Gain:
    """Return the difference of two cells' headline scores on shared samples, corrected together with its `family`. A
    difference outside the family has no corrected p and is unclear."""
    made = gain_of(after.about, _difference(before, after))
    others = [pair for pair in family if set(pair) != {before, after}]
    if len(others) == len(family):
        made.p_holm, made.verdict = None, "unclear"
    else:
        correct([made], "differences of modes in this run", [_difference(*pair).p for pair in others])
    return made


def _difference(before: CellView, after: CellView) -> Difference:
    return pair(before.scored(), after.scored(), after.headline, before.headline).difference()
