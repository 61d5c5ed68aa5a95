"""Progress below the cell of a notebook, which is no terminal: there lines are replaced, not written over."""

from __future__ import annotations

import time

from sketchmark.runs.calls import Calls
from sketchmark.runs.progress import Count, Silent
from sketchmark.terminal import one_line
from sketchmark.terminal.notebook import Place


class InNotebook(Silent):
    """One line per cell of the run and one for the calls, below the notebook's cell, replaced as they go on."""

    looks_on = True
    _EVERY = 0.5
    _WIDTH = 20

    def __init__(self) -> None:
        self._place = Place()
        self._cells: dict[str, Count] = {}
        self._calls = ""
        self._told = 0.0

    def __enter__(self) -> InNotebook:
        return self

    def begin(self, cell: str, total: int | None, done: int) -> None:
        self._cells[cell] = Count(total, done)
        self._show()

    def played(self, cell: str, failed: bool) -> None:
        self._cells[cell].add(failed)
        if time.monotonic() - self._told >= self._EVERY:
            self._show()

    def end(self, cell: str) -> None:
        self._cells[cell].total = self._cells[cell].done
        self._show()

    def calls(self, so_far: Calls) -> None:
        self._calls = "; ".join(filter(None, (so_far.told(), so_far.last_error)))
        self._show()

    def _show(self) -> None:
        self._told = time.monotonic()
        lines = [self._line(cell, count) for cell, count in self._cells.items()]
        self._place.show("\n".join(map(one_line, [*lines, *filter(None, [self._calls])])))

    def _line(self, cell: str, count: Count) -> str:
        full = round(self._WIDTH * count.done / count.total) if count.total else self._WIDTH * bool(count.done)
        of = f"/{count.total}" if count.total else ""
        bar = "█" * full + "░" * (self._WIDTH - full)
        return f"{cell} {bar} {count.done}{of} episodes, {count.failed} failed, {count.rate:.1f}/s"
