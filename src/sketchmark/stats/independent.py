"""Two means over different items: how far apart are they, and can that be told at all?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from sketchmark.stats.distributions import normal_quantile
from sketchmark.stats.intervals import UPPER, Interval, wilson

NEAR = 0.1
"""Means whose difference lies within this for certain are called compatible: ten points."""

Verdict = Literal["compatible", "differs", "too few to tell"]


@dataclass(frozen=True)
class Apart:
    """ours - theirs with its 95 % interval, and what that allows to say."""

    mean: float
    low: float
    high: float
    verdict: Verdict


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


def _verdict(low: float, high: float) -> Verdict:
    if low > 0 or high < 0:
        return "differs"
    return "compatible" if low >= -NEAR and high <= NEAR else "too few to tell"
