"""How many paired samples does a gain of a given size need, and what is the smallest gain that n samples show?

Both answers come from the normal approximation, continuity-corrected because the exact McNemar test is what will be
run. Without the correction the answer is too small by about 1/gain samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sketchmark.errors import BadInput
from sketchmark.stats.clusters import Clusters, Labels
from sketchmark.stats.distributions import normal_quantile
from sketchmark.stats.intervals import numbers


@dataclass(frozen=True)
class Pilot:
    """What a finished comparison says about the next one.

    `discordance` is the mean squared difference: for right/wrong answers, the share of items on which the two differ.
    `design_effect` is by how much shared sources inflate the variance.
    """

    discordance: float
    design_effect: float = 1.0

    @classmethod
    def of(cls, a: npt.ArrayLike, b: npt.ArrayLike, clusters: Labels | None = None) -> Pilot:
        """Half a changed pair is added, so that a small pilot in which nothing changed promises no miracle."""
        d = numbers(b) - numbers(a)
        n = len(d)
        if n == 0:
            raise BadInput("no pairs to plan from")
        discordance = (float(np.sum(d**2)) + 0.5) / (n + 1)
        groups = Clusters.of(d, clusters)
        spread = float(np.var(d))
        if not groups.shared or len(groups.sizes) < 2 or spread == 0:
            return cls(discordance)
        variance, _ = groups.variance_of_mean()
        return cls(discordance, max(1.0, variance * n / spread))


def samples_needed(
    gain: float, discordance: float, *, alpha: float = 0.05, power: float = 0.8, design_effect: float = 1.0
) -> int:
    """The number of pairs with which a true gain of this size is found (two-sided `alpha`) with this probability.

    A gain cannot be larger than the share of items that change, so a smaller `discordance` is raised to it.
    """
    size = abs(gain)
    if not 0 < size <= 1:
        raise BadInput(f"a gain of {gain} cannot be planned for", "give a share between 0 and 1, such as 0.05")
    width = _width(size, max(discordance, size), alpha, power)
    root = (width + math.sqrt(width**2 + 4 * size)) / (2 * size)
    return math.ceil(design_effect * root**2)


def smallest_gain(
    n: int, discordance: float, *, alpha: float = 0.05, power: float = 0.8, design_effect: float = 1.0
) -> float | None:
    """The smallest true gain that n pairs find with this probability; None: not even one that changes every item."""
    if n < 1 or samples_needed(1.0, 1.0, alpha=alpha, power=power, design_effect=design_effect) > n:
        return None
    too_small, enough = 0.0, 1.0
    while enough - too_small > 1e-6:
        middle = (too_small + enough) / 2
        if samples_needed(middle, discordance, alpha=alpha, power=power, design_effect=design_effect) <= n:
            enough = middle
        else:
            too_small = middle
    return enough


def _width(gain: float, discordance: float, alpha: float, power: float) -> float:
    """How far, in standard errors, the gain must lie from zero (Connor 1987), times the spread of one pair."""
    if not (0 < alpha < 1 and 0 < power < 1):
        raise BadInput("alpha and power are probabilities between 0 and 1")
    spread = math.sqrt(max(discordance - gain**2, 0.0))
    return normal_quantile(1 - alpha / 2) * math.sqrt(discordance) + normal_quantile(power) * spread
