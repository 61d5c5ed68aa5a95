"""Trends against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm

from sketchmark.stats import trend


@pytest.mark.parametrize("size", [1, 4])
def test_a_trend_agrees_with_statsmodels_cluster_robust_regression(size: int) -> None:
    rng = np.random.default_rng(size)
    labels = np.repeat(np.arange(30), size)
    x = rng.integers(1, 9, len(labels)).astype(float)
    y = 0.05 * x + rng.normal(size=30)[labels] + rng.normal(size=len(labels)) * x
    fit = sm.OLS(y, sm.add_constant(x)).fit(cov_type="cluster", cov_kwds={"groups": labels}, use_t=True)
    found = trend(x, y, labels)
    assert found is not None
    assert found.slope == pytest.approx(fit.params[1])
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[1]))
    assert found.p == pytest.approx(fit.pvalues[1])


def test_a_number_that_never_changes_has_no_trend() -> None:
    assert trend([4, 4, 4, 4], [0, 1, 0, 1]) is None
    assert trend([1, 2], [0, 1]) is None
    assert trend([1, 2, 3, 4], [0, 1, 0, 1], ["a", "a", "b", "b"]) is None


def test_a_perfect_line_is_certain_and_a_flat_one_is_no_trend() -> None:
    rising, flat = trend([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4]), trend([1, 2, 3, 4], [0.5] * 4)
    assert rising is not None
    assert flat is not None
    assert rising.slope == pytest.approx(0.1)
    assert rising.p < 1e-6
    assert (flat.slope, flat.p) == (0, 1)
