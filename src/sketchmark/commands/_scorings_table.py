"""Several scorings of one run side by side: the tables that a data set itself publishes, a column a scoring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sketchmark.runs.results_format import Results


def print_scorings(results: Results) -> None:
    """One table for each cell with tables of its own that was scored in more than one way; nothing when none was."""
    from rich.table import Table

    from sketchmark.terminal.console import console

    out = console()
    for name, cell in results.tasks.items():
        ways = {cell.scoring or "strict": cell, **cell.scorings}
        columns = {name: way for name, way in ways.items() if way.aggregate}
        if len(columns) < 2 or not cell.aggregate:
            continue
        table = Table(title=f"{name}: the same replies, scored {len(columns)} ways", title_justify="left")
        table.add_column("number")
        for scoring in columns:
            table.add_column(scoring, justify="right")
        numbers = {scoring: dict(_flat(summary.aggregate)) for scoring, summary in columns.items()}
        for label in dict.fromkeys(label for found in numbers.values() for label in found):
            table.add_row(label, *(_written(found.get(label)) for found in numbers.values()))
        out.print(table)


def _flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """A data set's tables as `open / acc` -> number."""
    for key, inner in value.items():
        label = f"{before} / {key}" if before else str(key)
        if isinstance(inner, Mapping):
            yield from _flat(inner, label)
        elif isinstance(inner, (int, float)):
            yield label, inner


def _written(number: float | None) -> str:
    if number is None:
        return ""
    return str(number) if isinstance(number, int) else f"{number:.3f}"
