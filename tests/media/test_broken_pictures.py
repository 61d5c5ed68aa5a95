"""Malformed images: each is decoded or refused as BadPicture, at once, whatever Pillow raises."""

from __future__ import annotations

import io
import random
import struct
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from PIL import Image

from sketchmark.errors import BadPicture
from sketchmark.files.archives import shown
from sketchmark.media import Picture

NOISE = Image.effect_noise((40, 24), 90).convert("RGB")


def saved(kind: str, **settings: Any) -> bytes:
    buffer = io.BytesIO()
    NOISE.save(buffer, kind, **settings)
    return buffer.getvalue()


def chunk(name: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(
    lines: bytes, *, depth: int = 8, colour: int = 2, interlaced: int = 0, more: bytes = b"", parts: int = 1
) -> bytes:
    """A PNG file of 40 by 24 pixels with these bytes, whether they fill it or not."""
    packed = zlib.compress(lines)
    cuts = [len(packed) * at // parts for at in range(parts + 1)]
    data = b"".join(chunk(b"IDAT", packed[one:two]) for one, two in pairwise(cuts))
    header = struct.pack(">2I5B", 40, 24, depth, colour, 0, 0, interlaced)
    palette = chunk(b"PLTE", bytes(768)) if colour == 3 else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + palette + more + data + chunk(b"IEND")


WIDTHS = {(8, 2): 120, (8, 6): 160, (8, 0): 40, (16, 0): 80, (1, 0): 5, (2, 3): 10, (4, 3): 20, (16, 6): 320}


@pytest.mark.parametrize("pixel", [b"\0", b"\xa7"], ids=["black", "grey"])
@pytest.mark.parametrize(("depth", "colour"), WIDTHS)
def test_a_png_whose_data_end_early_is_refused_also_in_a_whole_stream(depth: int, colour: int, pixel: bytes) -> None:
    line = b"\0" + pixel * WIDTHS[depth, colour]
    kind: Any = {"depth": depth, "colour": colour}
    assert Picture.from_bytes(png(line * 24, **kind, parts=3)).image().size == (40, 24)
    assert Picture.from_bytes(png(line * 25, **kind)).image().size == (40, 24), "more than needed does no harm"
    for lines in (line * 10, line * 23, (line * 24)[:-1], b""):
        with pytest.raises(BadPicture, match="broken png"):
            Picture.from_bytes(png(lines, **kind)).image()


@pytest.mark.parametrize("pixel", [b"\0\0\0", b"abc"])
def test_an_interlaced_png_has_its_own_number_of_bytes(pixel: bytes) -> None:
    sizes = [(5, 3), (5, 3), (10, 3), (10, 6), (20, 6), (20, 12), (40, 12)]
    lines = b"".join((b"\0" + pixel * wide) * tall for wide, tall in sizes)
    assert Picture.from_bytes(png(lines, interlaced=1)).image().size == (40, 24)
    with pytest.raises(BadPicture, match="broken png"):
        Picture.from_bytes(png(lines[:-1], interlaced=1)).image()


JPEG, GIF = saved("JPEG"), saved("GIF")
AT = GIF.index(b",")
BLOATED = {
    "png": png(bytes(121) * 24, more=chunk(b"tEXt") * 1_000_000),
    "jpeg, empty segments": JPEG[:2] + b"\xff\xe1\0\2" * 1_000_000 + JPEG[2:],
    "jpeg, padding": JPEG[:2] + b"\xff" * 4_000_000 + JPEG[2:],
    "gif, comments": GIF[:AT] + b"!\xfe" + b"\1a" * 1_000_000 + b"\0" + GIF[AT:],
    "gif, nothing": GIF[:AT] + b"a" * 4_000_000 + GIF[AT:],
}


@pytest.mark.parametrize("kind", BLOATED)
def test_a_header_of_a_million_pieces_is_refused_at_once(kind: str) -> None:
    picture, began = Picture.from_bytes(BLOATED[kind]), time.process_time()
    for look in (lambda: picture.is_plain, lambda: picture.size, picture.image, picture.shown):
        with pytest.raises(BadPicture, match="more than 20,000 pieces"):
            look()
    assert time.process_time() - began < 1


def test_a_picture_of_many_pieces_is_read() -> None:
    text = chunk(b"tEXt", b"a\0b")
    data = png(bytes(121) * 24, more=text * 1000, parts=50)
    for more in (b"", bytes(300_001)):  # what follows the end is not read
        assert Picture.from_bytes(data + more).image().size == (40, 24)


TIFF = b"II*\0\x08\0\0\0" + struct.pack("<H", 1) + struct.pack("<HHLL", 0x0100, 4, 1, 40) + bytes(4)
"""A TIFF file whose only tag is its width: Pillow raises a KeyError."""


@pytest.mark.parametrize("data", [TIFF, TIFF[:20], b"GIF89a" + bytes(3), b"GIF8", b"BM", b"\xff\xd8\xff", b"II*\0"])
def test_a_header_that_breaks_off_is_a_bad_picture(data: bytes) -> None:
    with pytest.raises(BadPicture, match=r"broken (tiff|gif|bmp|jpeg) picture: "):
        Picture.from_bytes(data).image()


FILES = {
    "PNG": saved("PNG"), "JPEG": JPEG, "WEBP": saved("WEBP"), "GIF": GIF, "BMP": saved("BMP"), "TIFF": saved("TIFF"),
    "LZW": saved("TIFF", compression="tiff_lzw"), "PALETTE": png(bytes(11) * 24, depth=2, colour=3),
}  # fmt: skip


LOOKS: tuple[Callable[[Picture], object], ...] = (
    *(lambda p: p.size, lambda p: p.is_plain, lambda p: p.is_animated, lambda p: p.mode, lambda p: p.identity),
    *(Picture.shown, Picture.image, Picture._repr_png_, shown),
)


@pytest.mark.parametrize("kind", FILES)
def test_every_look_at_spoilt_bytes_succeeds_or_is_a_bad_picture(kind: str) -> None:
    data, chance = FILES[kind], random.Random(25)
    for _ in range(250):
        spoilt = bytearray(data[: chance.choice([len(data), chance.randrange(8, len(data))])])
        for _ in range(chance.randint(1, 6)):
            spoilt[chance.randrange(4, min(len(spoilt), 200))] = chance.choice(
                [0, 1, 127, 128, 255, chance.randrange(256)]
            )
        picture = Picture(bytes(spoilt), "tiff" if kind == "LZW" else "png" if kind == "PALETTE" else kind.lower())
        for look in LOOKS:
            with suppress(BadPicture):
                look(picture)


def test_a_png_is_plain_only_if_nothing_in_it_can_change_its_look() -> None:
    """An orientation may follow the pixels, and a header may be damaged or promise too many pixels."""
    whole = png((b"\0" + bytes(120)) * 24)
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = chunk(b"eXIf", exif.tobytes()[6:])
    assert Picture.from_bytes(whole).is_plain
    assert Picture.from_bytes(saved("PNG", dpi=(72, 72))).is_plain
    clear = png((b"\0" + bytes(120)) * 24, more=chunk(b"tRNS", bytes(6)))
    for other in (clear, whole[:-12] + turned + whole[-12:], whole[:33] + turned + whole[33:]):
        assert not Picture.from_bytes(other).is_plain
    huge = struct.pack(">2I5B", 40_000, 24_000, 8, 2, 0, 0, 0)
    for broken in (whole[:18] + b"\1" + whole[19:], whole[:8] + chunk(b"IHDR", huge) + whole[33:]):
        with pytest.raises(BadPicture):
            _ = Picture.from_bytes(broken).is_plain
