"""Two means over different items: how far apart are they, and can that be told at all?

The same items played twice: by how much do the two differ, and could it be chance?

Differences run from `a` to `b`: positive means that `b` is better.

Does a paired difference grow or shrink with a number, such as the length of a path?
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
"""Means whose difference lies within this for certain are called compatible: ten points."""

Agreement = Literal["compatible", "differs", "too few to tell"]


@dataclass(frozen=True)
class Apart:
    """ours - theirs with its 95 % interval, and what that allows to say."""

    mean: float
    low: float
    high: float
    verdict: Agreement


def share_of(mean: float, n: int) -> Interval:
    """The interval of a mean in 0..1 of which no more is known than how many items it is over: as if every item were
    right or wrong, which no other scores of that mean are more uncertain than."""
    low, high = wilson(mean, n, normal_quantile(UPPER))
    return Interval(mean, low, high, n, "wilson")


def apart(ours: Interval, theirs: Interval) -> Apart | None:
    """Newcombe's (1998) hybrid interval of a difference, from each mean's own; None where one has none."""
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


EXACT_UP_TO = 16
"""So many non-zero differences have 65,536 sign patterns: all of them are tried."""
PERMUTATIONS = 9_999
_CHUNK = 500_000
CLEAR = 0.05

Verdict = Literal["better", "worse", "unclear"]


@dataclass(frozen=True)
class Difference:
    """The mean of b - a over `n` pairs, its 95 % interval, a two-sided p, and how many items got better or worse."""

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
    """Right/wrong pairs: Tango's score interval and the exact McNemar test. Fractions: the same interval on effective
    counts, and a sign-flip permutation test. Clustered: cluster-robust effective counts, and whole clusters flipped.
    Right/wrong in per cent (0 and 100) stays in per cent.
    """
    before, after = numbers(a), numbers(b)
    if len(before) != len(after):
        raise ValueError(f"{len(before)} values cannot be paired with {len(after)}")
    both = np.concatenate([before, after])
    if len(both) and both.max() == WHOLE and all_or_nothing(both):
        share = paired_difference(before / WHOLE, after / WHOLE, clusters, seed)
        return replace(share, **{end: WHOLE * getattr(share, end) for end in ("mean", "low", "high")})
    d = after - before
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
    """(low, high, method) of the mean of the differences `d`; `binary`: they came from right/wrong scores."""
    if np.abs(d).max() > 1:
        return studentised(groups, seed)
    if binary and not groups.shared:
        low, high = tango(np.count_nonzero(d > 0), np.count_nonzero(d < 0), len(d), normal_quantile(UPPER))
        return float(low), float(high), "tango"
    low, high = tango(*effective_counts(groups, d))
    return float(low), float(high), "tango-clustered" if groups.shared else "tango-effective"


def effective_counts(groups: Clusters, d: Floats) -> tuple[float, float, float, float]:
    """(helped, hurt, pairs, quantile) of as many all-or-nothing pairs as leave the mean as uncertain as it is."""
    n = len(d)
    up, down = float(d[d > 0].sum()) / n, float(-d[d < 0].sum()) / n
    between = int(np.count_nonzero((d != 0) & (np.abs(d) < 1)))
    size, quantile = effective_size(groups, d, up + down - (up - down) ** 2, between)
    return up * size, down * size, size, quantile


def tango(helped: npt.ArrayLike, hurt: npt.ArrayLike, n: npt.ArrayLike, quantile: float) -> tuple[Floats, Floats]:
    """Tango's (1998) score interval for helped/n - hurt/n. Counts need not be whole; arrays broadcast.

    Chosen over Bonett-Price and Newcombe's square-and-add because those cover up to 99 % when few items change,
    which is the usual case here.
    """
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
    """Does the score test rule this difference out? `hurt` is the share of hurt items most likely under it."""
    linear = (2 * n - b + c) * difference - b - c
    root = np.sqrt(np.maximum(linear**2 + 8 * n * c * difference * (1 - difference), 0))
    hurt = (root - linear) / (4 * n)
    variance = np.maximum(n * (2 * hurt + difference * (1 - difference)), 0)
    rejected: npt.NDArray[np.bool_] = (b - c - n * difference) ** 2 > quantile**2 * variance
    return rejected


def mcnemar_exact(helped: int, hurt: int) -> float:
    """Two-sided: if drawing did nothing, each item that changed would be as likely to be helped as hurt."""
    return min(1.0, 2 * binomial_cdf(min(helped, hurt), helped + hurt, 0.5))


def paired_permutation(diffs: npt.ArrayLike, seed: int = 0, clusters: Labels | None = None) -> float:
    """Two-sided p of the mean difference, flipping signs (of whole clusters): all patterns if few, else 9,999 drawn.

    The observed pattern counts as one of those drawn, so p is never 0 and the test never too bold.
    """
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
    """Sums under random signs, some at a time. Eight values share one random byte and a table of their 256 sums,
    which is three times as quick as flipping them one by one."""
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
    """Holm's step-down correction. None (nothing to test) stays None and does not count as a test."""
    order = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    corrected: list[float | None] = [None] * len(ps)
    highest = 0.0
    for rank, (p, place) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        corrected[place] = highest
    return corrected


def verdict(mean: float | None, p: float | None) -> Verdict:
    """What may be said of a difference, by its corrected `p` alone: every headline, sentence, table and colour asks
    here. The interval is not asked: with few samples it can leave out zero where the exact test does not."""
    if not mean or p is None or p >= CLEAR:
        return "unclear"
    return "better" if mean > 0 else "worse"


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
