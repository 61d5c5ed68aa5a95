"""The collage, by its pixels (docs/benchmarks/voila.md, "The collage")."""

from PIL import Image

from sketchmark.media import Picture
from sketchmark.worlds.voila.make import collage


def _plain(colour: str, width: int, height: int) -> Picture:
    return Picture.from_image(Image.new("RGB", (width, height), colour))


def test_three_pictures_stand_in_one_row_with_white_gaps_and_no_frame() -> None:
    image = collage([_plain("red", 100, 100), _plain("lime", 100, 100), _plain("blue", 100, 100)]).image()
    assert image.size == (400, 100)
    row = [image.getpixel((x, 50)) for x in (0, 99, 100, 149, 150, 249, 250, 299, 300, 399)]
    red, lime, blue, white = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
    assert row == [red, red, white, white, lime, lime, white, white, blue, blue]


def test_smaller_pictures_grow_to_the_tallest_and_keep_their_shape() -> None:
    joined = collage([_plain("red", 33, 50), _plain("lime", 100, 100), _plain("blue", 201, 200)])
    assert joined.size == ((33 * 4) + 200 + 201 + 100, 200)
