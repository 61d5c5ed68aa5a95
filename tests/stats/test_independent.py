"""Two means over different items, by hand."""

from __future__ import annotations

import pytest

from sketchmark.stats.differences import apart, share_of
from sketchmark.stats.intervals import Interval, interval


def test_newcombes_own_example() -> None:
    """56 of 70 against 48 of 80 (Newcombe 1998, table II, method 10): 0.2000 [0.0524, 0.3339]."""
    found = apart(share_of(56 / 70, 70), share_of(48 / 80, 80))
    assert found is not None and found.mean == pytest.approx(0.2)
    assert [found.low, found.high] == pytest.approx([0.0524, 0.3339], abs=5e-5)
    assert found.verdict == "differs"


@pytest.mark.parametrize(
    ("ours", "theirs", "n", "verdict"),
    [
        ([1, 0] * 500, 0.5, 1000, "compatible"),
        ([1, 0] * 500, 0.5, 50, "too few to tell"),
        ([1, 0] * 20, 0.5, 1000, "too few to tell"),
        ([1, 0] * 500, 0.4, 1000, "differs"),
        ([1] * 9 + [0], 0.8, 149, "too few to tell"),
        ([0] * 149, 0.0, 149, "compatible"),
    ],
)
def test_the_verdict_weighs_both_uncertainties(ours: list[int], theirs: float, n: int, verdict: str) -> None:
    found = apart(interval(ours), share_of(theirs, n))
    assert found is not None and found.verdict == verdict
    other_way = apart(share_of(theirs, n), interval(ours))
    assert other_way is not None and other_way.verdict == verdict
    assert [other_way.low, other_way.high] == pytest.approx([-found.high, -found.low])


def test_without_an_interval_there_is_nothing_to_say() -> None:
    assert apart(interval([]), share_of(0.5, 10)) is None
    assert apart(Interval(0.5, None, None, 1, "none"), share_of(0.5, 10)) is None
