"""Cards for `sketchmark doctor`: numbers and plain shapes that any model can name or draw and that are read back
safely.

They are not a puzzle. The doctor shows them and reads the replies; `player/patient` reads and draws them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sketchmark.media import Picture

if TYPE_CHECKING:
    from PIL import Image


COLOURS = {"red": (215, 35, 35), "green": (30, 150, 60), "blue": (40, 70, 215), "yellow": (240, 200, 30)}
KINDS = ("circle", "square", "triangle")

_DOTS = {
    "0": "01110 10001 10011 10101 11001 10001 01110",
    "1": "00100 01100 00100 00100 00100 00100 01110",
    "2": "01110 10001 00001 00010 00100 01000 11111",
    "3": "11111 00010 00100 00010 00001 10001 01110",
    "4": "00010 00110 01010 10010 11111 00010 00010",
    "5": "11111 10000 11110 00001 00001 10001 01110",
    "6": "00110 01000 10000 11110 10001 10001 01110",
    "7": "11111 00001 00010 00100 01000 01000 01000",
    "8": "01110 10001 10001 01110 10001 10001 01110",
    "9": "01110 10001 10001 01111 00001 00010 01100",
}
"""Five dots wide and seven high, with a dot between two digits."""

_SIDE, _STRIP, _PAGE = 384, 1536, 1024
_DARK = 90
_VIVID = 80
"""Least distance between a coloured pixel's channels."""

_HUES = (("red", 340, 20), ("yellow", 38, 66), ("green", 80, 165), ("blue", 200, 262))
"""Hue ranges in degrees. A hue between two ranges is none of the colours."""

_LEAST = 0.01
"""Share of a picture below which a colour is a speck."""


@dataclass(frozen=True)
class Shape:
    colour: str
    kind: str
    """One of `KINDS`, or empty where it is none of them."""


def blank_page() -> Picture:
    from PIL import Image

    return Picture.from_image(Image.new("RGB", (_SIDE, _SIDE), "white"))


