from __future__ import annotations

import io
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo

from sketchmark.episode.sample import Part, Sample, of
from sketchmark.errors import BadPicture
from sketchmark.media import MAX_PIXELS, Picture
from sketchmark.media.pixels import Recent
from tests.core.helpers import colour


def _encoded(image: Image.Image, format: str, **settings: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format, **settings)
    return buffer.getvalue()


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_the_original_bytes_are_kept_as_they_came(format: str) -> None:
    data = _encoded(Image.new("RGB", (5, 7), "blue"), format)
    picture = Picture.from_bytes(data)
    assert picture.data == data
    assert picture.size == (5, 7)
    assert picture.media_type == f"image/{format.lower()}"


def test_bytes_that_are_no_picture_are_refused() -> None:
    with pytest.raises(BadPicture, match="not a picture"):
        Picture.from_bytes(b"<svg onload=alert(1)>")


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadPicture, match="No such file"):
        Picture.from_file(tmp_path / "nothing.png")


def test_a_broken_picture_is_an_error_of_ours_and_not_a_traceback() -> None:
    whole = _encoded(Image.effect_noise((64, 64), 50), "PNG")
    with pytest.raises(BadPicture, match="broken png"):
        Picture.from_bytes(whole[: len(whole) // 2]).image()


def test_a_broken_header_is_told_without_the_address_of_a_buffer() -> None:
    with pytest.raises(BadPicture) as refused:
        Picture.from_bytes(b"BM, but no bitmap").image()
    assert str(refused.value) == "broken bmp picture: its header cannot be read"


@pytest.mark.parametrize("side", [int(MAX_PIXELS**0.5) + 10, 9500])
@pytest.mark.parametrize("maker", ["a stranger", "Sketchmark"])
def test_a_picture_over_the_pixel_limit_is_refused_before_it_is_decoded(
    side: int, maker: str, recwarn: pytest.WarningsRecorder
) -> None:
    claim = PngInfo()
    claim.add_text("Software", maker)
    bomb = _encoded(Image.new("1", (side, side)), "PNG", pnginfo=claim)
    with pytest.raises(BadPicture, match="over the limit"):
        Picture.from_bytes(bomb).image()
    assert not recwarn.list, "one line is enough"


def test_transparency_is_laid_on_white_and_cmyk_becomes_rgb() -> None:
    clear = Picture.from_bytes(_encoded(Image.new("RGBA", (2, 2), (255, 0, 0, 0)), "PNG"))
    assert clear.image().getpixel((0, 0)) == (255, 255, 255)
    press = Picture.from_bytes(_encoded(Image.new("CMYK", (2, 2), (0, 0, 0, 0)), "JPEG"))
    assert press.image().mode == "RGB"


def test_equal_bytes_are_the_same_picture_and_others_are_not() -> None:
    assert colour("red") == colour("red")
    assert colour("red") != colour("blue")
    assert len({colour("red"), colour("red"), colour("blue")}) == 2


def _packed_anew(picture: Picture, level: int) -> Picture:
    """The same file as another zlib would have written it."""
    data, chunks, at = picture.data[:8], [], 8
    while at < len(picture.data):
        length = int.from_bytes(picture.data[at : at + 4])
        chunks.append((picture.data[at + 4 : at + 8], picture.data[at + 8 : at + 8 + length]))
        at += 12 + length
    body = zlib.compress(zlib.decompress(b"".join(content for name, content in chunks if name == b"IDAT")), level)
    for name, content in [
        *((n, c) for n, c in chunks if n not in (b"IDAT", b"IEND")),
        (b"IDAT", body),
        (b"IEND", b""),
    ]:
        data += struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    return Picture.from_bytes(data)


@pytest.mark.parametrize("level", [0, 1, 9])
def test_a_picture_that_we_made_is_the_same_whatever_zlib_packed_it(level: int) -> None:
    made = Picture.from_image(Image.effect_mandelbrot((40, 30), (-2, -1, 1, 1), 50).convert("RGB"))
    other = _packed_anew(made, level)
    assert other.digest != made.digest, "their files are not the same"
    assert other.identity == made.identity and other == made
    assert of("a", other).key() == of("a", made).key()
    sample, again = (Sample("1", {"x": picture}, {"q": "?"}) for picture in (made, other))
    assert sample.fingerprint() == again.fingerprint()
    flipped = Picture.from_image(ImageOps.mirror(made.image()))
    assert flipped != made and Sample("1", {"x": flipped}, {"q": "?"}).fingerprint() != sample.fingerprint()


def test_a_picture_is_the_same_before_and_after_it_was_a_file(tmp_path: Path) -> None:
    for image in (
        Image.new("RGB", (5, 4), "red"),
        Image.linear_gradient("L"),
        Image.new("RGBA", (2, 2), (9, 9, 9, 9)),
    ):
        made = Picture.from_image(image)
        (tmp_path / "made.png").write_bytes(made.data)
        assert Picture.from_file(tmp_path / "made.png").identity == made.identity == made.pixel_digest


def test_a_strangers_picture_is_known_by_its_bytes() -> None:
    image = Image.effect_mandelbrot((40, 30), (-2, -1, 1, 1), 50).convert("RGB")
    one, two = (Picture.from_bytes(_encoded(image, "PNG", compress_level=level)) for level in (1, 9))
    assert one.identity == one.digest != two.digest and one != two
    assert one.pixel_digest == two.pixel_digest
    assert Sample("1", {"x": one}).fingerprint() != Sample("1", {"x": two}).fingerprint()


def test_a_file_that_says_it_is_ours_and_shows_nothing_is_known_by_its_bytes() -> None:
    whole = colour("red")
    cut = Picture.from_bytes(whole.data[:80])
    assert cut.identity == cut.digest != whole.identity


@pytest.mark.parametrize("grain", [0, 90])
def test_what_is_done_to_an_image_does_not_change_the_picture(grain: float) -> None:
    image = Image.effect_noise((40, 30), grain).convert("RGB")
    picture, before = Picture.from_image(image), image.tobytes()
    image.paste("blue", (0, 0, 9, 9))
    picture.image().paste("blue", (0, 0, 9, 9))
    with suppress(ValueError):
        picture.values[0, 0] = 0
    assert picture.image().tobytes() == picture.values.tobytes() == before


@pytest.mark.parametrize("colours", [1, 2, 16, 17, 256, 257])
@pytest.mark.parametrize("size", [(1, 1), (97, 61)])
def test_a_picture_of_few_colours_keeps_every_pixel(colours: int, size: tuple[int, int]) -> None:
    """Up to 256 colours are written by a palette."""
    rng = np.random.default_rng(colours)
    palette = rng.integers(0, 256, (colours, 3), np.uint8)
    flat = np.sort(rng.integers(0, colours, size[0] * size[1]))
    image = Image.fromarray(palette[flat].reshape(size[1], size[0], 3))
    made = Picture.from_image(image)
    assert Picture.from_bytes(made.data).image().tobytes() == image.tobytes() == made.image().tobytes()


def test_only_the_newest_pixels_are_kept() -> None:
    kept: Recent[bytes] = Recent(10, len)
    for name in "abc":
        kept.keep(name, bytes(4))
    assert [kept.get(name) is not None for name in "abc"] == [False, True, True]
    kept.keep("huge", bytes(11))
    assert not any(kept.get(name) for name in ("b", "c", "huge"))


def test_the_key_of_a_context_sees_order_author_text_and_pixels() -> None:
    red, blue = colour("red"), colour("blue")
    base = of("a", red)
    assert base.key() == of("a", red).key()
    others = [of(red, "a"), of("a", blue), of("b", red), of("a", red, by="model"), of("a", red, "")]
    assert len({context.key() for context in (base, *others)}) == 6


def test_parts_are_never_merged() -> None:
    more = [Part("c", "model")]
    context = of("a", "b", colour("red")) + more
    assert [part.text for part in context] == ["a", "b", None, "c"]


def test_the_fingerprint_of_a_sample_changes_with_anything_that_is_asked_or_true() -> None:
    sample = Sample("1", {"x": colour("red")}, {"q": "?"}, {"a": 1}, {"c": "d"}, 2)
    changed = [
        Sample("2", {"x": colour("red")}, {"q": "?"}, {"a": 1}, {"c": "d"}, 2),
        Sample("1", {"x": colour("blue")}, {"q": "?"}, {"a": 1}, {"c": "d"}, 2),
        Sample("1", {"x": colour("red")}, {"q": "!"}, {"a": 1}, {"c": "d"}, 2),
        Sample("1", {"x": colour("red")}, {"q": "?"}, {"a": 2}, {"c": "d"}, 2),
        Sample("1", {"x": [colour("red"), colour("red")]}, {"q": "?"}, {"a": 1}, {"c": "d"}, 2),
    ]
    assert sample.fingerprint() not in {other.fingerprint() for other in changed}
