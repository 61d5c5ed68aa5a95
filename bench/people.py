"""Coverage of nominal 95% intervals where people and samples are crossed, by simulation.

    python -m bench.people [RUNS]

Each person and each sample has a normal effect on a probit scale; every person answers all samples, or ten of them in
turn. The mean that an interval should cover is that over all people and samples. Gains are between two halves of the
answers of each person, as in a study in which no person sees a sample in two modes.
"""

from __future__ import annotations

import sys
from statistics import NormalDist

import numpy as np

from sketchmark.folder.builders import as_rows
from sketchmark.folder.format import Score
from sketchmark.results.gains import pair
from sketchmark.results.summary import PERSON
from sketchmark.stats.intervals import crossed_interval, interval

SAMPLES = 30
EFFECTS = ((0.5, 0.5, 0.8), (1.2, 0.4, 0.6), (0.0, 1.0, 1.0))
"""Mean, spread of people, spread of samples."""


def answers(
    rng: np.random.Generator, people: int, effects: tuple[float, float, float], each: int = SAMPLES
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return right/wrong values, and the person and sample of each."""
    mean, of_people, of_samples = effects
    who, what = np.indices((people, SAMPLES))
    drawn = mean + rng.normal(0, of_people, people)[who] + rng.normal(0, of_samples, SAMPLES)[what]
    right = rng.normal(size=drawn.shape) + drawn > 0
    given = (what - who * each) % SAMPLES < each
    return right[given].astype(float), who[given], what[given]


def true_mean(effects: tuple[float, float, float]) -> float:
    return NormalDist().cdf(effects[0] / (1 + effects[1] ** 2 + effects[2] ** 2) ** 0.5)


def coverage(people: int, effects: tuple[float, float, float], runs: int, each: int = SAMPLES) -> list[float]:
    """Return the coverage without clusters, with clusters of people, of samples, and both ways."""
    rng, true = np.random.default_rng(people), true_mean(effects)
    hits = np.zeros(4)
    for _ in range(runs):
        values, who, what = answers(rng, people, effects, each)
        found = (interval(values), interval(values, who), interval(values, what), crossed_interval(values, who, what))
        hits += [one.low is not None and one.low <= true <= (one.high or 0) for one in found]
    return list(hits / runs)


def coverage_of_gain(people: int, effects: tuple[float, float, float], runs: int, gain: float = 0.5) -> float:
    """Return the coverage of the gain between two modes, each sample in one mode per person."""
    rng = np.random.default_rng(people)
    mean, of_people, of_samples = effects
    true = true_mean((mean + gain, of_people, of_samples)) - true_mean(effects)
    hits = 0
    for _ in range(runs):
        who, what = np.indices((people, SAMPLES))
        drawn = (who + what) % 2
        latent = (
            mean + gain * drawn + rng.normal(0, of_people, people)[who] + rng.normal(0, of_samples, SAMPLES)[what]
        )
        right = rng.normal(size=latent.shape) + latent > 0
        sides = []
        for mode in (0, 1):
            places = [(int(p), int(s)) for p, s in zip(who[drawn == mode], what[drawn == mode], strict=True)]
            rows = [
                Score(
                    index=s, sample=f"s{s}", scored=True, values={"score": float(right[p, s])},
                    groups={PERSON: f"p{p}"}, repeat=p,
                )
                for p, s in places
            ]  # fmt: skip
            sides.append({row.key: row for row in rows})
        found = pair(as_rows(sides[0]), as_rows(sides[1]), "score").difference()
        hits += found.low is not None and found.low <= true <= (found.high or 0)
    return hits / runs


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    head = "people  effects          none  people  samples  both  gain, both"
    sys.stdout.write(f"coverage of nominal 95% intervals, {SAMPLES} samples, {runs} simulations\n{head}\n")
    for people in (5, 10, 20):
        for effects in EFFECTS:
            none, by_people, by_samples, both = coverage(people, effects, runs)
            gain = coverage_of_gain(people, effects, max(1, runs // 4))
            sys.stdout.write(
                f"{people:6d}  {effects!s:15s} {none:5.3f}   {by_people:5.3f}    {by_samples:5.3f} {both:5.3f}"
                f"       {gain:5.3f}\n"
            )
    part = coverage(12, EFFECTS[0], runs, each=10)
    sys.stdout.write("    12  ten samples each " + "   ".join(f"{one:5.3f}" for one in part) + "\n")


if __name__ == "__main__":
    main()
