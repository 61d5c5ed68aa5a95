"""Several scorings of one run side by side: the tables that a data set itself publishes, a column a scoring."""

from __future__ import annotations

from sketchmark.runs.own_numbers import flat
from sketchmark.runs.results_format import Results
from sketchmark.terminal.tables import Table, print_table


def print_scorings(results: Results) -> None:
    """One table for each cell with tables of its own that was scored in more than one way; nothing when none was."""
    for name, cell in results.tasks.items():
        ways = {cell.scoring or "strict": cell, **cell.scorings}
        columns = {name: way for name, way in ways.items() if way.aggregate}
        if len(columns) < 2 or not cell.aggregate:
            continue
        title = f"{name}: the same replies, scored {len(columns)} ways"
        table = Table(title, ("number", *columns), texts=1)
        numbers = {scoring: dict(flat(summary.aggregate)) for scoring, summary in columns.items()}
        for label in dict.fromkeys(label for found in numbers.values() for label in found):
            table.add(label, *(_written(found.get(label)) for found in numbers.values()))
        print_table(table)


def _written(number: float | None) -> str:
    if number is None:
        return ""
    return str(number) if isinstance(number, int) else f"{number:.3f}"
