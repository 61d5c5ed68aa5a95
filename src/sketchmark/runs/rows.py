"""Score lines as numbers are made from them: without notes, which can be long, and the newest of each episode."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, TypeVar

from msgspec import Struct

from sketchmark.runs.format import ScoreNumbers

Row = TypeVar("Row", bound=ScoreNumbers)


class DrawingNotes(Struct, frozen=True):
    """The one note that numbers are made of."""

    frames_right: Any = None


class ScoredSample(ScoreNumbers, kw_only=True):
    """One sample as it was scored."""

    notes: DrawingNotes = DrawingNotes()

    @property
    def drawing_right(self) -> bool | None:
        """Was everything drawn in this episode right? None where nothing was drawn or nobody can tell.

        A whole-sequence score (`…_img_exact`) also demands that no frame is missing, so it goes before the frames.
        """
        for name, value in self.values.items():
            if name.endswith("_img_exact") and value is not None:
                return value == 1
        frames = self.notes.frames_right
        return all(frames) if frames else None


def newest(rows: Iterable[Row]) -> dict[str, Row]:
    """By key, in the order of the samples, whatever order they finished in; the last row of a key counts."""
    found = {row.key: row for row in rows}
    return dict(sorted(found.items(), key=lambda item: item[1].place))


class Sharing:
    """Equal small values are kept once: most rows of a run have the same flags, usage and scores."""

    _MOST = 10_000

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], Any] = {}

    def __call__(self, row: ScoredSample) -> ScoredSample:
        row.scoring = sys.intern(row.scoring)
        row.flags = self._one(("flags", *row.flags), row.flags)
        row.usage = self._one(("usage", *row.usage.items()), row.usage)
        row.values = self._one(("values", *row.values.items()), row.values)
        frames = row.notes.frames_right
        row.notes = _NOBODY_KNOWS if not frames else _ALL_RIGHT if all(frames) else _NOT_ALL_RIGHT
        return row

    def _one(self, key: tuple[Any, ...], value: Any) -> Any:
        full = len(self._kept) >= self._MOST
        return self._kept.get(key, value) if full else self._kept.setdefault(key, value)


_NOBODY_KNOWS, _ALL_RIGHT, _NOT_ALL_RIGHT = DrawingNotes(), DrawingNotes((True,)), DrawingNotes((False,))
