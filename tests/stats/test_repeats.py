"""Repeated episodes: unbiased chances, components of variance with their coverage, and the division of a budget."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from sketchmark.stats import interval, paired_difference
from sketchmark.stats.repeats import (
    Prices,
    Spread,
    agreement,
    best_by,
    components,
    divide,
    pass_all,
    pass_at,
    spread_of,
    vote,
)

Scores = list[list[list[float]]]


def player(rng: np.random.Generator, n: int, repeats: int, answers: int, *chances: float) -> Scores:
    """Simulate `player/flawed`: the chances of a puzzle without an error, a drawing without a slip and an answer
    without a slip."""
    puzzle, drawing, answer = chances
    good = rng.random(n) < puzzle
    drawn = (rng.random((n, repeats)) < drawing) & good[:, None]
    right = (rng.random((n, repeats, answers)) < answer) & drawn[:, :, None]
    found: Scores = right.astype(float).tolist()
    return found


def planted(g: float, a: float, b: float) -> tuple[float, float, float]:
    """Return the components of such a player: between samples, drawings and answers."""
    return g * (1 - g) * (a * b) ** 2, g * b * b * a * (1 - a), g * a * b * (1 - b)


def test_pass_at_k_and_pass_all_k_are_means_over_all_choices_of_k_episodes() -> None:
    for n, right in product(range(1, 7), range(7)):
        episodes = [number < right for number in range(n)]
        for k in range(1, n + 1) if right <= n else ():
            chosen = list(combinations(episodes, k))
            assert pass_at(n, right, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))
            assert pass_all(n, right, k) == pytest.approx(sum(map(all, chosen)) / len(chosen))


def test_votes_ties_guides_and_agreement() -> None:
    assert vote(["a", "b", "b"], [1, 0, 0]) == (0, False)
    assert vote(["a", "b"], [1, 0]) == (0.5, True)
    assert best_by([0.2, 0.9, 0.9], [1, 1, 0]) == 0.5
    assert agreement(["a", "a", "b"]) == pytest.approx(1 / 3)


def test_components_are_unbiased_and_their_sum_is_the_variance_of_an_episode() -> None:
    rng = np.random.default_rng(1)
    chances = (0.7, 0.6, 0.9)
    found = [components(player(rng, 40, 5, 3, *chances)) for _ in range(200)]
    for name, truth in zip(("samples", "drawings", "answers"), planted(*chances), strict=True):
        means = [getattr(one, name).mean for one in found]
        assert abs(np.mean(means) - truth) < 4 * np.std(means) / len(means) ** 0.5
    mean = 0.7 * 0.6 * 0.9
    assert sum(planted(*chances)) == pytest.approx(mean * (1 - mean))


@pytest.mark.slow
@pytest.mark.parametrize(
    "chances", [(0.7, 0.6, 0.9), (0.5, 0.9, 0.9), (1.0, 0.7, 1.0), (0.8, 1.0, 0.8), (0.6, 1.0, 1.0)]
)
def test_intervals_of_components_cover_the_planted_values(chances: tuple[float, float, float]) -> None:
    rng, runs = np.random.default_rng(7), 120
    found = [components(player(rng, 40, 5, 3, *chances)) for _ in range(runs)]
    for name, truth in zip(("samples", "drawings", "answers"), planted(*chances), strict=True):
        ends = [(getattr(one, name).low, getattr(one, name).high) for one in found]
        covered = sum(low - 1e-9 <= truth <= high + 1e-9 for low, high in ends)
        assert covered >= 0.88 * runs, (name, covered)


@pytest.mark.slow
def test_intervals_of_repeated_means_and_gains_cover_the_truth() -> None:
    rng, runs = np.random.default_rng(3), 400
    hits = np.zeros(2)
    for _ in range(runs):
        hard = rng.beta(2, 1, 40)  # the samples differ, and both modes find the same ones hard
        drawn = rng.binomial(5, hard) / 5
        direct = rng.binomial(5, 0.7 * hard) / 5
        mean, gain = interval(drawn), paired_difference(direct, drawn)
        hits += [
            (mean.low or 0) <= 2 / 3 <= (mean.high or 0),
            (gain.low or 0) <= 0.3 * 2 / 3 <= (gain.high or 0),
        ]
    assert (hits >= 0.93 * runs).all() and (hits <= 0.985 * runs).all(), hits / runs


def test_designs_that_cannot_separate_sources_say_so() -> None:
    rng = np.random.default_rng(0)
    plain = components(player(rng, 20, 5, 1, 0.7, 0.6, 0.9))
    assert plain.drawings is plain.answers is None and plain.episodes and plain.samples
    single = components(player(rng, 20, 1, 3, 0.7, 0.6, 0.9))
    assert single.samples is single.episodes is None
    assert spread_of(player(rng, 9, 1, 1, 1, 0.5, 1), player(rng, 9, 5, 1, 1, 0.5, 1)) is None


def test_the_spread_of_a_gain_predicts_the_variance_of_larger_runs() -> None:
    rng = np.random.default_rng(5)
    direct, drawn = player(rng, 4000, 4, 1, 0.6, 0.5, 1), player(rng, 4000, 4, 3, 0.8, 0.7, 0.9)
    spread = spread_of(direct, drawn)
    assert spread is not None
    for repeats, answers in ((1, 1), (2, 3), (4, 3)):
        gains = [
            np.mean([np.mean(one[:answers]) for one in b[:repeats]]) - np.mean([one[0] for one in a[:repeats]])
            for a, b in zip(direct, drawn, strict=True)
        ]
        assert spread.variance(4000, repeats, answers) == pytest.approx(np.var(gains) / 4000, rel=0.08)
    assert spread.repeats_for_half(1) is None
    noise = Spread(0.0, 0.1, 0.1, 0.0)
    assert noise.repeats_for_half(2) == 8 and noise.half_width(10, 8) == pytest.approx(noise.half_width(10, 2) / 2)


def brute_force(budget: float, spread: Spread, prices: Prices, most: int) -> float:
    return min(
        spread.variance(n, repeats, answers)
        for n, repeats, answers in product(range(2, most + 1), range(1, 80), range(1, 25))
        if prices.of(n, repeats, answers) <= budget * (1 + 1e-12)
    )


@pytest.mark.slow
def test_a_budget_is_divided_as_well_as_by_brute_force() -> None:
    rng = np.random.default_rng(11)
    for _ in range(40):
        spread = Spread(*(rng.random(4) * (rng.random(4) < 0.8)))
        prices = Prices(*rng.integers(1, 12, 3).astype(float))
        most = int(rng.integers(2, 12))
        budget = float(rng.integers(60, 1500))
        found = divide(budget, spread, prices, most)
        if budget < 2 * prices.of(1, 1, 1):
            assert found is None
            continue
        assert found and found.cost <= budget and 2 <= found.samples <= most
        ours = spread.variance(found.samples, found.repeats, found.answers)
        assert ours <= brute_force(budget, spread, prices, most) * (1 + 1e-9), (spread, prices, budget, most, found)


def test_repeats_begin_where_the_samples_end() -> None:
    spread, prices = Spread(0.05, 0.1, 0.1, 0.05), Prices(1, 9, 1)
    free, capped = divide(11_000, spread, prices), divide(11_000, spread, prices, most_samples=100)
    assert free and capped and (free.repeats, capped.samples) == (1, 100) and capped.repeats > 5
    assert free.half_width < capped.half_width
