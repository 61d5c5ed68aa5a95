"""Differences of two means, against SciPy, statsmodels, published numbers and enumeration of every sign pattern."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from sketchmark.stats.differences import (
    EXACT_UP_TO,
    PERMUTATIONS,
    Difference,
    apart,
    effective_counts,
    holm,
    mcnemar_exact,
    paired_difference,
    paired_permutation,
    share_of,
    tango,
    trend,
)
from sketchmark.stats.intervals import Clusters, Interval, interval, studentised


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


def test_no_change_at_all_still_leaves_room_for_a_small_one() -> None:
    found = paired_difference([0.2, 0.7, 1.0] * 20, [0.2, 0.7, 1.0] * 20)
    assert found.p == 1.0
    assert found.low is not None
    assert -0.1 < found.low < 0


@pytest.mark.parametrize("unit", [1.0, 100.0])
def test_equal_means_over_different_numbers_of_repeats_are_the_same(unit: float) -> None:
    three_fifths = ((1 / 5 + 5 / 5) / 2, 6 / 10)  # of two drawings with five answers each, and of ten episodes
    before, after = np.array([three_fifths[0], 0.1 + 0.2, 0.5]), np.array([three_fifths[1], 0.3, 0.75])
    found = paired_difference(unit * before, unit * after)
    assert (found.helped, found.hurt, found.same) == (1, 0, 2)


def test_lengths_and_labels_that_do_not_match_are_refused() -> None:
    with pytest.raises(ValueError, match="2 values cannot be paired with 3"):
        paired_difference([1, 0], [1, 0, 1])
    with pytest.raises(ValueError, match="2 values but 3 cluster labels"):
        paired_difference([1, 0], [0, 1], ["a", "b", "c"])


Z = float(scipy.stats.norm.ppf(0.975))


def enumerated(whole: list[int]) -> float:
    """The share of sign patterns whose sum is as far from 0 as the observed one."""
    patterns = list(itertools.product((-1, 1), repeat=len(whole)))
    sums = [abs(sum(sign * value for sign, value in zip(signs, whole, strict=True))) for signs in patterns]
    return sum(value >= abs(sum(whole)) for value in sums) / len(patterns)


def counted(whole: list[int]) -> float:
    """The same for long lists, by counting how many patterns reach each sum."""
    reached = {0: 1}
    for value in whole:
        more: dict[int, int] = {}
        for total, ways in reached.items():
            for signed in (total + value, total - value):
                more[signed] = more.get(signed, 0) + ways
        reached = more
    extreme = sum(ways for total, ways in reached.items() if abs(total) >= abs(sum(whole)))
    return float(extreme / 2 ** len(whole))


TENTHS = [
    [1, 2, 3], [1, 2, -3], [3, 6, -1, 2], [1, 1, 1, 2, -3, 7], [7, -7, 1], [1, -2, 3, -4, 5, 6, 8],
    [-9, -1, -1, -3, 2], [4],
]  # fmt: skip


@pytest.mark.parametrize("whole", TENTHS)
def test_sums_that_differ_by_rounding_alone_count_as_ties(whole: list[int]) -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floating point."""
    assert paired_permutation([value / 10 for value in whole]) == enumerated(whole)
    assert paired_permutation([value / 1e6 for value in whole]) == enumerated(whole)
    assert paired_permutation([value * 1e6 / 7 for value in whole]) == enumerated(whole)


def test_every_short_list_of_tenths_is_permuted_as_enumerated() -> None:
    rng = np.random.default_rng(0)
    for _ in range(150):
        whole = [int(value) for value in rng.integers(-9, 10, int(rng.integers(1, 9)))]
        assert paired_permutation(np.array(whole) / 10) == enumerated(whole), whole


def test_sums_that_differ_by_a_hair_are_no_ties_and_differences_of_nothing_no_evidence() -> None:
    assert paired_permutation([0.5, 1e-5]) == paired_permutation([0.5, 1e-7]) == 0.5
    assert paired_permutation(np.ones(200)) == 1 / 10_000, "a Monte Carlo p is never 0"
    assert paired_permutation([0.0] * 30) == 1.0
    assert paired_permutation([]) == 1.0
    padded = [0.3, -0.1, 0.2] + [0.0] * 40
    assert paired_permutation(padded) == paired_permutation(padded[:3]) == enumerated([3, -1, 2])


