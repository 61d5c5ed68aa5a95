"""Paint for scenes: noise, colour ramps and shapes in whole numbers only.

Sines, square roots and sums of floats may differ in the last bit between machines and library builds, and a differing
last bit becomes a differing pixel. Integers do not, so a scene is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Colour = tuple[int, int, int]
ONE = 65536
"""Noise and ramps run from 0 to just below this."""


def colour(code: str) -> Colour:
    red, green, blue = bytes.fromhex(code)
    return red, green, blue


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
