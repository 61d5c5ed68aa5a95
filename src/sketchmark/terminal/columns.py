"""Rows of short texts as lines, column under column, however wide that is: for a text that is kept or pasted."""

from __future__ import annotations

from collections.abc import Sequence

from sketchmark.terminal.telling import one_line


def in_columns(rows: Sequence[Sequence[str]], texts: int) -> list[str]:
    """The first `texts` columns stand to the left, the others, which are numbers, to the right."""
    from rich.cells import cell_len

    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]

    def line(row: list[str]) -> str:
        gaps = [" " * (width - cell_len(cell)) for width, cell in zip(widths, row, strict=True)]
        left = [cell + gap for cell, gap in zip(row, gaps, strict=True)][:texts]
        right = [gap + cell for cell, gap in zip(row, gaps, strict=True)][texts:]
        return "  ".join(left + right).rstrip()

    return list(map(line, cells))
