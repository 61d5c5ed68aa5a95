"""Sample sizes that keep their promise to the tests of `compare`, and confidence sequences valid at every look."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from bench.audit_looks import simulate

from sketchmark.errors import BadInput
from sketchmark.stats.differences import mcnemar_exact, paired_difference
from sketchmark.stats.power import Pilot, Sequence, log_wealth, samples_needed, sequence, smallest_gain
from tests.tabled import tabled


def mcnemar_power(n: int, gain: float, discordance: float, runs: int = 20_000) -> float:
    rng = np.random.default_rng(n)
    up, down = (discordance + gain) / 2, (discordance - gain) / 2
    counts = rng.multinomial(n, [up, max(down, 0.0), 1 - discordance], size=runs)
    pairs, times = np.unique(counts[:, :2], axis=0, return_counts=True)
    found = np.array([mcnemar_exact(int(helped), int(hurt)) < 0.05 for helped, hurt in pairs])
    return float(np.sum(times[found]) / runs)


@pytest.mark.parametrize(("gain", "discordance"), [(0.02, 0.1), (0.05, 0.1), (0.05, 0.3), (0.1, 0.2), (0.2, 0.5)])
def test_so_many_samples_show_the_gain_in_four_runs_of_five(gain: float, discordance: float) -> None:
    for power in (0.8, 0.9):
        n = samples_needed(gain, discordance, power=power)
        assert mcnemar_power(n, gain, discordance) == pytest.approx(power, abs=0.03)


def test_fractions_need_as_many_samples_as_their_spread_says() -> None:
    rng = np.random.default_rng(0)
    n = samples_needed(0.05, 0.2**2 + 0.05**2, right_wrong=False)
    d = rng.normal(0.05, 0.2, (4_000, n))
    power = np.mean(scipy.stats.ttest_1samp(d, 0, axis=1).pvalue < 0.05)
    assert power == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("n", [40, 200, 5_000])
def test_the_smallest_visible_gain_is_the_one_that_needs_n_samples(n: int) -> None:
    gain = smallest_gain(n, 0.2)
    assert gain is not None
    assert samples_needed(gain, 0.2) <= n < samples_needed(gain * 0.98, 0.2)
    assert smallest_gain(5, 1.0) is smallest_gain(0, 1.0) is None, "five of five helped has p = 2/32"


def test_a_pilot_counts_the_share_of_changed_answers() -> None:
    pilot = Pilot.of([0, 0, 1, 1] * 50, [1, 0, 1, 0] * 50)
    assert pilot.discordance == pytest.approx(0.5)
    assert pilot.design_effect == 1
    assert pilot.right_wrong
    assert pilot.smallest_gain(200) == smallest_gain(200, pilot.discordance)
    assert Pilot.of([1] * 9, [1] * 9).discordance == pytest.approx(0.05), "no change is no promise"


def test_shared_pictures_make_more_samples_necessary() -> None:
    rng = np.random.default_rng(6)
    labels = np.repeat(np.arange(200), 5)
    a, b = rng.integers(0, 2, 200)[labels], rng.integers(0, 2, 200)[labels]
    pilot = Pilot.of(a, b, labels)
    assert pilot.design_effect == pytest.approx(5, rel=0.05)
    assert pilot.samples_needed(0.1) == pytest.approx(5 * samples_needed(0.1, pilot.discordance), rel=0.05)


def test_a_pilots_plan_is_confirmed_by_the_comparison_it_plans() -> None:
    n = samples_needed(0.15, 0.3)
    rng = np.random.default_rng(8)
    found = 0
    for _ in range(300):
        kinds = rng.choice(3, n, p=[0.225, 0.075, 0.7])
        p = paired_difference(kinds == 1, kinds == 0).p
        found += p is not None and p < 0.05
    assert 0.72 < found / 300 < 0.9


def test_an_impossible_gain_and_a_plan_without_pairs_are_refused() -> None:
    for gain in (0, 1.5):
        with pytest.raises(BadInput, match="cannot be planned"):
            samples_needed(gain, 0.2)
    with pytest.raises(BadInput, match="no pairs"):
        Pilot.of([], [])


def test_wealth_is_what_the_bets_have_made_of_it() -> None:
    """Three samples helped, one hurt, two alike, against no gain: (1 + f)^3 (1 - f), mean over the fractions."""
    fractions = [(k + 0.5) / 24 for k in range(24)]
    by_hand = math.log(sum((1 + f) ** 3 * (1 - f) for f in fractions) / 24)
    assert log_wealth(0.0, np.array([-1.0, 0.0, 1.0]), np.array([1, 2, 3])) == pytest.approx(by_hand)


@pytest.mark.parametrize("misses", [0.05, 0.01])
def test_a_mean_is_given_up_where_the_wealth_reaches_the_odds_of_half_the_misses(misses: float) -> None:
    """`bench/audit_looks.py` simulates the same rule."""
    found = sequence([1] * 12 + [0] * 30 + [-1] * 3, misses)
    assert found
    values, counts = np.array([-1.0, 0.0, 1.0]), np.array([3, 30, 12])
    for end, seen in ((found.low, values), (-found.high, -values)):
        below, above = (math.exp(log_wealth(end + step, seen, counts)) for step in (-1e-6, 1e-6))
        assert below > 2 / misses > above


def test_it_narrows_as_samples_come_and_keeps_the_mean_inside() -> None:
    found = [sequence([1, 0, 0, 0, -1, 0, 1, 0] * times) for times in (1, 5, 25, 125)]
    widths = [one.high - one.low for one in found if one]
    assert widths == sorted(widths, reverse=True) and widths[-1] < 0.15
    assert all(one and one.low < one.mean < one.high for one in found)


def test_samples_that_got_worse_mirror_those_that_got_better() -> None:
    better, worse = sequence([1] * 8 + [0] * 20 + [-1]), sequence([-1] * 8 + [0] * 20 + [1])
    assert better and worse
    assert (worse.low, worse.high) == pytest.approx((-better.high, -better.low))
    assert sequence([1, 0, 0, -1, 1, 0]) == sequence([0, 1, 1, 0, -1, 0]), "the order does not matter"


@pytest.mark.parametrize("value", [-1.0, 0.0, 1.0])
def test_samples_that_are_all_alike_still_leave_a_doubt(value: float) -> None:
    found = sequence([value] * 60)
    assert found and found.low <= value <= found.high and 0 < found.high - found.low < 0.3


def test_fractions_count_by_their_size() -> None:
    small, large = sequence([0.2, -0.1] * 50), sequence([1, -0.5] * 50)
    assert small and large
    assert small.high - small.low < large.high - large.low


def test_nothing_run_is_nothing_known_and_differences_beyond_one_are_refused() -> None:
    assert sequence([]) is None
    with pytest.raises(BadInput, match="from -1 to 1"):
        sequence([0.5, 2.0])


@tabled
def test_it_is_settled_beside_zero_or_close_to_it(low: float, high: float, settled: str | None) -> None:
    assert Sequence(0, low, high, 9).settled(0.05) == settled


@pytest.mark.parametrize(("helped", "hurt"), [(0.1, 0.1), (0.02, 0.02), (0.3, 0.3), (0.2, 0.1), (0.02, 0.12)])
def test_of_thousands_of_audits_with_a_look_after_each_block_at_most_one_in_twenty_is_wrong(
    helped: float, hurt: float
) -> None:
    found = simulate(helped, hurt)
    assert found.missed <= 0.05, "the true gain was left out at some look"
    assert found.wrong <= 0.05, "an audit ended with what is not true"


def test_an_ordinary_interval_would_be_wrong_far_more_often() -> None:
    """Why it takes a sequence: 50 looks at a plain 95% interval, with no gain at all."""
    rng = np.random.default_rng(0)
    seen = rng.multinomial(20, [0.1, 0.8, 0.1], size=(2000, 50)).cumsum(axis=1)
    n = seen.sum(axis=2)
    mean = (seen[..., 2] - seen[..., 0]) / n
    error = np.sqrt(((seen[..., 2] + seen[..., 0]) / n - mean**2) / n)
    assert (np.abs(mean) > 1.96 * error).any(axis=1).mean() > 0.2


def test_a_large_gain_takes_a_fraction_of_the_samples_of_a_fixed_design() -> None:
    found = simulate(0.4, 0.1, audits=500)
    assert found.settled == 1 and found.samples < 100
