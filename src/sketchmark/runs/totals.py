"""The overall score of a benchmark of several tasks, and what drawing changed in it.

Weights are constants, as the benchmark publishes them, so a total is shown only where all its tasks were played whole
in one mode and every sample has a score: a part would pass for the whole. Otherwise it says what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sketchmark.runs.format import CellAbout
from sketchmark.runs.gains import Rows, correct, gain_of
from sketchmark.runs.results import withheld
from sketchmark.runs.results_format import BenchmarkTotal, Gain, Mean
from sketchmark.scores import Share, Total
from sketchmark.stats import interval, paired_difference
from sketchmark.task import Task
from sketchmark.task_files.published import published_beside

OVERALL = "overall"
Way = tuple[str, str]
"""Mode and canvas."""


@dataclass(frozen=True)
class _Part:
    """One task of a benchmark as it was played and scored in one way; `missing` says why it cannot count."""

    share: Share
    values: Mapping[str, float]
    clusters: Sequence[str]
    missing: str = ""


def totals(
    tasks: Iterable[Task], cells: Mapping[str, CellAbout], rows: Callable[[str, str], Rows], scorings: Sequence[str]
) -> list[BenchmarkTotal]:
    """For every benchmark that one of the tasks belongs to, and each way in which it was played and scored.

    `rows(cell, suffix)` are a cell's scores by the run's own scoring (no suffix) or by another.
    """
    found = []
    for task, total in {total.name: (task, total) for task in tasks if (total := task.total)}.values():
        names = {share.task for share in total.shares}
        ways = dict.fromkeys((cell.mode, cell.canvas) for cell in cells.values() if cell.task in names)
        for place, scoring in enumerate(scorings):
            played = {}
            for way in ways:
                here = {cell.task: name for name, cell in cells.items() if (cell.mode, cell.canvas) == way}
                played[way] = [
                    _part(share, cells[here[share.task]], rows(here[share.task], scoring if place else ""), scoring)
                    if share.task in here
                    else _Part(share, {}, (), "not played")
                    for share in total.shares
                ]
            direct = next((parts for (mode, _), parts in played.items() if mode == "direct"), None)
            for way, parts in played.items():
                made = _total(total, way, scoring, parts, direct if way[0] != "direct" else None)
                if task.folder and way[1] == "own":
                    made.published = published_beside(task.folder, total.name, way[0])
                found.append(made)
    return found


def _part(share: Share, cell: CellAbout, rows: Rows, scoring: str) -> _Part:
    score = share.scores.get(scoring, cell.headline)
    values, clusters = {}, []
    for name, row in rows.items():
        value = row.value(score)
        if row.scoring == scoring and value is not None:
            values[name] = value
            clusters.append(f"{share.source or share.task}/{row.sample if row.cluster is None else row.cluster}")
    part = f"{len(values)} of {share.items} samples scored" if len(values) != share.items else ""
    return _Part(share, values, clusters, withheld(rows.values()) or part)


def _total(
    total: Total, way: Way, scoring: str, parts: Sequence[_Part], direct: Sequence[_Part] | None
) -> BenchmarkTotal:
    missing = {part.share.task: part.missing for part in parts if part.missing}
    found = BenchmarkTotal(benchmark=total.name, mode=way[0], canvas=way[1], scoring=scoring, missing=missing)
    if missing:
        return found
    by = {name: [n for n, share in enumerate(total.shares) if share.category == name] for name in total.weights}
    found.categories = {name: _mean([parts[n] for n in places]) for name, places in by.items()}
    found.overall = _mean(parts)
    if direct is not None and _same_samples(direct, parts):
        everywhere = {**by, OVERALL: list(range(len(parts)))}
        found.gains = {
            name: _gain(total, way, name, [(direct[n], parts[n]) for n in places])
            for name, places in everywhere.items()
        }
        correct(list(found.gains.values()))
    return found


def _mean(parts: Sequence[_Part]) -> Mean:
    """Every part is whole, so the plain mean over all items is the mean of the parts by their weights."""
    values = [value for part in parts for value in part.values.values()]
    return Mean.of(interval(values, [label for part in parts for label in part.clusters]))


def _same_samples(direct: Sequence[_Part], parts: Sequence[_Part]) -> bool:
    return all(
        not one.missing and one.values.keys() == other.values.keys() for one, other in zip(direct, parts, strict=True)
    )


def _gain(total: Total, way: Way, name: str, pairs: Sequence[tuple[_Part, _Part]]) -> Gain:
    before = [value for direct, _ in pairs for value in direct.values.values()]
    after = [part.values[sample] for direct, part in pairs for sample in direct.values]
    clusters = [label for direct, _ in pairs for label in direct.clusters]
    about = CellAbout(task=total.name, mode=way[0], canvas=way[1], headline=name)
    return gain_of(about, paired_difference(before, after, clusters))