def test_clusters_that_sum_to_nothing_but_rounding_do_not_count_towards_the_patterns() -> None:
    values = [0.5] * EXACT_UP_TO + [0.1, 0.2, -0.3]
    labels = [*range(EXACT_UP_TO), "x", "x", "x"]
    assert paired_permutation(values, clusters=labels) == 2 / 2**EXACT_UP_TO


def test_sixteen_differences_are_all_tried_and_seventeen_are_drawn() -> None:
    sixteen, seventeen = [1, 1, 1, -1] * 4, [*[1, 1, 1, -1] * 4, 2]
    assert {paired_permutation(sixteen, seed) for seed in range(3)} == {counted(sixteen)}
    drawn = {paired_permutation(seventeen, seed) for seed in range(3)}
    assert len(drawn) > 1
    assert all(p * (PERMUTATIONS + 1) == pytest.approx(round(p * 10_000)) for p in drawn)


@pytest.mark.parametrize("length", [17, 20, 23, 24, 25, 40, 333])
def test_drawn_patterns_come_as_close_to_the_exact_p_as_ten_thousand_can(length: int) -> None:
    whole = [int(value) for value in np.random.default_rng(length).integers(-4, 6, length)]
    exact = counted(whole)
    assert paired_permutation(whole, seed=1) == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 9_999))


@pytest.mark.parametrize("pairs", [9, 2_000])
def test_as_many_patterns_are_drawn_as_are_counted_whatever_fits_into_memory_at_once(pairs: int) -> None:
    assert paired_permutation([1, -1] * pairs) == 1.0, "no pattern is less extreme than a sum of 0"


def bounds(found: Difference) -> tuple[float, float]:
    assert found.low is not None and found.high is not None
    return found.low, found.high


BINARY = ([0, 0, 1, 1, 0], [1, 1, 0, 1, 0])


TENTHS_PAIR = ([0.1, 0.5, 0.9, 0.3], [0.4, 0.5, 0.2, 0.9])


LARGE_PAIR = ([1, 5, 9, 3, 30, 2, 7, 8, 1], [4, 5, 2, 9, 4, 8, 8, 9, 0])


@pytest.mark.parametrize(
    ("before", "after", "labels", "method"),
    [
        (*BINARY, None, "tango, mcnemar-exact"),
        (*BINARY, list("abcde"), "tango, mcnemar-exact"),
        (*BINARY, list("aabcd"), "tango-clustered, sign-flip by cluster"),
        (*TENTHS_PAIR, None, "tango-effective, sign-flip"),
        (*TENTHS_PAIR, list("aabb"), "tango-clustered, sign-flip by cluster"),
        ([0, 1, 0.5], [1, 1, 0], None, "tango-effective, sign-flip"),
        ([0, 1, 0], [1, 1, 0.5], None, "tango-effective, sign-flip"),
        (*LARGE_PAIR, None, "bootstrap-t, sign-flip"),
        (*LARGE_PAIR, list("aabcdefgh"), "bootstrap-t, sign-flip by cluster"),
        ([2], [4], None, "none, sign-flip"),
        ([], [], None, "none"),
    ],
)
def test_the_method_follows_from_the_scores_and_the_clusters(
    before: list[float], after: list[float], labels: list[str] | None, method: str
) -> None:
    assert paired_difference(before, after, labels).method == method


@pytest.mark.parametrize("labels", [None, list("aabcd")])
def test_right_and_wrong_in_per_cent_are_paired_as_right_and_wrong(labels: list[str] | None) -> None:
    share = paired_difference(*BINARY, labels)
    before, after = ([100 * x for x in side] for side in BINARY)
    found = paired_difference(before, after, labels)
    assert [found.mean, *bounds(found)] == pytest.approx([100 * x for x in (share.mean or 0, *bounds(share))])
    assert replace(found, mean=share.mean, low=share.low, high=share.high) == share


