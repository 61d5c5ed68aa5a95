"""Finding a board on its page and counting what is in its cells, number by number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from sketchmark.worlds import boards
from sketchmark.worlds.boards import Box, Pixels
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.sliding import board as sliding
from tests.episodes import from_pixels, solid
from tests.tabled import tabled
from tests.worlds import reference
from tests.worlds.pictures import on_page

BLACK, WHITE = boards.rgb01("#000000"), boards.rgb01("#ffffff")


def _seen(pixels: NDArray[np.uint8]) -> Pixels:
    return boards.pixels_of(from_pixels(pixels))


def _page(height: int, width: int, *boxes: tuple[int, int, int, int]) -> NDArray[np.uint8]:
    pixels = np.full((height, width, 3), 255, np.uint8)
    for top, left, bottom, right in boxes:
        pixels[top:bottom, left:right] = 0
    return pixels


def _found(pixels: NDArray[np.uint8], share: float = 0.003, square: bool = True) -> Box:
    return boards.find_board(_seen(pixels), BLACK, WHITE, share, square)


def test_colours_are_red_green_and_blue_from_zero_to_one() -> None:
    assert boards.rgb8("#ff8000", "010203").tolist() == [[255, 128, 0], [1, 2, 3]]
    assert boards.rgb01("#ff0033").tolist() == [[1.0, 0.0, pytest.approx(0.2)]]
    pixels = boards.pixels_of(solid(255, 0, 51, (3, 2)))
    assert (pixels.height, pixels.width) == (2, 3)
    shown = pixels.colours(np.array([5]))
    assert boards.distances(shown, boards.rgb01("#ff0033", "#ff0000")).tolist() == [[0.0], [pytest.approx(0.2)]]


def test_moves_are_by_one_row_or_column() -> None:
    assert list(boards.MOVES.items()) == [("up", (-1, 0)), ("down", (1, 0)), ("left", (0, -1)), ("right", (0, 1))]


@tabled
def test_the_extent_grows_by_two_pixels_and_is_squared_within_the_page(
    box: tuple[int, int, int, int], found: tuple[int, int, int, int]
) -> None:
    assert _found(_page(100, 100, box)) == found


def test_an_extent_that_is_not_squared_is_only_grown() -> None:
    assert _found(_page(100, 120, (20, 30, 60, 50)), square=False) == (18, 28, 62, 52)
    assert _found(_page(100, 120, (1, 0, 99, 119)), square=False) == (0, 0, 100, 120)


@pytest.mark.parametrize(
    ("ends", "found"), [(None, (0, 7, 100, 181)), ((100, 200), (-74, 7, 100, 181)), ((200, 100), (0, -74, 174, 100))]
)
def test_where_the_published_evaluators_look_on_a_wide_page(
    ends: tuple[int, int] | None, found: tuple[int, int, int, int]
) -> None:
    """Worked out on paper from their rules: that of sliding puzzles, and that of mazes, which swaps the ends. A
    negative beginning is counted from the far end."""
    wide = _page(100, 200, (20, 10, 60, 180))
    assert boards.find_board(_seen(wide), BLACK, WHITE, 0.003, published=ends) == found


def test_the_extent_reaches_from_the_first_content_to_the_last() -> None:
    spread = _page(100, 100, (10, 50, 13, 53), (40, 10, 43, 13), (88, 70, 91, 73))
    assert _found(spread, square=False) == (8, 8, 93, 75)


def test_a_page_without_content_is_all_board() -> None:
    assert _found(_page(30, 50), square=False) == (0, 0, 30, 50)


@pytest.mark.parametrize(("pixels", "top"), [(5, 28), (6, 8)])
def test_a_line_counts_when_more_than_the_share_of_it_is_content(pixels: int, top: int) -> None:
    speckled = _page(100, 100, (30, 30, 70, 70), (10, 40, 11, 40 + pixels))
    assert _found(speckled, share=0.05, square=False).top == top
    turned = np.ascontiguousarray(speckled.swapaxes(0, 1))
    assert _found(turned, share=0.05, square=False).left == top


@pytest.mark.parametrize(("level", "counts"), [(126, True), (127, False), (129, False)])
def test_a_pixel_must_be_nearer_to_content_by_a_hundredth(level: int, counts: bool) -> None:
    """Between black and red, a red of 0.495 (126.2 of 255) is a hundredth nearer to black."""
    pixels = np.zeros((40, 40, 3), np.uint8)
    pixels[:, :, 0] = 255
    pixels[10:20, 10:20, 0] = level
    found = boards.find_board(_seen(pixels), BLACK, boards.rgb01("#ff0000"), 0.003, square=False)
    assert found == ((8, 8, 22, 22) if counts else (0, 0, 40, 40))


def test_content_and_page_may_each_have_several_colours() -> None:
    content, page = boards.rgb01("#000000", "#ff0000"), boards.rgb01("#ffffff", "#00ff00")
    pixels = np.full((40, 40, 3), 255, np.uint8)
    pixels[0:5] = (0, 255, 0)
    pixels[10:20, 10:15] = 0
    pixels[10:20, 15:30] = (255, 0, 0)
    assert boards.find_board(_seen(pixels), content, page, 0.003, square=False) == (8, 8, 22, 32)


def test_every_pixel_gets_the_nearest_colour_and_the_first_of_equals() -> None:
    colours = boards.rgb01("#000000", "#ff0000", "#0000ff")
    pixels = np.array([[[0, 0, 25], [230, 0, 0]], [[0, 51, 204], [127, 0, 0]], [[153, 0, 153], [153, 0, 153]]])
    assert boards.nearest(_seen(pixels.astype(np.uint8)), colours).tolist() == [[0, 1], [2, 0], [1, 1]]


def test_a_change_in_any_one_channel_is_seen() -> None:
    colours = boards.rgb01("#000000", "#ff0000", "#00ff00", "#0000ff")
    row = [[0, 0, 0], [255, 0, 0], [0, 0, 0], [0, 255, 0], [0, 0, 0], [0, 0, 255], [0, 0, 255], [0, 0, 0]]
    picture = from_pixels(np.array([row], np.uint8))
    assert boards.nearest(boards.pixels_of(picture), colours).tolist() == [[0, 1, 0, 2, 0, 3, 3, 0]]


def test_cells_are_cut_at_even_distances_and_halves_are_rounded_to_even() -> None:
    assert boards.cells(Box(0, 0, 9, 15), 6, 6) == ([0, 2, 3, 4, 6, 8, 9], [0, 2, 5, 8, 10, 12, 15])
    assert boards.cells(Box(10, 20, 16, 23), 3, 1) == ([10, 12, 14, 16], [20, 23])


def test_shares_are_of_the_pixels_of_each_cell() -> None:
    labels = np.array([[0, 0, 1, 2], [0, 2, 1, 1], [2, 2, 0, 0]])
    shares = boards.cell_shares(labels, ([0, 2, 3], [0, 2, 4]), 4)
    assert shares.tolist() == [
        [[0.75, 0.0, 0.25, 0.0], [0.0, 0.75, 0.25, 0.0]],
        [[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]],
    ]


def test_a_cell_without_pixels_has_no_share_of_anything() -> None:
    shares = boards.cell_shares(np.array([[1]]), ([0, 0, 1], [0, 1]), 2)
    assert shares.tolist() == [[[0.0, 0.0]], [[0.0, 1.0]]]


@pytest.mark.parametrize(("height", "width"), [(60, 200), (200, 60)])
def test_each_axis_of_a_long_picture_is_clipped_by_its_own_length(height: int, width: int) -> None:
    box = _found(_page(height, width, (height - 41, width - 41, height, width)))
    assert box == (height - 43, width - 43, height, width)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 500),
    more=st.tuples(st.integers(0, 300), st.integers(0, 300)),
    shift=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_a_board_anywhere_on_a_larger_page_of_any_shape_reads_the_same(
    seed: int, more: tuple[int, int], shift: tuple[float, float]
) -> None:
    left, top = int(more[0] * shift[0]), int(more[1] * shift[1])
    made = maze.generate(seed)
    picture = maze.render(made)
    width, height = picture.size
    seen = maze.read(on_page(picture, width + more[0], height + more[1], left, top))
    assert maze.to_maze(seen) == made
    state = sliding.generate(seed, 1 + seed % 31)
    picture = sliding.render(state)
    page = on_page(picture, picture.size[0] + more[0], picture.size[1] + more[1], left, top)
    assert sliding.to_state(sliding.read(page)) == state


_SHADES = [*reference.COLOURS.values(), (0x80, 0x80, 0x80), (0x22, 0x80, 0xA0), (0xFF, 0xF0, 0xF0)]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    length=st.integers(4, 26),
    n=st.integers(1, 4),
    few=st.integers(2, len(_SHADES)),
    blocks=st.booleans(),
)
def test_any_square_picture_reads_as_the_rules_say_pixel_by_pixel(
    seed: int, length: int, n: int, few: int, blocks: bool
) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    shades = np.array(_SHADES, np.uint8)[rng.permutation(len(_SHADES))[:few]]
    picked = rng.integers(0, few, (length, length))
    if blocks:
        picked = np.kron(rng.integers(0, few, (n + 1, n + 1)), np.ones((length, length), int))[:length, :length]
    image = shades[picked]
    seen = maze.read(from_pixels(image), n, n)
    assert (seen.grid, seen.start, seen.goal) == reference.read_maze(image, n)


def test_a_photograph_is_seen_by_tables_as_colour_by_colour() -> None:
    """The colours are near the edges of the rules, where a place of a table has colours on both sides."""
    dice, palette = np.random.default_rng(5), boards.rgb01("#ff0000", "#00ff40", "#1020f0", "#ffffff", "#101010")
    colours = dice.integers(0, 256, (60, 70, 3), dtype=np.uint8)
    photograph = Pixels(Image.fromarray(colours))
    shown = colours.reshape(-1, 3).astype(np.float32) / np.float32(255)
    away = boards.distances(shown, palette)
    assert boards.nearest(photograph, palette).reshape(-1).tolist() == away.argmin(axis=0).tolist()
    bits = boards.near(photograph, boards.Look(palette, outside=(0,))).reshape(-1)
    for number, one in enumerate(away):
        assert (bits >> number & 1).tolist() == (one <= boards.NEAR).tolist()
    assert photograph.colours(np.array([71])).tolist() == [shown[71].tolist()]


def test_a_colour_is_the_median_of_nine_pixels_around_its_place() -> None:
    values = np.random.default_rng(6).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    seen = boards.colours_at(values, [(0.5, 0.25), (0.0, 0.99)], 0.1)
    expected = [np.median(values[6:15:4, 16:25:4].reshape(9, 3), axis=0)]
    rows, columns = [35, 39, 39], [0, 0, 4]
    expected.append(np.median(values[rows][:, columns].reshape(9, 3), axis=0))
    assert seen.tolist() == [one.tolist() for one in expected]
