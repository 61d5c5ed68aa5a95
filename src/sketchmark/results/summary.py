"""Results of one cell: means with intervals, failures, curves by group, and answers after right and wrong drawings.

results.json, the viewer, the report and `sketchmark compare` all show what is computed here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from sketchmark.folder.results_format import CellResult, Extraction, GroupSummary, Mean, Metric
from sketchmark.results import CHECK, NO_VERDICT, one_line
from sketchmark.results.repeats import averaged, sample_codes, totals_over
from sketchmark.stats.intervals import (
    Interval,
    crossed_interval,
    interval,
)
from sketchmark.tasks import RA_AL, Task

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
    summary.counts = {name: count for name, count in made.counts.items() if count != summary.samples_of(name)}
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
        samples=len(np.unique(sample_codes(rows)[rows.scored])) if rows.repeats else None,
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
    """The headline score of some episodes, by sample, and how many of the episodes are completely right and not."""

    right: int = 0
    other: int = 0


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
    right = int((cell.rows.metric(cell.headline)[chosen] >= 1).sum())
    return Answers(found.mean, (found.low, found.high), found.n, right, int(chosen.sum()) - right)
