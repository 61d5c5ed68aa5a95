"""Pictures that a drawing shows by number: pixel by pixel what was given, and nothing else from outside."""

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
    "href",
    ['href="picture:2"', "href='picture:2'", 'xlink:href="picture:2"', 'href = " picture:2 " opacity="1"'],
)
def test_a_picture_is_shown_by_its_number_as_it_is(href: str) -> None:
    other = Picture.from_image(Image.new("RGB", (9, 9), "red"))
    found = render(page(f'<!-- é > href="picture:9" -->{image(href)}'), pictures=[other, BOARD])
    assert np.array_equal(found.values, BOARD.values)


@pytest.mark.parametrize("kind", ["WEBP", "BMP", "TIFF", "GIF"])
def test_a_picture_of_any_kind_is_shown(kind: str) -> None:
    given = in_format(kind)
    assert np.array_equal(render(page(image('href="picture:1"')), pictures=[given]).values, given.values)


def test_a_photograph_is_shown_upright_as_the_model_saw_it() -> None:
    turned = Image.Exif()
    turned[0x0112] = 3
    given = in_format("PNG", turned.tobytes())
    assert not np.array_equal(given.values, BOARD.values)
    assert np.array_equal(render(page(image('href="picture:1"')), pictures=[given]).values, given.values)


def test_one_draws_on_top_of_it() -> None:
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
def test_anything_else_is_refused_by_name(inner: str, why: str) -> None:
    with pytest.raises(BadPicture, match=why):
        render(page(inner), pictures=[BOARD])


def test_where_no_picture_was_given_none_can_be_shown() -> None:
    with pytest.raises(BadPicture, match="outside of it"):
        render(page(image('href="picture:1"')))


def test_a_number_that_stands_elsewhere_in_the_tag_is_let_alone() -> None:
    found = render(page(image('data-href="picture:9999" id="picture:77" href="picture:1"')), pictures=[BOARD])
    assert np.array_equal(found.values, BOARD.values)


def test_many_large_pictures_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sketchmark.media.svg.LARGEST", 3 * len(BOARD.data))
    with pytest.raises(BadPicture, match="MB of pictures"):
        render(page(image('href="picture:1"') * 5), pictures=[BOARD])
