"""Results of one cell (means with intervals, failures), and differences between two cells, sample by sample.

results.json, the viewer, the report and `sketchmark compare` all show what is computed here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sketchmark.episode import EXTRACTED, Totals, rules_of
from sketchmark.errors import SketchmarkError, TotalsFailed
from sketchmark.folder.builders import as_rows
from sketchmark.folder.columns import Floats, Places, Rows, first_seen
from sketchmark.folder.format import CellRecord, Score, ScoreRow
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.results_format import CellResult, Extraction, Gain, GroupSummary, Mean, Metric
from sketchmark.results import CHECK, NO_VERDICT, one_line
from sketchmark.results.repeats import averaged, same_samples, sample_codes, totals_over
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
from sketchmark.tasks import RA_AL, Task
from sketchmark.tasks.files import BLIND, TEXT_INPUT

Mask = NDArray[np.bool_]


def withheld(rows: Iterable[Score] | Rows) -> str:
    """Return why this cell's scores are not shown; empty if they are. Only this function decides it. A scorer fails
    on some answers and not on others, so the mean of the rest is the mean of a selection. It says nothing, nor does a
    difference computed from it. A failed judge or connection depends less on the answer."""
    failed = int(as_rows(rows).flagged("scorer_failed").sum())
    return f"no score is shown: {failed} scorer failure{'s' * (failed > 1)}" if failed else ""


def cell_result(
    rows: Iterable[Score], whole: Callable[[], Iterable[ScoreRow]], task: Task, scoring: str, seed: int = 0
) -> CellResult:
    """Return the result of one cell with the task's own totals and the reasons for failures, for which the `whole`
    rows are read."""
    summary = summarise(rows, task, seed)
    summary.scoring = scoring
    if scoring == EXTRACTED:
        summary.extraction = _extraction(list(whole()))
    if summary.failures.keys() & NO_VERDICT:
        for row in whole():
            for kind in NO_VERDICT & row.notes.keys():
                summary.reasons.setdefault(kind, f"{row.sample}: {row.notes[kind]}")
    if task.aggregate and scoring != RA_AL and summary.n and not summary.problem:
        made: Mapping[str, Any] = {}
        try:
            own, rules = task.aggregate, rules_of(scoring)
            made = totals_over(list(whole()), lambda rows: own(rows, rules))
            summary.aggregate = dict(made)
            json.dumps(summary.aggregate, allow_nan=False, default=str)  # NaN and infinity are refused
        except Exception as error:  # the task's code: anything may come
            made = error.made if isinstance(error, TotalsFailed) else {}
            summary.aggregate = dict(made)
            summary.problem = f"its own totals failed: {one_line(error)}"
        if isinstance(made, Totals):
            _explain(summary, made)
    return summary


def _explain(summary: CellResult, made: Totals) -> None:
    """Take over what a task says about its own numbers. The interval of a proportion stays in 0..1."""
    summary.counts = {name: count for name, count in made.counts.items() if count != summary.n}
    summary.remarks = made.remarks
    tables = [summary.metrics, *(group.metrics for groups in summary.by.values() for group in groups.values())]
    for name in made.proportions:
        for found in (table[name] for table in tables if name in table):
            low, high = (None if end is None else min(1.0, max(0.0, end)) for end in found.ci95)
            found.ci95 = (low, high)


def _extraction(rows: Sequence[ScoreRow]) -> Extraction:
    """Count the extractor's part in the scores, from the notes of the rows."""
    asked = [row.notes["extractor"] for row in rows if "extractor" in row.notes]
    checks = [row.notes[CHECK] for row in rows if CHECK in row.notes]
    compared = [note for note in checks if "agrees" in note]
    usage: Counter[str] = Counter()
    for note in (*asked, *checks):
        usage.update(note.get("usage", {}))
    return Extraction(
        model=next((row.extractor for row in rows if row.extractor), ""),
        asked=len(asked),
        rests=sum("extracted" in row.flags for row in rows),
        without=sum(note["quote"] is None for note in asked),
        rejected=sum("rejected" in note for note in asked),
        checked=len(checks),
        compared=len(compared),
        agreed=sum(note["agrees"] for note in compared),
        failed=sum("extractor_failed" in row.flags for row in rows) + sum("failed" in note for note in checks),
        usage=dict(usage),
    )


def summarise(given: Iterable[Score] | Rows, task: Task | None, seed: int = 0) -> CellResult:
    """Return the result of one cell. `n` counts scored episodes; the others are counted under failures."""
    rows = as_rows(given)
    flags = rows.flag_counts()
    usage, paid = _usage(rows)
    problem = withheld(rows)
    shown = rows.scored if not problem else np.zeros(len(rows), bool)
    return CellResult(
        n=int(rows.scored.sum()),
        episodes=len(rows),
        metrics=_metrics(rows, shown, seed),
        failures={flag: count for flag, count in flags.items() if flag not in ("left_out", "extracted")},
        cut=_share("truncated", rows),
        unparsed=_share("unparsed", rows),
        left_out=flags.get("left_out", 0),
        calls_left_out=rows.total("left_out"),
        usage=usage,
        paid=paid if paid != usage else None,
        by={key: _by(key, rows, shown, seed) for key in (task.breakdown if task else ())},
        problem=problem,
    )


