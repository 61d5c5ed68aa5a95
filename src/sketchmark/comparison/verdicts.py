"""What a paired difference allows to say, by one rule everywhere."""

from __future__ import annotations

from typing import Literal

from sketchmark import stats
from sketchmark.stats import Difference

Verdict = Literal["more", "less", "none", "open"]
"""Clearly above zero, clearly below, within the margin of zero, or not settled."""


def verdict(found: Difference, p: float | None, margin: float) -> Verdict:
    """`p` is the corrected one. To say "none", all of the interval must be near zero: a wide one has not settled
    anything."""
    clear = stats.verdict(found.mean, p)
    if clear != "unclear":
        return "more" if clear == "better" else "less"
    if found.low is None or found.high is None or max(abs(found.low), abs(found.high)) > margin:
        return "open"
    return "none"
