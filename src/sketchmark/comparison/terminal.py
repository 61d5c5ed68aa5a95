"""Tables for the terminal."""

from __future__ import annotations

import io

from sketchmark.comparison.findings import Comparison
from sketchmark.comparison.tables import tables
from sketchmark.terminal.tables import wrapped


def to_terminal(comparison: Comparison) -> str:
    from sketchmark.terminal.console import columns, written_to

    text = io.StringIO()
    console = written_to(text, columns())
    for table in tables(comparison):
        console.print(table)
    for note in comparison.notes:
        for line in wrapped(f"Note: {note}", console.width):
            console.print(line)
    return text.getvalue()
