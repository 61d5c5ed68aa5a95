"""Means, intervals and distributions, checked by SciPy, plain matrices, root finding and an item-wise bootstrap."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from statsmodels.stats.proportion import proportion_confint

from sketchmark.stats.intervals import (
    FEWEST,
    MOST,
    RESAMPLES,
    Clusters,
    Interval,
    beta_cdf,
    binomial_cdf,
    effective_size,
    interval,
    likeness_in,
    normal_quantile,
    numbers,
    studentised,
    t_quantile,
    wilson,
)


@pytest.mark.parametrize("a", [0.5, 1.0, 3.5, 40.0, 5000.0])
@pytest.mark.parametrize("b", [0.5, 2.0, 17.0, 8000.0])
def test_the_beta_distribution_agrees_with_scipy(a: float, b: float) -> None:
    middle = a / (a + b)
    for x in (0.0, middle / 3, middle, (1 + middle) / 2, 1.0):
        assert beta_cdf(x, a, b) == pytest.approx(scipy.stats.beta.cdf(x, a, b), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (0, 1), (0, 40), (3, 10), (10, 10), (480, 1000), (9_700, 20_000)])
def test_the_binomial_distribution_agrees_with_scipy(k: int, n: int) -> None:
    for p in (0.1, 0.5, 0.93):
        assert binomial_cdf(k, n, p) == pytest.approx(scipy.stats.binom.cdf(k, n, p), rel=1e-8, abs=1e-14)


@pytest.mark.parametrize("df", [1.0, 1.7, 3.0, 9.0, 29.0, 123.4, 20_000.0])
def test_t_quantiles_agree_with_scipy_also_for_broken_degrees_of_freedom(df: float) -> None:
    for p in (0.8, 0.975, 0.999):
        assert t_quantile(p, df) == pytest.approx(scipy.stats.t.ppf(p, df), rel=1e-8)
        assert t_quantile(p, 1e7) == pytest.approx(normal_quantile(p), rel=1e-6)


@pytest.mark.parametrize(("right", "n"), [(0, 1), (1, 1), (0, 20), (20, 20), (3, 50), (41, 100), (7_000, 20_000)])
def test_right_and_wrong_answers_get_wilsons_interval(right: int, n: int) -> None:
    found = interval([1] * right + [0] * (n - right))
    assert found.method == "wilson"
    assert (found.low, found.high) == pytest.approx(proportion_confint(right, n, method="wilson"), abs=1e-12)


def test_truth_values_are_right_and_wrong_and_clusters_of_one_change_nothing() -> None:
    assert interval([True, False, True]) == interval([1, 0, 1])
    values = [1, 0, 1, 1, 0]
    assert interval(values, list("abcde")) == interval(values)
    assert interval(values, [None] * 5) == interval(values)


def test_twenty_thousand_values_take_under_three_tenths_of_a_second() -> None:
    values = np.random.default_rng(0).random(20_000)
    labels = [f"picture {i % 4_000}" for i in range(20_000)]
    start = time.process_time()
    interval(values)
    interval(values * 100)
    interval(values.round())
    interval(values, labels)
    assert time.process_time() - start < 0.3


Z = float(scipy.stats.norm.ppf(0.975))


def t(df: float) -> float:
    return float(scipy.stats.t.ppf(0.975, df))


def score_interval(mean: float, n: float, quantile: float) -> tuple[float, float]:
    """The two shares whose score test the mean just passes: Wilson's interval, without Wilson's formula."""

    def excess(share: float) -> float:
        return (mean - share) ** 2 - quantile**2 * share * (1 - share) / n

    low = 0.0 if mean == 0 else scipy.optimize.brentq(excess, 0, mean - 1e-9, xtol=1e-14)
    high = 1.0 if mean == 1 else scipy.optimize.brentq(excess, mean + 1e-9, 1, xtol=1e-14)
    return float(low), float(high)


def bounds(found: Interval) -> tuple[float, float]:
    assert found.low is not None and found.high is not None
    return found.low, found.high


@pytest.mark.parametrize(("mean", "n"), [(0.5, 4.0), (0.1, 7.5), (0.93, 300.0), (0.0, 3.0), (1.0, 3.0)])
def test_wilson_is_where_the_score_test_just_passes_also_for_broken_counts(mean: float, n: float) -> None:
    found = wilson(mean, n, 2.5)
    assert found == pytest.approx(score_interval(mean, n, 2.5), abs=1e-9)
    assert all(type(bound) is float for bound in found)


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_equal_clusters_without_any_spread_are_as_uncertain_as_that_many_items(score: float) -> None:
    found = interval([score] * 6, list("aabbcc"))
    assert (found.mean, found.n, found.method) == (score, 6, "wilson-clustered")
    assert bounds(found) == pytest.approx(score_interval(score, 3, t(2)), abs=1e-9)


def test_uneven_clusters_without_any_spread_count_less_than_their_number() -> None:
    """Sizes 4, 1 and 1: 36/18 = 2 independent items."""
    labels = list("aaaabc")
    assert Clusters.of(np.ones(6), labels).effective_count == pytest.approx(2.0)
    df = Clusters.of(np.ones(6), labels).variance_of_mean()[1]
    assert bounds(interval([1.0] * 6, labels)) == pytest.approx(score_interval(1.0, 2.0, t(df)), abs=1e-9)


def test_clusters_that_are_all_alike_but_mixed_inside_claim_no_more_than_independent_items() -> None:
    found = interval([1, 0] * 3, list("aabbcc"))
    assert found.method == "wilson-clustered"
    assert bounds(found) == pytest.approx(score_interval(0.5, 6, t(2)), abs=1e-9)


def test_clusters_that_differ_count_by_the_variance_of_their_means() -> None:
    """Cluster means 1, 1, 0: variance of the mean (1/3 + 1/3 + ...) = sum of squares over G(G-1) = 1/9."""
    found = interval([1, 1, 1, 1, 0, 0], list("aabbcc"))
    mean, variance = 2 / 3, (2 * (1 / 3) ** 2 + (2 / 3) ** 2) / 6
    assert bounds(found) == pytest.approx(score_interval(mean, mean * (1 - mean) / variance, t(2)), abs=1e-9)


def test_two_clusters_are_the_fewest_whose_difference_says_something() -> None:
    found = interval([1, 1, 0, 0.5], list("aabb"))
    mean, variance = 0.625, (2 * 0.375**2) / 2
    assert bounds(found) == pytest.approx(score_interval(mean, mean * (1 - mean) / variance, t(1)), abs=1e-9)


def test_a_single_cluster_however_large_and_a_single_fraction_are_single_items() -> None:
    found = interval([1, 0, 1, 1], list("aaaa"))
    assert (found.n, found.method) == (4, "wilson-clustered")
    assert bounds(found) == pytest.approx(score_interval(0.75, 1, Z), abs=1e-9)
    found = interval([0.3])
    assert (found.mean, found.n, found.method) == (0.3, 1, "wilson-effective")
    assert bounds(found) == pytest.approx(score_interval(0.3, 1, Z), abs=1e-9)


@pytest.mark.parametrize("values", [[0.5] * 9, [1.0, 0.2, 0.0, 0.7, 1.0], [0.9] + [1.0] * 29])
def test_a_spread_estimated_from_few_fractions_is_drawn_towards_that_of_right_and_wrong(values: list[float]) -> None:
    mean, n = sum(values) / len(values), len(values)
    share = float(np.var(values, ddof=1)) / (mean * (1 - mean))
    weight = (1 + sum(0 < value < 1 for value in values)) ** -1.5
    effective = n / (weight + (1 - weight) * share)
    assert bounds(interval(values)) == pytest.approx(score_interval(mean, effective, t(n - 1)), abs=1e-9)


def test_the_effective_size_of_independent_right_and_wrong_answers_is_their_number() -> None:
    x = np.array([1.0, 0.0, 0.0, 1.0, 1.0])
    size, quantile = effective_size(Clusters.of(x, None), x, float(x.mean() * (1 - x.mean())), 0)
    assert (size, quantile) == pytest.approx((5.0, t(4)))


@pytest.mark.parametrize(
    ("values", "labels", "method"),
    [
        ([], None, "none"), ([0, 1], None, "wilson"), ([1], None, "wilson"),
        ([1, 0.5], None, "wilson-effective"), ([0, 1, 1], list("aab"), "wilson-clustered"),
        ([0.5, 1, 1], list("aab"), "wilson-clustered"), ([0, 1, 1], list("abc"), "wilson"),
        ([-0.01, 1], None, "t"), ([0, 1.01], None, "t"), ([0, 100], None, "wilson"),
        ([100, 100, 0], list("aab"), "wilson-clustered"), ([0, 100, 50], None, "t"), ([0, 50], None, "t"),
        ([2], None, "none"), ([2, 2, 2], list("aaa"), "none"),
    ],
)  # fmt: skip
def test_the_method_follows_from_the_range_and_the_clusters(
    values: list[float], labels: list[str] | None, method: str
) -> None:
    found = interval(values, labels)
    assert (found.method, found.n) == (method, len(values))
    assert found.mean == (pytest.approx(sum(values) / len(values)) if values else None)
    assert (found.low is None) == (method == "none")


def test_the_seed_changes_only_bootstrapped_intervals() -> None:
    for values in ([1, 0, 1], [0.2, 0.4, 1]):
        assert interval(values, seed=1) == interval(values, seed=2)
    skewed = np.random.default_rng(1).exponential(10, 60)
    assert interval(skewed, seed=1) == interval(skewed, seed=1) != interval(skewed, seed=2)


@pytest.mark.parametrize("count", [2, FEWEST - 1, FEWEST, MOST, MOST + 1])
def test_the_bootstrap_is_for_eight_to_a_thousand_clusters_and_t_for_the_rest(count: int) -> None:
    values = np.random.default_rng(count).normal(10, 2, count)
    found = interval(values)
    assert found.method == ("bootstrap-t" if 8 <= count <= 1000 else "t")
    if found.method == "t":
        expected = scipy.stats.t.interval(0.95, count - 1, values.mean(), scipy.stats.sem(values))
        assert bounds(found) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("right", range(1, 13))
@pytest.mark.parametrize("labels", [None, list("aabbccddeeff")])
def test_right_and_wrong_in_per_cent_have_the_interval_of_right_and_wrong(
    right: int, labels: list[str] | None
) -> None:
    share = interval([1] * right + [0] * (12 - right), labels)
    in_per_cent = interval([100] * right + [0] * (12 - right), labels)
    assert [in_per_cent.mean, *bounds(in_per_cent)] == pytest.approx(
        [100 * x for x in (share.mean or 0, *bounds(share))]
    )
    assert (in_per_cent.n, in_per_cent.method) == (share.n, share.method)


def test_numbers_without_any_spread_or_with_one_of_rounding_are_not_bootstrapped() -> None:
    assert interval([5.0] * 20) == Interval(5.0, 5.0, 5.0, 20, "t")
    assert interval(5 + 1e-11 * np.arange(12)).method == "t"


@pytest.mark.parametrize("labels", [list(range(12)), [0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8]])
def test_the_bootstrap_resamples_whole_clusters_and_studentises_each_mean(labels: list[int]) -> None:
    values = np.random.default_rng(9).exponential(20, 12)
    groups = Clusters.of(values, labels)
    count = len(groups.sizes)
    mean, error = values.mean(), groups.variance_of_mean()[0] ** 0.5
    drawn = np.random.Generator(np.random.PCG64(4)).multinomial(count, [1 / count] * count, size=RESAMPLES)
    ratios = []
    for times in drawn:
        totals, sizes = np.repeat(groups.totals, times), np.repeat(groups.sizes, times)
        again = totals.sum() / sizes.sum()
        off = totals - sizes * again
        ratios.append((again - mean) * sizes.sum() / np.sqrt((off @ off) * count / (count - 1)))
    below, above = np.quantile(ratios, [0.025, 0.975])
    low, high, method = studentised(groups, seed=4)
    assert method == "bootstrap-t" and RESAMPLES == 2000
    assert (low, high) == pytest.approx((mean - above * error, mean - below * error), rel=1e-9)


def by_matrices(values: Sequence[float], labels: Sequence[int]) -> tuple[float, float]:
    """Bell and McCaffrey's variance and degrees of freedom for a mean, written out as regression on a constant."""
    x, n = np.asarray(values, dtype=float), len(values)
    hat = np.full((n, n), 1 / n)
    columns, variance = [], 0.0
    for label in dict.fromkeys(labels):
        inside = np.flatnonzero(np.asarray(labels) == label)
        roots, vectors = np.linalg.eigh(np.eye(len(inside)) - hat[np.ix_(inside, inside)])
        weights = vectors @ np.diag(roots**-0.5) @ vectors.T @ np.full(len(inside), 1 / n)
        variance += float(weights @ (x - x.mean())[inside]) ** 2
        columns.append((np.eye(n) - hat)[:, inside] @ weights)
    spread = np.linalg.eigvalsh(np.array(columns) @ np.array(columns).T)
    return variance, float(spread.sum() ** 2 / (spread**2).sum())


