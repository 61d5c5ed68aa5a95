"""Paired comparisons of modes, canvases and runs, on the same samples.

    for row in sketchmark.compare("runs/a", "runs/b").rows:
        print(row.task, row.label, row.difference)

`as_json` gives the same as plain values.
"""

from sketchmark.comparison.comparing import compare
from sketchmark.comparison.comparison import Comparison
from sketchmark.comparison.findings import (
    Breakdown,
    CanvasScore,
    CanvasTable,
    DrawingSplit,
    Group,
    Plan,
    PublishedRow,
    PublishedTable,
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
    "PublishedRow",
    "PublishedTable",
    "Side",
    "TableRow",
    "as_json",
    "compare",
]
