"""`--until settled`: samples are added in blocks until each task's drawing gain is settled, or a limit is reached.

One may look after every block because the gain's interval is a confidence sequence (stats/sequence.py).
"""

from __future__ import annotations

from collections.abc import Callable

from sketchmark.audit.auditing import gain_sequence
from sketchmark.audit.contrasts import DRAWING_MODE
from sketchmark.runs.gains import pair
from sketchmark.runs.growing import More
from sketchmark.runs.store import RunFolder

AT_COST_LIMIT = "not settled at the limit of cost"


class Settling:
    """Asked after each block (`grow`). `outcomes` says of each task, in words, why it got no more samples."""

    def __init__(
        self, tasks: frozenset[str], margin: float, block: int, most: int, out_of_money: Callable[[], bool]
    ) -> None:
        self.outcomes: dict[str, str] = {}
        self._tasks, self._margin, self._block, self._most = tasks, margin, block, most
        self._limit, self._out_of_money = min(block, most), out_of_money

    def grow(self, folder: RunFolder) -> More | None:
        open_tasks = self._tasks - self.outcomes.keys()
        for task in sorted(open_tasks):
            if why := self._why_enough(folder, task):
                self.outcomes[task] = why
        self._limit = min(self._limit + self._block, self._most)
        left = open_tasks - self.outcomes.keys()
        return More(self._limit, left) if left else None

    def _why_enough(self, folder: RunFolder, task: str) -> str:
        direct, own = f"{task}.direct", f"{task}.{DRAWING_MODE}"
        about = folder.about()
        found = pair(folder.scored(direct), folder.scored(own), about.cells[own].headline)
        if found.withheld:
            return found.withheld
        now = gain_sequence(found, len(self._tasks))
        if now is None and found.pairs:
            return "its score is not from 0 to 1: the drawing gain cannot be followed"
        if now and (settled := now.settled(self._margin)):
            span = f"[{100 * now.low:+.1f}, {100 * now.high:+.1f}]"
            return f"settled after {now.n} samples: {_MEANING[settled]} {span}"
        if self._out_of_money():
            return AT_COST_LIMIT
        if about.totals.get(own, self._limit) < self._limit:
            return "not settled, and there are no more samples"
        return f"not settled at the limit of {self._most} samples" if self._limit >= self._most else ""


_MEANING = {"gain": "drawing helps", "loss": "drawing hurts", "no difference": "no difference worth naming"}
