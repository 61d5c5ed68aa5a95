"""The table at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sketchmark.comparison.results_tables import conditions, gains_table, mean_of, scores_table, trouble_of
from sketchmark.comparison.wording import bounds_of
from sketchmark.runs.baselines import warned
from sketchmark.runs.results_format import CellSummary, Results
from sketchmark.terminal.tables import Table

if TYPE_CHECKING:
    from rich.console import Console

_MOST_GROUPS = 12
"""A screen has room for the kinds of a question, not for every length of a path."""


def print_results(results: Results) -> None:
    """Every score with its interval, by each scoring, beside it what guessing would get (where there is something to
    guess) and how many replies were cut or could not be read; then other trouble, and what drawing changed."""
    from sketchmark.terminal.console import console

    out = console()
    if results.part:
        out.print(results.part, style="yellow")
    out.print(scores_table(results))
    for name, cell in results.tasks.items():
        if trouble := trouble_of(cell):
            out.print(f"{name}: {trouble}", style="red")
    for line in conditions(results):
        out.print(line)
    _print_groups(out, results.tasks)
    for warning in (*results.warnings, *warned(results.tasks)):
        out.print(f"warning: {warning}", style="yellow")
    if results.gains:
        out.print(gains_table(results.gains))


def _print_groups(out: Console, cells: Mapping[str, CellSummary]) -> None:
    """The headline score by the first key that groups a task's samples; the report has all of them."""
    table = Table("By group", ("task.mode", "by", "group", "mean", "95 %", "n"), texts=3)
    for name, cell in cells.items():
        by, groups = next(iter(cell.by.items()), ("", {}))
        if not 2 <= len(groups) <= _MOST_GROUPS or all(group.isdigit() for group in groups):
            continue
        for label, group in groups.items():
            found = group.metrics.get(cell.headline)
            table.add(name, by, label, mean_of(found), bounds_of(found), str(found.n if found else 0))
    if table.rows:
        out.print(table)