def number_card(number: str) -> Picture:
    """Black digits on white, in the upper two thirds: the rest is free for what is to be drawn below."""
    from PIL import Image

    image = Image.new("RGB", (_SIDE, _SIDE), "white")
    dot = min(16, (_SIDE - 48) // (6 * len(number) - 1))
    _print(image, number, ((_SIDE - dot * (6 * len(number) - 1)) // 2, 48), dot)
    return Picture.from_image(image)


def strip_card(first: str, last: str, *, wide: bool) -> Picture:
    """A strip six times as long as it is thick, with a number at each end: left and right, or top and bottom."""
    from PIL import Image

    size = (_STRIP, _STRIP // 6) if wide else (_STRIP // 6, _STRIP)
    image = Image.new("RGB", size, "white")
    dot = 8
    width, height = dot * (6 * len(last) - 1), dot * 7
    ends = ((24, 24), (size[0] - 24 - width, size[1] - 24 - height))
    for number, at in zip((first, last), ends, strict=True):
        _print(image, number, at, dot)
    return Picture.from_image(image)


def print_card(number: str) -> Picture:
    """A large page with digits as small as print: fourteen pixels high on 1024."""
    from PIL import Image

    image = Image.new("RGB", (_PAGE, _PAGE), "white")
    _print(image, number, (_PAGE * 5 // 8, _PAGE * 5 // 8), 2)
    return Picture.from_image(image)


def _print(image: Image.Image, number: str, corner: tuple[int, int], dot: int) -> None:
    from PIL import ImageDraw

    pen, (left, top) = ImageDraw.Draw(image), corner
    for place, digit in enumerate(number):
        for y, row in enumerate(_DOTS[digit].split()):
            for x, is_set in enumerate(row):
                if is_set == "1":
                    at = (left + (6 * place + x) * dot, top + y * dot)
                    pen.rectangle((*at, at[0] + dot - 1, at[1] + dot - 1), fill="black")


def read_ends(picture: Picture) -> tuple[str, str]:
    """The numbers at the two ends of a strip: left and right, or top and bottom where it is higher than wide."""
    image, (width, height) = picture.image(), picture.size
    wide = width >= height
    first = (0, 0, width // 2, height) if wide else (0, 0, width, height // 2)
    last = (width // 2, 0, width, height) if wide else (0, height // 2, width, height)
    return read_number(Picture.from_image(image.crop(first))), read_number(Picture.from_image(image.crop(last)))


def read_number(picture: Picture) -> str:
    """The digits of a number card, at whatever size; empty where there is none."""
    dark = picture.values.max(axis=2) < _DARK
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    if not len(rows):
        return ""
    dark = dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    dot = dark.shape[0] / 7
    return "".join(_digit(dark[:, start:end], dot) for start, end in _blocks(dark.any(axis=0), gap=dot / 2))


def _blocks(taken: NDArray[np.bool_], gap: float) -> list[tuple[int, int]]:
    """Return the blocks of taken columns; the columns of one digit touch."""
    at = np.flatnonzero(taken)
    splits = np.flatnonzero(np.diff(at) > gap) + 1
    return [(int(part[0]), int(part[-1]) + 1) for part in np.split(at, splits)]


def _digit(block: NDArray[np.bool_], dot: float) -> str:
    """The digit with the most dots in common; a `1` is only three dots wide."""
    width = round(block.shape[1] / dot)
    margin = (5 - width) // 2

    def seen(x: int, y: int) -> bool:
        column = int((x - margin + 0.5) * dot)
        return 0 <= column < block.shape[1] and bool(block[min(int((y + 0.5) * dot), block.shape[0] - 1), column])

    found = "".join("1" if seen(x, y) else "0" for y in range(7) for x in range(5))
    alike = {digit: sum(map(str.__eq__, dots.replace(" ", ""), found)) for digit, dots in _DOTS.items()}
    best = max(alike, key=lambda digit: alike[digit])
    return best if alike[best] >= 33 else "?"


def shape_card(shape: Shape, size: tuple[int, int] = (_SIDE, _SIDE)) -> Picture:
    """Return an image of the shape in the middle of a white page."""
    from PIL import Image

    image = Image.new("RGB", size, "white")
    half = min(size) // 4
    paint(image, shape, (size[0] // 2 - half, size[1] // 2 - half, size[0] // 2 + half, size[1] // 2 + half))
    return Picture.from_image(image)


def oval_card(size: tuple[int, int], oval: tuple[int, int]) -> Picture:
    """Return a page with a blue oval of this width and height in its middle."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", size, "white")
    left, top = (size[0] - oval[0]) // 2, (size[1] - oval[1]) // 2
    ImageDraw.Draw(image).ellipse((left, top, left + oval[0], top + oval[1]), fill=COLOURS["blue"])
    return Picture.from_image(image)


def read_oval(picture: Picture) -> str:
    """Whether the largest thing of one colour is `wide`, `tall` or `equal`; empty where nothing has a colour."""
    of_colour = colour_map(picture)
    mask = of_colour == (_most(of_colour) or "none")
    if not mask.any():
        return ""
    ratio = _extent(mask.sum(axis=0)) / _extent(mask.sum(axis=1))
    return "wide" if ratio > 1.25 else "tall" if ratio < 0.8 else "equal"


def paint(image: Image.Image, shape: Shape, box: tuple[int, int, int, int]) -> None:
    from PIL import ImageDraw

    pen, fill = ImageDraw.Draw(image), COLOURS[shape.colour]
    left, top, right, bottom = box
    if shape.kind == "circle":
        pen.ellipse(box, fill=fill)
    elif shape.kind == "triangle":
        pen.polygon([(left, bottom), ((left + right) // 2, top), (right, bottom)], fill=fill)
    else:
        pen.rectangle(box, fill=fill)


def read_shape(picture: Picture) -> Shape | None:
    """The largest thing of one colour, and which shape fills its own frame as far; None: nothing has a colour."""
    of_colour = colour_map(picture)
    colour = _most(of_colour)
    if not colour:
        return None
    mask = of_colour == colour
    high, wide = _extent(mask.sum(axis=1)), _extent(mask.sum(axis=0))
    filled = int(mask.sum()) / (high * wide)
    kind = "square" if filled > 0.92 else "circle" if 0.70 < filled < 0.87 else "triangle" if filled < 0.62 else ""
    return Shape(colour, kind if 0.6 < high / wide < 1.7 else "")


def _extent(counts: NDArray[np.int_]) -> int:
    """Return how many lines it covers, without specks."""
    lines = np.flatnonzero(counts > 0.02 * counts.max())
    return int(lines[-1] - lines[0]) + 1


def main_colour(picture: Picture, left: float = 0.0, right: float = 1.0) -> str:
    """The colour that covers most of a part of the picture, from `left` to `right` of its width; or none."""
    of_colour = colour_map(picture)
    width = of_colour.shape[1]
    return _most(of_colour[:, int(left * width) : int(right * width)])


def _most(part: NDArray[np.str_]) -> str:
    """The most frequent colour; empty if it is a speck."""
    counts = {name: int((part == name).sum()) for name in COLOURS}
    colour = max(counts, key=lambda name: counts[name])
    return colour if counts[colour] >= _LEAST * part.size else ""


def colour_map(picture: Picture) -> NDArray[np.str_]:
    """The name of each pixel's colour; empty where it is grey, or another."""
    values = picture.values.astype(np.int32)
    high, low = values.max(axis=2), values.min(axis=2)
    spread = np.maximum(high - low, 1)
    red, green, blue = (values[:, :, channel] for channel in range(3))
    hue = np.select(
        [high == red, high == green],
        [((green - blue) * 60 / spread) % 360, (blue - red) * 60 / spread + 120],
        (red - green) * 60 / spread + 240,
    )
    found = np.full(hue.shape, "", dtype="<U6")
    vivid = high - low >= _VIVID
    for name, start, end in _HUES:
        inside = (hue >= start) | (hue <= end) if start > end else (hue >= start) & (hue <= end)
        found[vivid & inside] = name
    return found


def kept(before: Picture, after: Picture) -> float:
    """Return how much of the upper two thirds is unchanged: 1 minus the mean difference, at the first one's size."""
    image = after.image().convert("RGB").resize(before.size)
    rows = before.size[1] * 2 // 3
    now = np.asarray(image, dtype=np.int32)[:rows]
    was = before.values.astype(np.int32)[:rows]
    return 1 - float(np.abs(now - was).mean()) / 255
