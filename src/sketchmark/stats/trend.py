"""Does a paired difference grow or shrink with a number, such as the length of a path?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sketchmark.stats.clusters import Clusters, Labels
from sketchmark.stats.distributions import t_quantile, t_upper_tail
from sketchmark.stats.intervals import UPPER, numbers


@dataclass(frozen=True)
class Trend:
    """The change of the mean for each unit of the number, its 95 % interval, and a two-sided p."""

    slope: float
    low: float
    high: float
    p: float


def trend(x: npt.ArrayLike, y: npt.ArrayLike, clusters: Labels | None = None) -> Trend | None:
    """A straight line with a variance that needs neither equal spread nor independence inside clusters.

    None where a line means nothing: fewer than three clusters, or a number that never changes.
    """
    across, up = numbers(x), numbers(y)
    if len(across) < 3 or np.ptp(across) == 0:
        return None
    across = across - across.mean()
    square = float(across @ across)
    slope = float(across @ up) / square
    pulls = Clusters.of(across * (up - up.mean() - slope * across), clusters).totals
    n, count = len(up), len(pulls)
    if count < 3:
        return None
    error = (float(pulls @ pulls) * count / (count - 1) * (n - 1) / (n - 2)) ** 0.5 / square
    half = t_quantile(UPPER, count - 1) * error
    p = 2 * t_upper_tail(abs(slope) / error, count - 1) if error > 0 else float(slope == 0)
    return Trend(slope, slope - half, slope + half, p)
