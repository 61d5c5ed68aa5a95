"""Tables for the terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable

from sketchmark.comparison.findings import Findings
from sketchmark.comparison.tables import tables
from sketchmark.terminal.tables import Table, wrapped


def to_terminal(comparison: Findings) -> str:
    return printed(tables(comparison), (f"Note: {note}" for note in comparison.notes))


def printed(tables: Iterable[Table], below: Iterable[str]) -> str:
    """As wide as the terminal is."""
    from sketchmark.terminal.console import columns, written_to

    text = io.StringIO()
    console = written_to(text, columns())
    for table in tables:
        console.print(table)
    for sentence in below:
        for line in wrapped(sentence, console.width):
            console.print(line)
    return text.getvalue()
