"""Images: their original bytes, decoded by the rules of `media/pixels.py` when pixels are needed."""

from __future__ import annotations

import base64
import hashlib
import io
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sketchmark.errors import BadPicture
from sketchmark.media import pixels
from sketchmark.secrets import holds_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image


MAX_PIXELS = 64_000_000
"""Images are untrusted input. Larger ones are refused and not decoded."""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"BM", "bmp"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
)


def _format_of(data: bytes) -> str:
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            return name
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    raise BadPicture(f"not a picture: {len(data)} bytes starting {data[:8]!r}", "PNG, JPEG, WebP, GIF, BMP or TIFF")


_MOST_PIECES = 20_000
"""Chunks, segments or blocks of a file's header. Python reads each of them, so a million empty ones take seconds."""


def _pieces(data: bytes, format: str) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, begin and end of the pieces that Pillow reads one by one before the pixels."""
    if format == "png":
        place = 8
        name = b""
        while name != b"IEND" and (name := data[place + 4 : place + 8]):
            end = place + 8 + int.from_bytes(data[place : place + 4], "big")
            yield name, place + 8, end
            if name == b"IEND":  # what follows is not read
                return
            place = end + 4
    elif format == "jpeg":
        place = 2
        while place < len(data) and data[place] == 0xFF and (marker := data[place + 1 : place + 2]) != b"\xda":
            bare = not marker or marker in b"\xff\x00\x01" or 0xD0 <= marker[0] <= 0xD9
            end = place + (1 if bare else 2 + int.from_bytes(data[place + 2 : place + 4], "big"))
            yield marker, place, max(end, place + 1)
            place = max(end, place + 1)
    elif format == "gif":
        place = 13 + (3 << (data[10] & 7) + 1 if data[10:11] and data[10] & 0x80 else 0)
        while place < len(data) and data[place] not in b",;":
            end = place + (3 + data[place + 2] if data[place] == 0x21 and place + 2 < len(data) else 1)
            yield data[place : place + 1], place, end
            while data[place] == 0x21 and end < len(data) and data[end]:
                yield b"", end, end + 1 + data[end]
                end += 1 + data[end]
            place = end + (data[place] == 0x21)


def _check_pieces(data: bytes, format: str) -> None:
    if next(islice(_pieces(data, format), _MOST_PIECES, None), None):
        raise BadPicture(f"broken {format} picture: it has more than {_MOST_PIECES:,} pieces")


def _has(wanted: bytes, png: bytes) -> bool:
    """Search the chunk names: a search through all bytes takes longer than sending them."""
    return any(name == wanted for name, _, _ in islice(_pieces(png, "png"), _MOST_PIECES))


_SIMPLE = {b"IHDR", b"IDAT", b"IEND", b"pHYs", b"tIME"}


def _is_simple(png: bytes) -> bool:
    """Return whether an intact header says RGB with 8 bits and nothing else can change its look. It saves opening."""
    width, height = struct.unpack(">2I", png[16:24]) if len(png) > 33 else (0, 0)
    sound = png[8:16] == b"\0\0\0\rIHDR" and zlib.crc32(png[12:29]) == int.from_bytes(png[29:33], "big")
    known = sound and png[24:29] == b"\x08\x02\0\0\0" and 0 < width * height <= MAX_PIXELS
    if not known:
        return False
    pieces = list(islice(_pieces(png, "png"), 1000))
    return pieces[-1][::2] == (b"IEND", len(png) - 4) and _SIMPLE.issuperset(name for name, _, _ in pieces)


def _lines(png: bytes) -> bytes | None:
    """Return the compressed lines of a simple PNG file that has nothing else."""
    if not _is_simple(png):
        return None
    names, begins, ends = zip(*_pieces(png, "png"), strict=True)
    if names[0] != b"IHDR" or {*names[1:-1]} != {b"IDAT"}:
        return None
    return b"".join(png[begin:end] for begin, end in zip(begins[1:-1], ends[1:-1], strict=True))


_PACKED_TEXTS = (b"zTXt", b"iTXt", b"iCCP")

_MARK = b"tEXtSoftware\0Sketchmark"
"""Bytes behind the header of a PNG file that Sketchmark wrote."""

_COMPRESSION = 2
"""One of zlib's nine levels. On generated images (boards, scenes, VOILA) 6 takes 1.5 to 4 times as long, for files
that are 10% smaller (60% for boards, which have a few kilobytes)."""


_EXIF = "(?i).*corrupt exif"


def _silence_warnings(bomb: type[Warning]) -> None:
    """Set the filters unless they are set: it takes longer than opening a small image."""
    if [(action, _pattern(words), kind) for action, words, kind, *_ in warnings.filters[:2]] != [
        ("ignore", _EXIF, UserWarning),
        ("ignore", None, bomb),
    ]:
        warnings.simplefilter("ignore", bomb)  # MAX_PIXELS is lower
        warnings.filterwarnings("ignore", _EXIF, UserWarning)  # such metadata has no effect


def _pattern(words: Any) -> Any:
    return getattr(words, "pattern", words)


@dataclass(frozen=True, eq=False)
class Picture:
    """An image with its original bytes.

    It is decoded when pixels are needed or it is shown to a model, so a million of them cost no more than their
    bytes. An image that every decoder shows alike goes to the model unchanged.
    """

    data: bytes
    format: str

    @classmethod
    def from_bytes(cls, data: bytes) -> Picture:
        return cls(data, _format_of(data))

    @classmethod
    def from_file(cls, path: Path | str) -> Picture:
        try:
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123
                data = file.read()
        except OSError as error:
            raise BadPicture(f"cannot read picture {path}: {error.strerror}") from error
        try:
            return cls.from_bytes(data)
        except BadPicture as error:
            raise BadPicture(f"{path}: {error}") from error

    @classmethod
    def from_image(cls, image: Image.Image) -> Picture:
        """Write a PNG with our mark. Such images are identified by their pixels."""
        from PIL.PngImagePlugin import PngInfo

        mark, buffer = PngInfo(), io.BytesIO()
        mark.add_text("Software", "Sketchmark")
        plain = image.mode in ("RGB", "P") and not image.info  # others may look different once they are a file
        runs = pixels.flat(image) if plain else None
        written = runs.by_palette() if runs and image.mode == "RGB" else None
        (written or image).save(buffer, "PNG", compress_level=_COMPRESSION, pnginfo=mark)
        made = cls(buffer.getvalue(), "png")
        if plain:
            pixels.DECODED.keep(made.digest, runs or pixels.values(image.convert("RGB")))
            made.__dict__["size"] = image.size
        return made

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the bytes: the file name wherever images are stored."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def identity(self) -> str:
        """Digest for fingerprints, cache keys and `==`: that of the bytes, or of the pixels if Sketchmark wrote the
        file.

        zlib writes other bytes for the same pixels on another machine. It depends only on the bytes, so an image is
        the same before and after it was stored or sent.
        """
        if self._is_ours:
            with suppress(BadPicture):  # an image that cannot be decoded has only its bytes
                return self.pixel_digest
        return self.digest

    @cached_property
    def pixel_digest(self) -> str:
        """Digest of the pixels, whatever the file format."""
        return pixels.digest(self.values)

    @property
    def values(self) -> NDArray[np.uint8]:
        """Pixels of `image()` as (height, width, 3), read-only."""
        kept = self._pixels()
        return pixels.values(kept.image()) if isinstance(kept, pixels.Runs) else kept

    @property
    def runs(self) -> pixels.Runs:
        """The same pixels as runs of one colour."""
        from PIL import Image as images

        kept = self._pixels()
        return kept if isinstance(kept, pixels.Runs) else pixels.Runs.of(images.fromarray(kept))

    def _pixels(self) -> pixels.Runs | NDArray[np.uint8]:
        """Return the pixels. Sketchmark's newest images are kept decoded for drawing, reading and scoring."""
        if not self._is_ours:
            return pixels.values(self._decoded())
        kept = pixels.DECODED.get(self.digest)
        if kept is None:
            image = self._loaded()
            kept = pixels.DECODED.keep(self.digest, pixels.flat(image) or pixels.values(image.convert("RGB")))
        return kept

    @property
    def _is_ours(self) -> bool:
        return self.data[37 : 37 + len(_MARK)] == _MARK

    @property
    def media_type(self) -> str:
        return f"image/{self.format}"

    @cached_property
    def size(self) -> tuple[int, int]:
        """(width, height) of the upright image, read from the header."""
        with self._open() as image, self._decoding():
            return pixels.size(image)

    def image(self) -> Image.Image:
        """Return the pixels as a new RGB image, by the rules of `media/pixels.py`."""
        from PIL import Image as images

        if not self._is_ours:
            return self._decoded().copy()
        kept = self._pixels()
        return kept.image() if isinstance(kept, pixels.Runs) else images.fromarray(kept)

    def reduced(self, side: int) -> Image.Image:
        """Return `image()` as a square of this many pixels a side, each the mean of those that it covers."""
        if not self._is_ours:
            return pixels.reduced(self._decoded(), side)
        kept = self._pixels()
        return pixels.reduced(kept.padded() if isinstance(kept, pixels.Runs) else self.image(), side)

    def _decoded(self) -> Image.Image:
        """Return an RGB image, not to be written on. The newest are kept."""
        kept = pixels.NEWEST.get(self.digest)
        if kept is None:
            lines = _lines(self.data) if self.format == "png" else None
            unpacked = pixels.from_lines(lines, *struct.unpack(">2I", self.data[16:24])) if lines else None
            found = unpacked or self._loaded()
            kept = pixels.NEWEST.keep(self.digest, found if found.mode == "RGB" else found.convert("RGB"))
        return kept

    def _loaded(self) -> Image.Image:
        """Return the file's own pixels if they are RGB or have a palette and all decoders show them alike, otherwise
        an RGB image."""
        with self._open() as image, self._decoding():
            image.load()
            alike = image.mode in ("P", "RGB") and pixels.shown_alike(image)
            found = image if alike else pixels.rgb(image)
            if (
                self.format == "png"
                and pixels.may_lack_lines(image)
                and not pixels.fills_its_lines(self.data, islice(_pieces(self.data, "png"), _MOST_PIECES))
            ):
                raise BadPicture("broken png picture: its last lines are missing")
            return found

    @property
    def mode(self) -> str:
        """Pillow's name for the kind of its pixels."""
        with self._open() as image:
            return image.mode

    @cached_property
    def _has_exif(self) -> bool:
        return self.format == "png" and _has(b"eXIf", self.data)

    @property
    def is_plain(self) -> bool:
        """True if the header shows that every decoder shows it alike, as for most images; if not, `shown` decodes."""
        if self.format == "png" and _is_simple(self.data):
            return True
        if self._has_exif:
            return False
        with self._open() as image, self._decoding():
            return image.mode in pixels.OPAQUE and pixels.shown_alike(image)

    @property
    def is_animated(self) -> bool:
        """True if it has several frames that are shown one after the other."""
        if self.format not in ("gif", "png", "webp"):  # a phone's JPEG may hold its preview as a second frame
            return False
        if self.format == "png" and not _has(b"acTL", self.data):
            return False
        with self._open() as image, self._decoding():
            return bool(getattr(image, "is_animated", False))

    def shown(self) -> Picture:
        """Return the image for a model: this one, or its `image()` as PNG if decoders may show it differently."""
        with self._open() as image, self._decoding():
            return self if pixels.shown_alike(image) else Picture.from_image(pixels.rgb(image))

    def without_keys(self) -> Picture:
        """Return the image itself, or only its pixels if its file holds a known key: in a text, behind its end…

        Raises BadPicture if it holds one and cannot be decoded.
        """
        packed = self.format == "png" and any(name in _PACKED_TEXTS for name, _, _ in _pieces(self.data, "png"))
        if holds_key(self.data) or (packed and self._packed_text_holds_key()):
            return Picture.from_image(self.image())
        return self

    def _packed_text_holds_key(self) -> bool:
        with self._open() as image, self._decoding():
            image.load()  # texts may follow the pixels
            texts = [*image.info.values(), *getattr(image, "text", {}).values()]
        return any(holds_key(one if isinstance(one, bytes) else str(one).encode("utf-8", "replace")) for one in texts)

    @property
    def data_url(self) -> str:
        """The image for web APIs and pages: `data:image/png;base64,…`."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode('ascii')}"

    def _open(self) -> Image.Image:
        from PIL import Image as images
        from PIL import UnidentifiedImageError

        _check_pieces(self.data, self.format)
        try:
            with self._decoding():
                _silence_warnings(images.DecompressionBombWarning)
                image = images.open(io.BytesIO(self.data), formats=[self.format.upper()])
        except BadPicture as error:
            if isinstance(error.__cause__, UnidentifiedImageError):  # its message names a buffer and its address
                raise BadPicture(f"broken {self.format} picture: its header cannot be read") from error
            raise
        width, height = image.size
        if width * height > MAX_PIXELS:
            raise BadPicture(f"picture of {width}x{height} pixels is over the limit of {MAX_PIXELS}")
        if self._has_exif:
            with self._decoding():
                image.load()  # the orientation may follow the pixels
        return image

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        """Turn every error of Pillow into BadPicture: its readers of untrusted files raise any type."""
        try:
            yield
        except BadPicture:
            raise
        except Exception as error:
            why = " ".join(str(error).split())[:200] or type(error).__name__
            raise BadPicture(f"broken {self.format} picture: {why}") from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Picture) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __repr__(self) -> str:
        return f"Picture({self.format}, {self.identity[:12]})"

    def _repr_png_(self) -> bytes | None:
        """Return a PNG for notebooks, None if it cannot be decoded."""
        try:
            picture = self.shown()
            return picture.data if picture.format == "png" else Picture.from_image(self.image()).data
        except BadPicture:
            return None
