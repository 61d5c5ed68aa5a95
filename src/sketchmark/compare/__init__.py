"""Paired comparisons of modes, canvases and runs, on the same samples.

    from sketchmark.compare import compare
    for row in compare(["runs/a", "runs/b"]).rows:
        print(row.task, row.label, row.difference)

`as_json` gives the same as plain values.
"""

from sketchmark.compare.comparing import compare
from sketchmark.compare.findings import (
    Breakdown,
    CanvasScore,
    CanvasTable,
    Comparison,
    DrawingSplit,
    Group,
    Plan,
    Side,
    TableRow,
    as_json,
)

__all__ = [
    "Breakdown",
    "CanvasScore",
    "CanvasTable",
    "Comparison",
    "DrawingSplit",
    "Group",
    "Plan",
    "Side",
    "TableRow",
    "as_json",
    "compare",
]
