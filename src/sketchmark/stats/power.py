"""How many paired samples does a gain of a given size need, and what is the smallest gain that n samples show?

Both answers come from the normal approximation. For right/wrong answers it is continuity-corrected, because the exact
McNemar test is what will be run: without the correction the answer is too small by about 1/gain samples.

A confidence sequence: an interval of a mean paired difference that stays valid however often one looks.

An ordinary 95 % interval is right 95 times of 100 when looked at once. Who looks after every block of samples, and
stops when he likes what he sees, is wrong far more often. Here the chance that the interval EVER misses the truth, at
any number of samples, is at most 5 %.

It is made by betting (Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting", their
diversified Kelly bets). Against each mean m one bets, sample by sample, that the differences lie above it: the wealth
is multiplied by 1 + f (d - m) / (1 + m), which is never negative, since no difference is below -1. If m is the truth
or above it, this is a game that cannot be won on average, and wealth of 40 is reached with a chance of at most 1/40
(Ville's inequality): then m and all below are given up. The same from above. The wealth is the mean over several
fractions f, because nobody knows the best one beforehand; a mean of fair games is fair.

Why this one: it needs nothing but that the differences lie within -1 and 1, it adapts to how many samples differ at
all, it does not depend on the order of the samples within a block, and it is an interval for certain, since wealth
falls as m rises. At m = 0 a sample on which both sides agree leaves the wealth as it is, as in McNemar's test.
"""

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
    """What a finished comparison says about the next one.

    `discordance` is the mean squared difference: for right/wrong answers, the share of items on which the two differ.
    `design_effect` is by how much shared sources inflate the variance.
    """

    discordance: float
    design_effect: float = 1.0
    right_wrong: bool = True

    @classmethod
    def of(cls, a: npt.ArrayLike, b: npt.ArrayLike, clusters: Labels | None = None) -> Pilot:
        """Half a changed pair is added, so that a small pilot in which nothing changed promises no miracle."""
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
    """The number of pairs with which a true gain of this size is found (two-sided `alpha`) with this probability.

    Answers cannot gain more than the share of items that change, so a smaller `discordance` is raised to the gain.
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
    """The smallest true gain that n pairs find with this probability; None: not even one that changes every item."""

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
"""How often the sequence may miss the truth at any time, both sides together."""

_FRACTIONS = (np.arange(24) + 0.5) / 24
"""What part of the wealth is put at stake. Five or fifty do as well, to within some per cent of the samples."""

_STEPS = 30
"""Halvings of [-1, 1]: the ends are exact to 1e-9."""

Counts = npt.NDArray[np.intp]
Settled = Literal["gain", "loss", "no difference"]


@dataclass(frozen=True)
class Sequence:
    """The interval after `n` differences. It may be looked at after any number of them."""

    mean: float
    low: float
    high: float
    n: int

    def settled(self, margin: float) -> Settled | None:
        """What is certain enough to stop: the interval excludes zero, or lies within `margin` of it."""
        if self.low > 0:
            return "gain"
        if self.high < 0:
            return "loss"
        return "no difference" if -margin < self.low and self.high < margin else None


def sequence(differences: npt.ArrayLike, misses: float = MISSES) -> Sequence | None:
    """The confidence sequence of the mean of differences from -1 to 1, as it is now; None: there are none yet.

    Looks at earlier moments may only have narrowed it. To forget them keeps it valid, and needs no record of them.
    """
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
    """The logarithm of what betting on a mean above `above` has made of 1; the last axis of `counts` is that of
    `values`, the others are games of their own."""
    factors = 1 + np.outer(values - above, _FRACTIONS) / (1 + above)
    logs: Floats = np.logaddexp.reduce(counts @ np.log(factors), axis=-1) - np.log(len(_FRACTIONS))
    return logs


def _lowest(values: Floats, counts: Counts, misses: float) -> float:
    """The lowest mean that is not given up."""
    enough = math.log(2 / misses)
    given_up, kept = -1.0, float(np.average(values, weights=counts))
    for _ in range(_STEPS if kept > -1 else 0):
        middle = (given_up + kept) / 2
        if log_wealth(middle, values, counts) >= enough:
            given_up = middle
        else:
            kept = middle
    return given_up
