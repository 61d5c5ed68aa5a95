"""Accuracy of the image reader (number, subject, action) over all built-in images.

python bench/voila_reading.py            # all 7,280 pictures, each under one of the treatments in turn
python bench/voila_reading.py --every    # every picture under every treatment
"""

from __future__ import annotations

import argparse
import io
import time
from collections import Counter

from PIL import Image

from sketchmark.media import Picture
from sketchmark.worlds.voila import bank, reader
from sketchmark.worlds.voila.scenes import SCENES

TREATMENTS = {
    "as drawn": (1.0, None),
    "JPEG 75": (1.0, 75),
    "50%": (0.5, None),
    "150%": (1.5, None),
    "50%, JPEG 75": (0.5, 75),
    "75%, JPEG 85": (0.75, 85),
}


def treat(image: Image.Image, scale: float, quality: int | None) -> Picture:
    side = round(image.width * scale)
    if side != image.width:
        image = image.resize((side, side), Image.Resampling.BICUBIC)
    if quality is None:
        return Picture.from_image(image)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Picture.from_bytes(buffer.getvalue())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", action="store_true", help="every treatment for every picture")
    parser.add_argument("--seed", type=int, default=0, help="of the bank")
    options = parser.parse_args()
    names = list(TREATMENTS)
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    reading = 0.0
    for variation in range(bank.VARIATIONS):
        for place, scene in enumerate(SCENES):
            image = bank.image(scene, variation, options.seed)
            for name in names if options.every else [names[(place + variation) % len(names)]]:
                picture = treat(image, *TREATMENTS[name])
                start = time.perf_counter()
                found = reader.read(picture)
                reading += time.perf_counter() - start
                total[name] += 1
                right[name] += found == scene
                if found != scene:
                    print(f"{scene.describe()}, variation {variation}, {name}: {found.describe() if found else None}")
    for name in names:
        print(f"{name:<15} {right[name]:>6} of {total[name]:>6}")
    print(f"in all          {right.total():>6} of {total.total():>6}, {total.total() / reading:.0f} pictures/s")


if __name__ == "__main__":
    main()
