"""Images that a drawing shows by number: exactly the given pixels, and nothing else from outside."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from sketchmark.errors import BadPicture
from sketchmark.media import Picture
from sketchmark.media.svg import MOST_SHOWN, render
from sketchmark.worlds.sliding import board as sliding

BOARD = sliding.render(sliding.generate(3, 5))
WIDTH, HEIGHT = BOARD.size
NAMES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


def page(inner: str) -> str:
    return f'<svg {NAMES} width="{WIDTH}" height="{HEIGHT}">{inner}</svg>'


def image(href: str, name: str = "image") -> str:
    return f'<{name} {href} width="{WIDTH}" height="{HEIGHT}"/>'


def in_format(kind: str, exif: bytes = b"") -> Picture:
    buffer = io.BytesIO()
    BOARD.image().save(buffer, kind, lossless=True, **({"exif": exif} if exif else {}))
    return Picture.from_bytes(buffer.getvalue())


@pytest.mark.parametrize(
    "href", ['href="picture:2"', "href='picture:2'", 'xlink:href="picture:2"', 'href = " picture:2 " opacity="1"']
)
def test_an_image_is_shown_unchanged_by_its_number(href: str) -> None:
    other = Picture.from_image(Image.new("RGB", (9, 9), "red"))
    found = render(page(f'<!-- é > href="picture:9" -->{image(href)}'), pictures=[other, BOARD])
    assert np.array_equal(found.values, BOARD.values)


@pytest.mark.parametrize("kind", ["WEBP", "BMP", "TIFF", "GIF"])
def test_an_image_of_any_format_is_shown(kind: str) -> None:
    given = in_format(kind)
    assert np.array_equal(render(page(image('href="picture:1"')), pictures=[given]).values, given.values)


def test_a_photograph_is_shown_upright() -> None:
    turned = Image.Exif()
    turned[0x0112] = 3
    given = in_format("PNG", turned.tobytes())
    assert not np.array_equal(given.values, BOARD.values)
    assert np.array_equal(render(page(image('href="picture:1"')), pictures=[given]).values, given.values)


def test_shapes_are_drawn_on_top_of_an_image() -> None:
    drawn = render(page(image('href="picture:1"') + '<rect width="7" height="5" fill="#123456"/>'), pictures=[BOARD])
    wanted = BOARD.values.copy()
    wanted[:5, :7] = (0x12, 0x34, 0x56)
    assert np.array_equal(drawn.values, wanted)


@pytest.mark.parametrize(
    ("inner", "why"),
    [
        (image('href="picture:2"'), r"shows picture 2 \(there are 1 to 1\)"),
        (image('href="picture:0"'), "shows picture 0"),
        (image('href="picture:99999"'), "outside of it"),
        (image('href="picture:1"', "use"), "outside of it: <use>"),
        (image('href="picture:1"', "feImage"), "outside of it: <feImage>"),
        (image('href="picture&#58;1"'), 'unusual spelling .write it as href="picture:1"'),
        (image('href="picture:1.png"'), "outside of it"),
        (image('href="data:image/png;base64,iVBORw0KGgo="'), "outside of it"),
        ('<rect fill="url(picture:1)" width="9" height="9"/>', "outside of it"),
        (image('href="picture:1"') * (MOST_SHOWN + 1), f"more than {MOST_SHOWN} times"),
    ],
)
def test_another_reference_is_refused_by_name(inner: str, why: str) -> None:
    with pytest.raises(BadPicture, match=why):
        render(page(inner), pictures=[BOARD])


def test_an_image_that_was_not_given_cannot_be_shown() -> None:
    with pytest.raises(BadPicture, match="outside of it"):
        render(page(image('href="picture:1"')))


def test_a_number_in_another_attribute_is_ignored() -> None:
    found = render(page(image('data-href="picture:9999" id="picture:77" href="picture:1"')), pictures=[BOARD])
    assert np.array_equal(found.values, BOARD.values)


def test_many_large_images_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sketchmark.media.svg.LARGEST", 3 * len(BOARD.data))
    with pytest.raises(BadPicture, match="MB of pictures"):
        render(page(image('href="picture:1"') * 5), pictures=[BOARD])
