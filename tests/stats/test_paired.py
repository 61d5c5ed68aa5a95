"""Paired differences against SciPy, statsmodels and published numbers; coverage is in test_coverage.py."""

import json
from dataclasses import asdict

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from sketchmark.stats.differences import holm, mcnemar_exact, paired_difference, paired_permutation, tango


@pytest.mark.parametrize(("helped", "hurt"), [(0, 0), (1, 0), (5, 5), (12, 3), (3, 12), (60, 35), (1_200, 1_000)])
def test_mcnemar_agrees_with_statsmodels(helped: int, hurt: int) -> None:
    expected = 1.0 if helped == hurt else mcnemar([[9, helped], [hurt, 9]], exact=True).pvalue
    assert mcnemar_exact(helped, hurt) == pytest.approx(expected, rel=1e-9)


def test_tangos_interval_of_the_airway_study_is_the_published_one() -> None:
    """Fagerland, Lydersen and Laake (2014): 1 and 7 discordant pairs among 21 give -0.517 to -0.026."""
    low, high = tango(1, 7, 21, 1.959964)
    assert (round(float(low), 3), round(float(high), 3)) == (-0.517, -0.026)


@pytest.mark.parametrize(("helped", "hurt", "n"), [(5, 2, 30), (0, 4, 25), (10, 10, 40), (30, 1, 60)])
def test_tangos_limits_are_where_the_likelihood_score_test_just_rejects(helped: int, hurt: int, n: int) -> None:
    for limit in tango(helped, hurt, n, 1.959964):
        difference = float(limit)

        def unlikelihood(share: float, difference: float = difference) -> float:
            shares = np.array([share + difference, share, 1 - 2 * share - difference])
            counts = np.array([helped, hurt, n - helped - hurt])
            return -float(np.sum(counts[counts > 0] * np.log(np.maximum(shares[counts > 0], 1e-300))))

        bounds = (max(0.0, -difference), (1 - difference) / 2)
        share = scipy.optimize.minimize_scalar(
            unlikelihood, bounds=bounds, method="bounded", options={"xatol": 1e-12}
        ).x
        score = (helped - hurt - n * difference) / np.sqrt(n * (2 * share + difference * (1 - difference)))
        assert abs(score) == pytest.approx(1.959964, abs=1e-3)


def test_a_difference_runs_from_the_first_to_the_second() -> None:
    found = paired_difference([0, 0, 0, 1, 1, 0], [1, 1, 0, 0, 1, 1])
    assert (found.helped, found.hurt, found.same, found.n) == (3, 1, 2, 6)
    assert found.mean == pytest.approx(1 / 3)
    assert found.p == mcnemar_exact(3, 1)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
def test_swapping_the_two_turns_everything_round(pairs: list[tuple[int, int]]) -> None:
    a, b = [x / 4 for x, _ in pairs], [y / 4 for _, y in pairs]
    there, back = paired_difference(a, b), paired_difference(b, a)
    assert None not in (there.mean, there.low, there.high, there.p)
    assert back.mean == pytest.approx(-(there.mean or 0))
    assert back.low == pytest.approx(-(there.high or 0), abs=1e-9)
    assert back.p == pytest.approx(there.p, abs=0.02)
    assert (back.helped, back.hurt) == (there.hurt, there.helped)
    assert -1 <= (there.low or 0) <= (there.mean or 0) + 1e-9
    json.dumps(asdict(there), allow_nan=False)


def test_nothing_paired_has_no_difference() -> None:
    found = paired_difference([], [])
    assert found.mean is found.low is found.high is found.p is None


def test_no_change_at_all_still_leaves_room_for_a_small_one() -> None:
    found = paired_difference([0.2, 0.7, 1.0] * 20, [0.2, 0.7, 1.0] * 20)
    assert found.p == 1.0
    assert found.low is not None
    assert -0.1 < found.low < 0


def test_few_differences_are_permuted_completely_and_agree_with_scipy() -> None:
    d = np.random.default_rng(3).normal(0.4, 1, 11)
    expected = scipy.stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert paired_permutation(d) == pytest.approx(expected, rel=1e-9)


def test_many_differences_are_permuted_by_seed_and_agree_with_the_t_test() -> None:
    d = np.random.default_rng(4).normal(0.1, 1, 500)
    p = paired_permutation(d, seed=1)
    assert p == paired_permutation(d, seed=1)
    assert p == pytest.approx(scipy.stats.ttest_1samp(d, 0).pvalue, abs=0.01)


def test_permuting_right_and_wrong_answers_is_mcnemars_test() -> None:
    d = [1] * 12 + [-1] * 4 + [0] * 30
    assert paired_permutation(d) == pytest.approx(mcnemar_exact(12, 4), rel=1e-9)
    assert paired_permutation(d * 2) == pytest.approx(mcnemar_exact(24, 8), abs=0.004)


def test_a_monte_carlo_p_is_never_zero() -> None:
    assert paired_permutation(np.ones(200)) == 1 / 10_000


def test_clusters_flip_as_one() -> None:
    labels = [name for name in "abcde" for _ in range(10)]
    found = paired_difference([0] * 50, [1] * 50, labels)
    assert found.p == 2 / 2**5, "five pictures are five pieces of evidence, not fifty"
    assert found.method == "tango-clustered, sign-flip by cluster"


def test_clustering_widens_a_difference_whose_items_move_together() -> None:
    rng = np.random.default_rng(6)
    labels = np.repeat(np.arange(40), 5)
    a, b = rng.integers(0, 2, 40)[labels], rng.integers(0, 2, 40)[labels]
    apart, together = paired_difference(a, b), paired_difference(a, b, labels)
    assert together.high is not None
    assert together.low is not None
    assert apart.high is not None
    assert apart.low is not None
    assert (together.high - together.low) / (apart.high - apart.low) == pytest.approx(5**0.5, rel=0.1)


def test_differences_beyond_fractions_are_bootstrapped() -> None:
    rng = np.random.default_rng(7)
    found = paired_difference(rng.normal(30, 5, 50), rng.normal(36, 5, 50))
    assert found.method == "bootstrap-t, sign-flip"
    assert found.low is not None
    assert 0 < found.low < 6
    assert found.p == 1 / 10_000


def test_unequal_lengths_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="2 values cannot be paired with 3"):
        paired_difference([1, 0], [1, 0, 1])


def test_holm_agrees_with_statsmodels() -> None:
    ps = [0.04, 0.001, 0.5, 0.013, 0.9, 0.02]
    assert holm(ps) == pytest.approx(list(multipletests(ps, method="holm")[1]))


def test_a_row_without_a_test_is_not_counted_by_holm() -> None:
    assert holm([0.02, None, 0.03]) == [0.04, None, 0.04]
    assert holm([]) == []