def test_a_gain_of_exactly_all_is_still_a_fraction_and_a_larger_one_is_not() -> None:
    assert paired_difference([0, 0.5, 1], [1, 0.75, 0]).method.startswith("tango-effective")
    assert not paired_difference([0, 0.5, 1], [1.1, 0.75, 0]).method.startswith("tango")
    assert not paired_difference([1.1, 0.5, 1], [0, 0.75, 0]).method.startswith("tango")


def test_helped_hurt_and_same_are_counted_by_sign_and_add_up() -> None:
    found = paired_difference([0.1, 0.5, 0.9, 0.3, 0.6], [0.4, 0.5, 0.2, 0.9, 0.6])
    assert (found.helped, found.hurt, found.same, found.n) == (2, 1, 2, 5)
    assert found.mean == pytest.approx((0.3 - 0.7 + 0.6) / 5)
    assert found.p == enumerated([3, -7, 6])
    clustered = paired_difference([0.0] * 5, [0.4, -0.1, 0.3, 0.2, -0.6], list("aabbc"))
    assert clustered.p == enumerated([3, 5, -6]), "whole clusters are flipped"


def test_a_single_pair_has_an_interval_as_wide_as_a_single_answer_leaves_it() -> None:
    assert paired_difference([], []) == Difference(None, None, None, None, 0, 0, 0, 0, "none")
    found = paired_difference([0], [1])
    assert (found.mean, found.p, found.helped, found.hurt, found.same, found.n) == (1, 1, 1, 0, 0, 1)
    assert found.low is not None and found.high == pytest.approx(1) and found.low < 0


def test_right_and_wrong_get_tangos_interval_of_their_counts() -> None:
    found = paired_difference([0] * 7 + [1] * 5 + [0] * 8, [1] * 7 + [0] * 2 + [1] * 3 + [0] * 8)
    low, high = tango(7, 2, 20, Z)
    assert bounds(found) == pytest.approx((float(low), float(high)))


@pytest.mark.parametrize("n", [1, 5, 40, 1_000])
def test_where_nothing_changed_tangos_interval_has_a_closed_form(n: int) -> None:
    low, high = tango(0, 0, n, Z)
    assert (float(low), float(high)) == pytest.approx((-(Z**2) / (n + Z**2), Z**2 / (n + Z**2)), abs=1e-12)


def test_tangos_interval_ends_at_all_and_takes_many_at_once() -> None:
    low, high = tango([10, 0, 4], [0, 10, 4], 10, Z)
    assert high[0] == pytest.approx(1, abs=1e-12) and low[1] == pytest.approx(-1, abs=1e-12)
    assert low.tolist() == pytest.approx((-high)[[1, 0, 2]].tolist(), abs=1e-9)
    assert [float(tango(b, c, 10, Z)[0]) for b, c in ((10, 0), (0, 10), (4, 4))] == pytest.approx(low.tolist())


def test_fractions_count_as_so_many_whole_pairs_as_leave_the_mean_as_uncertain() -> None:
    d = np.array([0.5, 1.0, -0.25, 0.0, 0.0, -1.0])
    up, down = 1.5 / 6, 1.25 / 6
    variance = up + down - (up - down) ** 2
    share = float(np.var(d, ddof=1)) / variance
    share += (1 - share) * (1 + 2) ** -1.5
    found = effective_counts(Clusters.of(d, None), d)
    assert found == pytest.approx((up * 6 / share, down * 6 / share, 6 / share, scipy.stats.t.ppf(0.975, 5)))
    low, high = tango(*found)
    shown = paired_difference([0.5, 0, 0.25, 0.3, 0.3, 1], [1, 1, 0, 0.3, 0.3, 0])
    assert bounds(shown) == pytest.approx((float(low), float(high)))


