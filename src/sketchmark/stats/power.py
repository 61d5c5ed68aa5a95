"""How many paired samples does a gain of a given size need, and what is the smallest gain that n samples show?

Both answers come from the normal approximation. For right/wrong answers it is continuity-corrected, because the exact
McNemar test is what will be run: without the correction the answer is too small by about 1/gain samples.
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
