"""Repeated episodes: unbiased chances, components of variance with their coverage, and the division of a budget."""

from __future__ import annotations

from itertools import combinations, product
from statistics import fmean, pvariance, variance

import numpy as np
import pytest

from sketchmark.stats import interval, paired_difference
from sketchmark.stats.repeats import (
    Groups,
    Nested,
    Prices,
    Spread,
    agreements,
    best_by,
    chances,
    components,
    divide,
    pass_all,
    pass_at,
    spread_of,
    votes,
)


def player(rng: np.random.Generator, n: int, repeats: int, answers: int, *given: float) -> Nested:
    """Simulate `player/flawed`: the chances of a puzzle without an error, a drawing without a slip and an answer
    without a slip."""
    puzzle, drawing, answer = given
    good = rng.random(n) < puzzle
    drawn = (rng.random((n, repeats)) < drawing) & good[:, None]
    right = (rng.random((n, repeats, answers)) < answer) & drawn[:, :, None]
    sample, repeat, _ = np.indices(right.shape)
    return Nested.by(sample.ravel(), repeat.ravel(), right.ravel().astype(float))


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
    assert chances(pass_at, np.array([3, 5, 3]), np.array([1, 2, 1]), 2).tolist() == pytest.approx(
        [2 / 3, 0.7, 2 / 3]
    )


def test_votes_ties_guides_and_agreement() -> None:
    of = Groups(np.array([0, 1, 0, 1, 0, 2, 2]))
    scores = np.array([1.0, 1, 0, 0, 0, 1, 1])
    chosen, tied = votes(of, np.array([5, 5, 7, 7, 7, -1, -1]), scores)  # the third sample has no parsed answer
    assert (chosen.tolist(), tied.tolist()) == ([0, 0.5, 0], [False, True, False])
    assert votes(of, np.full(7, -1), scores)[0].tolist() == [0, 0, 0]
    assert best_by(of, np.array([0.2, 0.9, 0.9, 0.1, 0.9, 0, 0]), scores).tolist() == [0, 1, 1]
    assert best_by(Groups(np.zeros(3, int)), np.array([0.2, 0.9, 0.9]), np.array([1.0, 1, 0])).tolist() == [0.5]
    assert agreements(of, np.array([5, 5, 7, 7, 7, -1, -1])).tolist() == pytest.approx([1 / 3, 0, 1])


def test_columns_of_nested_scores_equal_plain_loops_over_uneven_samples() -> None:
    rng = np.random.default_rng(4)
    lists = [
        [rng.integers(0, 3, rng.integers(1, 4)).astype(float).tolist() for _ in range(rng.integers(1, 6))]
        for _ in range(60)
    ]
    made = Nested.of(lists)
    assert made.means.tolist() == [fmean(map(fmean, drawings)) for drawings in lists]
    for number, drawings in enumerate(lists):
        means = list(map(fmean, drawings))
        spread = variance(means) if len(means) > 1 else 0.0
        assert made.noise[number] == pytest.approx(spread / len(means))
        assert made.between_drawings[number] == pytest.approx(spread + fmean(map(pvariance, drawings)))
        read = [variance(answers) for answers in drawings if len(answers) > 1]
        assert made.between_answers[number] == pytest.approx(fmean(read) if read else np.nan, nan_ok=True)
    some = made.take(np.array([7, 3]))
    assert some.means.tolist() == [made.means[7], made.means[3]] and len(some.scores) == sum(
        map(len, lists[3] + lists[7])
    )


def test_the_order_of_equal_scores_does_not_change_a_mean() -> None:
    scores = [0.1, 0.2, 0.3, 0.7, 1 / 3]
    one, other = Nested.of([[[score] for score in scores]]), Nested.of([[[score] for score in reversed(scores)]])
    assert one.means.tolist() == other.means.tolist()


def test_components_are_unbiased_and_their_sum_is_the_variance_of_an_episode() -> None:
    rng = np.random.default_rng(1)
    given = (0.7, 0.6, 0.9)
    found = [components(player(rng, 40, 5, 3, *given)) for _ in range(200)]
    for name, truth in zip(("samples", "drawings", "answers"), planted(*given), strict=True):
        means = [getattr(one, name).mean for one in found]
        assert abs(np.mean(means) - truth) < 4 * np.std(means) / len(means) ** 0.5
    mean = 0.7 * 0.6 * 0.9
    assert sum(planted(*given)) == pytest.approx(mean * (1 - mean))


