"""Does a paired difference grow or shrink with a number, such as the length of a path?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sketchmark.stats.clusters import Clusters, Floats, Labels
from sketchmark.stats.distributions import t_quantile, t_upper_tail
from sketchmark.stats.intervals import UPPER, numbers

FEWEST = 8
"""Clusters. With fewer, chance alone draws a line through them."""


@dataclass(frozen=True)
class Trend:
    """The change of the mean for each unit of the number, its 95 % interval, and a two-sided p."""

    slope: float
    low: float
    high: float
    p: float


def trend(x: npt.ArrayLike, y: npt.ArrayLike, clusters: Labels | None = None) -> Trend | None:
    """A straight line, and how much it changes without each cluster in turn (the jackknife, CR3): that needs neither
    equal spread nor independence inside clusters, and with few clusters it errs on the side of doubt, where the
    sandwich of the residuals is far too sure.

    None where a line means nothing: fewer than `FEWEST` clusters, a number that changes in one cluster only, or
    differences that lie on the line so well that they say nothing about their spread.
    """
    across, up = numbers(x), numbers(y)
    across = across - across.mean() if len(across) else across
    ones = np.ones_like(across)
    parts = [Clusters.of(part, clusters).totals for part in (ones, across, up, across * across, across * up)]
    count = len(parts[0])
    if count < FEWEST:
        return None
    spread, slope = _line(*(part.sum() for part in parts))
    spreads, slopes = _line(*(part.sum() - part for part in parts))
    if spread <= 0 or spreads.min() <= 1e-9 * spread:
        return None
    change = float(slope)
    error = float(((count - 1) / count * np.square(slopes - slopes.mean()).sum()) ** 0.5)
    if error <= 1e-9 * (abs(change) + float(np.ptp(up)) / float(np.ptp(across))):
        return None
    half = t_quantile(UPPER, count - 2) * error
    return Trend(change, change - half, change + half, 2 * t_upper_tail(abs(change) / error, count - 2))


def _line(n: Floats, x: Floats, y: Floats, xx: Floats, xy: Floats) -> tuple[Floats, Floats]:
    """(the spread of x, the slope) from sums."""
    spread = xx - x * x / n
    with np.errstate(divide="ignore", invalid="ignore"):
        return spread, (xy - x * y / n) / spread
