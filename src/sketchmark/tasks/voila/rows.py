"""The rows of a VOILA file, for whoever plays or scores them: whole, or refused with their place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sketchmark.errors import BadInput
from sketchmark.worlds.voila.table import QuestionRow, read_table


def read_rows(table: Path) -> Iterator[tuple[str, QuestionRow]]:
    """Each with its place in words, which counts from 1 as `voila check` does."""
    _, rows = read_table(table)
    for number, fields in enumerate(rows, 1):
        where = f"{table}, row {number}"
        if len(fields) != len(QuestionRow._fields):
            raise BadInput(
                f"{where}: {len(fields)} fields instead of {len(QuestionRow._fields)}: no table of VOILA",
                "sketchmark voila check FILE says more",
            )
        yield where, QuestionRow(*fields)
