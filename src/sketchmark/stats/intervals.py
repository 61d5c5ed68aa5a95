"""Means with 95% intervals, also of clustered items, and the distribution functions that they need.

Scores are proportions, unless a task's own code makes them otherwise (percent, a sum). SciPy is not a dependency.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.integer]
Labels = Sequence[object] | npt.NDArray[np.generic]


@dataclass(frozen=True)
class Clusters:
    """Sums of values by cluster. An item without a label (None) is a separate cluster."""

    sizes: Floats
    totals: Floats

    @classmethod
    def of(cls, values: Floats, labels: Labels | None) -> Clusters:
        if labels is None:
            return cls(np.ones(len(values)), values)
        if len(labels) != len(values):
            raise ValueError(f"{len(values)} values but {len(labels)} cluster labels")
        codes = _codes(labels)
        return cls(np.bincount(codes).astype(float), np.bincount(codes, weights=values).astype(float))

    @property
    def shared(self) -> bool:
        return bool(np.any(self.sizes > 1))

    @property
    def effective_count(self) -> float:
        """The number of independent items if all items of a cluster always agreed (Kish)."""
        return float(self.sizes.sum() ** 2 / np.sum(self.sizes**2))

    def variance_of_mean(self) -> tuple[float, float]:
        """Return (variance, degrees of freedom) of the mean over all items; needs two clusters.

        Bias-reduced cluster-robust variance (CR2) with the degrees of freedom of Bell and McCaffrey (2002). Clusters
        of very different sizes otherwise give intervals that are too narrow. With clusters of equal size both are the
        textbook ones: squared deviations of the cluster means over G(G-1), and G-1.
        """
        n = float(self.sizes.sum())
        share = self.sizes / n
        residuals = self.totals - self.sizes * (self.totals.sum() / n)
        variance = float(np.sum(residuals**2 / (1 - share))) / n**2
        leverage = self.sizes * share / (1 - share)
        squared = float(np.sum(self.sizes**2) + leverage.sum() ** 2 - np.sum(leverage**2))
        return variance, n**2 / squared

    def if_alike(self, likeness: float) -> tuple[float, float]:
        """Return (factor for the variance, degrees of freedom) if the items of a cluster correlate so much.

        Bell and McCaffrey assume independent items. If the items of a few large clusters are alike, those clusters
        decide the variance by themselves, and an interval that counts the small ones too is far too narrow.
        Satterthwaite's degrees of freedom follow from the covariance of the clusters' residuals. With clusters of
        equal size both numbers stay the same.
        """
        n, total = self.sizes, float(self.sizes.sum())
        spread = n * (1 - likeness) + n * n * likeness
        weight, whole = 1 / (1 - n / total), float(spread.sum())
        cross = -2 * n * spread / total + n * n * whole / total**2
        expected = float(np.sum(weight * (spread + cross)))
        nn, ns, ss = (float(np.sum(weight * one * two)) for one, two in ((n, n), (n, spread), (spread, spread)))
        others = 2 * (nn * ss + ns * ns) / total**2 - 4 * nn * ns * whole / total**3 + (nn * whole / total**2) ** 2
        squared = float(np.sum(weight**2 * spread * (spread + 2 * cross))) + others
        return whole / expected, expected**2 / squared


def likeness_in(groups: Clusters, x: Floats) -> float:
    """Return the correlation of items of a cluster, 0 to 1, by the analysis of variance."""
    n, count = groups.sizes, len(groups.sizes)
    total = float(n.sum())
    between = float(np.sum(groups.totals**2 / n) - groups.totals.sum() ** 2 / total) / (count - 1)
    inside = float(np.sum(x**2) - np.sum(groups.totals**2 / n)) / max(total - count, 1.0)
    typical = (total - float(np.sum(n**2)) / total) / (count - 1)
    whole = between + (typical - 1) * inside
    return min(1.0, max(0.0, (between - inside) / whole)) if whole > 0 else 0.0


def numbered(values: npt.NDArray[np.generic]) -> Whole:
    """Return the number of each value among the different ones, in the order of their first appearance."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.intp)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    found: Whole = rank[inverse.reshape(-1)]
    return found


def _codes(labels: Labels) -> Whole:
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu":  # the same order without a loop
        return numbered(labels)
    seen: dict[object, int] = {}
    codes = np.empty(len(labels), dtype=np.intp)
    for place, label in enumerate(labels):
        key = ("alone", place) if label is None else ("named", label)
        codes[place] = seen.setdefault(key, len(seen))
    return codes


_SMALLEST = 1e-300


