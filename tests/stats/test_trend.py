"""Trends against regressions that leave out one cluster after the other."""

import numpy as np
import pytest
import scipy.stats

from sketchmark.stats.differences import trend


@pytest.mark.parametrize("size", [1, 4])
def test_a_trend_is_as_uncertain_as_the_regressions_without_each_cluster(size: int) -> None:
    rng = np.random.default_rng(size)
    labels = np.repeat(np.arange(12), size)
    x = rng.integers(1, 9, len(labels)).astype(float)
    y = 0.3 * x + rng.normal(size=12)[labels] + rng.normal(size=len(labels))
    found = trend(x, y, labels)
    slopes = [scipy.stats.linregress(x[labels != one], y[labels != one]).slope for one in range(12)]
    error = (11 / 12 * np.square(slopes - np.mean(slopes)).sum()) ** 0.5
    assert found is not None
    assert found.slope == pytest.approx(scipy.stats.linregress(x, y).slope)
    assert (found.low, found.high) == pytest.approx(scipy.stats.t.interval(0.95, 10, found.slope, error))
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(abs(found.slope) / error, 10))


def test_chance_is_seldom_taken_for_a_trend() -> None:
    rng = np.random.default_rng(0)
    drawn = [trend(rng.integers(3, 9, 8), rng.choice([-1, 0, 1], 8, p=[0.1, 0.6, 0.3])) for _ in range(1000)]
    found = [one.p < 0.05 for one in drawn if one]
    assert len(found) > 900 and np.mean(found) < 0.08


def test_a_line_that_means_nothing_is_not_drawn() -> None:
    rising = [1, 2, 3, 4, 5, 6, 7, 8]
    mixed = [0, 1, 0, 1, 1, 0, 1, 0]
    assert trend(rising, mixed) is not None
    assert trend(rising[:7], mixed[:7]) is None, "too few"
    assert trend(rising, mixed, list("aabbccdd")) is None, "too few clusters"
    assert trend([4] * 8, mixed) is None
    assert trend([4] * 7 + [5], mixed) is None, "one sample alone makes the line"
    assert trend(rising, [0.5] * 8) is None and trend(rising, np.multiply(rising, 0.1)) is None, "no spread is known"
    assert trend([], []) is None
