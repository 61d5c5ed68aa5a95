"""A model of your own is one class: what it overrides is what it can do.

python examples/own_model.py
"""

from __future__ import annotations

import asyncio

from PIL import ImageOps

import sketchmark
from sketchmark import CallFailed, Context, Model, Options, Picture, Reply


class Mirror(Model):
    """Says what it was asked last, and draws the mirror image of what it saw last."""

    max_pictures = 8

    async def say(self, context: Context, options: Options) -> Reply:
        return Reply(text=f'You asked: "{context.texts[-1]}"')

    async def draw(self, context: Context, options: Options) -> Reply:
        if not context.pictures:
            raise CallFailed("bad_request", "there is nothing to mirror")  # recorded; the run resumes with the next
        image = await asyncio.to_thread(ImageOps.mirror, context.pictures[-1].image())  # calls run side by side
        return Reply(picture=Picture.from_image(image))


def main() -> None:
    run = sketchmark.run(
        Mirror("mirror"), "jigsaw", mode="direct,visual_cot", limit=3, output_path="runs/mirror", fresh=True
    )
    for cell, result in run.results.tasks.items():
        print(f"{cell}: {result.n} samples, could not be read: {result.failures.get('unparsed', 0)}")


if __name__ == "__main__":
    main()