@pytest.mark.parametrize("labels", [[0, 1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 1, 1, 2], [3, 3, 1, 1, 2, 2, 2]])
def test_the_variance_and_its_degrees_of_freedom_are_bell_and_mccaffreys_for_clusters_of_any_size(
    labels: list[int],
) -> None:
    values = [0.1, 0.9, 0.4, 0.4, 1.0, 0.0, 0.35]
    found = Clusters.of(np.array(values), labels).variance_of_mean()
    assert found == pytest.approx(by_matrices(values, labels), rel=1e-9)


@pytest.mark.parametrize("sizes", [[3, 3, 3, 3], [1, 1, 1, 8], [20, 1, 1, 5, 2, 2]])
@pytest.mark.parametrize("likeness", [0.0, 0.3, 1.0])
def test_degrees_of_freedom_of_clusters_that_are_alike_follow_from_their_covariance(
    sizes: list[int], likeness: float
) -> None:
    """The variance is a quadratic form of the clusters' residuals: its mean and spread, written out as matrices."""
    n, total = np.array(sizes, dtype=float), sum(sizes)
    spread = n * (1 - likeness) + n**2 * likeness
    residuals = np.eye(len(n)) - np.outer(n, np.ones(len(n))) / total
    roots = np.sqrt(1 / (1 - n / total))
    form = (residuals * spread) @ residuals.T * np.outer(roots, roots)
    groups = Clusters(n, np.zeros(len(n)))
    exact = spread.sum() / np.trace(form), np.trace(form) ** 2 / np.sum(form**2)
    assert groups.if_alike(likeness) == pytest.approx(exact)
    if likeness == 0:
        assert groups.if_alike(0) == pytest.approx((1, groups.variance_of_mean()[1]))
    if len(set(sizes)) == 1:
        assert groups.if_alike(likeness) == pytest.approx((1, len(sizes) - 1))


