"""Numbers as a reader wants them: points, with their interval."""

from __future__ import annotations

from collections.abc import Sequence

from sketchmark.stats.scale import in_points

MINUS = "\N{MINUS SIGN}"


Bounds = Sequence[float | None]


def percent(value: float | None, ci: Bounds = ()) -> str:
    return "–" if value is None else f"{in_points(value, ci):.1f}".replace("-", MINUS)


def points(value: float | None, ci: Bounds = ()) -> str:
    """A difference in percentage points, always with its sign."""
    if value is None:
        return "–"
    rounded = round(in_points(value, ci), 1)
    sign = "+" if rounded > 0 else MINUS if rounded < 0 else "±"
    return f"{sign}{abs(rounded):g}"


def bracket(ci: Bounds) -> str:
    """`[12, 34]`; empty where the data say nothing about the spread."""
    low, high = ci
    if low is None or high is None:
        return ""
    return f"[{_whole(in_points(low, ci))}, {_whole(in_points(high, ci))}]"


def _whole(value: float) -> str:
    number = round(value)
    return f"{MINUS}{-number}" if number < 0 else str(number)


def p_value(p: float | None) -> str:
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
