"""Colours of an image's pixels: which is nearest, which are near. Distances are Euclidean, of RGB in 0..1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchmark.media import Picture
from sketchmark.media.pixels import DECODED, Recent, Runs, flat

Colours = NDArray[np.float32]
"""Rows of RGB in 0..1."""
Bits = NDArray[np.unsignedinteger[Any]]
Kind = TypeVar("Kind", bound=np.generic)
Some = TypeVar("Some")

_NEARER_BY = np.float32(0.01)
NEAR = np.float32(0.24)
"""Greatest distance of a pixel from the colour that it should have. Where all pixels have it, the mean difference per
channel is at most 35 of 255."""


class Pixels:
    """The colours of an image's pixels. A drawn board has few runs of one colour, so that little is to be looked at.
    A photograph has none; there a table gives the answer for most pixels (`_table`)."""

    def __init__(self, shown: Runs | Image.Image) -> None:
        self.height, self.width, self._kept = shown.height, shown.width, dict[object, Any]()
        self._runs = shown if isinstance(shown, Runs) else None
        if isinstance(shown, Runs):
            self._packed = shown.colours
        else:
            packed = np.frombuffer(shown.tobytes("raw", "RGBX"), "<u4")
            self._packed = packed.astype(np.uint32, copy=False)

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """Return the place of each pixel's colour in a table: six bits of each channel."""
        found = self._packed >> np.uint32(2) & np.uint32(0x3F)
        found |= self._packed >> np.uint32(4) & np.uint32(0xFC0)
        found |= self._packed >> np.uint32(6) & np.uint32(0x3F000)
        return found.astype(np.intp)

    def colours(self, at: NDArray[np.intp]) -> Colours:
        """Return the colours of pixels, by their numbers in reading order."""
        if self._runs is not None:
            ends = self._runs.lengths.cumsum()
            at = ends.searchsorted(at, "right")
        return _unpacked(self._packed[at])

    def packed(self) -> NDArray[np.uint32]:
        """Return the pixels as numbers: red in the lowest byte, then green and blue."""
        packed = self._packed if self._runs is None else self._runs.spread(self._packed)
        return packed.reshape(self.height, self.width)

    def told(self, rule: Rule[Kind], *palettes: Colours) -> NDArray[Kind]:
        """Return what a rule says of each pixel's colour."""
        key = rule, *(palette.tobytes() for palette in palettes)
        return self.kept(key, lambda: self._by_rule(rule, palettes))

    def kept(self, key: object, make: Callable[[], Some]) -> Some:
        """Return what was made before under this key; readers ask for the same several times."""
        if key not in self._kept:
            self._kept[key] = make()
        found: Some = self._kept[key]
        return found

    def _by_rule(self, rule: Rule[Kind], palettes: Sequence[Colours]) -> NDArray[Kind]:
        if self._runs is not None:
            return self._runs.spread(rule(_unpacked(self._packed), *palettes)[0])
        table, sure = _table(rule, *(palette.tobytes() for palette in palettes))
        found = table.take(self._places)
        unsure = np.flatnonzero(~sure.take(self._places))
        found[unsure] = rule(_unpacked(self._packed[unsure]), *palettes)[0]
        return found.reshape(self.height, self.width)


Rule = Callable[..., tuple[NDArray[Kind], Colours]]
"""Says something of colours, given palettes; and by how much a colour may change so that it says the same."""


@lru_cache(maxsize=32)
def _table(rule: Rule[Kind], *palettes: bytes) -> tuple[NDArray[Kind], NDArray[np.bool_]]:
    """Return what a rule says of each colour with six bits per channel, and whether it says the same of all colours
    that begin with these bits."""
    blue, green, red = np.indices((64, 64, 64), np.float32).reshape(3, -1) * 4 + 1.5
    colours = np.stack([red, green, blue], axis=1).astype(np.float32) / np.float32(255)
    found, spare = rule(colours, *(np.frombuffer(one, np.float32).reshape(-1, 3) for one in palettes))
    return found, spare > _AROUND


_AROUND = 1.01 * 3**0.5 * 1.5 / 255
"""Distance of the colours in a place of a table from its middle."""


def _unpacked(packed: NDArray[np.uint32]) -> Colours:
    bytes_ = packed.astype("<u4", copy=False).view(np.uint8).reshape(-1, 4)
    return bytes_[:, :3].astype(np.float32) / np.float32(255)


def distances(shown: Colours, colours: Colours) -> Colours:
    """Euclidean distance of each colour to each shown one, in float32 like the evaluator's."""
    red, green, blue = np.ascontiguousarray(shown.T)
    return np.stack([np.sqrt((red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2) for r, g, b in colours])


def _nearest(shown: Colours, *palettes: Colours) -> tuple[NDArray[np.uint8], Colours]:
    """Return the number of the nearest colour of a palette."""
    away = distances(shown, *palettes)
    found = away.argmin(axis=0).astype(np.uint8)
    if len(away) == 1:
        return found, np.full_like(away[0], np.inf)
    first, second = np.partition(away, 1, axis=0)[:2]
    return found, (second - first) / 2


def within(shown: Colours, *palettes: Colours) -> tuple[Bits, Colours]:
    """Return which colours of a palette are near, as bits."""
    away = distances(shown, *palettes)
    bits = np.zeros(len(shown), bits_for(len(away)))
    for number, is_near in enumerate(away <= NEAR):
        bits |= is_near.astype(bits.dtype) << bits.dtype.type(number)
    return bits, np.abs(away - NEAR).min(axis=0)


def bits_for(count: int) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if count <= 8 else np.uint16 if count <= 16 else np.uint32


def is_content(shown: Colours, *palettes: Colours) -> tuple[NDArray[np.bool_], Colours]:
    content, page = palettes
    near, far = distances(shown, content).min(axis=0) + _NEARER_BY, distances(shown, page).min(axis=0)
    return near < far, np.abs(far - near) / 2


def pixels_of(picture: Picture) -> Pixels:
    """Return the pixels of an image. Those of the newest are kept: a reader looks at them several times."""
    return _PIXELS.get(picture.digest) or _PIXELS.keep(picture.digest, _pixels_of(picture))


def _pixels_of(picture: Picture) -> Pixels:
    kept = DECODED.get(picture.digest)
    if isinstance(kept, Runs):
        return Pixels(kept)
    image = picture.image()
    return Pixels(flat(image) or image)


_PIXELS: Recent[Pixels] = Recent(2)


def nearest(pixels: Pixels, colours: Colours) -> NDArray[np.uint8]:
    """The number of the nearest colour of each pixel, the first where two are equally near."""
    return pixels.told(_nearest, colours)
