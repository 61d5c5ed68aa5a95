"""An interval labelled 95% covers 93% to 97% of thousands of simulated runs.

Counts are discrete, so the coverage of any interval for them jumps up and down as the true value moves a little.
Where a test lets the true value wander by two points around its nominal one, it is this local average that is meant;
the other tests fix the true value.
"""

from collections.abc import Callable

import numpy as np
import pytest

from sketchmark.stats.differences import effective_counts, tango
from sketchmark.stats.intervals import Clusters, Floats, interval, normal_quantile, wilson

pytestmark = pytest.mark.slow

LOW, HIGH = 0.93, 0.97
Z = normal_quantile(0.975)
Make = Callable[[np.random.Generator, int], Floats]


def covered(make: Make, truth: float, n: int, runs: int, clusters: list[int] | None = None) -> float:
    rng = np.random.default_rng(20)
    found = [interval(make(rng, n), clusters, seed=run) for run in range(runs)]
    low, high = np.array([(one.low, one.high) for one in found], dtype=float).T
    return float(np.mean((low <= truth) & (truth <= high)))


def difference_covered(make: Make, truth: float, n: int, runs: int, clusters: list[int] | None = None) -> float:
    rng = np.random.default_rng(21)
    drawn = (make(rng, n) for _ in range(runs))
    found = np.array([tango(*effective_counts(Clusters.of(d, clusters), d)) for d in drawn])
    return float(np.mean((found[:, 0] <= truth) & (truth <= found[:, 1])))


@pytest.mark.parametrize("n", [50, 100, 200, 500])
def test_right_and_wrong_are_covered_at_every_rate(n: int) -> None:
    rng = np.random.default_rng(n)
    for rate in np.linspace(0.05, 0.95, 19):
        low, high = wilson(rng.binomial(n, rate, 40_000) / n, n, Z)
        assert LOW - 0.002 < np.mean((low <= rate) & (rate <= high)) < HIGH + 0.002, rate


@pytest.mark.parametrize("n", [30, 40, 75])
def test_right_and_wrong_in_small_runs_are_covered_on_local_average(n: int) -> None:
    rng = np.random.default_rng(n)
    for rate in np.linspace(0.07, 0.93, 15):
        near = rng.uniform(rate - 0.02, rate + 0.02, 40_000)
        low, high = wilson(rng.binomial(n, near) / n, n, Z)
        assert LOW < np.mean((low <= near) & (near <= high)) < HIGH, rate


def piled(ones: float, zeros: float) -> Make:
    """Fractions of which a share is exactly 1 and another exactly 0; the rest is uniform."""

    def make(rng: np.random.Generator, n: int) -> Floats:
        kind, fraction = rng.random(n), rng.random(n)
        return np.where(kind < ones, 1.0, np.where(kind < ones + zeros, 0.0, fraction))

    return make


FRACTIONS: dict[str, tuple[Make, float]] = {
    "uniform": (piled(0, 0), 0.5),
    "four of five exactly right": (piled(0.8, 0), 0.9),
    "nine of ten exactly right": (piled(0.9, 0), 0.95),
    "nine of ten exactly wrong": (piled(0.05, 0.9), 0.075),
    "piled up at both ends": (piled(0.6, 0.3), 0.65),
    "fifths": (lambda rng, n: rng.binomial(5, 0.9, n) / 5, 0.9),
    "skewed": (lambda rng, n: rng.beta(5, 1, n), 5 / 6),
    "u-shaped": (lambda rng, n: rng.beta(0.5, 0.5, n), 0.5),
}


@pytest.mark.parametrize("n", [30, 200])
@pytest.mark.parametrize("name", FRACTIONS)
def test_fractions_are_covered_also_when_piled_up_at_the_ends(name: str, n: int) -> None:
    make, truth = FRACTIONS[name]
    assert LOW < covered(make, truth, n, runs=2_500) < HIGH


@pytest.mark.slow
def test_skewed_numbers_beyond_fractions_are_covered() -> None:
    assert LOW < covered(lambda rng, n: rng.exponential(20, n), 20, 30, runs=1_000) < HIGH


def clustered(labels: list[int], rate: float, likeness: float) -> Make:
    """Right/wrong items of which those in a cluster are alike (beta-binomial)."""
    places = np.array(labels)

    def make(rng: np.random.Generator, n: int) -> Floats:
        scale = (1 - likeness) / likeness
        chances = rng.beta(rate * scale, (1 - rate) * scale, int(places.max()) + 1)[places]
        return np.where(rng.random(n) < chances, 1.0, 0.0)

    return make


