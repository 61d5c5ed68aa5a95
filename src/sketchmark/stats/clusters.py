"""Items that share a picture or a source are not independent: how uncertain is their mean then?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Labels = Sequence[object] | npt.NDArray[np.generic]


@dataclass(frozen=True)
class Clusters:
    """Values added up by cluster. Without labels, and where a label is None, an item is a cluster of its own."""

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
        """How many independent items there would be if all items of a cluster always agreed (Kish)."""
        return float(self.sizes.sum() ** 2 / np.sum(self.sizes**2))

    def variance_of_mean(self) -> tuple[float, float]:
        """(variance, degrees of freedom) of the mean over all items; needs two clusters.

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


def _codes(labels: Labels) -> npt.NDArray[np.intp]:
    seen: dict[object, int] = {}
    codes = np.empty(len(labels), dtype=np.intp)
    for place, label in enumerate(labels):
        key = ("alone", place) if label is None else ("named", label)
        codes[place] = seen.setdefault(key, len(seen))
    return codes
