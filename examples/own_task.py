"""A task of your own: a YAML file and, if it needs code, a .py file next to it. See examples/dots.

    python examples/own_task.py

The same from the command line:

    sketchmark run --include examples/dots --trust-code --tasks dots --model player/random
"""

from __future__ import annotations

from pathlib import Path

import sketchmark
from sketchmark import Context, Model, Options, Reply

DOTS = Path(__file__).parent / "dots"


class InkMeter(Model):
    """Judges the number of dots by the black on the page; blind to more than four of them."""

    async def say(self, context: Context, options: Options) -> Reply:
        black = context.pictures[0].image().convert("L").histogram()[0]
        return Reply(text=f"I count {min(4, round(black / 489))}.")


def main() -> None:
    run = sketchmark.run(
        InkMeter("ink_meter"),
        "dots",
        include=[DOTS],
        trust_code=True,
        limit=40,
        output_path="runs/dots",
        fresh=True,
    )
    result = run.results.tasks["dots.direct"]
    low, high = result.metrics["right"].ci95
    print(f"right: {result.metrics['right'].mean:.0%} [{low:.0%}, {high:.0%}] of {result.n}")
    for dots, group in sorted(result.by["dots"].items()):
        print(f"  {dots} dots: {group.metrics['right'].mean:.0%} of {group.n}")


if __name__ == "__main__":
    main()
