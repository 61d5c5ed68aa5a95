"""Plain PNG files are unpacked as a whole before Pillow decodes them: the same pixels, and the same refusals."""

from __future__ import annotations

import io
import random
import sys
import tracemalloc
import zlib

import numpy as np
import pytest
from PIL import Image

from sketchmark.errors import BadPicture
from sketchmark.media import Picture, pixels
from tests.media.test_broken_pictures import chunk, png

LINES = [bytes([kind]) + random.Random(place).randbytes(120) for place, kind in enumerate([0, 1, 2, 3, 4] * 5)][:24]


def _forget() -> None:
    pixels.NEWEST._values.clear()
    pixels.NEWEST._held = 0


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each file that was not left to Pillow at once, whether it was unpacked."""
    found: list[bool] = []
    unpack = pixels.from_lines

    def watched(packed: bytes, width: int, height: int) -> Image.Image | None:
        image = unpack(packed, width, height)
        found.append(image is not None)
        return image

    monkeypatch.setattr(pixels, "from_lines", watched)
    _forget()
    return found


def as_pillow_shows(data: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


@pytest.mark.parametrize("parts", [1, 3])
def test_all_filters_of_lines_give_pillows_pixels(unpacked: list[bool], parts: int) -> None:
    data = png(b"".join(LINES), parts=parts)
    assert (Picture.from_bytes(data).values == as_pillow_shows(data)).all()
    assert unpacked == [True]


def test_a_large_image_gives_pillows_pixels_and_is_a_new_image_each_time(unpacked: list[bool]) -> None:
    """Its lines fill several stored blocks."""
    made, noise = io.BytesIO(), np.random.default_rng(7).integers(0, 256, (256, 300, 3), np.uint8)
    Image.fromarray(noise).save(made, "PNG")
    picture = Picture.from_bytes(made.getvalue())
    picture.image().paste("red", (0, 0, 300, 256))
    assert (picture.values == noise).all() and (np.asarray(picture.image()) == noise).all()
    assert unpacked == [True], "it is decoded once"


def test_files_with_other_pieces_are_left_to_pillow(unpacked: list[bool]) -> None:
    data = png(b"".join(LINES), more=chunk(b"pHYs", bytes(9)))
    assert (Picture.from_bytes(data).values == as_pillow_shows(data)).all()
    assert unpacked == []


def _packed(data: bytes) -> bytes:
    whole = png(b"")
    return whole[:33] + chunk(b"IDAT", data) + chunk(b"IEND")


FAULTS = {
    "filter": png(b"\7" + b"".join(LINES)[1:]),
    "stream": png(b"".join(LINES)).replace(zlib.compress(b"".join(LINES))[20:24], b"\0\0\0\0"),
    "short": png(b"".join(LINES)[:-1]),
    "checksum": png(b"".join(LINES)).replace(zlib.compress(b"".join(LINES))[-4:], b"\1\2\3\4"),
    "no checksum": _packed(zlib.compress(b"".join(LINES))[:-4]),
    "more behind": _packed(zlib.compress(b"".join(LINES)) + b"more"),
    "piece": png(b"".join(LINES))[:-16] + b"\1\2\3\4" + chunk(b"IEND"),
    "long": png(b"".join(LINES) + bytes(1_000_000)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_file_is_decoded_or_refused_as_by_pillow(unpacked: list[bool], fault: str) -> None:
    picture = Picture.from_bytes(FAULTS[fault])
    try:
        shown = as_pillow_shows(FAULTS[fault])
    except (OSError, SyntaxError):
        with pytest.raises(BadPicture, match="broken png"):
            picture.image()
    else:
        assert (picture.values == shown).all()
    assert unpacked == [fault == "piece"], fault


def test_without_isal_pillow_decodes(unpacked: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "isal", None)
    data = png(b"".join(LINES))
    assert (Picture.from_bytes(data).values == as_pillow_shows(data)).all()
    assert unpacked == [False]


def test_only_the_newest_images_are_kept() -> None:
    _forget()
    for shade in range(12):
        made = io.BytesIO()
        Image.new("RGB", (512, 512), (shade, 0, 0)).save(made, "PNG")
        assert Picture.from_bytes(made.getvalue()).reduced(1).getpixel((0, 0)) == (shade, 0, 0)
    assert len(pixels.NEWEST._values) == 4


def test_no_more_is_unpacked_than_the_lines(unpacked: list[bool]) -> None:
    """The file promises 40 by 24 pixels and holds 400 MB."""
    picture = Picture.from_bytes(_packed(zlib.compress(bytes(400_000_000), 1)))
    tracemalloc.start()
    try:
        assert not picture.values.any() and picture.size == (40, 24)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert unpacked == [False]
