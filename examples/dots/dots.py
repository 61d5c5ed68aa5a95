"""The code that dots.yaml names: its samples and its scorer."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageDraw

from sketchmark import Episode, Grading, Picture, Sample, Scores


def samples(*, seed: int, data: Path | None, most: int) -> Iterator[Sample]:
    """Without an end: nothing holds the whole set. `data` is what --data names; these samples need none."""
    for number in range(1_000_000):
        dice = random.Random(f"{seed} {number}")
        count = dice.randint(1, most)
        page = Image.new("RGB", (160, 160), "white")
        for place in dice.sample(range(16), count):
            left, top = place % 4 * 40, place // 4 * 40
            ImageDraw.Draw(page).ellipse((left + 8, top + 8, left + 32, top + 32), fill="black")
        yield Sample(
            id=f"dots-{number}",
            pictures={"picture": Picture.from_image(page)},
            target={"count": count},
            groups={"dots": count},
        )


def count(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """The scorer sees what is true; the model never does. An answer without a number is wrong, and counted."""
    found = re.search(r"\d+", episode.answer)
    right = found is not None and int(found[0]) == sample.target["count"]
    return Scores({"right": float(right)}, {"answer": found and found[0]}, unparsed=found is None)
