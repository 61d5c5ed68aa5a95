"""Intervals for numbers of any range: t where the middle of a sum is normal enough, otherwise a bootstrap."""

from __future__ import annotations

import numpy as np

from sketchmark.stats.clusters import Clusters
from sketchmark.stats.distributions import t_quantile

RESAMPLES = 2000
FEWEST, MOST = 8, 1000
"""Below, resamples repeat the same few values; above, t covers as well and costs nothing."""


def studentised(groups: Clusters, seed: int) -> tuple[float | None, float | None, str]:
    """(low, high, method) of the mean. Whole clusters are resampled.

    The studentised bootstrap follows skewed values, where t covers too little and percentile bootstraps even less.
    """
    count = len(groups.sizes)
    if count < 2:
        return None, None, "none"
    mean = float(groups.totals.sum() / groups.sizes.sum())
    variance, df = groups.variance_of_mean()
    error = variance**0.5
    if FEWEST <= count <= MOST and error > 0:
        ratios = _bootstrap_t(groups, mean, seed)
        if len(ratios) > RESAMPLES / 2:
            below, above = np.quantile(ratios, [0.025, 0.975])
            return mean - float(above) * error, mean - float(below) * error, "bootstrap-t"
    half = t_quantile(0.975, df) * error
    return mean - half, mean + half, "t"


def _bootstrap_t(groups: Clusters, mean: float, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    count = len(groups.sizes)
    rng = np.random.Generator(np.random.PCG64(seed))
    weights = rng.multinomial(count, np.full(count, 1 / count), size=RESAMPLES).astype(float)
    sizes, totals = weights @ groups.sizes, weights @ groups.totals
    means = totals / sizes
    squares = (
        weights @ groups.totals**2
        - 2 * means * (weights @ (groups.totals * groups.sizes))
        + means**2 * (weights @ groups.sizes**2)
    )
    errors = np.sqrt(np.maximum(squares, 0) * count / (count - 1)) / sizes
    usable = errors > 1e-9 * max(1.0, float(np.abs(groups.totals).max()))
    ratios: np.ndarray[tuple[int], np.dtype[np.float64]] = (means[usable] - mean) / errors[usable]
    return ratios
