"""Results of one cell (means with intervals, failures), and differences between two cells, sample by sample.

results.json, the viewer, the report and `sketchmark compare` all show what is computed here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from sketchmark.episode import EXTRACTED, Totals, rules_of
from sketchmark.errors import SketchmarkError, TotalsFailed
from sketchmark.files.jsonl import plain
from sketchmark.folder.format import CellRecord, Score, ScoreRow
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.results_format import CellResult, Extraction, Gain, GroupSummary, Mean, Metric
from sketchmark.results import CHECK, one_line
from sketchmark.stats.differences import Difference, holm, paired_difference, verdict
from sketchmark.stats.intervals import Interval, interval
from sketchmark.tasks import RA_AL, Task
from sketchmark.tasks.files import BLIND

NO_VERDICT = frozenset({"judge_failed", "extractor_failed", "scorer_failed", "unreadable"})
"""Flags of an episode that could not be scored. A note of the same name in its row gives the reason, and the next
scoring tries again."""


def withheld(rows: Iterable[Score]) -> str:
    """Return why this cell's scores are not shown; empty if they are. Only this function decides it. A scorer fails
    on some answers and not on others, so the mean of the rest is the mean of a selection. It says nothing, nor does a
    difference computed from it. A failed judge or connection depends less on the answer."""
    failed = sum("scorer_failed" in row.flags for row in rows)
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
            made = task.aggregate([plain(row) for row in whole()], rules_of(scoring))
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


def summarise(rows: Iterable[Score], task: Task | None, seed: int = 0) -> CellResult:
    """Return the result of one cell. `n` counts scored episodes; the others are counted under failures."""
    rows = list(rows)
    failures: Counter[str] = Counter()
    usage: Counter[str] = Counter()
    paid: Counter[str] = Counter()
    for row in rows:
        failures.update(flag for flag in row.flags if flag not in ("left_out", "extracted"))
        usage.update(row.usage)
        paid.update(row.spent)
    scored = [row for row in rows if row.scored]
    problem = withheld(rows)
    shown = [] if problem else scored
    return CellResult(
        n=len(scored),
        episodes=len(rows),
        metrics=_metrics(shown, seed),
        failures=dict(sorted(failures.items())),
        cut=_share("truncated", scored),
        unparsed=_share("unparsed", scored),
        left_out=sum("left_out" in row.flags for row in rows),
        calls_left_out=sum(row.calls_left_out for row in rows),
        usage=dict(usage),
        paid=dict(paid) if paid != usage else None,
        by={key: _by(key, shown, seed) for key in (task.breakdown if task else ())},
        problem=problem,
    )


def describe(result: CellResult, cell: CellRecord) -> CellResult:
    """Fill in what run.json says about the cell."""
    result.task, result.mode, result.canvas = cell.task, cell.mode, cell.canvas
    result.draw_with, result.steps, result.headline = cell.draw_with, cell.steps, cell.headline
    return result


def _share(flag: str, scored: Sequence[Score]) -> float | None:
    return sum(flag in row.flags for row in scored) / len(scored) if scored else None


def _by(key: str, scored: Sequence[Score], seed: int) -> dict[str, GroupSummary]:
    groups: dict[str, list[Score]] = {}
    for row in scored:
        if key in row.groups:
            groups.setdefault(str(row.groups[key]), []).append(row)
    return {name: GroupSummary(len(group), _metrics(group, seed)) for name, group in sorted(groups.items())}


def _metrics(rows: Sequence[Score], seed: int) -> dict[str, Metric]:
    metrics = {}
    for name in dict.fromkeys(name for row in rows for name in row.values):
        found = mean_of(name, rows, seed)
        if found.mean is not None:  # the score applies to no sample
            metrics[name] = Metric(found.mean, (found.low, found.high), found.n, found.method)
    return metrics


def mean_of(metric: str, rows: Iterable[Score], seed: int = 0) -> Interval:
    """Return the mean of a score over the rows that have it, with samples of a cluster taken together."""
    having = [(row, value) for row in rows if (value := row.value(metric)) is not None]
    clusters = [row.sample if row.cluster is None else row.cluster for row, _ in having]
    shared = len(set(clusters)) < len(clusters)
    return interval([value for _, value in having], clusters if shared else None, seed=seed)


Rows = Mapping[str, Score]
"""By key (`episode_key`), in the order of the samples."""

SEEING = (BLIND, "direct")
MODE_PAIRS = (("direct", "visual_cot"), ("direct", "text_cot"), ("text_cot", "visual_cot"), SEEING)
"""Modes that are compared within a run. text_cot with visual_cot shows whether the image helps, or only more tokens;
blind with direct, whether seeing helps."""


@dataclass(frozen=True)
class Pair:
    before: float
    after: float
    cluster: str | int | float | None
    groups: Mapping[str, Any]
    drawing_right: bool | None
    """On the `after` side."""


@dataclass(frozen=True)
class Pairs:
    """Pairs that both sides scored, and the number of samples missing from them. If a side's scores are `withheld`,
    there are no pairs."""

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
    """Pair two cells. `metric_before` is the score of the first if the two differ, as those of two tasks may."""
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


def gains(cells: Mapping[str, CellRecord], rows: Callable[[str], Rows]) -> list[Gain]:
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
    rows = cell.scored().values()
    result = describe(summarise(rows, None), cell.about)
    result.task = cell.task
    result.scoring = next((row.scoring for row in rows), "")
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
    categories (bars)."""
    found = []
    for task in dict.fromkeys(cell.task for cell in run.cells.values()):
        cells = [c for c in run.cells.values() if c.task == task and c.headline and c.canvas == "own"]
        for key in _group_keys(cells):
            lines = [CurveLine(cell.mode, cell.canvas, _points(cell, key, run.about.seed)) for cell in cells]
            values = [point.value for line in lines for point in line.points]
            numeric = all(isinstance(value, (int, float)) for value in values)
            if 1 < len(set(map(str, values))) <= MOST_GROUPS:
                found.append(Curve(task, key, numeric, lines))
    return found


