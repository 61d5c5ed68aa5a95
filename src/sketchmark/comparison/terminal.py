"""Tables for the terminal."""

from __future__ import annotations

import io
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from sketchmark.comparison.findings import Comparison
from sketchmark.comparison.tables import Table, tables

if TYPE_CHECKING:
    from rich.table import Table as RichTable

_SPARE = ("p", "same", "score", "before", "after", "hurt", "helped")
"""Columns that a narrow terminal does without, in this order; every other format has them."""


def to_terminal(comparison: Comparison) -> str:
    from rich.console import Console
    from rich.text import Text

    text = io.StringIO()
    console = Console(file=text, width=shutil.get_terminal_size((160, 40)).columns, highlight=False)
    for table in tables(comparison):
        shown = _rich(table)
        for name in _SPARE:
            if console.measure(shown).maximum < console.width:
                break
            if name in table.columns:
                table = _without(table, name)
                shown = _rich(table)
        console.print(shown)
        for line in table.below:
            console.print(Text(line))
            console.print()
    for note in comparison.notes:
        console.print(Text(f"Note: {note}"))
    return text.getvalue()


def _rich(table: Table) -> RichTable:
    """Texts, never markup: a category may be called `[bold]`."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(title=Text(table.title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD)
    for place, name in enumerate(table.columns):
        words = place < table.texts
        shown.add_column(Text(name), justify="left" if words else "right", overflow="fold", no_wrap=not words)
    for row in table.rows:
        shown.add_row(*map(Text, row))
    return shown


def _without(table: Table, name: str) -> Table:
    gone = table.columns.index(name)
    return replace(
        table,
        columns=tuple(column for place, column in enumerate(table.columns) if place != gone),
        rows=tuple(tuple(cell for place, cell in enumerate(row) if place != gone) for row in table.rows),
        texts=table.texts - (gone < table.texts),
    )
