"""Answers worth keeping until the run has grown."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

from sketchmark.runs.index import RunIndex

Made = TypeVar("Made")
_KEPT = 16


class Recent:
    """The last few answers made from a run's index; one made before something was added is never given again."""

    def __init__(self) -> None:
        self._made: OrderedDict[Hashable, object] = OrderedDict()

    def get(self, run: RunIndex, what: Hashable, make: Callable[[], Made]) -> Made:
        key = (run.key, run.version, what)
        if key not in self._made:
            self._made[key] = make()
            while len(self._made) > _KEPT:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return self._made[key]  # type: ignore[return-value]
