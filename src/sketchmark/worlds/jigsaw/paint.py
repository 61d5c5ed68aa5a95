"""Paint for scenes, in whole numbers only: noise, colour ramps and shapes; and prints, which have flat colours.

Sines, square roots and sums of floats may differ in the last bit between machines and library builds, and a differing
last bit becomes a differing pixel. Integers do not, so a scene is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL import ImageDraw

Ints = NDArray[np.int32]
Colour = tuple[int, int, int]
ONE = 65536
"""Noise and ramps run from 0 to just below this."""


def colour(code: str) -> Colour:
    red, green, blue = bytes.fromhex(code)
    return red, green, blue


def codes_of(edge: NDArray[np.uint8], most: int = 28) -> str:
    """Write a row of pixels as colours such as `#1f2937`, at most so many, each the mean of its neighbours."""
    parts = np.array_split(edge.astype(float), min(most, len(edge)))
    return " ".join("#" + bytes(part.mean(axis=0).round().astype(np.uint8)).hex() for part in parts)


def stops_of(*gradients: str) -> tuple[tuple[Colour, ...], ...]:
    return tuple(tuple(map(colour, codes.split())) for codes in gradients)


_PALETTES = stops_of(
    "0b132b 1c2541 3a506b 5bc0be f0fff1", "2d1e2f 7a3e48 d9734e f2b880 fff3e2", "10302a 2a6f4e 6fb98f e8e2b0 fdf6e3",
    "1a1423 3d314a 684756 96705b e6c79c", "03045e 0077b6 00b4d8 90e0ef fefae0", "3c1642 086375 2fa89a b5d08a fbf6df",
    "3a0ca3 7209b7 f72585 ff9e6d ffe5b4", "283618 606c38 dda15e bc6c25 fefae0",
)  # fmt: skip


def palette_of(rng: Random) -> list[Colour]:
    """Five colours, from dark to pale or back."""
    stops = [vary(rng, stop, 14) for stop in _PALETTES[rng.randrange(len(_PALETTES))]]
    return stops[::-1] if rng.randrange(2) else stops


def blend(one: Colour, two: Colour, share: int) -> Colour:
    """`share` of 256 parts of the second colour."""
    red, green, blue = (a + ((b - a) * share >> 8) for a, b in zip(one, two, strict=True))
    return red, green, blue


def vary(rng: Random, base: Colour, by: int) -> Colour:
    """The colour a little lighter or darker, warmer or colder."""
    light = rng.randint(-by, by)
    red, green, blue = (min(255, max(0, part + light + rng.randint(-by // 3, by // 3))) for part in base)
    return red, green, blue


def _hash(seed: int, height: int, width: int) -> Ints:
    rows = np.arange(height, dtype=np.uint32)[:, None] * np.uint32(0x9E3779B1)
    cols = np.arange(width, dtype=np.uint32)[None, :] * np.uint32(0x85EBCA77)
    mixed = rows ^ cols ^ np.uint32(seed * 0xC2B2AE3D & 0xFFFFFFFF)
    for shift, factor in ((15, 0x2C1B3C6D), (12, 0x297A2D39), (15, 0x9E3779B1)):
        mixed = (mixed ^ (mixed >> np.uint32(shift))) * np.uint32(factor)
    return (mixed >> np.uint32(16)).astype(np.int32)


def noise(seed: int, height: int, width: int, down: int, across: int) -> Ints:
    """Smooth random hills, one in every `down` x `across` pixels."""
    lattice = _hash(seed, height // down + 2, width // across + 2)
    y, rise = _smooth(height, down)
    x, run = _smooth(width, across)
    rows = (lattice[y] * (4096 - rise[:, None]) + lattice[y + 1] * rise[:, None]) >> 12
    hills = rows.take(x, axis=1)
    hills *= 4096 - run
    beyond = rows.take(x + 1, axis=1)
    beyond *= run
    hills += beyond
    hills >>= 12
    return hills


def _smooth(length: int, period: int) -> tuple[Ints, Ints]:
    at = np.arange(length, dtype=np.int64)
    part = at % period * 4096 // period
    return (at // period).astype(np.int32), ((part * part * (3 * 4096 - 2 * part)) >> 24).astype(np.int32)


def fractal(seed: int, height: int, width: int, down: int, across: int, octaves: int) -> Ints:
    """Noise with finer and finer detail, each octave half as strong."""
    total = np.zeros((height, width), np.int32)
    for octave in range(octaves):
        layer = noise(seed + 7919 * octave, height, width, max(1, down >> octave), max(1, across >> octave))
        layer >>= octave + 1
        total += layer
    total *= 1 << octaves
    total //= (1 << octaves) - 1
    return total


def stretch(values: Ints, low: int, high: int) -> Ints:
    """`low` to `high` (in 256 parts of ONE) drawn out over the full range, the rest clipped: more contrast."""
    wide = values - low * 256
    wide *= 256
    wide //= high - low
    return wide.clip(0, ONE - 1, out=wide)


def line(seed: int, length: int, period: int, octaves: int) -> Ints:
    """One row of fractal noise: skylines, shores, winding roads."""
    return fractal(seed, 1, length, 1, period, octaves).reshape(-1)


def ramp(values: Ints, stops: Sequence[Colour]) -> Ints:
    """Colours from a gradient of evenly spaced stops."""
    stop, part = np.divmod(np.arange(1024, dtype=np.int32) * (len(stops) - 1), 1024)
    colours = np.array(stops, np.int32)
    below, above = colours[stop], colours[stop + 1]
    table = below + ((above - below) * (part // 4)[:, None] >> 8)
    found: Ints = table.take(values >> 6, axis=0)
    return found


def _cover(pixels: Ints, alpha: Ints | NDArray[np.bool_], paint: Colour | Ints) -> None:
    over = np.asarray(paint, np.int32)
    if alpha.dtype == np.bool_:
        np.copyto(pixels, over, where=alpha[..., None])
    else:
        thick = over - pixels
        thick *= alpha[..., None]
        thick >>= 8
        pixels += thick


class Canvas:
    """An RGB picture in the making; coordinates are rows and columns, shapes are clipped at its edges."""

    def __init__(self, pixels: Ints) -> None:
        self.pixels = pixels
        self.height, self.width = pixels.shape[:2]

    def lay(self, alpha: Ints | NDArray[np.bool_], paint: Colour | Ints) -> None:
        """Cover the whole canvas with paint, `alpha` of 256 parts thick (or where a mask is True)."""
        _cover(self.pixels, alpha, paint)

    def shape(self, top: int, left: int, height: int, width: int) -> Shape | None:
        """The part of a rectangle that is on the canvas; None if nothing is."""
        y0, y1 = max(0, top), min(self.height, top + height)
        x0, x1 = max(0, left), min(self.width, left + width)
        return Shape(self, top, left, (y0, y1, x0, x1)) if y0 < y1 and x0 < x1 else None

    def rectangle(self, top: int, left: int, height: int, width: int, paint: Colour) -> None:
        if shape := self.shape(top, left, height, width):
            shape.pixels[...] = paint

    def disc(self, row: int, col: int, radius: int, paint: Colour, glow: int = 0, strength: int = 150) -> None:
        """A disc, with a glow that fades out over `glow` radii around it."""
        if glow and (halo := self.shape(row - glow, col - glow, 2 * glow, 2 * glow)):
            away = halo.square_distance(row, col)
            fade = (glow * glow - away).clip(0) * 256 // (glow * glow)
            halo.lay(fade * fade // 256 * strength >> 8, paint)
        if shape := self.shape(row - radius, col - radius, 2 * radius + 1, 2 * radius + 1):
            shape.lay(shape.square_distance(row, col) <= radius * radius, paint)

    def triangle(self, top: int, col: int, height: int, half: int, left: Colour, right: Colour) -> None:
        """A spire with its two halves in two colours, for firs, roofs and sails."""
        if shape := self.shape(top, col - half, height, 2 * half + 1):
            inside = np.abs(shape.cols - col) * height <= (shape.rows - top) * half
            shape.lay(inside & (shape.cols <= col), left)
            shape.lay(inside & (shape.cols > col), right)

    def halved(self) -> NDArray[np.uint8]:
        """Two by two pixels averaged: scenes are drawn at twice their size so that edges come out soft."""
        two = self.pixels[0::2] + self.pixels[1::2]
        four = two[:, 0::2] + two[:, 1::2]
        return ((four + 2) >> 2).clip(0, 255).astype(np.uint8)


class Shape:
    """A window on a canvas with the coordinates of its pixels."""

    def __init__(self, canvas: Canvas, top: int, left: int, box: tuple[int, int, int, int]) -> None:
        y0, y1, x0, x1 = box
        self.top, self.left = top, left
        self.pixels = canvas.pixels[y0:y1, x0:x1]
        self.rows = np.arange(y0, y1, dtype=np.int32)[:, None]
        self.cols = np.arange(x0, x1, dtype=np.int32)[None, :]

    def square_distance(self, row: int, col: int) -> Ints:
        return (self.rows - row) ** 2 + (self.cols - col) ** 2

    def lay(self, alpha: Ints | NDArray[np.bool_], paint: Colour | Ints) -> None:
        _cover(self.pixels, alpha, paint)


TONES = 16
"""Colours of a print: a gradient, and last the darkest for lines."""


def _ridge(rng: Random, width: int, middle: int, rise: int) -> list[tuple[int, int]]:
    """Points of a skyline from left to right, steep in places."""
    step = max(4, width // rng.randint(16, 26))
    points, at = list[tuple[int, int]](), rng.randint(-rise, rise)
    for x in range(-step, width + 2 * step, step):
        at = max(-rise, min(rise, at + rng.randint(-rise, rise) * 2 // 3))
        points.append((x, middle + at))
    return points


def paper(pen: ImageDraw.ImageDraw, rng: Random, height: int, width: int) -> None:
    """Hills of cut paper behind each other, with stripes along their skylines, firs and stones."""
    pen.rectangle((0, 0, width, height), 13)
    unit = height // 32
    for _ in range(rng.randint(5, 8)):
        x, y, wide = rng.randrange(width), rng.randrange(height // 2), rng.randint(3, 7) * unit
        pen.ellipse((x - wide, y - unit, x + wide, y + unit), 14)
    x, y, radius = rng.randrange(width), rng.randrange(height // 8, height // 3), rng.randint(3, 5) * unit
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), 10)
    for layer, tone in enumerate((11, 9, 12, 7, 10, 5, 8, 3, 6)):
        line = _ridge(rng, width, height * (24 + 9 * layer) // 100, height // 9)
        for stripe, shade in enumerate((tone, max(0, tone - 2), tone)):
            down = 2 * stripe * unit
            pen.polygon([*((x, y + down) for x, y in line), (2 * width, 2 * height), (-width, 2 * height)], shade)
        for _ in range(rng.randint(3, 6)):
            x, y = line[rng.randrange(1, len(line) - 1)]
            tall, half = rng.randint(3, 5) * unit, unit + unit // 2
            pen.polygon([(x, y - tall), (x - half, y + unit), (x + half, y + unit)], 1 + layer % 3)
            pen.rectangle((x - unit // 4, y + unit, x + unit // 4, y + 2 * unit), 15)
        for _ in range(rng.randint(2, 5)):
            x, y = rng.randrange(width), height * (32 + 9 * layer) // 100 + rng.randrange(height // 12)
            pen.ellipse((x - unit, y - unit // 2, x + unit, y + unit // 2), rng.randrange(15))


def glass(pen: ImageDraw.ImageDraw, rng: Random, height: int, width: int) -> None:
    """Panes of coloured glass with lead between them."""
    side = height // rng.randint(9, 13)
    rows, cols = height // side + 3, width // side + 3
    shift = max(1, side * 2 // 5)
    at = [
        [
            ((col - 1) * side + rng.randint(-shift, shift), (row - 1) * side + rng.randint(-shift, shift))
            for col in range(cols)
        ]
        for row in range(rows)
    ]
    lead = max(2, height // 100)
    for row in range(rows - 1):
        for col in range(cols - 1):
            corners = [at[row][col], at[row][col + 1], at[row + 1][col + 1], at[row + 1][col]]
            if rng.randrange(3):
                pen.polygon(corners, rng.randrange(15))
            else:
                pen.polygon(corners[:3], rng.randrange(15))
                pen.polygon([*corners[2:], corners[0]], rng.randrange(15))
                pen.line((corners[0], corners[2]), 15, lead)
    for line in (*at, *map(list, zip(*at, strict=True))):
        pen.line(line, 15, lead)


def town(pen: ImageDraw.ImageDraw, rng: Random, height: int, width: int) -> None:
    """A map: blocks of houses, parks, streets at all angles, a river."""
    pen.rectangle((0, 0, width, height), 12)
    unit = height // 40
    for _ in range(width * 90 // height):
        x, y = rng.randrange(width), rng.randrange(height)
        wide, tall = rng.randint(2, 6) * unit, rng.randint(2, 6) * unit
        pen.rectangle((x, y, x + wide, y + tall), rng.choice((5, 7, 8, 9, 10, 11)))
        pen.rectangle((x + unit // 2, y + unit // 2, x + unit, y + unit), 15)
    for _ in range(rng.randint(5, 8)):
        x, y, radius = rng.randrange(width), rng.randrange(height), rng.randint(2, 4) * unit
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), 3)
        pen.ellipse((x - unit, y - unit, x + unit, y + unit), 6)
    river = [(x, y) for y, x in _ridge(rng, height, rng.randrange(width), width // 6)]
    pen.line(river, 15, 4 * unit, "curve")
    pen.line(river, 1, 3 * unit, "curve")
    for _ in range(rng.randint(14, 20)):
        ends = (-unit, rng.randrange(height)), (width + unit, rng.randrange(height))
        if rng.randrange(2):
            ends = (rng.randrange(width), -unit), (rng.randrange(width), height + unit)
        broad = rng.randint(unit // 2, unit + unit // 2)
        pen.line(ends, 15, broad + max(2, unit // 3))
        pen.line(ends, rng.choice((13, 14, 14, 2)), broad)


PRINTS = {one.__name__: one for one in (paper, glass, town)}


def print_of(seed: int, look: str, height: int, width: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return a print as numbers of its colours, and the colours."""
    from PIL import Image, ImageDraw

    rng = Random(seed)
    stops = palette_of(rng)
    tones = [blend(stops[n // 4], stops[min(4, n // 4 + 1)], n % 4 * 64) for n in range(1, TONES)]
    dark = min(stops, key=sum)
    page = Image.new("P", (width, height))
    page.putpalette(bytes(range(256)) * 3)
    PRINTS[look](ImageDraw.Draw(page), rng, height, width)
    return np.asarray(page), np.array([*tones, blend(dark, (0, 0, 0), 150)], np.uint8)
