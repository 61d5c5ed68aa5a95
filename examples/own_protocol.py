"""A protocol of your own: the order in which a model is shown inputs, draws and answers. See examples/dots_twice.

python examples/own_protocol.py
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

import sketchmark
from sketchmark import Context, Model, Options, Picture, Reply

HERE = Path(__file__).parent


class Hasty(Model):
    """Guesses one too few at first sight, and is right when it counts what it drew."""

    async def say(self, context: Context, options: Options) -> Reply:
        black = context.pictures[-1].image().convert("L").histogram()[0]
        return Reply(text=str(round(black / 489) - (len(context.pictures) == 1)))

    async def draw(self, context: Context, options: Options) -> Reply:
        count = round(context.pictures[0].image().convert("L").histogram()[0] / 489)
        page = Image.new("RGB", (40 * count, 40), "white")
        for place in range(count):
            ImageDraw.Draw(page).ellipse((place * 40 + 8, 8, place * 40 + 32, 32), fill="black")
        return Reply(picture=Picture.from_image(page))


def main() -> None:
    run = sketchmark.run(
        Hasty("hasty"),
        "dots_twice",
        mode="direct,visual_cot",
        include=[HERE / "dots", HERE / "dots_twice"],
        trust_code=True,
        limit=10,
        output_path="runs/dots_twice",
        fresh=True,
    )
    for cell, result in run.results.tasks.items():
        print(f"{cell}: right {result.metrics['right'].mean:.0%}")
    for turn, context in run.episodes("dots_twice.visual_cot")[0].episode.contexts():
        said = turn.reply.text if turn.reply and turn.reply.text else "(a picture)"
        print(f"  {turn.act}: {len(context.pictures)} pictures, asked {context.texts[-1]!r}, got {said}")


if __name__ == "__main__":
    main()
