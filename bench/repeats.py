"""Sources of variance of players of known variance: planted and found, the coverage of all intervals, and the planner
of a budget against brute force.

    python bench/repeats.py RUNS [SIMULATIONS]

RUNS is a folder for three runs of 150 mazes with --repeats 5 --answers 3. SIMULATIONS (default 300) is the number of
simulated runs per player and size.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import sketchmark
from sketchmark.stats import interval, paired_difference
from sketchmark.stats.repeats import Nested, Prices, Spread, components, divide

PLAYERS = {
    "drawing": (0.3, 0.4, 0.1),
    "reading": (0.3, 0.05, 0.4),
    "puzzle": (0.5, 0.1, 0.1),
}
"""Name → chances of an error per puzzle, a slip per drawing and a slip per answer."""
SOURCES = ("samples", "drawings", "answers")


def planted(error: float, draw_slip: float, read_slip: float) -> tuple[float, float, float]:
    g, a, b = 1 - error, 1 - draw_slip, 1 - read_slip
    return g * (1 - g) * (a * b) ** 2, g * b * b * a * (1 - a), g * a * b * (1 - b)


def run_players(folder: Path) -> None:
    print("player, source: planted, found [95%]")
    for name, (error, draw_slip, read_slip) in PLAYERS.items():
        faults = {"draw_error": error, "draw_slip": draw_slip, "read_slip": read_slip}
        asked: dict[str, Any] = {"mode": "visual_cot", "limit": 150, "repeats": 5, "answers": 3, "model_args": faults}
        run = sketchmark.run("player/flawed", "maze", output_path=folder / name, no_cache=True, quiet=True, **asked)
        found = run.results.tasks["maze.visual_cot"].repeats
        assert found and found.variance
        for source, truth in zip(SOURCES, planted(error, draw_slip, read_slip), strict=True):
            one = getattr(found.variance, source)
            low, high = one.ci95
            inside = low <= truth <= high
            print(
                f"{name:8} {source:9} {truth:.3f}  {one.mean:.3f} [{low:.3f}, {high:.3f}] {'in' if inside else 'OUT'}"
            )
        print(f"  {found.variance.sentence}")


def simulate(runs: int) -> None:
    print("player, samples: coverage of the intervals of samples, drawings, answers")
    rng = np.random.default_rng(1)
    for name, faults in PLAYERS.items():
        for n in (20, 60, 200):
            hits = np.zeros(3)
            for _ in range(runs):
                good = rng.random(n) >= faults[0]
                drawn = (rng.random((n, 5)) >= faults[1]) & good[:, None]
                right = (rng.random((n, 5, 3)) >= faults[2]) & drawn[:, :, None]
                found = components(Nested.of(right.astype(float).tolist()))
                for place, (source, truth) in enumerate(zip(SOURCES, planted(*faults), strict=True)):
                    one = getattr(found, source)
                    hits[place] += one.low <= truth <= one.high
            print(f"{name:8} {n:4} " + " ".join(f"{100 * hit / runs:5.1f}" for hit in hits), flush=True)


def simulate_gains(runs: int) -> None:
    """Samples of different difficulty, which both modes find hard alike: the mean and the gain over all repeats."""
    print("samples, repeats: coverage of the mean and of the gain, mean half-width of the gain in points")
    rng = np.random.default_rng(3)
    for n, repeats in product((20, 40, 200), (1, 2, 5)):
        hits, half = np.zeros(2), 0.0
        for _ in range(runs):
            hard = rng.beta(2, 1, n)
            drawn, direct = (rng.binomial(repeats, chance) / repeats for chance in (hard, 0.7 * hard))
            mean, gain = interval(drawn), paired_difference(direct, drawn)
            assert mean.low is not None and mean.high is not None and gain.low is not None and gain.high is not None
            hits += [mean.low <= 2 / 3 <= mean.high, gain.low <= 0.2 <= gain.high]
            half += 50 * (gain.high - gain.low) / runs
        print(
            f"{n:4} {repeats:2}  " + " ".join(f"{100 * hit / runs:5.1f}" for hit in hits) + f"  {half:5.1f}",
            flush=True,
        )


def plan(budgets: int) -> None:
    """Divide random budgets, and try every division of them."""
    rng = np.random.default_rng(11)
    best = worse = none = 0
    for _ in range(budgets):
        spread = Spread(*(rng.random(4) * (rng.random(4) < 0.8)))
        prices = Prices(*rng.integers(1, 12, 3).astype(float))
        most, budget = int(rng.integers(2, 12)), float(rng.integers(60, 1500))
        tried = [
            spread.half_width(*each)
            for each in product(range(2, most + 1), range(1, 80), range(1, 25))
            if prices.of(*each) <= budget
        ]
        found = divide(budget, spread, prices, most)
        if found is None:
            none += not tried
        elif found.half_width <= min(tried) * (1 + 1e-9):
            best += 1
        else:
            worse += 1
    print(
        f"budgets: {budgets}; plan as good as the best of all divisions: {best}; worse: {worse}; no division: {none}"
    )


if __name__ == "__main__":
    run_players(Path(sys.argv[1]))
    given = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    simulate(given)
    simulate_gains(given)
    plan(100)
