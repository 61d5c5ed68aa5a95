"""Finding the board and cutting it into cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sketchmark.worlds import boards
from sketchmark.worlds.boards import Pixels
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.sliding import board as sliding
from tests.worlds import reference
from tests.worlds.pictures import from_pixels, on_page

WALL = boards.rgb8("#1f2937")[0]
CONTENT, PAGE = boards.rgb01("#1f2937"), boards.rgb01("#ffffff")


def _seen(pixels: NDArray[np.uint8]) -> Pixels:
    return boards.pixels_of(from_pixels(pixels))


def _page(height: int, width: int, top: int, left: int, bottom: int, right: int) -> Pixels:
    pixels = np.full((height, width, 3), 255, np.uint8)
    pixels[top:bottom, left:right] = WALL
    return _seen(pixels)


def test_the_extent_is_grown_by_two_pixels_and_squared_around_its_centre() -> None:
    box = boards.find_board(_page(100, 100, 20, 30, 60, 60), CONTENT, PAGE, 0.003)
    assert box == (17, 22, 61, 66)


def test_the_square_is_pushed_back_into_the_picture() -> None:
    assert boards.find_board(_page(100, 100, 10, 0, 90, 20), CONTENT, PAGE, 0.003) == (7, 0, 91, 84)
    assert boards.find_board(_page(100, 100, 10, 80, 90, 100), CONTENT, PAGE, 0.003) == (7, 16, 91, 100)


def test_an_empty_picture_is_all_board() -> None:
    assert boards.find_board(_seen(np.full((30, 30, 3), 255, np.uint8)), CONTENT, PAGE, 0.003) == (
        0,
        0,
        30,
        30,
    )


@pytest.mark.parametrize(("height", "width"), [(60, 200), (200, 60)])
def test_each_axis_of_a_long_picture_is_clipped_by_its_own_length(height: int, width: int) -> None:
    box = boards.find_board(_page(height, width, height - 41, width - 41, height, width), CONTENT, PAGE, 0.003)
    assert box == (height - 43, width - 43, height, width)


def test_a_board_wider_than_the_picture_is_high_takes_its_whole_height() -> None:
    assert boards.find_board(_page(50, 200, 10, 20, 40, 181), CONTENT, PAGE, 0.003) == (0, 18, 50, 183)


def test_a_row_counts_only_above_its_share() -> None:
    pixels = np.full((1000, 1000, 3), 255, np.uint8)
    pixels[500:601, 500:601] = WALL
    pixels[100, 500:503] = WALL
    assert boards.find_board(_seen(pixels), CONTENT, PAGE, 0.003).top == 498
    pixels[100, 500:504] = WALL
    assert boards.find_board(_seen(pixels), CONTENT, PAGE, 0.003).top == 98


def test_a_pixel_must_be_nearer_to_content_by_a_margin() -> None:
    black, white = boards.rgb01("#000000"), boards.rgb01("#ffffff")
    for level, counts in ((126, True), (127, False)):
        pixels = np.full((40, 40, 3), 255, np.uint8)
        pixels[10:21, 10:21] = level
        assert (boards.find_board(_seen(pixels), black, white, 0.003) == (8, 8, 23, 23)) is counts


def test_cell_edges_round_halves_to_even() -> None:
    assert boards.cells(boards.Box(0, 0, 9, 15), 6, 6) == ([0, 2, 3, 4, 6, 8, 9], [0, 2, 5, 8, 10, 12, 15])
    assert boards.cells(boards.Box(10, 20, 13, 23), 3, 1) == ([10, 11, 12, 13], [20, 23])


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
