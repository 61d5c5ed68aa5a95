"""Paired comparisons of modes, canvases and runs, on the same samples.

    for row in sketchmark.compare(["runs/a", "runs/b"]).rows:
        print(row.task, row.label, row.difference)

`as_json` gives the same as plain values.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

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


class _Callable(ModuleType):
    """`sketchmark.compare` is a function of the public face, but Python binds that name to this package as soon as
    anything imports it, `sketchmark.run` for one. Called, the package does what the function does."""

    def __call__(
        self, runs: Sequence[Path | str], *, metric: str = "", power: float | None = None, anyway: bool = False
    ) -> Comparison:
        return compare(runs, metric=metric, power=power, anyway=anyway)


sys.modules[__name__].__class__ = _Callable
