"""The numbers of one cell: means with intervals, and failures counted; and whether it may show any."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from sketchmark.errors import TotalsFailed
from sketchmark.files.plain import plain
from sketchmark.runs.format import ScoreNumbers, ScoreRow
from sketchmark.runs.grading import one_line
from sketchmark.runs.results_format import CellSummary, GroupSummary, Metric
from sketchmark.stats import Interval, interval
from sketchmark.task import RA_AL, Task

NO_VERDICT = frozenset({"judge_failed", "scorer_failed", "unreadable"})
"""Flags of an episode that was played and could not be scored; its row says why in a note of the same name, and the
next scoring tries again."""


def withheld(rows: Iterable[ScoreNumbers]) -> str:
    """Why this cell's scores are not shown, in words; empty where they are. The one place that decides it.

    A scorer breaks on some answers and not on others, so the mean of the rest is the mean of a choice: it says
    nothing, and neither does a difference made of it. A failed judge or connection did not look at the answer.
    """
    failed = sum("scorer_failed" in row.flags for row in rows)
    return f"no score is shown: {failed} scorer failure{'s' * (failed > 1)}" if failed else ""


def summed_up(
    rows: Iterable[ScoreNumbers], whole: Callable[[], Iterable[ScoreRow]], task: Task, scoring: str, seed: int = 0
) -> CellSummary:
    """The summary of one cell with the task's own totals and the reasons of failures, which need the `whole` rows."""
    summary = summarise(rows, task, seed)
    summary.scoring = scoring
    if summary.failures.keys() & NO_VERDICT:
        for row in whole():
            for kind in NO_VERDICT & row.notes.keys():
                summary.reasons.setdefault(kind, f"{row.sample}: {row.notes[kind]}")
    if task.aggregate and scoring != RA_AL and summary.n and not summary.problem:
        try:
            summary.aggregate = dict(task.aggregate([plain(row) for row in whole()], scoring))
            json.dumps(summary.aggregate, allow_nan=False, default=str)  # a total that is no number is none
        except Exception as error:  # the task's code: anything may come
            summary.aggregate = error.made if isinstance(error, TotalsFailed) else {}
            summary.problem = f"its own totals failed: {one_line(error)}"
    return summary


def summarise(rows: Iterable[ScoreNumbers], task: Task | None, seed: int = 0) -> CellSummary:
    """The summary of one cell. `n` counts scored episodes; whatever was not scored stands under failures."""
    rows = list(rows)
    failures: Counter[str] = Counter()
    usage: Counter[str] = Counter()
    for row in rows:
        failures.update(flag for flag in row.flags if flag != "left_out")
        usage.update(row.usage)
    scored = [row for row in rows if row.scored]
    problem = withheld(rows)
    shown = [] if problem else scored
    return CellSummary(
        n=len(scored),
        episodes=len(rows),
        metrics=_metrics(shown, seed),
        failures=dict(sorted(failures.items())),
        cut=_share("truncated", scored),
        unparsed=_share("unparsed", scored),
        left_out=sum("left_out" in row.flags for row in rows),
        calls_left_out=sum(row.calls_left_out for row in rows),
        usage=dict(usage),
        by={key: _by(key, shown, seed) for key in (task.breakdown if task else ())},
        problem=problem,
    )


def _share(flag: str, scored: Sequence[ScoreNumbers]) -> float | None:
    return sum(flag in row.flags for row in scored) / len(scored) if scored else None


def _by(key: str, scored: Sequence[ScoreNumbers], seed: int) -> dict[str, GroupSummary]:
    groups: dict[str, list[ScoreNumbers]] = {}
    for row in scored:
        if key in row.groups:
            groups.setdefault(str(row.groups[key]), []).append(row)
    return {name: GroupSummary(len(group), _metrics(group, seed)) for name, group in sorted(groups.items())}


def _metrics(rows: Sequence[ScoreNumbers], seed: int) -> dict[str, Metric]:
    metrics = {}
    for name in dict.fromkeys(name for row in rows for name in row.values):
        found = mean_of(name, rows, seed)
        if found.mean is not None:  # a score that applies to no sample is left out
            metrics[name] = Metric(found.mean, (found.low, found.high), found.n, found.method)
    return metrics


def mean_of(metric: str, rows: Iterable[ScoreNumbers], seed: int = 0) -> Interval:
    """The mean of a score over the rows that have it, all or a group's; samples of a cluster belong together."""
    having = [(row, value) for row in rows if (value := row.value(metric)) is not None]
    clusters = [row.sample if row.cluster is None else row.cluster for row, _ in having]
    shared = len(set(clusters)) < len(clusters)
    return interval([value for _, value in having], clusters if shared else None, seed=seed)