def normal_quantile(probability: float) -> float:
    return NormalDist().inv_cdf(probability)


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (Lentz's method, DLMF 8.17.22)."""
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
    """Return P(X <= k) of n trials."""
    if k < 0:
        return 0.0
    if k >= n:
        return 1.0
    return beta_cdf(1.0 - probability, n - k, k + 1)


def t_upper_tail(x: float, df: float) -> float:
    """Return P(T > x) for x >= 0."""
    return 0.5 * beta_cdf(df / (df + x * x), df / 2, 0.5)


@lru_cache(maxsize=4096)
def t_quantile(probability: float, df: float) -> float:
    """Return the quantile for a probability above one half. Newton's method from the normal quantile never
    overshoots, because the tail is convex."""
    x = normal_quantile(probability)
    log_scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    for _ in range(200):
        density = math.exp(log_scale - (df + 1) / 2 * math.log1p(x * x / df))
        step = (t_upper_tail(x, df) - (1.0 - probability)) / density
        x += step
        if abs(step) < 1e-12 * x:
            break
    return x


RESAMPLES = 2000
FEWEST, MOST = 8, 1000
"""Clusters for a bootstrap. Fewer give too few distinct resamples; for more, t covers as well and costs nothing."""


def studentised(groups: Clusters, seed: int) -> tuple[float | None, float | None, str]:
    """Return (low, high, method) for the mean, resampling whole clusters. The studentised bootstrap suits skewed
    values, for which t covers too little and percentile bootstraps even less."""
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


UPPER = 0.975
"""Both tails together leave out 5%."""

WHOLE = 100.0
"""Score of a right answer in percent."""

Number = TypeVar("Number", float, Floats)


@dataclass(frozen=True)
class Interval:
    """A mean over `n` items with a 95% interval. Without items the mean is None, never NaN. `low` and `high` are None
    if the data do not show a spread (one item of unbounded range)."""

    mean: float | None
    low: float | None
    high: float | None
    n: int
    method: str


def interval(values: npt.ArrayLike, clusters: Labels | None = None, seed: int = 0) -> Interval:
    """Return the mean of `values` with the 95% interval that suits them; `seed` is for the bootstrap.

    Right/wrong values get Wilson's interval. Fractions and clustered values get the same interval on the number of
    independent right/wrong items with equal uncertainty. It stays inside 0..1, is asymmetric near the ends, and has a
    width even if every item scored 1, where t and the bootstrap claim certainty. Values that are all 0 or 100 are
    right/wrong in percent. Other values outside 0..1 get a studentised bootstrap.
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
    """Test whether all values are right/wrong in percent."""
    return bool(np.all((x == 0) | (x == WHOLE)))


def numbers(values: npt.ArrayLike) -> Floats:
    x = np.asarray(values, dtype=float).reshape(-1)
    if not np.all(np.isfinite(x)):
        raise ValueError(f"value {int(np.argmin(np.isfinite(x)))} is not a finite number: leave unscored items out")
    return x


def wilson(mean: Number, n: Number | int, quantile: float) -> tuple[Number, Number]:
    """Return Wilson's score interval; `n` need not be whole."""
    square = quantile * quantile / n
    middle = (mean + square / 2) / (1 + square)
    half = (square * mean * (1 - mean) + square * square / 4) ** 0.5 / (1 + square)
    return _inside(middle - half), _inside(middle + half)


def _inside(value: Number) -> Number:
    clipped = np.clip(value, 0.0, 1.0)
    return clipped if isinstance(value, np.ndarray) else float(clipped)


def effective_size(groups: Clusters, x: Floats, binary_variance: float, between: int) -> tuple[float, float]:
    """Return the number of all-or-nothing items with the same uncertainty, and the quantile to use with them.

    `binary_variance` is the variance of a single all-or-nothing item with the same mean; `between` counts the items
    that are not all-or-nothing. A variance estimated from few such items is often far too small (29 ones and one
    0.9). So it is shrunk towards the all-or-nothing one, with a weight that vanishes as their number grows.
    """
    n = len(x)
    if len(groups.sizes) < 2:
        return 1.0, normal_quantile(UPPER)
    variance, df = groups.variance_of_mean()
    if groups.shared and binary_variance > 0 and n * variance > 1e-12 * binary_variance:
        factor, df = groups.if_alike(likeness_in(groups, x))
        return binary_variance / (factor * variance), t_quantile(UPPER, max(1.0, df))
    quantile = t_quantile(UPPER, df)
    if binary_variance <= 0:
        return groups.effective_count, quantile
    ratio = float(np.var(x, ddof=1)) / binary_variance
    ratio += (1 - ratio) * (1 + between) ** -1.5
    return n / ratio, quantile


@dataclass(frozen=True)
class Crossed:
    """Contributions of single answers to a mean or a difference, where people and samples are crossed: each person
    answered several samples, and each sample was answered by several people. An answer without a person (-1) is a
    model's."""

    values: Floats
    """Centred and weighted, so that they sum to zero and their sum's variance is that of the estimate."""
    people: Whole
    samples: Whole

    def variance(self) -> tuple[float, float]:
        """Return (variance, degrees of freedom) by two-way clusters: V(people) + V(samples) - V(single answers), and
        one less than the fewer of both. At least the larger of the two one-way variances, since the sum can be
        negative by chance."""
        theirs = self.people >= 0
        one_way = []
        for codes, values in ((self.people[theirs], self.values[theirs]), (self.samples, self.values)):
            sums = np.bincount(codes, weights=values)[np.unique(codes)]
            one_way.append((float(np.sum(sums**2)) * len(sums) / max(1, len(sums) - 1), len(sums)))
        (by_people, people), (by_samples, samples) = one_way
        alone = float(np.sum(self.values[theirs] ** 2))
        return max(by_people + by_samples - alone, by_people, by_samples), max(1.0, min(people, samples) - 1.0)


def crossed_interval(
    values: npt.ArrayLike, people: Labels, samples: Labels, clusters: Labels | None = None
) -> Interval:
    """Return the mean over samples of their means over people, with an interval for other people and other samples.

    Scores in 0..1 get Wilson's interval on the number of independent answers with the same variance; if all answers
    are alike, on the smaller of the numbers of people and samples. Others get a t interval. `clusters` of samples
    that share a source take the place of samples in the variance.
    """
    x, who, what = numbers(values), _codes(people), _codes(samples)
    if not len(x):
        return Interval(None, None, None, 0, "none")
    counts = np.bincount(what)
    weights = 1 / (len(counts) * counts[what])
    mean = float(np.sum(weights * x))
    groups = what if clusters is None else _codes(clusters)
    variance, df = Crossed(weights * (x - mean), who, groups).variance()
    quantile, method = t_quantile(UPPER, df), "two-way"
    if groups.max() < 1 or who.max() < 1:
        return Interval(mean, None, None, len(counts), "none")
    if x.min() < 0 or x.max() > 1:
        half = quantile * variance**0.5
        return Interval(mean, mean - half, mean + half, len(counts), method)
    spread = mean * (1 - mean)
    size = spread / variance if variance > 1e-12 else float(min(groups.max(), who.max()) + 1)
    low, high = wilson(mean, size, quantile)
    return Interval(mean, low, high, len(counts), method)


def in_points(value: float, ci: Sequence[float | None] = ()) -> float:
    """Return a proportion in points, another number unchanged. The interval shows which, if the value is small."""
    share = all(end is None or abs(end) <= 1 for end in (value, *ci))
    return 100 * value if share else value


Bounds = Sequence[float | None]


def rounded(value: float, digits: int = 1) -> float:
    """Round halves away from zero, after removing noise of the arithmetic: 31.25 becomes 31.3, as in the viewer.

    `view/static/format.js` has the same formula.
    """
    scale = 10**digits
    return math.copysign(math.floor(abs(value) * scale + 0.5 + 1e-7) / scale, value)


def as_percent(value: float | None, ci: Bounds = ()) -> str:
    """Return a score in percent, `35.0`, and a number that is not a proportion unchanged."""
    return "–" if value is None else f"{_no_minus_zero(rounded(in_points(value, ci))):.1f}"


def as_points(value: float | None, ci: Bounds = ()) -> str:
    """Return a difference in points, `+35.0`, always with its sign; `±0.0` if it rounds to zero."""
    if value is None:
        return "–"
    number = rounded(in_points(value, ci))
    return f"{number:+.1f}" if number else "±0.0"


def as_bracket(ci: Bounds, *, signed: bool = False) -> str:
    """Return an interval in points, `[12.0, 34.5]`; empty without one. `signed` for the interval of a difference."""
    low, high = ci
    if low is None or high is None:
        return ""
    ends = (_no_minus_zero(rounded(in_points(end, ci))) for end in (low, high))
    return f"[{', '.join(f'{end:+.1f}' if signed and end else f'{end:.1f}' for end in ends)}]"


def as_p(p: float | None) -> str:
    """Return a p value as papers print it: three digits, never zero."""
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{rounded(p, 3):.3f}"


def _no_minus_zero(value: float) -> float:
    return value or 0.0
