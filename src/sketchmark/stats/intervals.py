"""A mean and its 95 % interval."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sketchmark.stats.bootstrap import studentised
from sketchmark.stats.clusters import Clusters, Floats, Labels
from sketchmark.stats.distributions import normal_quantile, t_quantile

UPPER = 0.975
"""Both tails together leave out 5 %."""

WHOLE = 100.0
"""What a right answer counts where scores are in per cent."""

Number = TypeVar("Number", float, Floats)


@dataclass(frozen=True)
class Interval:
    """A mean over `n` items with a 95 % interval. No items, no mean: None, never NaN.

    `low` and `high` are None where the data say nothing about the spread (one item of unbounded range).
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    method: str


def interval(values: npt.ArrayLike, clusters: Labels | None = None, seed: int = 0) -> Interval:
    """The mean of `values` with the 95 % interval that suits them; `seed` is for the bootstrap alone.

    Right/wrong values get Wilson's interval. Fractions, and anything clustered, get the same interval on the number
    of independent right/wrong items that would be as uncertain. It stays inside 0..1, is lopsided near the ends, and
    has a width even when every item scored 1, where t and the bootstrap claim certainty. Nothing but 0 and 100 is
    right/wrong in per cent. Other values outside 0..1 get a studentised bootstrap.
    """
    x = numbers(values)
    n = len(x)
    if n == 0:
        return Interval(None, None, None, 0, "none")
    mean = float(x.mean())
    groups = Clusters.of(x, clusters)
    if x.max() == WHOLE and all_or_nothing(x):
        share = interval(x / WHOLE, clusters)
        return replace(share, **{end: WHOLE * getattr(share, end) for end in ("mean", "low", "high")})
    if x.min() < 0 or x.max() > 1:
        low, high, method = studentised(groups, seed)
        return Interval(mean, low, high, n, method)
    if not groups.shared and bool(np.all((x == 0) | (x == 1))):
        low, high = wilson(mean, n, normal_quantile(UPPER))
        return Interval(mean, low, high, n, "wilson")
    binary_variance = mean * (1 - mean)
    effective, quantile = effective_size(groups, x, binary_variance, int(np.count_nonzero((x > 0) & (x < 1))))
    low, high = wilson(mean, effective, quantile)
    return Interval(mean, low, high, n, "wilson-clustered" if groups.shared else "wilson-effective")


def all_or_nothing(x: Floats) -> bool:
    """Right/wrong in per cent."""
    return bool(np.all((x == 0) | (x == WHOLE)))


def numbers(values: npt.ArrayLike) -> Floats:
    x = np.asarray(values, dtype=float).reshape(-1)
    if not np.all(np.isfinite(x)):
        raise ValueError(f"value {int(np.argmin(np.isfinite(x)))} is not a finite number: leave unscored items out")
    return x


def wilson(mean: Number, n: Number | int, quantile: float) -> tuple[Number, Number]:
    """Wilson's score interval; `n` need not be whole."""
    square = quantile * quantile / n
    middle = (mean + square / 2) / (1 + square)
    half = (square * mean * (1 - mean) + square * square / 4) ** 0.5 / (1 + square)
    return _inside(middle - half), _inside(middle + half)


def _inside(value: Number) -> Number:
    clipped = np.clip(value, 0.0, 1.0)
    return clipped if isinstance(value, np.ndarray) else float(clipped)


def effective_size(groups: Clusters, x: Floats, binary_variance: float, between: int) -> tuple[float, float]:
    """(how many independent all-or-nothing items would be as uncertain, the quantile to use with them).

    `binary_variance` is the variance a single item would have if it were all-or-nothing with the same mean, and
    `between` counts the items that are not. A variance estimated from a handful of such items is often far too small
    (29 ones and one 0.9), so it is drawn towards the all-or-nothing one with a weight that dies out quickly as their
    number grows.
    """
    n = len(x)
    if len(groups.sizes) < 2:
        return 1.0, normal_quantile(UPPER)
    variance, df = groups.variance_of_mean()
    quantile = t_quantile(UPPER, df)
    if binary_variance <= 0:
        return groups.effective_count, quantile
    if groups.shared and n * variance > 1e-12 * binary_variance:
        return binary_variance / variance, quantile
    ratio = float(np.var(x, ddof=1)) / binary_variance
    ratio += (1 - ratio) * (1 + between) ** -1.5
    return n / ratio, quantile