def _usage(rows: Rows) -> tuple[dict[str, int], dict[str, int]]:
    """Sum the usage, and the part of it that was paid for; rows that do not name that part paid for all."""
    whole = rows.arrays["paid"] < 0
    usage = {name: rows.total(f"u.{name}") for name in rows.names("usage")}
    names = dict.fromkeys([*rows.names("usage", whole), *rows.names("paid")])
    return usage, {name: rows.total(f"u.{name}", whole) + rows.total(f"p.{name}", ~whole) for name in names}


def describe(result: CellResult, cell: CellRecord) -> CellResult:
    """Fill in what run.json says about the cell."""
    result.task, result.mode, result.canvas = cell.task, cell.mode, cell.canvas
    result.draw_with, result.steps, result.headline = cell.draw_with, cell.steps, cell.headline
    return result


def _share(flag: str, rows: Rows) -> float | None:
    scored = rows.scored
    return int((rows.flagged(flag) & scored).sum()) / int(scored.sum()) if scored.any() else None


def _by(key: str, rows: Rows, shown: Mask, seed: int) -> dict[str, GroupSummary]:
    found = {}
    for name, chosen in sorted(by_text(rows, key).items()):
        if (chosen := chosen & shown).any():
            count = len(np.unique(sample_codes(rows)[chosen])) if rows.repeats else int(chosen.sum())
            found[name] = GroupSummary(count, _metrics(rows, chosen, seed))
    return found


def by_text(rows: Rows, key: str) -> dict[str, Mask]:
    """Return the rows of each value of a group key, as text; values with the same text are one group."""
    codes, texts = rows.group(key), [str(value) for value in rows.group_values(key)]
    found: dict[str, Mask] = {}
    for code in first_seen(codes):
        if code >= 0:
            chosen = codes == code
            found[texts[code]] = found[texts[code]] | chosen if texts[code] in found else chosen
    return found


def _metrics(rows: Rows, chosen: Mask, seed: int) -> dict[str, Metric]:
    metrics = {}
    for name in rows.names("values", chosen):
        found = _mean(name, rows, chosen, seed)
        if found.mean is not None:  # the score applies to no sample
            metrics[name] = Metric(found.mean, (found.low, found.high), found.n, found.method)
    return metrics


def mean_of(metric: str, rows: Iterable[Score] | Rows, seed: int = 0) -> Interval:
    """Return the mean of a score over the samples that have it, with samples of a cluster taken together."""
    columns = as_rows(rows)
    return _mean(metric, columns, np.ones(len(columns), bool), seed)


def _mean(metric: str, rows: Rows, chosen: Mask, seed: int = 0) -> Interval:
    return interval_of(rows, np.where(chosen, rows.metric(metric), np.nan), seed)


def _of_samples(rows: Rows, values: Floats) -> tuple[Places, Floats]:
    """Return the row and the value of each sample that has one, averaged over repeats if there are any."""
    at = np.flatnonzero(~np.isnan(values))
    return averaged(rows, values) if rows.repeats else (at, values[at])


def interval_of(rows: Rows, values: Floats, seed: int = 0) -> Interval:
    """Return the mean over samples with its interval; rows without the value have NaN. With several people the
    interval is for other people, too."""
    labels, shared = rows.labels()
    people, having = rows.group(PERSON), ~np.isnan(values)
    if len(np.unique(people[having])) > 1:
        return crossed_interval(values[having], people[having], sample_codes(rows)[having], labels[having])
    at, found = _of_samples(rows, values)
    return interval(found, labels[at] if shared else None, seed=seed)


PERSON = "person"
"""Group key of the person, in the run of a group of people. Answers of one person are not independent."""

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


MOST_GROUPS = 24


class CurvePoint(Mean):
    """The headline score of one group."""

    value: str | int | float = ""


class CurveLine(Struct):
    mode: str
    canvas: str
    points: list[CurvePoint]


class Curve(Struct):
    """A task's headline score by one key of its groups; `numeric`: they are difficulties, not categories."""

    task: str
    key: str
    numeric: bool
    lines: list[CurveLine]


class Answers(Mean):
    """The headline score of some episodes, and the number that are completely right."""

    right: int = 0


class DrawingTable(Struct):
    """Answers after right drawings, and after wrong ones."""

    task: str
    canvas: str
    right: Answers
    wrong: Answers


