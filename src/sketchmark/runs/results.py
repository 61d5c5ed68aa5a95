"""The numbers of one cell: means with intervals, and failures counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sketchmark.runs.format import ScoreNumbers
from sketchmark.runs.results_format import CellSummary, GroupSummary, Metric
from sketchmark.stats import interval
from sketchmark.task import Task


def summarise(rows: Iterable[ScoreNumbers], task: Task | None, seed: int = 0) -> CellSummary:
    """The summary of one cell. `n` counts scored episodes; whatever was not scored stands under failures."""
    rows = list(rows)
    failures: Counter[str] = Counter()
    usage: Counter[str] = Counter()
    for row in rows:
        failures.update(flag for flag in row.flags if flag != "left_out")
        usage.update(row.usage)
    scored = [row for row in rows if row.scored]
    return CellSummary(
        n=len(scored),
        episodes=len(rows),
        metrics=_metrics(scored, seed),
        failures=dict(sorted(failures.items())),
        left_out=sum("left_out" in row.flags for row in rows),
        calls_left_out=sum(row.calls_left_out for row in rows),
        usage=dict(usage),
        by={key: _by(key, scored, seed) for key in (task.breakdown if task else ())},
    )


def _by(key: str, scored: Sequence[ScoreNumbers], seed: int) -> dict[str, GroupSummary]:
    groups: dict[str, list[ScoreNumbers]] = {}
    for row in scored:
        if key in row.groups:
            groups.setdefault(str(row.groups[key]), []).append(row)
    return {name: GroupSummary(len(group), _metrics(group, seed)) for name, group in sorted(groups.items())}


def _metrics(rows: Sequence[ScoreNumbers], seed: int) -> dict[str, Metric]:
    metrics = {}
    for name in dict.fromkeys(name for row in rows for name in row.values):
        having = [(row, value) for row in rows if (value := row.value(name)) is not None]
        clusters = [row.sample if row.cluster is None else row.cluster for row, _ in having]
        shared = len(set(clusters)) < len(clusters)
        found = interval([value for _, value in having], clusters if shared else None, seed=seed)
        if found.mean is not None:  # a score that applies to no sample is left out
            metrics[name] = Metric(found.mean, (found.low, found.high), found.n, found.method)
    return metrics
