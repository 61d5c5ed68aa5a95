"""Decoding of images to upright 8-bit RGB, by one rule.

Pillow clips values over 255, so that a 16-bit X-ray becomes a white page, and does not rotate photographs. The rules
are in docs/models.md, "What is seen of a picture".
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image


Value = TypeVar("Value")

OPAQUE = ("1", "L", "P", "RGB")
_TRANSPARENT = ("RGBA", "RGBa", "LA", "La", "PA")
_EXIF = ("exif", "Raw profile type exif", "xmp", "XML:com.adobe.xmp")


def rgb(image: Image.Image) -> Image.Image:
    """Convert to a new RGB image: upright, scaled to 8 bits, transparency on white, print colours converted."""
    from PIL import Image as images

    image = upright(image)
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return _eight_bits(image).convert("RGB")
    if image.mode in _TRANSPARENT or "transparency" in image.info:
        rgba = image.convert("RGBA")
        return images.alpha_composite(images.new("RGBA", rgba.size, "white"), rgba).convert("RGB")
    return image.convert("RGB")


def values(image: Image.Image) -> NDArray[np.uint8]:
    """Return an RGB image as a read-only array (height, width, 3)."""
    import numpy as np

    return np.frombuffer(image.tobytes(), np.uint8).reshape(image.height, image.width, 3)


def digest(values: NDArray[np.uint8]) -> str:
    """Hash the size and every pixel."""
    height, width, _ = values.shape
    found = hashlib.sha256(f"{width}x{height} RGB\n".encode())
    found.update(values.data)
    return found.hexdigest()


class Runs(NamedTuple):
    """Run-length encoded pixels, line after line. For a flat drawing they are a fiftieth of the numbers."""

    height: int
    width: int
    colours: NDArray[np.uint32]
    """Red, green and blue in the bytes, from the lowest."""
    lengths: NDArray[np.int32]

    @classmethod
    def of(cls, image: Image.Image) -> Runs:
        """Encode an RGB image, or one with a palette."""
        return cls._encoded(image, _numbered(image))

    @classmethod
    def _encoded(cls, image: Image.Image, lines: NDArray[Any]) -> Runs:
        import numpy as np

        flat = lines.reshape(-1)
        ends = np.append(np.flatnonzero(flat[1:] != flat[:-1]), len(flat) - 1)
        colours = _palette_of(image)[flat[ends]] if image.mode == "P" else flat[ends] & np.uint32(0xFFFFFF)
        return cls(image.height, image.width, colours, np.diff(ends, prepend=-1).astype(np.int32))

    @property
    def rgb(self) -> NDArray[np.uint8]:
        return _bytes_of(self.colours)

    @property
    def nbytes(self) -> int:
        return self.colours.nbytes + self.lengths.nbytes

    def image(self) -> Image.Image:
        return self.padded().convert("RGB")

    def padded(self) -> Image.Image:
        """Return the pixels as an RGBX image. They are not copied: that takes seven times as long."""
        from PIL import Image as images

        pixels = self.spread(self.colours).astype("<u4", copy=False)
        return images.frombuffer("RGBX", (self.width, self.height), pixels, "raw", "RGBX", 0, 1)

    def spread(self, found: NDArray[Any]) -> NDArray[Any]:
        """Spread a value per run to its pixels."""
        import numpy as np

        return np.repeat(found, self.lengths).reshape(self.height, self.width)

    def by_palette(self) -> Image.Image | None:
        """Return the pixels with a palette, None if there are too many colours.

        Writing and reading such a file takes a quarter of the time.
        """
        import numpy as np
        from PIL import Image as images

        palette, places = np.unique(self.colours, return_inverse=True)
        if len(palette) > 256:
            return None
        found = images.fromarray(self.spread(places.astype(np.uint8)))
        found.putpalette(_bytes_of(palette).tobytes())
        return found


def _numbered(image: Image.Image) -> NDArray[Any]:
    """Return a number per pixel, equal for equal colours: the packed colour, or its place in the palette."""
    import numpy as np

    by_palette = image.mode == "P"
    found = image.tobytes() if by_palette else image.tobytes("raw", "RGBX")
    return np.frombuffer(found, np.uint8 if by_palette else "<u4").reshape(image.height, image.width)


def _palette_of(image: Image.Image) -> NDArray[np.uint32]:
    import numpy as np

    colours = np.zeros((256, 4), np.uint8)
    palette = np.array(image.getpalette(), np.uint8).reshape(-1, 3)
    colours[: len(palette), :3] = palette
    return colours.view("<u4").reshape(-1).astype(np.uint32, copy=False)


def _bytes_of(colours: NDArray[np.uint32]) -> NDArray[np.uint8]:
    import numpy as np

    return colours.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :3]


def flat(image: Image.Image) -> Runs | None:
    """Return the runs of a drawing, None for a photograph. Every 16th line decides which it is."""
    import numpy as np

    numbers = _numbered(image)
    lines = numbers[::16]
    changes = np.count_nonzero(lines[:, 1:] != lines[:, :-1])
    return None if changes * 8 > lines.size else Runs._encoded(image, numbers)


class Recent(Generic[Value]):
    """Cache of the newest values by key, up to a total `weight`."""

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


DECODED: Recent[Runs | NDArray[np.uint8]] = Recent(8_000_000, lambda kept: kept.nbytes + 600)
"""Pixels of images that Sketchmark wrote, by the digest of their files. Drawings are kept as runs."""


NEWEST: Recent[Image.Image] = Recent(1_200_000, lambda kept: kept.width * kept.height)
"""Other images that were decoded last, by digest: a reader may look at one several times. They are not written on."""

_BLOCK = 65535


def from_lines(packed: bytes, width: int, height: int) -> Image.Image | None:
    """Decode the compressed lines of a plain RGB PNG in about half of Pillow's time; None leaves them to Pillow.

    Pillow unpacks line by line, which is slow. Here all lines are unpacked at once, and then Pillow decodes them
    from blocks that are only stored. Nothing beyond the lines is unpacked.
    """
    from PIL import Image as images

    size = height * (1 + 3 * width)
    with suppress(Exception):  # whatever is broken: Pillow says how
        from isal import isal_zlib

        unpacker = isal_zlib.decompressobj()
        lines = memoryview(unpacker.decompress(packed, size + 1))
        if len(lines) == size and unpacker.eof and not unpacker.unused_data:
            blocks = [lines[at : at + _BLOCK] for at in range(0, size, _BLOCK)]
            heads = [struct.pack("<BHH", 0, len(block), len(block) ^ 0xFFFF) for block in blocks]
            stored = b"".join((b"x\x01", *(part for pair in zip(heads, blocks, strict=True) for part in pair)))
            return images.frombytes("RGB", (width, height), stored, "zip", "RGB", 0)
    return None


def reduced(image: Image.Image, side: int) -> Image.Image:
    """Return an RGB image with this many pixels a side, each the mean of those that it covers."""
    from PIL.Image import Resampling

    by = image.width // side
    if by and image.size == (by * side, by * side) and image.mode in ("RGB", "RGBX"):
        small = image.reduce(by)  # the same in a third of the time
        return small if small.mode == "RGB" else small.convert("RGB")
    return image.convert("RGB").resize((side, side), Resampling.BOX)


def may_lack_lines(png: Image.Image) -> bool:
    """Return whether a decoded PNG file may have ended too early: the last line is then all zeros. Interlaced files
    and animations have their lines in another order."""
    if "interlace" in png.info or getattr(png, "is_animated", False):
        return True
    return not any(png.crop((0, png.height - 1, png.width, png.height)).tobytes())


_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
_AT_ONCE = 2**20


def fills_its_lines(png: bytes, pieces: Iterable[tuple[bytes, int, int]]) -> bool:
    """Return whether a PNG file, given with its pieces, has all the bytes that its lines need. Pillow shows missing
    lines black. It takes as long as decoding."""
    width, height, depth, colour, _, _, interlaced = struct.unpack(">2I5B", png[16:29])
    passes = _ADAM7 if interlaced else ((0, 0, 1, 1),)
    sides = [(-((x - width) // dx), -((y - height) // dy)) for x, y, dx, dy in passes]
    missing: int = sum(
        tall * (1 + (wide * depth * _CHANNELS.get(colour, 1) + 7) // 8) for wide, tall in sides if wide > 0
    )
    unpacker = zlib.decompressobj()
    for name, begin, end in pieces:
        packed = png[begin:end] if name == b"IDAT" else b""
        while packed and missing > 0:
            missing -= len(unpacker.decompress(packed, _AT_ONCE))
            packed = unpacker.unconsumed_tail
    return missing <= 0


def size(image: Image.Image) -> tuple[int, int]:
    """Return (width, height) of the upright image, without decoding it."""
    width, height = image.size
    return (height, width) if _orientation(image) >= 5 else (width, height)


def shown_alike(image: Image.Image) -> bool:
    """Return whether all decoders show the same as `rgb`. A provider may rotate an image, or put it on black."""
    if _orientation(image) != 1 or "transparency" in image.info:
        return False
    if image.mode in _TRANSPARENT:
        return bool(image.convert("RGBA").getchannel("A").getextrema()[0] == 255)
    return image.mode in OPAQUE


def _orientation(image: Image.Image) -> int:
    """Return EXIF's orientation, 1 for upright. Unreadable metadata counts as upright."""
    if image.format == "TIFF":
        return 1  # Pillow rotates these itself
    if image.format == "PNG" and image.info.keys().isdisjoint(_EXIF):
        return 1  # Pillow would decode the whole image to look for more
    try:
        found = image.getexif().get(0x0112, 1)
    except Exception:  # untrusted metadata: Pillow raises whatever its parsers raise
        return 1
    return found if found in range(1, 9) else 1


def upright(image: Image.Image) -> Image.Image:
    """Rotate and flip as EXIF says."""
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


def _eight_bits(image: Image.Image) -> Image.Image:
    """Scale grey values of any depth to 0 to 255. The transparent value, if there is one, becomes white."""
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
    """Return the values of black and white.

    For whole numbers, black is 0, or the smallest value if there are negative ones. White is the largest number with
    as many bits, at least 8, as the largest value has: a 12-bit scan in a 16-bit file is neither black nor stretched.
    The range of real numbers is from the smallest to the largest.
    """
    import numpy as np

    if values.dtype.kind == "f":
        known = values[np.isfinite(values)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
        return low, high if high > low else low + 1
    low = min(0, int(values.min()))
    return low, low + 2 ** max(8, (int(values.max()) - low).bit_length()) - 1
