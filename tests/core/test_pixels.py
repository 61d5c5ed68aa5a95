"""What is seen of a picture is one thing, whatever the file: depth, orientation, transparency, print colours."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sketchmark.benchmarks.voila.judge import Inquiry
from sketchmark.errors import BadPicture
from sketchmark.files.archives import table_picture
from sketchmark.files.tables import as_picture
from sketchmark.folder import RunFolder
from sketchmark.media import Picture, pixels
from sketchmark.models.http_bodies import Encoder
from sketchmark.view.media import original

Values = list[list[int]] | list[list[float]]
ANY = frozenset({"png", "jpeg", "webp", "gif"})


def _file(image: Image.Image, format: str = "PNG", **settings: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format, **settings)
    return buffer.getvalue()


def _deep(values: Values, kind: str) -> Image.Image:
    return Image.fromarray(np.array(values, kind))


def _grey(picture: Picture) -> list[list[int]]:
    seen = np.asarray(picture.image())
    assert (seen[..., 0] == seen[..., 1]).all() and (seen[..., 0] == seen[..., 2]).all()
    return [[int(value) for value in row] for row in seen[..., 0]]


@pytest.mark.parametrize("format", ["PNG", "TIFF"])
@pytest.mark.parametrize(
    ("values", "seen"),
    [
        ([[0, 257, 32896, 65535]], [[0, 1, 128, 255]]),  # all 16 bits
        ([[0, 2048, 4095]], [[0, 128, 255]]),  # 12 bits in 16, as scanners write them
        ([[0, 17, 255]], [[0, 17, 255]]),  # 8 bits in 16 stay as they are
        ([[0, 17, 90]], [[0, 17, 90]]),  # and a dark picture stays dark
        ([[300, 511]], [[150, 255]]),
    ],
)
def test_a_16_bit_picture_is_scaled_and_not_cut_off(format: str, values: Values, seen: Values) -> None:
    assert _grey(Picture.from_bytes(_file(_deep(values, "u2"), format))) == seen


def test_big_endian_and_signed_and_32_bit_values_are_scaled_by_the_same_rule() -> None:
    big_endian = Image.new("I;16B", (2, 1))
    big_endian.putdata([0, 65535])
    assert _grey(Picture.from_bytes(_file(big_endian, "TIFF"))) == [[0, 255]]
    scan = _file(_deep([[-1024, 0, 3071]], "i4"), "TIFF")
    assert _grey(Picture.from_bytes(scan)) == [[0, 64, 255]], "the smallest of a CT's values is black"
    assert _grey(Picture.from_bytes(_file(_deep([[0, 2**31 - 1]], "i4"), "TIFF"))) == [[0, 255]]


@pytest.mark.parametrize(
    ("values", "seen"),
    [
        ([[0.0, 0.5, 1.0]], [[0, 128, 255]]),
        ([[-3.0, 0.0, 3.0]], [[0, 128, 255]]),
        ([[float("nan"), 1.0, 2.0, float("inf"), float("-inf")]], [[0, 0, 255, 255, 0]]),
        ([[7.0, 7.0]], [[0, 0]]),
        ([[float("nan")]], [[0]]),
    ],
)
def test_real_numbers_go_from_their_smallest_to_their_largest(values: Values, seen: Values) -> None:
    assert _grey(Picture.from_bytes(_file(_deep(values, "f4"), "TIFF"))) == seen


def test_the_transparent_value_of_a_16_bit_picture_is_white() -> None:
    data = _file(_deep([[0, 4095, 100]], "u2"), transparency=100)
    assert _grey(Picture.from_bytes(data)) == [[0, 255, 255]]


def test_16_bits_per_colour_keep_the_upper_eight() -> None:
    import struct
    import zlib

    row = b"\0" + struct.pack(">3H", 0x1234, 0x80FF, 0xFFFF)
    chunks = [(b"IHDR", struct.pack(">2I5B", 1, 1, 16, 2, 0, 0, 0)), (b"IDAT", zlib.compress(row)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    assert Picture.from_bytes(b"\x89PNG\r\n\x1a\n" + body).image().getpixel((0, 0)) == (0x12, 0x80, 0xFF)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "LA", "RGBA", "CMYK"])
def test_every_usual_mode_shows_its_colours(mode: str) -> None:
    image = Image.new("RGB", (4, 4), "white").convert(mode)
    data = _file(image, "TIFF" if mode == "CMYK" else "PNG")
    assert Picture.from_bytes(data).image().getpixel((0, 0)) == (255, 255, 255)


def test_a_transparent_colour_of_a_palette_is_laid_on_white() -> None:
    image = Image.new("P", (2, 1))
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.putdata([0, 1])
    seen = Picture.from_bytes(_file(image, transparency=0)).image()
    assert [seen.getpixel((x, 0)) for x in (0, 1)] == [(255, 255, 255), (0, 0, 255)]


def _turned(orientation: int, format: str) -> bytes:
    """Two by three pixels: the top left one white in the file."""
    image = Image.new("L", (16, 24))
    image.paste(255, (0, 0, 8, 8))
    exif = Image.Exif()
    exif[0x0112] = orientation
    return _file(image, format, exif=exif, **({"quality": 100} if format == "JPEG" else {"lossless": True}))


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "TIFF"])
@pytest.mark.parametrize(
    ("orientation", "size", "white"),
    [
        (1, (16, 24), (2, 2)),
        (2, (16, 24), (13, 2)),
        (3, (16, 24), (13, 21)),
        (4, (16, 24), (2, 21)),
        (5, (24, 16), (2, 2)),
        (6, (24, 16), (21, 2)),
        (7, (24, 16), (21, 13)),
        (8, (24, 16), (2, 13)),
    ],
)
def test_a_picture_is_looked_at_as_its_exif_says(
    format: str, orientation: int, size: tuple[int, int], white: tuple[int, int]
) -> None:
    picture = Picture.from_bytes(_turned(orientation, format))
    seen = picture.image()
    assert picture.size == seen.size == size
    assert [spot for spot in ((2, 2), (size[0] - 3, 2), (2, size[1] - 3), (size[0] - 3, size[1] - 3))
            if seen.convert("L").getpixel(spot) > 200] == [white]  # type: ignore[operator]  # fmt: skip


def test_an_orientation_behind_the_pixels_of_a_png_counts_too() -> None:
    data = _turned(6, "PNG")
    at = data.index(b"eXIf") - 4
    length = 12 + int.from_bytes(data[at : at + 4])
    end = data.index(b"IEND") - 4
    moved = data[:at] + data[at + length : end] + data[at : at + length] + data[end:]
    assert Picture.from_bytes(moved).size == (24, 16)


@pytest.mark.parametrize("exif", [b"Exif\0\0rubbish", b"Exif\0\0II*\0\x08\0\0\0\xff\xff", b""])
def test_metadata_that_cannot_be_read_turns_nothing(exif: bytes) -> None:
    picture = Picture.from_bytes(_file(Image.new("RGB", (5, 7), "blue"), "JPEG", exif=exif))
    assert picture.size == picture.image().size == (5, 7)


async def test_what_every_decoder_shows_alike_is_sent_in_the_bytes_it_came_in() -> None:
    for image, format in (
        (Image.new("RGB", (4, 4)), "JPEG"),
        (Image.new("L", (4, 4)), "PNG"),
        (Image.new("1", (4, 4)), "PNG"),
        (Image.new("RGBA", (4, 4), (9, 9, 9, 255)), "PNG"),
        (Image.new("P", (4, 4)), "GIF"),
    ):
        picture = Picture.from_bytes(_file(image, format))
        assert await Encoder(ANY).sendable(picture) is picture


@pytest.mark.parametrize(
    "data",
    [
        _file(_deep([[0, 4095]], "u2")),
        _turned(6, "JPEG"),
        _file(Image.new("RGBA", (2, 2), (255, 0, 0, 9))),
        _file(Image.new("CMYK", (2, 2), (0, 0, 0, 0)), "JPEG"),
    ],
    ids=["deep", "turned", "clear", "print"],
)
async def test_what_decoders_may_show_differently_is_sent_as_it_is_seen_here(data: bytes) -> None:
    picture = Picture.from_bytes(data)
    sent = await Encoder(ANY).sendable(picture)
    assert sent.format == "png" and sent.image().tobytes() == picture.image().tobytes()
    with Image.open(io.BytesIO(sent.data)) as plain:
        assert pixels.shown_alike(plain) and plain.size == picture.size and not plain.getexif()
    assert (await Encoder(ANY).base64(picture))[0] == "image/png"
    assert picture.data == data, "the picture itself is what it was"


async def test_a_broken_picture_that_would_have_to_be_changed_is_refused() -> None:
    whole = _file(Image.effect_noise((64, 64), 50).convert("RGBA"))
    with pytest.raises(BadPicture, match="broken png"):
        await Encoder(ANY).sendable(Picture.from_bytes(whole[: len(whole) // 2]))


def test_a_data_set_may_hand_over_decoded_pictures_of_any_depth(tmp_path: Path) -> None:
    for kind in ("u2", "i4"):
        assert _grey(as_picture(_deep([[0, 4095]], kind), "row 1")) == [[0, 255]]
    assert _grey(as_picture(_deep([[0.0, 1.0]], "f4"), "row 1")) == [[0, 255]]
    with Image.open(io.BytesIO(_turned(6, "JPEG"))) as lying:
        assert as_picture(lying, "row 1").size == (24, 16)
    assert _grey(table_picture(_file(_deep([[0, 4095]], "u2")), tmp_path)) == [[0, 255]]


def test_the_viewer_and_a_judge_in_a_batch_see_what_the_model_saw(tmp_path: Path) -> None:
    picture = Picture.from_bytes(_turned(6, "JPEG"))
    folder = RunFolder(tmp_path)
    assert original(folder, folder.pictures.save(picture)) == (picture.shown().data, "image/png")
    content = Inquiry(4, 5, "?", picture).body("judge")["messages"][0]["content"]
    assert content[0]["image_url"]["url"] == picture.shown().data_url
