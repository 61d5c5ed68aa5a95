"""Three pictures in one row, for models that take a single picture (docs/benchmarks/voila.md, "The collage")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sketchmark.picture import Picture

if TYPE_CHECKING:
    from PIL import Image

GAP = 50


def collage(pictures: Sequence[Picture]) -> Picture:
    """Left to right at the height of the tallest, white gaps of 50 pixels; no labels, no frame, no fourth cell."""
    return Picture.from_image(collage_image([picture.image() for picture in pictures]))


def collage_image(images: Sequence[Image.Image]) -> Image.Image:
    from PIL import Image

    height = max(image.height for image in images)
    scaled = [
        image
        if image.height == height
        else image.resize((max(1, int(image.width * height / image.height)), height), Image.Resampling.LANCZOS)
        for image in images
    ]
    width = sum(image.width for image in scaled) + GAP * (len(scaled) - 1)
    canvas = Image.new("RGB", (width, height), "white")
    left = 0
    for image in scaled:
        canvas.paste(image, (left, 0))
        left += image.width + GAP
    return canvas


def collage_name(number: int) -> str:
    """File name of the question's collage, counted from 1 over the whole run."""
    return f"image_questions_{number}.png"
