"""`ra-al` of a run: does the drawing follow the reasoning, and the answer the drawing?"""

from __future__ import annotations

from sketchmark.comparison.results_tables import mean_of
from sketchmark.comparison.wording import bounds_of
from sketchmark.runs.alignment import MEANING
from sketchmark.runs.results_format import Results
from sketchmark.task import RA_AL
from sketchmark.terminal.tables import Table, print_table


def print_alignment(results: Results) -> None:
    """One table for all cells that were looked at; nothing where none was."""
    title = "Does the drawing follow, and the answer follow the drawing? With 95 % intervals"
    table = Table(title, ("task.mode", RA_AL, "mean", "95 %", "n"), texts=2)
    for label, cell in results.tasks.items():
        metrics = cell.scorings[RA_AL].metrics if RA_AL in cell.scorings else {}
        for name in (name for name in MEANING if name in metrics):
            found = metrics[name]
            table.add(label, MEANING[name], mean_of(found), bounds_of(found), str(found.n))
    if table.rows:
        print_table(table)
