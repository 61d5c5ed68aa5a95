"""Error rate and savings of thousands of simulated audits with a look after every block.

    .venv/bin/python bench/audit_looks.py [--figure docs/pictures/audit-looks.svg]

An audit ends when the drawing gain's confidence sequence excludes zero or is within ten points of it, at the latest
after 1,000 samples. The fixed design has one look at an ordinary interval, after as many samples as settle both a
gain of ten points and no gain at all in nine of ten audits. It is fixed beforehand, because the true gain is unknown.
`tests/stats/test_power.py` uses `simulate`.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sketchmark.stats.power import MISSES, log_wealth, samples_needed

BLOCK, MOST, MARGIN, AUDITS = 20, 1000, 0.1, 4000
VALUES = np.array([-1.0, 0.0, 1.0])


@dataclass(frozen=True)
class Outcome:
    """Of many audits. `missed`: how often the sequence ever left out the true gain; `wrong`: how often an audit ended
    with what is not true; `settled`: how often it ended before the limit."""

    missed: float
    wrong: float
    settled: float
    samples: float


def simulate(helped: float, hurt: float, audits: int = AUDITS, seed: int = 0) -> Outcome:
    """Each sample is helped or hurt with these chances; the true gain is their difference."""
    gain, looks = helped - hurt, MOST // BLOCK
    rng = np.random.default_rng(seed)
    seen = rng.multinomial(BLOCK, [hurt, 1 - helped - hurt, helped], size=(audits, looks)).cumsum(axis=1)
    enough = math.log(2 / MISSES)

    def above(mean: float) -> NDArray[np.bool_]:
        return np.greater_equal(log_wealth(mean, VALUES, seen), enough)

    def below(mean: float) -> NDArray[np.bool_]:
        return np.greater_equal(log_wealth(-mean, -VALUES, seen), enough)

    more, less, near = above(0.0), below(0.0), above(-MARGIN) & below(MARGIN)
    ended = more | less | near
    last = np.where(ended.any(axis=1), ended.argmax(axis=1), looks - 1)
    every = np.arange(audits)
    false = (more & (gain <= 0)) | (less & (gain >= 0)) | (near & ~(more | less) & (abs(gain) >= MARGIN))
    return Outcome(
        missed=float((above(gain) | below(gain)).any(axis=1).mean()),
        wrong=float(false[every, last].mean()),
        settled=float(ended.any(axis=1).mean()),
        samples=float((last + 1).mean() * BLOCK),
    )


def fixed_design(helped: float, hurt: float, audits: int = AUDITS, seed: int = 0) -> tuple[int, float]:
    """Number of samples of the fixed design, and how often it settles its two cases."""
    changed, normal = helped + hurt, NormalDist()
    near = changed * ((normal.inv_cdf(1 - MISSES / 2) + normal.inv_cdf(0.95)) / MARGIN) ** 2
    count = max(samples_needed(MARGIN, changed, power=0.9), math.ceil(near))
    seen = np.random.default_rng(seed).multinomial(count, [hurt, 1 - changed, helped], size=audits)
    mean = (seen[:, 2] - seen[:, 0]) / count
    half = 1.96 * np.sqrt(((seen[:, 2] + seen[:, 0]) / count - mean**2) / count)
    settled = (np.abs(mean) > half) | (np.abs(mean) + half < MARGIN)
    return count, float(settled.mean())


CASES = ((0.02, 0.02), (0.1, 0.1), (0.15, 0.1), (0.2, 0.1), (0.25, 0.1), (0.3, 0.1), (0.4, 0.1), (0.5, 0.1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", type=Path)
    figure = parser.parse_args().figure
    began, rows = time.process_time(), []
    print("| helped | hurt | gain | ever missed | wrong end | settled | samples | fixed: samples | settled | saved |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for helped, hurt in CASES:
        found = simulate(helped, hurt)
        fixed, settles = fixed_design(helped, hurt)
        rows.append((helped, hurt, found.samples, fixed))
        print(
            f"| {helped:.2f} | {hurt:.2f} | {helped - hurt:+.2f} | {found.missed:.1%} | {found.wrong:.1%} "
            f"| {found.settled:.0%} | {found.samples:.0f} | {fixed} | {settles:.0%} "
            f"| {1 - found.samples / fixed:.0%} |"
        )
    print(f"{AUDITS:,} audits a row, {time.process_time() - began:.1f} s of CPU time")
    if figure:
        figure.write_text(drawn(rows), "utf-8")


def drawn(rows: list[tuple[float, float, float, int]]) -> str:
    """Bars: samples with and without looking, by true gain."""
    high, step, base = max(max(one[2:]) for one in rows), 80, 240
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 310" font-family="sans-serif" font-size="13">',
        '<rect width="720" height="310" fill="white"/>',
        '<text x="40" y="20">Samples until an audit ends (dark), and of a fixed design (light), by true gain</text>',
    ]
    for place, (helped, hurt, samples, fixed) in enumerate(rows):
        left = 50 + place * step
        for shift, value, colour in ((0, samples, "#1d4ed8"), (30, fixed, "#bfdbfe")):
            tall = 190 * value / high
            top = base - tall
            parts.append(f'<rect x="{left + shift}" y="{top:.0f}" width="28" height="{tall:.0f}" fill="{colour}"/>')
            parts.append(f'<text x="{left + shift + 14}" y="{top - 5:.0f}" text-anchor="middle">{value:.0f}</text>')
        gain = f"{100 * (helped - hurt):.0f} = {100 * helped:.0f} − {100 * hurt:.0f}"
        parts.append(f'<text x="{left + 29}" y="{base + 20}" text-anchor="middle">{gain}</text>')
    parts.append(
        f'<text x="360" y="{base + 45}" text-anchor="middle">true gain = helped − hurt, in points</text></svg>'
    )
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
