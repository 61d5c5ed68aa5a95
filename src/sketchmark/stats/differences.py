"""Differences of two means: paired, of independent samples, and as a trend over a number.

Paired differences run from `a` to `b`: positive means that `b` is better.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from sketchmark.stats.intervals import (
    UPPER,
    WHOLE,
    Clusters,
    Floats,
    Interval,
    Labels,
    all_or_nothing,
    binomial_cdf,
    effective_size,
    normal_quantile,
    numbers,
    studentised,
    t_quantile,
    t_upper_tail,
    wilson,
)

NEAR = 0.1
"""Ten points. Means are compatible if the interval of their difference is within this of zero."""

Agreement = Literal["compatible", "differs", "too few to tell"]


@dataclass(frozen=True)
class Apart:
    """ours - theirs with its 95% interval and the verdict."""

    mean: float
    low: float
    high: float
    verdict: Agreement


def share_of(mean: float, n: int) -> Interval:
    """Return the interval of a mean in 0..1 if only the number of items is known. It is the interval of right/wrong
    items, the most uncertain scores with this mean."""
    low, high = wilson(mean, n, normal_quantile(UPPER))
    return Interval(mean, low, high, n, "wilson")


def apart(ours: Interval, theirs: Interval) -> Apart | None:
    """Return Newcombe's (1998) hybrid interval of a difference of two means; None if one has no interval."""
    if ours.mean is None or ours.low is None or ours.high is None:
        return None
    if theirs.mean is None or theirs.low is None or theirs.high is None:
        return None
    difference = ours.mean - theirs.mean
    low = difference - math.hypot(ours.mean - ours.low, theirs.high - theirs.mean)
    high = difference + math.hypot(ours.high - ours.mean, theirs.mean - theirs.low)
    return Apart(difference, low, high, _verdict(low, high))


def _verdict(low: float, high: float) -> Agreement:
    if low > 0 or high < 0:
        return "differs"
    return "compatible" if low >= -NEAR and high <= NEAR else "too few to tell"


_ROUNDING = 1e-12
"""Equal means over different numbers of repeats differ by less than this, relative to the scores."""

EXACT_UP_TO = 16
"""Non-zero differences up to which all sign patterns (65,536) are tried."""
PERMUTATIONS = 9_999
_CHUNK = 500_000
CLEAR = 0.05

Verdict = Literal["better", "worse", "unclear"]


@dataclass(frozen=True)
class Difference:
    """The mean of b - a over `n` pairs, its 95% interval, a two-sided p, and how many items got better or worse."""

    mean: float | None
    low: float | None
    high: float | None
    p: float | None
    helped: int
    hurt: int
    same: int
    n: int
    method: str


def paired_difference(
    a: npt.ArrayLike, b: npt.ArrayLike, clusters: Labels | None = None, seed: int = 0
) -> Difference:
    """Compare two scores of the same items; positive means that `b` is better.

    Right/wrong pairs get Tango's score interval and the exact McNemar test. Fractions get the same interval on
    effective counts, and a sign-flip permutation test. Clustered items get cluster-robust effective counts, and whole
    clusters are flipped. Right/wrong in percent (0 and 100) stays in percent.
    """
    before, after = numbers(a), numbers(b)
    if len(before) != len(after):
        raise ValueError(f"{len(before)} values cannot be paired with {len(after)}")
    both = np.concatenate([before, after])
    if len(both) and both.max() == WHOLE and all_or_nothing(both):
        share = paired_difference(before / WHOLE, after / WHOLE, clusters, seed)
        return replace(share, **{end: WHOLE * getattr(share, end) for end in ("mean", "low", "high")})
    d = after - before
    d[np.abs(d) <= _ROUNDING * max(1.0, float(np.abs(both).max(initial=0)))] = 0
    n = len(d)
    helped, hurt = int(np.count_nonzero(d > 0)), int(np.count_nonzero(d < 0))
    if n == 0:
        return Difference(None, None, None, None, 0, 0, 0, 0, "none")
    groups = Clusters.of(d, clusters)
    binary = bool(np.all(np.isin(before, (0, 1))) and np.all(np.isin(after, (0, 1))))
    low, high, method = difference_interval(d, groups, binary, seed)
    if binary and not groups.shared:
        p, test = mcnemar_exact(helped, hurt), "mcnemar-exact"
    else:
        p = paired_permutation(d, seed, clusters)
        test = "sign-flip by cluster" if groups.shared else "sign-flip"
    return Difference(float(d.mean()), low, high, p, helped, hurt, n - helped - hurt, n, f"{method}, {test}")


def difference_interval(
    d: Floats, groups: Clusters, binary: bool, seed: int = 0
) -> tuple[float | None, float | None, str]:
    """Return (low, high, method) for the mean of the differences `d`; `binary` if they are of right/wrong scores."""
    if np.abs(d).max() > 1:
        return studentised(groups, seed)
    if binary and not groups.shared:
        low, high = tango(np.count_nonzero(d > 0), np.count_nonzero(d < 0), len(d), normal_quantile(UPPER))
        return float(low), float(high), "tango"
    low, high = tango(*effective_counts(groups, d))
    return float(low), float(high), "tango-clustered" if groups.shared else "tango-effective"


def effective_counts(groups: Clusters, d: Floats) -> tuple[float, float, float, float]:
    """Return (helped, hurt, pairs, quantile) of all-or-nothing pairs with the same uncertainty of the mean."""
    n = len(d)
    up, down = float(d[d > 0].sum()) / n, float(-d[d < 0].sum()) / n
    between = int(np.count_nonzero((d != 0) & (np.abs(d) < 1)))
    size, quantile = effective_size(groups, d, up + down - (up - down) ** 2, between)
    return up * size, down * size, size, quantile


