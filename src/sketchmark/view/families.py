"""Which differences are judged together, so that the viewer calls clear what `sketchmark compare` calls clear."""

from __future__ import annotations

from collections.abc import Iterator

from sketchmark.comparison.fairness import why_no_gain
from sketchmark.comparison.pairing import across_canvases, across_modes, across_runs
from sketchmark.runs.index import CellIndex, RunIndex
from sketchmark.runs.scored import ScoredCell

Family = list[tuple[CellIndex, CellIndex]]


def family_of(left: RunIndex, right: RunIndex, before: CellIndex, after: CellIndex) -> Family:
    """The differences among which this one stands, in either direction, where the two runs are compared; none where
    it stands nowhere (two tasks, say)."""
    return next((found for found in _families(left, right) if {before, after} in map(set, found)), [])


def _families(left: RunIndex, right: RunIndex) -> Iterator[Family]:
    """The rows of `compare`; the canvases of each of its tables; and what the page of a run has beside them: other
    canvases and modes against direct."""
    runs = {run.key: run for run in (left, right)}
    cells = [
        ScoredCell(run.folder, run.key, run.model, name, cell.about, "")
        for run in runs.values()
        for name, cell in run.cells.items()
    ]

    def found(one: ScoredCell) -> CellIndex:
        return runs[one.run].cells[one.name]

    rows: Family = []
    tables: list[Family] = []
    for task in dict.fromkeys(cell.task for cell in cells):
        same = [cell for cell in cells if cell.task == task]
        if why_no_gain(same[0].about, same[0].about.headline):
            continue
        for across in (across_runs, across_modes):
            rows += [(found(one), found(other)) for one, other in across(same, list(runs))]
        for group in across_canvases(same, list(runs)):
            own = group.pop("own", None)
            tables.append([(found(other), found(own)) for other in group.values()] if own else [])
    yield rows
    if left is right:
        yield [pair for pair in _against_direct(left) if pair not in rows]
    yield from tables


def _against_direct(run: RunIndex) -> Iterator[tuple[CellIndex, CellIndex]]:
    for cell in run.cells.values():
        base = run.baseline(cell)
        if base and not why_no_gain(cell.about, cell.headline):
            yield base, cell
