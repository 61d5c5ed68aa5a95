"""Whether the cost limit kept a start from anything: one that reaches it with its last episode is done."""

from __future__ import annotations

from collections.abc import Sequence

from sketchmark.runs.options import RunOptions
from sketchmark.runs.plan import Cell
from sketchmark.runs.store import RunFolder
from sketchmark.runs.supply import Progress, supply


def cut_short(folder: RunFolder, cells: Sequence[Cell], options: RunOptions) -> bool:
    """The limit is reached, and episodes or verdicts are missing: the next start has something to do."""
    if not options.budget.used_up:
        return False
    jobs = supply(folder, [Progress(cell) for cell in cells], options.retry_failed, lambda: False)
    return any(job is not None for job in jobs) or _lacks_verdicts(folder, cells)


def _lacks_verdicts(folder: RunFolder, cells: Sequence[Cell]) -> bool:
    """A judge is not asked beyond the limit."""
    tasks = folder.results().tasks
    found = [tasks[cell.name] for cell in cells if cell.name in tasks]
    return any("judge_failed" in one.failures for cell in found for one in (cell, *cell.scorings.values()))
