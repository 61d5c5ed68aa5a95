"""From whatever a picture file holds to the upright 8-bit RGB that everything here works with, by one rule.

Pillow by itself cuts values over 255 off, so that a 16-bit X-ray becomes a white page, and lets a photograph lie on
its side. The rules in words: docs/models.md, "What is seen of a picture".
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image

Value = TypeVar("Value")

OPAQUE = ("1", "L", "P", "RGB")
_TRANSPARENT = ("RGBA", "RGBa", "LA", "La", "PA")
_EXIF = ("exif", "Raw profile type exif", "xmp", "XML:com.adobe.xmp")


def rgb(image: Image.Image) -> Image.Image:
    """A fresh RGB image: upright, more than 8 bits scaled, transparency laid on white, print colours converted."""
    from PIL import Image as images

    image = upright(image)
    if _is_deep(image):
        return _eight_bits(image).convert("RGB")
    if image.mode in _TRANSPARENT or "transparency" in image.info:
        rgba = image.convert("RGBA")
        return images.alpha_composite(images.new("RGBA", rgba.size, "white"), rgba).convert("RGB")
    return image.convert("RGB")


def values(image: Image.Image) -> NDArray[np.uint8]:
    """An RGB image as numbers (height, width, 3), which are not to be written to."""
    import numpy as np

    found = np.array(image)
    found.flags.writeable = False
    return found


def digest(values: NDArray[np.uint8]) -> str:
    """Of what is seen: the size and every pixel."""
    height, width, _ = values.shape
    found = hashlib.sha256(f"{width}x{height} RGB\n".encode())
    found.update(values.data)
    return found.hexdigest()


def runs(values: NDArray[np.uint8]) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
    """Pixels of one colour that follow each other, line after line, as that colour and how many they are."""
    import numpy as np

    packed = values[..., 0].astype(np.uint32)
    for channel in (1, 2):
        packed <<= 8
        packed |= values[..., channel]
    flat = packed.reshape(-1)
    ends = np.append(np.flatnonzero(flat[1:] != flat[:-1]), len(flat) - 1)
    return flat[ends], np.diff(ends, prepend=-1)


def by_palette(image: Image.Image) -> Image.Image | None:
    """The same pixels as places in a palette, if it is flat and of few colours: as a file that is a quarter of the
    work, for whoever writes it and for whoever reads it."""
    import numpy as np
    from PIL import Image as images

    values = np.asarray(image)
    lines = values[::16]
    if np.count_nonzero((lines[:, 1:] != lines[:, :-1]).any(axis=2)) * 8 > lines.size // 3:
        return None  # a photograph, by a glance at a few of its lines
    colours, lengths = runs(values)
    palette, places = np.unique(colours, return_inverse=True)
    if len(palette) > 256:
        return None
    found = images.fromarray(np.repeat(places.astype(np.uint8), lengths).reshape(values.shape[:2]))
    found.putpalette(palette.astype(">u4").view(np.uint8).reshape(-1, 4)[:, 1:].tobytes())
    return found


class Recent(Generic[Value]):
    """The newest of what was worked out, by the key that it follows from: at most so much in all, by `weight`."""

    def __init__(self, most: int, weight: Callable[[Value], int] = lambda value: 1) -> None:
        self._most, self._held, self._weight = most, 0, weight
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Value | None:
        with self._lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
            return found

    def keep(self, key: Hashable, value: Value) -> Value:
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self._held += self._weight(value)
                while self._held > self._most:
                    self._held -= self._weight(self._values.popitem(last=False)[1])
        return value


DECODED: Recent[NDArray[np.uint8]] = Recent(12_000_000, lambda values: values.nbytes)
"""Pixels of pictures that we made, by the digest of their files."""


def size(image: Image.Image) -> tuple[int, int]:
    """(width, height) of the upright picture, without decoding it."""
    width, height = image.size
    return (height, width) if _orientation(image) >= 5 else (width, height)


def shown_alike(image: Image.Image) -> bool:
    """Whether all decoders show the same as `rgb`: a provider may turn a picture or not, or lay it on black."""
    if _orientation(image) != 1 or "transparency" in image.info:
        return False
    if image.mode in _TRANSPARENT:
        return bool(image.convert("RGBA").getchannel("A").getextrema()[0] == 255)
    return image.mode in OPAQUE


def _orientation(image: Image.Image) -> int:
    """EXIF's number, 1 for upright. What cannot be read turns nothing."""
    if image.format == "TIFF":
        return 1  # Pillow turns these itself
    if image.format == "PNG" and image.info.keys().isdisjoint(_EXIF):
        return 1  # Pillow would decode all of it to look for more
    try:
        found = image.getexif().get(0x0112, 1)
    except Exception:  # a stranger's metadata: Pillow raises whatever its readers do
        return 1
    return found if found in range(1, 9) else 1


def upright(image: Image.Image) -> Image.Image:
    """As EXIF says it is to be looked at."""
    from PIL.Image import Transpose

    turns = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    turn = turns.get(_orientation(image))
    return image if turn is None else image.transpose(turn)


def _is_deep(image: Image.Image) -> bool:
    return image.mode in ("I", "F") or image.mode.startswith("I;16")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey values of any depth as 0 to 255; the transparent value, if there is one, is white."""
    import numpy as np
    from PIL import Image as images

    values = np.asarray(image)
    low, high = _range(values)
    scaled = (np.nan_to_num(values.astype(np.float32), nan=low, posinf=high, neginf=low) - low) * (255 / (high - low))
    grey = np.rint(scaled).clip(0, 255).astype(np.uint8)
    clear = image.info.get("transparency")
    if isinstance(clear, int):
        grey[values == clear] = 255
    return images.fromarray(grey)


def _range(values: Any) -> tuple[float, float]:
    """What is black and what is white.

    Whole numbers: 0, or the smallest value where there are negative ones, and the largest number of as many bits, at
    least 8, as the largest value takes: a 12-bit scan in a 16-bit file is neither black nor stretched. Real numbers
    have no such range, so theirs is from the smallest to the largest.
    """
    import numpy as np

    if values.dtype.kind == "f":
        known = values[np.isfinite(values)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
        return low, high if high > low else low + 1
    low = min(0, int(values.min()))
    return low, low + 2 ** max(8, (int(values.max()) - low).bit_length()) - 1
