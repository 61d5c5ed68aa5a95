"""Pictures of a few bytes, a letter for an answer: what is left of an episode's cost is the harness."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from PIL import Image

from sketchmark import Episode, Grading, Picture, Sample, Scores

SIDE = 24


def samples(*, seed: int, data: Path | None) -> Iterator[Sample]:
    number = 0
    while True:
        dice = Random(f"{seed}-{number}")
        lit = dice.sample(range(16), dice.randint(1, 4))
        page = Image.new("L", (SIDE, SIDE), number % 200)  # no two pictures are alike, and so no two calls
        for place in lit:
            page.paste(255, (place % 4 * 6, place // 4 * 6, place % 4 * 6 + 4, place // 4 * 6 + 4))
        page.putpixel((SIDE - 1, SIDE - 1), number // 200 % 256)
        page.putpixel((SIDE - 2, SIDE - 1), number // 51_200 % 256)
        yield Sample(
            id=f"lights-{number:06d}",
            pictures={"picture": Picture.from_image(page)},
            target={"letter": "ABCD"[len(lit) - 1]},
            groups={"row": number % 4},
        )
        number += 1


def letter(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    said = episode.answer.strip()
    return Scores({"right": float(said == sample.target["letter"])}, unparsed=said not in "ABCD")
