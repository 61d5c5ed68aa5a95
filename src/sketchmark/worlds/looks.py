"""Looks of generated images: which one an image has, the colours at its points, and whether a rendering explains it.

Places are proportions of the image's width and height, so that a reader works at any size. Distances of colours are
Euclidean, in 0..255 per channel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchmark.worlds.boards import rgb8

Values = NDArray[np.uint8]
"""Pixels of an image: height, width, RGB."""
Places = NDArray[np.float64]
"""Rows of (x, y), each a proportion of the image."""

_AROUND = np.array([(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)], np.float64)
_STRIP = 0.02
_BLOCKS = 64
_GAIN, _OFFSET = (0.7, 1.3), 45.0
"""Limits of a recolouring that is not held against an image."""
_WORST, _MEAN = 60.0, 9.0
"""Largest difference of a block of pixels, and of all blocks on average, that blur and compression may cause."""


def page_of(values: Values) -> NDArray[np.float64]:
    """Return the colour at the edge of an image: the median of a thin frame."""
    height, width, _ = values.shape
    y, x = (max(1, round(_STRIP * length)) for length in (height, width))
    strips = (values[:y], values[-y:], values[:, :x], values[:, -x:])
    found: NDArray[np.float64] = np.median(np.concatenate([strip.reshape(-1, 3)[::7] for strip in strips]), axis=0)
    return found


def look_of(values: Values, pages: Mapping[str, str], most: float = 60) -> str | None:
    """Return the look whose page colour is nearest to that of the image; None if none is within `most`."""
    (found,) = named(page_of(values)[None], pages, most)
    return found


def colours_at(values: Values, places: Places | Sequence[tuple[float, float]], spread: float) -> NDArray[np.float64]:
    """Return the colour at each place: the median of nine pixels, the outer ones `spread` away from it."""
    height, width, _ = values.shape
    around = np.asarray(places, np.float64)[:, None] + spread * _AROUND
    x = (around[..., 0] * width).astype(int).clip(0, width - 1)
    y = (around[..., 1] * height).astype(int).clip(0, height - 1)
    found: NDArray[np.float64] = np.median(values[y, x], axis=1)
    return found


def named(colours: NDArray[np.float64], palette: Mapping[str, str], most: float = 90) -> list[str | None]:
    """Return the name of the nearest colour of the palette for each row; None if none is within `most`."""
    names = list(palette)
    away = np.linalg.norm(colours[:, None] - rgb8(*palette.values()).astype(np.float64), axis=2)
    best = away.argmin(axis=1)
    return [names[at] if away[row, at] <= most else None for row, at in enumerate(best)]


def explains(rendered: Image.Image, values: Values) -> bool:
    """Return whether an image shows a rendering and nothing else. It is compared block by block, so that scaling,
    blur and compression do not matter, and an even change of the colours is subtracted first."""
    drawn, shown = _blocks(rendered), _blocks(Image.fromarray(values))
    centred = drawn - drawn.mean(axis=(0, 1))
    gain = (centred * shown).sum(axis=(0, 1)) / np.maximum((centred * centred).sum(axis=(0, 1)), 1e-6)
    gain = gain.clip(*_GAIN)
    offset = (shown.mean(axis=(0, 1)) - gain * drawn.mean(axis=(0, 1))).clip(-_OFFSET, _OFFSET)
    away = np.abs(shown - drawn * gain - offset).max(axis=2)
    return bool(away.max() <= _WORST and away.mean() <= _MEAN)


def _blocks(image: Image.Image) -> NDArray[np.float64]:
    return np.asarray(image.convert("RGB").resize((_BLOCKS, _BLOCKS), Image.Resampling.BOX), np.float64)


def mixed(one: str, other: str, part: float) -> str:
    """Return the colour `part` of the way from one colour to another."""
    ends = rgb8(one, other).astype(float)
    return "#" + bytes((ends[0] + part * (ends[1] - ends[0])).round().astype(np.uint8)).hex()
