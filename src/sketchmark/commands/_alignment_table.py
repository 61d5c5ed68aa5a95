"""`ra-al` of a run: does the drawing follow the reasoning, and the answer the drawing?"""

from __future__ import annotations

from sketchmark.commands._results_table import bounds_of, mean_of
from sketchmark.runs.alignment import MEANING
from sketchmark.runs.results_format import Results
from sketchmark.task import RA_AL


def print_alignment(results: Results) -> None:
    """One table for all cells that were looked at; nothing where none was."""
    from rich import box
    from rich.table import Table

    from sketchmark.terminal.console import console

    title = "Does the drawing follow, and the answer follow the drawing? With 95 % intervals"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for name in ("task.mode", RA_AL):
        table.add_column(name, overflow="fold")
    for name in ("mean", "95 %", "n"):
        table.add_column(name, justify="right", no_wrap=True)
    for label, cell in results.tasks.items():
        metrics = cell.scorings[RA_AL].metrics if RA_AL in cell.scorings else {}
        for name in (name for name in MEANING if name in metrics):
            found = metrics[name]
            table.add_row(label, MEANING[name], mean_of(found), bounds_of(found), str(found.n))
            label = ""
        table.add_section()
    if table.row_count:
        console().print(table)
