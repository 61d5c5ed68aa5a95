"""Contact sheets of the built-in pictures, for looking at: python bench/voila_contact_sheets.py docs/pictures"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from sketchmark.worlds.voila import bank
from sketchmark.worlds.voila.scenes import ACTIONS, NUMBERS, SUBJECTS, Scene

MARGIN = 86
HEADER = 22
GAP = 3


def sheet(
    rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Image.Image]], side: int
) -> Image.Image:
    width = MARGIN + len(columns) * (side + GAP)
    image = Image.new("RGB", (width, HEADER + len(rows) * (side + GAP)), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(12)
    for place, name in enumerate(columns):
        draw.text((MARGIN + place * (side + GAP) + 4, 4), name, fill="black", font=font)
    for place, name in enumerate(rows):
        top = HEADER + place * (side + GAP)
        draw.text((4, top + side // 2 - 7), name, fill="black", font=font)
        for column, cell in enumerate(cells[place]):
            small = cell.resize((side, side), Image.Resampling.LANCZOS)
            image.paste(small, (MARGIN + column * (side + GAP), top))
    return image


def main(folder: Path) -> None:
    singular = [subject.singular for subject in SUBJECTS]
    everything = [[bank.image(Scene(1, s, a)) for a in range(len(ACTIONS))] for s in range(len(SUBJECTS))]
    sheet(singular, ACTIONS, everything, 104).save(folder / "voila_scenes.png", optimize=True)

    crowds = [
        [
            bank.image(Scene(number, (action * 5 + number * 4) % len(SUBJECTS), action))
            for action in range(len(ACTIONS))
        ]
        for number in range(1, len(NUMBERS) + 1)
    ]
    sheet(NUMBERS, ACTIONS, crowds, 150).save(folder / "voila_numbers.png", optimize=True)

    shown = [Scene(1, 7, 3), Scene(2, 4, 12), Scene(3, 12, 1), Scene(4, 0, 2)]
    variations = [[bank.image(scene, variation) for variation in range(bank.VARIATIONS)] for scene in shown]
    names = ["testing", *(f"training {variation}" for variation in range(1, bank.VARIATIONS))]
    labels = [scene.describe().replace(" ", "\n") for scene in shown]
    sheet(labels, names, variations, 150).save(folder / "voila_variations.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
