"""Numbers in plain words, the same in every table and sentence."""

from __future__ import annotations

from collections.abc import Sequence

from sketchmark.runs.results_format import Gain, Metric
from sketchmark.stats import Difference, Interval
from sketchmark.stats.scale import in_points


def share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def points(value: float | None, ci: Sequence[float | None] = ()) -> str:
    return "–" if value is None else f"{in_points(value, ci):+.1f} points"


def span(found: Difference) -> str:
    """`+12.0 points [+5.1, +18.8]`."""
    if found.low is None or found.high is None:
        return points(found.mean)
    ci = found.low, found.high
    return f"{points(found.mean, ci)} [{in_points(found.low, ci):+.1f}, {in_points(found.high, ci):+.1f}]"


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


def bounds(found: Interval | Difference) -> str:
    write = signed if isinstance(found, Difference) else number
    return "" if found.low is None else f"[{write(found.low)}, {write(found.high)}]"


def bounds_of(found: Metric | Gain | None) -> str:
    """The same of results.json's numbers; nothing where no interval can be had (a single value that is no share)."""
    low, high = found.ci95 if found else (None, None)
    write = signed if isinstance(found, Gain) else number
    return "" if low is None or high is None else f"[{write(low)}, {write(high)}]"


def chance(p: float | None) -> str:
    """p values as papers print them: no false precision, never zero."""
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"
