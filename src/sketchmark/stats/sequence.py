"""A confidence sequence: an interval of a mean paired difference that stays valid however often one looks.

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
from sketchmark.stats.clusters import Floats
from sketchmark.stats.intervals import numbers

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
