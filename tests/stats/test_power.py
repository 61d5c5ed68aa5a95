"""Planned sample sizes must give the promised power to the very tests that `compare` runs."""

import numpy as np
import pytest
import scipy.stats

from sketchmark.errors import BadInput
from sketchmark.stats.differences import mcnemar_exact, paired_difference
from sketchmark.stats.power import Pilot, samples_needed, smallest_gain


def mcnemar_power(n: int, gain: float, discordance: float, runs: int = 20_000) -> float:
    rng = np.random.default_rng(n)
    up, down = (discordance + gain) / 2, (discordance - gain) / 2
    counts = rng.multinomial(n, [up, max(down, 0.0), 1 - discordance], size=runs)
    pairs, times = np.unique(counts[:, :2], axis=0, return_counts=True)
    found = np.array([mcnemar_exact(int(helped), int(hurt)) < 0.05 for helped, hurt in pairs])
    return float(np.sum(times[found]) / runs)


@pytest.mark.parametrize(("gain", "discordance"), [(0.02, 0.1), (0.05, 0.1), (0.05, 0.3), (0.1, 0.2), (0.2, 0.5)])
def test_so_many_samples_show_the_gain_in_four_runs_of_five(gain: float, discordance: float) -> None:
    assert mcnemar_power(samples_needed(gain, discordance), gain, discordance) == pytest.approx(0.8, abs=0.03)


def test_a_higher_power_can_be_asked_for() -> None:
    n = samples_needed(0.1, 0.3, power=0.9)
    assert mcnemar_power(n, 0.1, 0.3) == pytest.approx(0.9, abs=0.02)


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


def test_five_samples_show_nothing_whatever_happens() -> None:
    """Five of five helped has p = 2/32."""
    assert smallest_gain(5, 1.0) is None
    assert smallest_gain(0, 1.0) is None


def test_a_pilot_counts_the_share_of_changed_answers() -> None:
    pilot = Pilot.of([0, 0, 1, 1] * 50, [1, 0, 1, 0] * 50)
    assert pilot.discordance == pytest.approx(0.5)
    assert pilot.design_effect == 1
    assert pilot.right_wrong
    assert pilot.smallest_gain(200) == smallest_gain(200, pilot.discordance)


def test_a_pilot_without_changes_does_not_promise_that_nothing_is_needed() -> None:
    assert Pilot.of([1] * 9, [1] * 9).discordance == pytest.approx(0.05)


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


@pytest.mark.parametrize("gain", [0, 1.5])
def test_an_impossible_gain_is_refused(gain: float) -> None:
    with pytest.raises(BadInput, match="cannot be planned"):
        samples_needed(gain, 0.2)


def test_planning_without_any_pair_is_refused() -> None:
    with pytest.raises(BadInput, match="no pairs"):
        Pilot.of([], [])
