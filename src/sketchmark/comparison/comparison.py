"""A comparison that shows itself: with `print`, and in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sketchmark.comparison.findings import Findings
from sketchmark.comparison.formats import to_markdown
from sketchmark.comparison.terminal import to_terminal


@dataclass(frozen=True)
class Comparison(Findings):
    """What `sketchmark.compare` found."""

    def __str__(self) -> str:
        return to_terminal(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_markdown_(self) -> str:
        """How a notebook shows it: everything that others wrote is escaped there."""
        return to_markdown(self)