def test_likeness_is_the_correlation_of_items_of_a_cluster() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(400), rng.integers(2, 9, 400))
    for truth in (0.0, 0.4, 0.8):
        x = rng.normal(size=400)[labels] * truth**0.5 + rng.normal(size=len(labels)) * (1 - truth) ** 0.5
        assert likeness_in(Clusters.of(x, labels), x) == pytest.approx(truth, abs=0.06)
    assert likeness_in(Clusters.of(np.array([0.0, 1.0, 0.0, 1.0]), list("aabb")), np.array([0.0, 1.0, 0.0, 1.0])) == 0


def test_values_are_added_up_by_label_and_those_without_one_stand_alone() -> None:
    groups = Clusters.of(np.array([1.0, 2.0, 4.0, 8.0, 16.0]), ["a", None, "b", None, "a"])
    assert sorted(zip(groups.totals.tolist(), groups.sizes.tolist(), strict=True)) == [
        (2, 1), (4, 1), (8, 1), (17, 2),
    ]  # fmt: skip
    assert groups.shared
    assert not Clusters.of(np.ones(3), None).shared and not Clusters.of(np.ones(2), [1, 2]).shared


def test_a_table_of_numbers_is_read_row_by_row_and_the_first_that_is_none_is_named() -> None:
    assert numbers([[1, 2], [3, 4]]).tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="value 2 is not a finite number"):
        interval([0.0, 1.0, float("inf"), float("nan")])


def test_clusters_that_balance_themselves_count_for_more_than_their_items() -> None:
    """A right and a wrong answer in nearly every cluster: the mean is surer than that of independent items."""
    x = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    groups = Clusters.of(x, list("aabbccdd"))
    variance, _ = groups.variance_of_mean()
    all_or_nothing = float(x.mean() * (1 - x.mean()))
    assert 0 < len(x) * variance < all_or_nothing
    assert effective_size(groups, x, all_or_nothing, 0)[0] == pytest.approx(all_or_nothing / variance)
