"""The few distribution functions the intervals need, so that SciPy stays out of the install."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_SMALLEST = 1e-300


def normal_quantile(probability: float) -> float:
    return NormalDist().inv_cdf(probability)


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz's method, DLMF 8.17.22)."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - beta_cdf(1.0 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    c, d = 1.0, 1.0 / max(1.0 - (a + b) * x / (a + 1), _SMALLEST)
    fraction = d
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _away_from_zero(1.0 + term * d)
            c = _away_from_zero(1.0 + term / c)
            fraction *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return front * fraction / a


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _SMALLEST else _SMALLEST


def binomial_cdf(k: int, n: int, probability: float) -> float:
    """P(X <= k) of n trials."""
    if k < 0:
        return 0.0
    if k >= n:
        return 1.0
    return beta_cdf(1.0 - probability, n - k, k + 1)


def t_upper_tail(x: float, df: float) -> float:
    """P(T > x) for x >= 0."""
    return 0.5 * beta_cdf(df / (df + x * x), df / 2, 0.5)


@lru_cache(maxsize=4096)
def t_quantile(probability: float, df: float) -> float:
    """For probabilities above one half. Newton from the normal quantile never overshoots: the tail is convex."""
    x = normal_quantile(probability)
    log_scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    for _ in range(200):
        density = math.exp(log_scale - (df + 1) / 2 * math.log1p(x * x / df))
        step = (t_upper_tail(x, df) - (1.0 - probability)) / density
        x += step
        if abs(step) < 1e-12 * x:
            break
    return x
