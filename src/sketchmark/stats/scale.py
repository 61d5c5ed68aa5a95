"""Scores are shares of one, unless a task's own code makes them otherwise: an accuracy in per cent, a sum."""

from __future__ import annotations

from collections.abc import Sequence


def in_points(value: float, ci: Sequence[float | None] = ()) -> float:
    """A share in points; a number that is no share as it is. Its interval tells, where it is small itself."""
    share = all(end is None or abs(end) <= 1 for end in (value, *ci))
    return 100 * value if share else value
