"""Tables for the terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable

from sketchmark.comparison.findings import Comparison
from sketchmark.comparison.tables import tables
from sketchmark.terminal.tables import Table, wrapped


def to_terminal(comparison: Comparison) -> str:
    return printed(tables(comparison), comparison.notes)


def printed(tables: Iterable[Table], notes: Iterable[str]) -> str:
    """As wide as the terminal is."""
    from sketchmark.terminal.console import columns, written_to

    text = io.StringIO()
    console = written_to(text, columns())
    for table in tables:
        console.print(table)
    for note in notes:
        for line in wrapped(f"Note: {note}", console.width):
            console.print(line)
    return text.getvalue()
