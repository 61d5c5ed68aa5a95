from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from sketchmark.errors import BadPicture
from sketchmark.parts import MAX_PIXELS, Part, Picture, Sample, of
from tests.core.helpers import colour


def _encoded(image: Image.Image, format: str) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format)
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
def test_a_picture_over_the_pixel_limit_is_refused_before_it_is_decoded(
    side: int, recwarn: pytest.WarningsRecorder
) -> None:
    bomb = _encoded(Image.new("1", (side, side)), "PNG")
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
