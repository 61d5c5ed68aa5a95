"""Two models on the same samples, compared in pairs.

python examples/compare_two_runs.py
"""

from __future__ import annotations

import sketchmark


def points(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:+.0f}"


def main() -> None:
    for model in ("player/random", "player/sketcher"):
        sketchmark.run(model, "maze", mode="direct,visual_cot", limit=10, output_path=f"runs/{model[7:]}")
    found = sketchmark.compare(["runs/random", "runs/sketcher"])
    for row in found.rows:
        gain = row.difference
        print(f"{row.task}, {row.label}: {points(gain.mean)} points [{points(gain.low)}, {points(gain.high)}]")
        print(
            f"  helped {gain.helped}, hurt {gain.hurt}, the same {gain.same}, p after Holm's correction {row.p_holm}"
        )
    for note in found.notes:
        print(f"note: {note}")


if __name__ == "__main__":
    main()
