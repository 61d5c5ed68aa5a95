"""Sources of variance of players of known variance: planted and found, and the coverage of their intervals.

    python bench/repeats.py RUNS [SIMULATIONS]

RUNS is a folder for three runs of 150 mazes with --repeats 5 --answers 3. SIMULATIONS (default 300) is the number of
simulated runs per player and size.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import sketchmark
from sketchmark.stats.repeats import Nested, components

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


if __name__ == "__main__":
    run_players(Path(sys.argv[1]))
    simulate(int(sys.argv[2]) if len(sys.argv) > 2 else 300)
