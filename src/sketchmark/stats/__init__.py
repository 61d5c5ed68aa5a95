"""Means with 95% intervals, paired differences with p values, and sample sizes.

Plain numbers in, plain numbers out: these modules know no runs, tasks or files. `docs/statistics.md` lists the
methods and their coverage.
"""

from __future__ import annotations

from sketchmark.stats.differences import (
    CLEAR,
    Difference,
    Trend,
    Verdict,
    holm,
    mcnemar_exact,
    paired_difference,
    paired_permutation,
    trend,
    verdict,
)
from sketchmark.stats.intervals import Interval, interval
from sketchmark.stats.power import Pilot, samples_needed, smallest_gain

__all__ = [
    "CLEAR", "Difference", "Interval", "Pilot", "Trend", "Verdict", "holm", "interval", "mcnemar_exact",
    "paired_difference", "paired_permutation", "samples_needed", "smallest_gain", "trend", "verdict",
]  # fmt: skip