@pytest.mark.slow
@pytest.mark.parametrize(
    "given", [(0.7, 0.6, 0.9), (0.5, 0.9, 0.9), (1.0, 0.7, 1.0), (0.8, 1.0, 0.8), (0.6, 1.0, 1.0)]
)
def test_intervals_of_components_cover_the_planted_values(given: tuple[float, float, float]) -> None:
    rng, runs = np.random.default_rng(7), 120
    found = [components(player(rng, 40, 5, 3, *given)) for _ in range(runs)]
    for name, truth in zip(("samples", "drawings", "answers"), planted(*given), strict=True):
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
        one, other = direct.scores.reshape(4000, 4), drawn.scores.reshape(4000, 4, 3)
        gains = other[:, :repeats, :answers].mean((1, 2)) - one[:, :repeats].mean(1)
        assert spread.variance(4000, repeats, answers) == pytest.approx(np.var(gains) / 4000, rel=0.08)
    assert spread.repeats_for_half(1) is None
    noise = Spread(0.0, 0.1, 0.1, 0.0)
    assert noise.repeats_for_half(2) == 8 and noise.half_width(10, 8) == pytest.approx(noise.half_width(10, 2) / 2)


def test_clusters_add_to_the_variance_between_samples() -> None:
    rng = np.random.default_rng(6)
    hard, labels = np.repeat(rng.random(200), 5), np.repeat(np.arange(200), 5)  # clusters of five alike samples
    direct, drawn = (
        Nested.of((rng.random((1000, 3, 1)) < chance[:, None, None]).astype(float).tolist())
        for chance in (0.9 * hard, np.full(1000, 0.5))
    )
    plain, clustered = spread_of(direct, drawn), spread_of(direct, drawn, labels)
    assert plain and clustered and clustered.between == pytest.approx(5 * plain.between, rel=0.2)
    gain = interval(drawn.means - direct.means, labels)
    assert gain.low is not None and gain.high is not None
    assert clustered.half_width(1000, 3) == pytest.approx((gain.high - gain.low) / 2, rel=0.05)
    assert spread_of(direct, drawn, np.zeros(1000)) is None, "one cluster shows no variance between samples"


def brute_force(budget: float, spread: Spread, prices: Prices, most: int) -> float:
    return min(
        spread.half_width(n, repeats, answers)
        for n, repeats, answers in product(range(2, most + 1), range(1, 80), range(1, 40))
        if prices.of(n, repeats, answers) <= budget * (1 + 1e-12)
    )


@pytest.mark.slow
def test_a_budget_is_divided_as_well_as_by_brute_force() -> None:
    rng = np.random.default_rng(11)
    for _ in range(40):
        spread = Spread(*(rng.random(4) * (rng.random(4) < 0.8)))
        prices = Prices(*rng.choice([0.05, 1, 3, 12, 200], 3))
        most = int(rng.integers(2, 12))
        budget = float(rng.integers(60, 1500))
        found = divide(budget, spread, prices, most)
        if budget < 2 * prices.of(1, 1, 1):
            assert found is None
            continue
        assert found and found.cost <= budget and 2 <= found.samples <= most
        assert found.half_width <= brute_force(budget, spread, prices, most) * (1 + 1e-9), (
            spread,
            prices,
            budget,
            most,
            found,
        )


def test_a_plan_does_not_rest_on_two_samples_where_a_small_run_shows_no_variance_between_samples() -> None:
    found = divide(100, Spread(0, 0.25, 0.25, 0.05), Prices(0.5, 0.5, 0.02), most_samples=12)
    assert found and found.samples == 12
    assert Spread(0, 1, 1, 0).half_width(2, 1) == pytest.approx(12.706, abs=1e-3)


def test_repeats_begin_where_the_samples_end() -> None:
    spread, prices = Spread(0.05, 0.1, 0.1, 0.05), Prices(1, 9, 1)
    free, capped = divide(11_000, spread, prices), divide(11_000, spread, prices, most_samples=100)
    assert free and capped and (free.repeats, capped.samples) == (1, 100) and capped.repeats > 5
    assert free.half_width < capped.half_width