def _group_keys(cells: Iterable[CellView]) -> list[str]:
    keys: dict[str, None] = {}
    for cell in cells:
        first = next(iter(cell.rows.values()), None)
        keys |= dict.fromkeys(cell.about.breakdown or (first.groups if first else ()))
    return [key for key in keys if key != "cluster"]


def _points(cell: CellView, key: str, seed: int) -> list[CurvePoint]:
    groups: dict[Any, list[Score]] = {}
    for row in _shown(cell):
        value, group = row.value(cell.headline), row.groups.get(key)
        if value is not None and isinstance(group, (str, int, float)):
            groups.setdefault(group, []).append(row)
    if len(groups) > MOST_GROUPS:
        return []
    points = []
    for group in sorted(groups, key=lambda g: (isinstance(g, str), g if not isinstance(g, str) else 0, str(g))):
        found = mean_of(cell.headline, groups[group], seed)
        points.append(CurvePoint(found.mean, (found.low, found.high), found.n, group))
    return points


def drawing_and_answer(cell: CellView) -> DrawingTable | None:
    """Return the scores of answers after right and after wrong drawings; None if no drawing could be checked."""
    right: list[Score] = []
    wrong: list[Score] = []
    for row in _shown(cell):
        value, drawing = row.value(cell.headline), row.drawing_right
        if value is not None and drawing is not None:
            (right if drawing else wrong).append(row)
    if not right and not wrong:
        return None
    return DrawingTable(cell.task, cell.canvas, _answers(cell.headline, right), _answers(cell.headline, wrong))


def _shown(cell: CellView) -> Iterable[Score]:
    """Return the rows that enter results: none if the cell's scores are withheld."""
    rows = cell.scored().values()
    return () if withheld(rows) else rows


def _answers(headline: str, rows: Sequence[Score]) -> Answers:
    found = mean_of(headline, rows)
    return Answers(found.mean, (found.low, found.high), found.n, sum((row.value(headline) or 0) >= 1 for row in rows))
