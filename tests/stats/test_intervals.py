"""Known cases, edge cases and speed of `interval`; how well it covers is in test_coverage.py."""

import json
import math
import time
from dataclasses import asdict

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from statsmodels.stats.proportion import proportion_confint

from sketchmark.stats.intervals import Clusters, interval


@pytest.mark.parametrize(("right", "n"), [(0, 1), (1, 1), (0, 20), (20, 20), (3, 50), (41, 100), (7_000, 20_000)])
def test_right_and_wrong_answers_get_wilsons_interval(right: int, n: int) -> None:
    found = interval([1] * right + [0] * (n - right))
    assert found.method == "wilson"
    assert (found.low, found.high) == pytest.approx(proportion_confint(right, n, method="wilson"), abs=1e-12)


def test_truth_values_count_as_right_and_wrong() -> None:
    assert interval([True, False, True]) == interval([1, 0, 1])


def test_no_values_have_no_mean_and_are_valid_json() -> None:
    found = interval([])
    assert found.mean is found.low is found.high is None
    assert found.n == 0
    json.dumps(asdict(found), allow_nan=False)


@pytest.mark.parametrize(
    ("values", "clusters"),
    [
        ([0.5], None),
        ([0.5] * 9, None),
        ([1, 1, 0.9], None),
        ([1] * 6, "aabbcc"),
        ([1, 0] * 3, "aabbcc"),
        ([0.5, 1], "aa"),
    ],
)
def test_no_interval_claims_certainty_from_a_few_scores(values: list[float], clusters: str | None) -> None:
    found = interval(values, list(clusters) if clusters else None)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low < found.high <= 1
    assert found.high - found.low > 0.1


def test_a_single_number_of_any_range_has_a_mean_but_no_interval() -> None:
    found = interval([37.5])
    assert (found.mean, found.low, found.high) == (37.5, None, None)


def test_many_fractions_in_the_middle_agree_with_the_t_interval() -> None:
    values = np.random.default_rng(5).beta(2, 2, 2_000)
    low, high = scipy.stats.t.interval(0.95, 1_999, values.mean(), scipy.stats.sem(values))
    found = interval(values)
    assert found.method == "wilson-effective"
    assert (found.low, found.high) == pytest.approx((low, high), abs=2e-4)


def test_numbers_beyond_fractions_are_bootstrapped_and_the_seed_decides() -> None:
    values = np.random.default_rng(1).exponential(10, 60)
    first, again, other = interval(values, seed=1), interval(values, seed=1), interval(values, seed=2)
    assert first.method == "bootstrap-t"
    assert first == again
    assert first != other
    assert first.high is not None
    assert first.low is not None
    assert first.mean is not None
    assert first.high - first.mean > first.mean - first.low, "the long tail of the values is on the right"


def test_many_numbers_beyond_fractions_get_the_t_interval() -> None:
    values = np.random.default_rng(1).normal(50, 10, 3_000)
    found = interval(values)
    expected = scipy.stats.t.interval(0.95, 2_999, values.mean(), scipy.stats.sem(values))
    assert found.method == "t"
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)


def test_clusters_of_one_change_nothing() -> None:
    values = [1, 0, 1, 1, 0]
    assert interval(values, list("abcde")) == interval(values)
    assert interval(values, [None] * 5) == interval(values)


def test_copies_of_an_item_do_not_narrow_the_interval() -> None:
    once = interval([1, 0, 1, 1, 0, 1, 0, 1, 1, 1] * 4, list(range(40)))
    copied = interval([1, 0, 1, 1, 0, 1, 0, 1, 1, 1] * 20, list(range(40)) * 5)
    assert once.low is not None
    assert copied.low is not None
    assert copied.low == pytest.approx(once.low, abs=0.01)


@pytest.mark.parametrize("size", [1, 4])
def test_the_cluster_variance_agrees_with_statsmodels(size: int) -> None:
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(25), size)
    values = rng.normal(size=25)[labels] + rng.normal(size=25 * size)
    fit = sm.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": labels, "use_correction": False}
    )
    variance, df = Clusters.of(values, labels).variance_of_mean()
    assert variance == pytest.approx(fit.cov_params()[0, 0] * 25 / 24, rel=1e-9)
    assert df == pytest.approx(24)


def test_one_large_cluster_leaves_few_degrees_of_freedom() -> None:
    labels = [0] * 80 + list(range(1, 21))
    _, df = Clusters.of(np.random.default_rng(0).normal(size=100), labels).variance_of_mean()
    assert 1 <= df < 4


def test_a_missing_score_is_refused_instead_of_becoming_nan() -> None:
    with pytest.raises(ValueError, match="value 1 is not a finite number"):
        interval([1.0, math.nan])


def test_labels_must_match_the_values() -> None:
    with pytest.raises(ValueError, match="3 values but 2 cluster labels"):
        interval([1, 0, 1], ["a", "b"])


def test_twenty_thousand_values_take_under_three_tenths_of_a_second() -> None:
    values = np.random.default_rng(0).random(20_000)
    labels = [f"picture {i % 4_000}" for i in range(20_000)]
    start = time.process_time()
    interval(values)
    interval(values * 100)
    interval(values.round())
    interval(values, labels)
    assert time.process_time() - start < 0.3
