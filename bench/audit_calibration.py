"""Audits of players with faults of known size: given and found faults.

    .venv/bin/python bench/audit_calibration.py [--samples 100] [--figure docs/pictures/audit-calibration.svg]

Small mazes, `player/flawed`. Three faults are varied one by one. Each is found by one row of the audit: drawing
wrongly by `drawn wrongly`, reading wrongly by `oracle, not right`, ignoring by `follows corrupt` (who ignores follows
none).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sketchmark
from sketchmark.audit import audit

CHANCES = (0.0, 0.1, 0.25, 0.5, 0.75)
VARIED = {
    "draw_error": ("drawn wrongly", {"read_error": 0.2}),
    "read_error": ("lost by reading", {"draw_error": 0.2}),
    "ignores": ("follows corrupt", {"draw_error": 0.2}),
}


@dataclass(frozen=True)
class Point:
    fault: str
    given: float
    found: float
    low: float
    high: float

    @property
    def covered(self) -> bool:
        return self.low <= self.given <= self.high


def points(samples: int, folder: Path) -> Iterator[Point]:
    for seed, (fault, (name, others)) in enumerate(VARIED.items()):
        for place, chance in enumerate(CHANCES):
            run = sketchmark.run(
                "player/flawed",
                "maze",
                mode="direct,text_cot,visual_cot",
                canvas="all",
                limit=samples,
                seed=10 * seed + place,
                task_args="rows=4,cols=4,min_steps=2,max_steps=5",
                model_args={**others, fault: chance, "knows": 0},
                output_path=folder / f"{fault}-{place}",
                no_cache=True,
            )
            (task,) = audit(run.path).tasks
            found = next(one for one in task.findings if one.name == name)
            assert found.low is not None and found.high is not None
            if fault == "ignores":
                yield Point(fault, chance, 1 - found.mean, 1 - found.high, 1 - found.low)
            else:
                yield Point(fault, chance, found.mean, found.low, found.high)


def drawn(found: list[Point]) -> str:
    """Draw found over given faults, with intervals and the diagonal on which both are equal."""
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 280" font-family="sans-serif" font-size="13">',
        '<rect width="720" height="280" fill="white"/>',
    ]
    for panel, fault in enumerate(VARIED):
        left, base, side = 45 + panel * 230, 220, 180
        parts.append(f'<rect x="{left}" y="{base - side}" width="{side}" height="{side}" fill="none" stroke="#999"/>')
        parts.append(f'<path d="M{left} {base}L{left + side} {base - side}" stroke="#bbb" stroke-dasharray="4"/>')
        parts.append(f'<text x="{left + side / 2}" y="28" text-anchor="middle">{fault}</text>')
        parts.append(f'<text x="{left + side / 2}" y="{base + 36}" text-anchor="middle">given</text>')
        for tick in (0.0, 0.5, 1.0):
            parts.append(f'<text x="{left + side * tick}" y="{base + 17}" text-anchor="middle">{tick:g}</text>')
            parts.append(f'<text x="{left - 5}" y="{base - side * tick + 4}" text-anchor="end">{tick:g}</text>')
        for one in (point for point in found if point.fault == fault):
            x, y, low, high = left + side * one.given, *(base - side * end for end in (one.found, one.low, one.high))
            parts.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="#1d4ed8" stroke-width="2"/>')
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#1d4ed8"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--figure", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = list(points(asked.samples, Path(folder)))
    print("| fault | given | found | 95% |")
    print("|---|---|---|---|")
    for one in found:
        beyond = "" if one.covered else " (missed)"
        print(f"| `{one.fault}` | {one.given:.2f} | {one.found:.2f} | [{one.low:.2f}, {one.high:.2f}]{beyond} |")
    print(f"{sum(one.covered for one in found)} of {len(found)} intervals hold what was given")
    if asked.figure:
        asked.figure.write_text(drawn(found), "utf-8")


if __name__ == "__main__":
    main()