EVEN = [cluster for cluster in range(40) for _ in range(5)]
UNEVEN = [cluster for cluster in range(60) for _ in range(1 + cluster % 7)]


@pytest.mark.parametrize("labels", [EVEN, UNEVEN], ids=["even", "uneven"])
@pytest.mark.parametrize("likeness", [0.01, 0.2, 0.6])
@pytest.mark.parametrize("rate", [0.2, 0.5, 0.85])
def test_clustered_answers_are_covered(labels: list[int], likeness: float, rate: float) -> None:
    assert LOW < covered(clustered(labels, rate, likeness), rate, len(labels), 2_000, labels) < HIGH


FEW_LARGE = [cluster for cluster in range(40) for _ in range(20 if cluster < 4 else 1)]
LARGER = [cluster for cluster in range(40) for _ in range(100 if cluster < 4 else 5)]


@pytest.mark.parametrize("labels", [FEW_LARGE, LARGER], ids=["1 and 20", "5 and 100"])
@pytest.mark.parametrize(("rate", "likeness"), [(0.5, 0.02), (0.85, 0.2), (0.5, 0.6), (0.85, 0.6)])
def test_a_tenth_of_the_clusters_may_be_twenty_times_larger(labels: list[int], likeness: float, rate: float) -> None:
    """With the degrees of freedom of independent items these are covered in 80% to 93% of runs."""
    assert LOW - 0.01 < covered(clustered(labels, rate, likeness), rate, len(labels), 1_500, labels) < 0.99
    make = clustered(labels, rate, likeness)
    truth = 2 * rate - 1
    found = difference_covered(lambda rng, n: make(rng, n) * 2 - 1, truth, len(labels), 1_000, labels)
    assert LOW - 0.01 < found < 0.995


def test_ignoring_clusters_would_cover_far_too_little() -> None:
    assert covered(clustered(EVEN, 0.5, 0.6), 0.5, len(EVEN), 1_000) < 0.8


@pytest.mark.parametrize("n", [30, 50, 100, 300, 500])
@pytest.mark.parametrize(("up", "down"), [(0.1, 0.1), (0.2, 0.05), (0.3, 0.1), (0.4, 0.2), (0.6, 0.1)])
def test_paired_right_and_wrong_are_covered(up: float, down: float, n: int) -> None:
    rng = np.random.default_rng(n)
    counts = rng.multinomial(n, [up, down, 1 - up - down], size=20_000)
    low, high = tango(counts[:, 0], counts[:, 1], n, Z)
    assert LOW < np.mean((low <= up - down) & (up - down <= high)) < HIGH


@pytest.mark.parametrize(("up", "down"), [(0.02, 0.02), (0.1, 0.02), (0.3, 0.0), (0.05, 0.0)])
def test_differences_are_covered_from_a_hundred_items_when_few_change(up: float, down: float) -> None:
    rng = np.random.default_rng(3)
    counts = rng.multinomial(100, [up, down, 1 - up - down], size=20_000)
    low, high = tango(counts[:, 0], counts[:, 1], 100, Z)
    assert LOW < np.mean((low <= up - down) & (up - down <= high)) < HIGH


def changes(up: float, down: float) -> Make:
    """Most items keep their score; the others gain or lose a uniform fraction."""

    def make(rng: np.random.Generator, n: int) -> Floats:
        kind, size = rng.random(n), rng.random(n)
        return np.where(kind < up, size, np.where(kind < up + down, -size, 0.0))

    return make


@pytest.mark.parametrize(("up", "down", "n"), [(0.3, 0.1, 30), (0.1, 0.02, 100), (0.3, 0.0, 100), (0.6, 0.4, 60)])
def test_paired_fractions_are_covered(up: float, down: float, n: int) -> None:
    assert LOW < difference_covered(changes(up, down), (up - down) / 2, n, runs=2_000) < HIGH


@pytest.mark.parametrize("likeness", [0.05, 0.5])
def test_clustered_differences_are_covered(likeness: float) -> None:
    make = clustered(EVEN, 0.6, likeness)
    assert LOW < difference_covered(lambda rng, n: make(rng, n) * 2 - 1, 0.2, len(EVEN), 2_000, EVEN) < HIGH
