"""Sample sizes for paired comparisons, and confidence sequences for repeated looks at one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from sketchmark.errors import BadInput
from sketchmark.stats.intervals import Clusters, Floats, Labels, normal_quantile, numbers


@dataclass(frozen=True)
class Pilot:
    """Facts of a finished comparison from which the next one is planned. `discordance` is the mean squared
    difference: for right/wrong answers, the proportion of items on which the two differ. `design_effect` is the
    factor by which shared sources inflate the variance."""

    discordance: float
    design_effect: float = 1.0
    right_wrong: bool = True

    @classmethod
    def of(cls, a: npt.ArrayLike, b: npt.ArrayLike, clusters: Labels | None = None) -> Pilot:
        """Measure a pilot. Half a changed pair is added, since a small pilot may have no change by chance."""
        before, after = numbers(a), numbers(b)
        d = after - before
        n = len(d)
        if n == 0:
            raise BadInput("no pairs to plan from")
        discordance = (float(np.sum(d**2)) + 0.5) / (n + 1)
        right_wrong = bool(np.all(np.isin(before, (0, 1))) and np.all(np.isin(after, (0, 1))))
        groups = Clusters.of(d, clusters)
        spread = float(np.var(d))
        if not groups.shared or len(groups.sizes) < 2 or spread == 0:
            return cls(discordance, right_wrong=right_wrong)
        variance, _ = groups.variance_of_mean()
        return cls(discordance, max(1.0, variance * n / spread), right_wrong)

    def samples_needed(self, gain: float) -> int:
        return samples_needed(gain, self.discordance, design_effect=self.design_effect, right_wrong=self.right_wrong)

    def smallest_gain(self, n: int) -> float | None:
        return smallest_gain(n, self.discordance, design_effect=self.design_effect, right_wrong=self.right_wrong)


def samples_needed(
    gain: float,
    discordance: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    design_effect: float = 1.0,
    right_wrong: bool = True,
) -> int:
    """Return the number of pairs that find a true gain of this size (two-sided `alpha`) with probability `power`.

    Answers cannot gain more than the proportion of items that change, so a smaller `discordance` is raised to the
    gain. The normal approximation is continuity-corrected for right/wrong answers, because the test is the exact
    McNemar test: uncorrected, the number is too small by about 1/gain.
    """
    size = abs(gain)
    if not 0 < size <= 1:
        raise BadInput(f"a gain of {gain} cannot be planned for", "give a share between 0 and 1, such as 0.05")
    if not (0 < alpha < 1 and 0 < power < 1):
        raise BadInput("alpha and power are probabilities between 0 and 1")
    square = max(discordance, size if right_wrong else size**2)
    reject = normal_quantile(1 - alpha / 2)
    width = reject * math.sqrt(square) + normal_quantile(power) * math.sqrt(square - size**2)
    if right_wrong:
        needed = ((width + math.sqrt(width**2 + 4 * size)) / (2 * size)) ** 2
    else:
        needed = (width / size) ** 2 + reject**2 / 2
    return math.ceil(design_effect * needed)


def smallest_gain(
    n: int,
    discordance: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    design_effect: float = 1.0,
    right_wrong: bool = True,
) -> float | None:
    """Return the smallest true gain that n pairs find with this probability; None if they find no gain at all."""

    def visible(gain: float) -> bool:
        needed = samples_needed(
            gain, discordance, alpha=alpha, power=power, design_effect=design_effect, right_wrong=right_wrong
        )
        return needed <= n

    if not visible(1.0):
        return None
    too_small, enough = 0.0, 1.0
    while enough - too_small > 1e-6:
        middle = (too_small + enough) / 2
        too_small, enough = (too_small, middle) if visible(middle) else (middle, enough)
    return enough


MISSES = 0.05
"""Probability that the sequence ever misses the truth, both sides together."""

_FRACTIONS = (np.arange(24) + 0.5) / 24
"""Fractions of the wealth at stake. Five or fifty change the number of samples by a few percent only."""

_STEPS = 30
"""Bisections of [-1, 1]: the ends are exact to 1e-9."""

Counts = npt.NDArray[np.intp]
Settled = Literal["gain", "loss", "no difference"]


@dataclass(frozen=True)
class Sequence:
    """A confidence sequence: an interval of a mean paired difference that stays valid however often it is computed.

    An ordinary 95% interval is valid for one look. With a look after every block and a free choice when to stop, it
    is wrong far more often. Here the probability that the interval EVER misses the truth is at most 5%.

    It is made by betting (Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting",
    their diversified Kelly bets). Against each mean m a bettor bets, sample by sample, that the differences are above
    m. The wealth is multiplied by 1 + f (d - m) / (1 + m), which is never negative, since no difference is below -1.
    If the truth is m or below, the game cannot be won on average, and wealth of 40 is reached with a probability of
    at most 1/40 (Ville's inequality). Then m and all below are rejected. The same is done from above. The wealth is
    the mean over several fractions f, because the best one is unknown beforehand. A mean of fair games is fair.

    The method needs only differences within -1 and 1. It adapts to how many samples differ, and it does not depend on
    the order of the samples within a block. The result is always an interval, since wealth falls as m rises. At m = 0
    a sample on which both sides agree leaves the wealth unchanged, as in McNemar's test.
    """

    mean: float
    low: float
    high: float
    n: int

    def settled(self, margin: float) -> Settled | None:
        """Return what is settled: the interval excludes zero, or is within `margin` of it."""
        if self.low > 0:
            return "gain"
        if self.high < 0:
            return "loss"
        return "no difference" if -margin < self.low and self.high < margin else None


def sequence(differences: npt.ArrayLike, misses: float = MISSES) -> Sequence | None:
    """Return the confidence sequence of the mean of differences from -1 to 1; None without any. Earlier looks could
    only narrow it. Without them it stays valid and needs no record."""
    d = numbers(differences)
    if not len(d):
        return None
    if np.abs(d).max() > 1:
        raise BadInput("a confidence sequence is for differences from -1 to 1", "choose a score from 0 to 1")
    values, counts = np.unique(d, return_counts=True)
    low = _lowest(values, counts, misses)
    high = -_lowest(-values, counts, misses)
    return Sequence(float(d.mean()), low, high, len(d))


def log_wealth(above: float, values: Floats, counts: Counts) -> Floats:
    """Return the logarithm of the wealth from 1 after betting on a mean above `above`. The last axis of `counts` is
    that of `values`; the others are separate games."""
    factors = 1 + np.outer(values - above, _FRACTIONS) / (1 + above)
    logs: Floats = np.logaddexp.reduce(counts @ np.log(factors), axis=-1) - np.log(len(_FRACTIONS))
    return logs


def _lowest(values: Floats, counts: Counts, misses: float) -> float:
    """Return the lowest mean that is not rejected."""
    enough = math.log(2 / misses)
    given_up, kept = -1.0, float(np.average(values, weights=counts))
    for _ in range(_STEPS if kept > -1 else 0):
        middle = (given_up + kept) / 2
        if log_wealth(middle, values, counts) >= enough:
            given_up = middle
        else:
            kept = middle
    return given_up
