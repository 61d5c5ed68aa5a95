"""The doctor's cards are read from resized and recompressed images."""

from __future__ import annotations

import io
from random import Random

import pytest
from PIL import Image

from sketchmark.media import Picture
from sketchmark.worlds import cards
from sketchmark.worlds.cards import COLOURS, KINDS, Shape


def treated(picture: Picture, side: int, quality: int) -> Picture:
    """Resize an image and compress it as JPEG."""
    buffer = io.BytesIO()
    picture.image().convert("RGB").resize((side, side), Image.Resampling.BICUBIC).save(
        buffer, "JPEG", quality=quality
    )
    return Picture.from_bytes(buffer.getvalue())


@pytest.mark.parametrize(("side", "quality"), [(384, 95), (256, 80), (1024, 60), (137, 90)])
def test_numbers_are_read_at_any_size_and_from_jpeg(side: int, quality: int) -> None:
    rng = Random(1)
    for number in ["1111", "0", "7", *(str(rng.randrange(10, 10_000)) for _ in range(40))]:
        assert cards.read_number(treated(cards.number_card(number), side, quality)) == number


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("colour", COLOURS)
def test_shapes_are_recognised_by_colour_and_form(colour: str, kind: str) -> None:
    card = cards.shape_card(Shape(colour, kind))
    for side, quality in ((384, 95), (200, 75), (1000, 60)):
        assert cards.read_shape(treated(card, side, quality)) == Shape(colour, kind)


def test_blank_paper_has_neither_number_nor_shape() -> None:
    paper = Picture.from_image(Image.new("RGB", (300, 200), "white"))
    assert cards.read_number(paper) == ""
    assert cards.read_shape(paper) is None
    assert cards.main_colour(paper) == ""


def test_an_edited_image_is_distinguished_from_a_redrawn_one() -> None:
    before = cards.number_card("2749")
    image = before.image().convert("RGB")
    cards.paint(image, Shape("blue", "square"), (240, 270, 330, 360))
    assert cards.kept(before, Picture.from_image(image)) == 1
    assert cards.kept(before, treated(Picture.from_image(image), 1024, 80)) > 0.97
    assert cards.kept(before, cards.number_card("18")) < 0.93
