"""What a paired difference allows to say, by one rule everywhere."""

from __future__ import annotations

from typing import Literal

from sketchmark.stats import Difference

CLEAR = 0.05

Verdict = Literal["more", "less", "none", "open"]
"""Clearly above zero, clearly below, within the margin of zero, or not settled."""


def verdict(found: Difference, p: float | None, margin: float) -> Verdict:
    """`p` is the corrected one. To say "none", all of the interval must be near zero: a wide one has not settled
    anything."""
    if p is not None and p < CLEAR and found.mean:
        return "more" if found.mean > 0 else "less"
    if found.low is None or found.high is None or max(abs(found.low), abs(found.high)) > margin:
        return "open"
    return "none"
