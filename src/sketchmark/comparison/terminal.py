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

_SPARE = ("p", "same", "score", "before", "after", "hurt", "helped", "apart")
"""Columns that a narrow terminal does without, in this order; every other format has them."""


def to_terminal(comparison: Comparison) -> str:
    from sketchmark.terminal.console import written_to

    text = io.StringIO()
    console = written_to(text, shutil.get_terminal_size((160, 40)).columns)
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
            console.print(line)
            console.print()
    for note in comparison.notes:
        console.print(f"Note: {note}")
    return text.getvalue()


def _rich(table: Table) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable

    shown = RichTable(title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
    for place, name in enumerate(table.columns):
        words = place < table.texts
        shown.add_column(name, justify="left" if words else "right", overflow="fold", no_wrap=not words)
    for row in table.rows:
        shown.add_row(*row)
    return shown


def _without(table: Table, name: str) -> Table:
    gone = table.columns.index(name)
    return replace(
        table,
        columns=tuple(column for place, column in enumerate(table.columns) if place != gone),
        rows=tuple(tuple(cell for place, cell in enumerate(row) if place != gone) for row in table.rows),
        texts=table.texts - (gone < table.texts),
    )