@pytest.mark.parametrize(("before", "after"), [([1] * 6, [1] * 6), ([0] * 6, [1] * 6), ([1] * 6, [0] * 6)])
def test_clusters_that_all_moved_alike_count_as_single_pairs(before: list[int], after: list[int]) -> None:
    found = paired_difference(before, after, list("aabbcc"))
    moved = 3 * (after[0] - before[0])
    low, high = tango(max(moved, 0), max(-moved, 0), 3, float(scipy.stats.t.ppf(0.975, 2)))
    assert bounds(found) == pytest.approx((float(low), float(high)))
    assert found.p == enumerated([moved // 3] * 3) if moved else found.p == 1


def test_the_seed_reaches_the_bootstrap_and_the_permutations() -> None:
    rng = np.random.default_rng(2)
    before, after = rng.normal(30, 5, 40), rng.normal(31, 5, 40)
    found = paired_difference(before, after, seed=6)
    assert (found.low, found.high) == studentised(Clusters.of(after - before, None), 6)[:2]
    assert found.p == paired_permutation(after - before, 6)
    assert found != paired_difference(before, after, seed=7)


def test_holm_agrees_with_statsmodels_and_skips_rows_without_a_test() -> None:
    ps = [0.04, 0.001, 0.5, 0.013, 0.9, 0.02]
    assert holm(ps) == pytest.approx(list(multipletests(ps, method="holm")[1]))
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.3, 0.02, 0.3]) == pytest.approx([0.6, 0.06, 0.6])
    assert holm([0.7, 0.6]) == [1.0, 1.0]
    assert holm([0.05]) == [0.05]
    assert holm([None, 0.0, None, 0.2]) == [None, 0.0, None, 0.2]


def test_only_items_that_changed_in_part_count_as_in_between() -> None:
    """An item that did not change is all or nothing: it must not make a variance from two half changes look sure."""
    d = np.array([0.5, 0.5, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    up, down, n = 1 / 8, 1 / 8, 8
    all_or_nothing = up + down - (up - down) ** 2
    ratio = float(np.var(d, ddof=1)) / all_or_nothing
    ratio += (1 - ratio) * (1 + 2) ** -1.5
    helped, hurt, size, _ = effective_counts(Clusters.of(d, None), d)
    assert size == pytest.approx(n / ratio)
    assert [helped, hurt] == pytest.approx([up * size, down * size])


def test_newcombes_own_example() -> None:
    """56 of 70 against 48 of 80 (Newcombe 1998, table II, method 10): 0.2000 [0.0524, 0.3339]."""
    found = apart(share_of(56 / 70, 70), share_of(48 / 80, 80))
    assert found is not None and found.mean == pytest.approx(0.2)
    assert [found.low, found.high] == pytest.approx([0.0524, 0.3339], abs=5e-5)
    assert found.verdict == "differs"


@pytest.mark.parametrize(
    ("ours", "theirs", "n", "verdict"),
    [
        ([1, 0] * 500, 0.5, 1000, "compatible"), ([1, 0] * 500, 0.5, 50, "too few to tell"),
        ([1, 0] * 20, 0.5, 1000, "too few to tell"), ([1, 0] * 500, 0.4, 1000, "differs"),
        ([1] * 9 + [0], 0.8, 149, "too few to tell"), ([0] * 149, 0.0, 149, "compatible"),
    ],
)  # fmt: skip
def test_the_verdict_weighs_both_uncertainties(ours: list[int], theirs: float, n: int, verdict: str) -> None:
    found = apart(interval(ours), share_of(theirs, n))
    assert found is not None and found.verdict == verdict
    other_way = apart(share_of(theirs, n), interval(ours))
    assert other_way is not None and other_way.verdict == verdict
    assert [other_way.low, other_way.high] == pytest.approx([-found.high, -found.low])


def test_without_an_interval_there_is_nothing_to_say() -> None:
    assert apart(interval([]), share_of(0.5, 10)) is None
    assert apart(Interval(0.5, None, None, 1, "none"), share_of(0.5, 10)) is None


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
    assert trend([4] * 7 + [5], mixed) is None, "a single sample makes the line"
    assert trend(rising, [0.5] * 8) is None and trend(rising, np.multiply(rising, 0.1)) is None, "no spread is known"
    assert trend([], []) is None