def tango(helped: npt.ArrayLike, hurt: npt.ArrayLike, n: npt.ArrayLike, quantile: float) -> tuple[Floats, Floats]:
    """Return Tango's (1998) score interval for helped/n - hurt/n. Counts need not be whole; arrays broadcast.
    Bonett-Price and Newcombe's square-and-add cover up to 99% if few items change, which is the usual case here."""
    b, c, size = np.broadcast_arrays(
        np.asarray(helped, dtype=float), np.asarray(hurt, dtype=float), np.asarray(n, dtype=float)
    )
    estimate = (b - c) / size

    def limit(end: float) -> Floats:
        inside, outside = estimate, np.full_like(estimate, end)
        for _ in range(50):
            middle = (inside + outside) / 2
            rejected = _rejects(middle, b, c, size, quantile)
            inside, outside = np.where(rejected, inside, middle), np.where(rejected, middle, outside)
        limits: Floats = (inside + outside) / 2
        return limits

    return limit(-1.0), limit(1.0)


def _rejects(difference: Floats, b: Floats, c: Floats, n: Floats, quantile: float) -> npt.NDArray[np.bool_]:
    """Test whether the score test rejects this difference. `hurt` is the most likely proportion of hurt items."""
    linear = (2 * n - b + c) * difference - b - c
    root = np.sqrt(np.maximum(linear**2 + 8 * n * c * difference * (1 - difference), 0))
    hurt = (root - linear) / (4 * n)
    variance = np.maximum(n * (2 * hurt + difference * (1 - difference)), 0)
    rejected: npt.NDArray[np.bool_] = (b - c - n * difference) ** 2 > quantile**2 * variance
    return rejected


def mcnemar_exact(helped: int, hurt: int) -> float:
    """Return the two-sided p. Without an effect, a changed item is as likely helped as hurt."""
    return min(1.0, 2 * binomial_cdf(min(helped, hurt), helped + hurt, 0.5))


def paired_permutation(diffs: npt.ArrayLike, seed: int = 0, clusters: Labels | None = None) -> float:
    """Return the two-sided p of the mean difference under sign flips (of whole clusters). All patterns are tried if
    there are few, else 9,999 random ones. The observed pattern counts as one of these, so p is never 0 and the test
    never too liberal."""
    sums = Clusters.of(numbers(diffs), clusters).totals
    sums = sums[np.abs(sums) > 1e-12]
    k = len(sums)
    threshold = abs(float(sums.sum())) - 1e-9 * float(np.abs(sums).sum())
    if k <= EXACT_UP_TO:
        patterns = (np.arange(2**k)[:, None] >> np.arange(k)) & 1
        return float(np.mean(np.abs((2 * patterns - 1) @ sums) >= threshold))
    extreme = sum(int(np.count_nonzero(np.abs(drawn) >= threshold)) for drawn in _flipped_sums(sums, seed))
    return (extreme + 1) / (PERMUTATIONS + 1)


def _flipped_sums(values: Floats, seed: int) -> Iterator[Floats]:
    """Yield sums under random signs in chunks. Eight values share one random byte and a table of their 256 sums:
    three times as fast as single flips."""
    signs = 2.0 * ((np.arange(256)[:, None] >> np.arange(8)) & 1) - 1
    eights = np.pad(values, (0, -len(values) % 8)).reshape(-1, 8)
    table = (eights @ signs.T).ravel()
    starts = 256 * np.arange(len(eights))
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, _CHUNK // len(eights))
    for done in range(0, PERMUTATIONS, rows):
        patterns = rng.integers(0, 256, (min(rows, PERMUTATIONS - done), len(eights)), dtype=np.uint8)
        yield table.take(patterns + starts).sum(axis=1)


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Apply Holm's step-down correction. None (nothing to test) stays None and does not count as a test."""
    order = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    corrected: list[float | None] = [None] * len(ps)
    highest = 0.0
    for rank, (p, place) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        corrected[place] = highest
    return corrected


def verdict(mean: float | None, p: float | None) -> Verdict:
    """Judge a difference by its corrected `p`, for every headline, sentence, table and colour. The interval is not
    used: with few samples it can exclude zero although the exact test does not reject."""
    if not mean or p is None or p >= CLEAR:
        return "unclear"
    return "better" if mean > 0 else "worse"


FEWEST = 8
"""Clusters that a trend needs. A line through fewer is mostly chance."""


@dataclass(frozen=True)
class Trend:
    """The change of the mean per unit of the number, its 95% interval, and a two-sided p."""

    slope: float
    low: float
    high: float
    p: float


def trend(x: npt.ArrayLike, y: npt.ArrayLike, clusters: Labels | None = None) -> Trend | None:
    """Fit a straight line, with the jackknife over clusters (CR3) for its error.

    The jackknife needs neither equal spread nor independence inside clusters. With few clusters it is conservative,
    while the sandwich of the residuals is far too narrow.

    None if a line has no meaning: fewer than `FEWEST` clusters, a number that changes in one cluster only, or
    differences so close to the line that they show no spread.
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
    """Return the spread of x and the slope, from sums."""
    spread = xx - x * x / n
    with np.errstate(divide="ignore", invalid="ignore"):
        return spread, (xy - x * y / n) / spread