def live_result(cell: CellView) -> CellResult:
    """Return means with intervals, failures and usage; computed again only when lines were added."""
    return cell.result.at(cell.version, lambda: _result(cell))


def _result(cell: CellView) -> CellResult:
    result = describe(summarise(cell.rows, None), cell.about)
    result.task = cell.task
    result.scoring = cell.rows.at(0).scoring if len(cell.rows) else ""
    return result


def live_results(run: RunView) -> Mapping[str, CellResult]:
    """Return the cells of results.json, for what only a scoring computes (baselines, published scores, `ra-al`).
    Empty if the file does not exist or cannot be read."""
    return run.stored.at(run.version, lambda: _read(run))


def _read(run: RunView) -> dict[str, CellResult]:
    try:
        tasks = run.folder.results().tasks
    except (SketchmarkError, OSError):
        return {}
    return {name: tasks[name] for name in run.cells if name in tasks}


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


def curves(run: RunView) -> list[Curve]:
    """Return each task's headline score by the groups of its samples: numbers are difficulties (a line), texts are
    categories (bars). Difficulties are first."""
    found = []
    for task in dict.fromkeys(cell.task for cell in run.cells.values()):
        cells = [c for c in run.cells.values() if c.task == task and c.headline and c.canvas == "own"]
        for key in _group_keys(cells):
            lines = [CurveLine(cell.mode, cell.canvas, _points(cell, key, run.about.seed)) for cell in cells]
            values = [point.value for line in lines for point in line.points]
            numeric = all(isinstance(value, (int, float)) for value in values)
            if 1 < len(set(map(str, values))) <= MOST_GROUPS:
                found.append(Curve(task, key, numeric, lines))
    return sorted(found, key=lambda one: not one.numeric)


def passes(cells: Mapping[str, CellResult]) -> Iterator[tuple[str, Curve]]:
    """Yield pass@k and pass^k of each task by k, if there are three repeats or more, as the name and the curve."""
    for task in dict.fromkeys(cell.task for cell in cells.values()):
        having = [cell for cell in cells.values() if cell.task == task and cell.repeats and cell.repeats.repeats > 2]
        for name in ("pass@k", "pass^k") if having else ():
            lines = []
            for cell in having:
                assert cell.repeats
                by_k = cell.repeats.pass_at if name == "pass@k" else cell.repeats.pass_all
                points = [CurvePoint(mean.mean, mean.ci95, mean.n, int(k)) for k, mean in by_k.items()]
                lines.append(CurveLine(cell.mode, cell.canvas, points))
            yield name, Curve(task, "k", True, lines)


def _group_keys(cells: Iterable[CellView]) -> list[str]:
    keys: dict[str, None] = {}
    for cell in cells:
        first = cell.rows.names("groups", np.arange(min(1, len(cell.rows))))
        keys |= dict.fromkeys(cell.about.breakdown or first)
    return [key for key in keys if key not in ("cluster", PERSON)]


def _points(cell: CellView, key: str, seed: int) -> list[CurvePoint]:
    rows = cell.rows
    codes, values = rows.group(key), rows.group_values(key)
    having = _shown(cell) & ~np.isnan(rows.metric(cell.headline))
    groups: dict[Any, Mask] = {}
    for code in first_seen(codes[having]):
        if code >= 0 and isinstance(value := values[code], (str, int, float)):
            groups[value] = groups.get(value, False) | (having & (codes == code))
            if len(groups) > MOST_GROUPS:
                return []
    points = []
    for group in sorted(groups, key=lambda g: (isinstance(g, str), g if not isinstance(g, str) else 0, str(g))):
        found = _mean(cell.headline, rows, groups[group], seed)
        points.append(CurvePoint(found.mean, (found.low, found.high), found.n, group))
    return points


def drawing_and_answer(cell: CellView) -> DrawingTable | None:
    """Return the scores of answers after right and after wrong drawings; None if no drawing could be checked."""
    having = _shown(cell) & ~np.isnan(cell.rows.metric(cell.headline))
    drawn = cell.rows.drawing_right()
    right, wrong = having & (drawn == 1), having & (drawn == 0)
    if not right.any() and not wrong.any():
        return None
    return DrawingTable(cell.task, cell.canvas, _answers(cell, right), _answers(cell, wrong))


def _shown(cell: CellView) -> Mask:
    """Return the rows that enter results: none if the cell's scores are withheld."""
    return np.full(len(cell.rows), not withheld(cell.rows))


def _answers(cell: CellView, chosen: Mask) -> Answers:
    found = _mean(cell.headline, cell.rows, chosen)
    _, values = _of_samples(cell.rows, np.where(chosen, cell.rows.metric(cell.headline), np.nan))
    right = int((values >= 1).sum())
    return Answers(found.mean, (found.low, found.high), found.n, right)
