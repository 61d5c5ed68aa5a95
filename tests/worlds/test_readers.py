"""The readers of boards at their thresholds: what is just enough is read, one pixel less is `?` or nothing.

Boards here fill their pictures to the edge, so that every cell has exactly the pixels it is given.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sketchmark.errors import BadInput
from sketchmark.media import Picture
from sketchmark.worlds import boards
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.maze.board import MazeReading
from sketchmark.worlds.maze.generator import Maze
from sketchmark.worlds.sliding import board as sliding
from tests.episodes import from_pixels, painted
from tests.tabled import tabled

CELL = 20
WHOLE = CELL * CELL
Cell = list[tuple[str, int]]
"""Colours of one cell, and how many pixels each of them has."""


def board(rows: list[list[Cell]]) -> Picture:
    def pixels(cell: Cell) -> NDArray[np.uint8]:
        counts = [count for _, count in cell]
        assert sum(counts) == WHOLE
        return boards.rgb8(*(colour for colour, _ in cell)).repeat(counts, axis=0).reshape(CELL, CELL, 3)

    return from_pixels(np.vstack([np.hstack([pixels(cell) for cell in row]) for row in rows]))


def of(*colours: tuple[str, int], ground: str = maze.FLOOR) -> Cell:
    return [*colours, (ground, WHOLE - sum(count for _, count in colours))]


WALL, FLOOR = of((maze.WALL, WHOLE)), of()
START, GOAL = of((maze.START, WHOLE)), of((maze.GOAL, WHOLE))


def _three(middle: Cell, left: Cell = START, right: Cell = GOAL) -> MazeReading:
    """A row of walls, a row to look at, and a row of walls."""
    return maze.read(board([[WALL] * 3, [left, middle, right], [WALL] * 3]), 3, 3)


S_LEAST, G_LEAST, SOLID = WHOLE * 3 // 16, WHOLE * 9 // 16, WHOLE * 3 // 4


@pytest.mark.parametrize(
    ("cell", "label"),
    [
        (of((maze.START, S_LEAST)), "S"),
        (of((maze.START, S_LEAST - 1)), " "),
        (of((maze.GOAL, G_LEAST)), "G"),
        (of((maze.GOAL, G_LEAST - 1)), "?"),
        (of((maze.START, S_LEAST), (maze.GOAL, G_LEAST)), "SG"),
        (of((maze.START, S_LEAST), (maze.GOAL, G_LEAST - 1)), "S"),
        (of((maze.START, S_LEAST - 1), (maze.GOAL, G_LEAST)), "G"),
        (of((maze.WALL, SOLID)), "#"),
        (of((maze.WALL, SOLID - 1)), "?"),
        (of((maze.WALL, WHOLE - SOLID)), " "),
        (of((maze.WALL, WHOLE - SOLID + 1)), "?"),
        (of((maze.START, S_LEAST), (maze.WALL, SOLID)), "S"),
        (of((maze.START, S_LEAST - 1), (maze.WALL, SOLID)), "#"),
    ],
)
def test_a_cell_is_what_enough_of_it_is(cell: Cell, label: str) -> None:
    assert _three(cell).grid == [["#"] * 3, ["S", label, "G"], ["#"] * 3]


def test_of_several_that_pass_the_last_in_reading_order_is_the_place() -> None:
    strong, weak = START, of((maze.START, S_LEAST))
    seen = maze.read(board([[WALL, strong, WALL], [weak, FLOOR, GOAL], [GOAL, WALL, WALL]]), 3, 3)
    assert (seen.start, seen.goal) == ((1, 0), (2, 0))
    assert seen.grid == [["#", "S", "#"], ["S", " ", "G"], ["G", "#", "#"]]


@pytest.mark.parametrize("found", [True, False])
def test_where_none_passes_the_bluest_cell_is_the_start_and_the_greenest_the_goal(
    found: bool,
) -> None:
    place = (1, 2) if found else None
    seen = _three(GOAL, left=of((maze.START, 30)), right=of((maze.START, 31 + found)))
    assert (seen.start, seen.grid[1]) == (place, [" ", "G", "S" if found else " "])
    seen = _three(START, left=of((maze.GOAL, 98)), right=of((maze.GOAL, 99 + found)))
    assert (seen.goal, seen.grid[1]) == (place, [" ", "S", "G" if found else " "])
    assert seen.grid[0] == seen.grid[2] == ["#"] * 3


def test_faint_marks_are_found_in_boards_of_unequal_sides_too() -> None:
    faint = [of((maze.GOAL, 150)), of((maze.START, 50)), WALL]
    assert maze.read(board([[WALL] * 3, [WALL] * 3, faint, [WALL] * 3]), 4, 3).start == (2, 1)
    wide = maze.read(board([[WALL] * 4, [WALL, WALL, *faint[:2]]]), 2, 4)
    assert (wide.start, wide.goal) == ((1, 3), (1, 2))


def test_a_strong_mark_keeps_the_faint_ones_from_being_one() -> None:
    seen = _three(of((maze.START, 60), (maze.GOAL, 40)))
    assert (seen.start, seen.goal, seen.grid[1]) == ((1, 0), (1, 2), ["S", " ", "G"])


def test_faint_marks_in_one_cell_make_both_whichever_is_the_fainter() -> None:
    for start, goal in ((80, 110), (40, 240), (40, 110)):
        seen = _three(FLOOR, left=FLOOR, right=of((maze.START, start), (maze.GOAL, goal)))
        assert (seen.start, seen.goal) == ((1, 2), (1, 2)), (start, goal)
        assert seen.grid == [["#"] * 3, [" ", " ", "SG"], ["#"] * 3], (start, goal)


def test_a_page_without_marks_has_neither_start_nor_goal() -> None:
    seen = _three(FLOOR, left=FLOOR, right=WALL)
    assert (seen.start, seen.goal) == (None, None)
    assert maze.to_maze(seen) is None


def test_rows_and_columns_are_told_apart_and_unequal_boards_are_not_squared() -> None:
    seen = maze.read(painted("S   ", "## #", "   G"), 3, 4)
    assert seen == MazeReading([["S", " ", " ", " "], ["#", "#", " ", "#"], [" ", " ", " ", "G"]], (0, 0), (2, 3))
    assert maze.to_maze(seen) == Maze(((False,) * 4, (True, True, False, True), (False,) * 4), (0, 0), (2, 3))


def test_without_a_size_a_maze_has_six_rows_and_columns_and_a_sliding_three() -> None:
    seen = maze.read(painted(*["#" * 6] * 4, "S    #", "     G"))
    assert ([len(row) for row in seen.grid], seen.start, seen.goal) == ([6] * 6, (4, 0), (5, 5))
    state = (2, 1, 3, 4, 5, 6, 7, 8, 9)
    assert sliding.read(sliding.render(state)) == [[2, 1, 3], [4, 5, 6], [7, 8, 9]]


def test_the_red_of_a_drawn_path_belongs_to_the_board() -> None:
    """A board whose first row and column hold nothing but a red path is not cut short."""
    red = of((maze.PATH, WHOLE))
    seen = maze.read(board([[red] * 3, [red, START, WALL], [red, GOAL, WALL]]), 3, 3)
    assert (seen.start, seen.goal) == ((1, 1), (2, 1))


@pytest.mark.parametrize(("specks", "label"), [(3, "#"), (4, " ")])
def test_a_line_is_part_of_a_maze_when_more_than_three_thousandths_of_it_are(specks: int, label: str) -> None:
    """Counted in, the specks far above the board make its first row mostly page."""
    page = np.full((100, 1000, 3), 255, np.uint8)
    page[2, :specks] = page[40:70] = boards.rgb8(maze.WALL)[0]
    page[70:] = boards.rgb8(maze.START)[0]
    assert maze.read(from_pixels(page), 2, 1).grid == [[label], ["S"]]


@pytest.mark.parametrize(("side", "specks", "counts"), [(500, 1, False), (800, 2, True)])
def test_a_line_is_part_of_a_sliding_when_more_than_two_thousandths_of_it_are(
    side: int, specks: int, counts: bool
) -> None:
    """Counted in, the specks far above the board leave too little of its upper tiles in their cells."""
    page = np.full((side, side, 3), 255, np.uint8)
    half, low = side // 2, side * 3 // 4
    page[half:low, half:low], page[half:low, low:] = boards.rgb8(*sliding.COLOURS[:2])
    page[low:, half:low], page[low:, low:] = boards.rgb8(*sliding.COLOURS[2:4])
    page[2, half : half + specks] = boards.rgb8(sliding.COLOURS[0])[0]
    assert (sliding.read(from_pixels(page), 2) == [[1, 2], [3, 4]]) is not counts


@tabled
def test_a_reading_without_exactly_one_start_and_one_goal_is_no_maze(
    grid: list[list[str]], start: tuple[int, int] | None, goal: tuple[int, int] | None
) -> None:
    assert maze.to_maze(MazeReading(grid, start, goal)) is None


def test_a_reading_with_one_of_each_or_both_in_one_is_a_maze() -> None:
    walls = ((True, False, False),)
    assert maze.to_maze(MazeReading([["#", "S", "G"]], (0, 1), (0, 2))) == Maze(walls, (0, 1), (0, 2))
    assert maze.to_maze(MazeReading([["#", "SG", " "]], (0, 1), (0, 1))) == Maze(walls, (0, 1), (0, 1))


def test_the_grid_expected_of_a_maze_and_of_its_reading_are_the_same() -> None:
    known = Maze(((False, True, False), (False, False, False)), (0, 0), (0, 2))
    seen = MazeReading([["S", "#", "G"], [" ", " ", " "]], (0, 0), (0, 2))
    for place, grid in (
        ((1, 1), [[" ", "#", "G"], [" ", "S", " "]]),
        ((0, 2), [[" ", "#", "SG"], [" ", " ", " "]]),
        ((0, 0), [["S", "#", "G"], [" ", " ", " "]]),
    ):
        assert maze.expected_grid(known, place) == maze.expected_grid(seen, place) == grid
    lost = MazeReading([["S", "?", " "]], (0, 0), None)
    assert maze.expected_grid(lost, (0, 2)) == [[" ", " ", "S"]]


def test_moves_lead_to_the_neighbouring_cell_and_never_off_the_board() -> None:
    free = Maze(((False, False), (False, False), (False, False)), (1, 0), (0, 0))
    assert [maze.step(free, (1, 0), move) for move in ("up", "down", "left", "right")] == [
        *((0, 0), (2, 0)),
        *((1, 0), (1, 1)),
    ]
    for at, out in (((0, 0), ("up", "left")), ((2, 1), ("down", "right"))):
        for move in maze.MOVES:
            assert maze.legal(free, at, move) is (move not in out)
    assert maze.replay(free, ["right", "right", "up", "hop"]) == [(1, 1), (1, 1), (0, 1), (0, 1)]


def _colours(*numbers: int) -> list[Cell]:
    return [of(ground=sliding.COLOURS[number - 1]) for number in numbers]


@pytest.mark.parametrize(("other", "label"), [(WHOLE // 5, 5), (WHOLE // 5 + 1, "?")])
@pytest.mark.parametrize("kind", [1, 9])
def test_a_tile_counts_from_eight_tenths_of_its_cell_on(kind: int, other: int, label: int | str) -> None:
    middle = of((sliding.COLOURS[kind - 1], other), ground=sliding.COLOURS[4])
    left, right = _colours(4, 6)
    seen = sliding.read(board([_colours(1, 2, 3), [left, middle, right], _colours(7, 8, 9)]))
    assert seen == [[1, 2, 3], [4, label, 6], [7, 8, 9]]
    assert sliding.to_state(seen) == ((1, 2, 3, 4, 5, 6, 7, 8, 9) if label == 5 else None)


def test_a_cell_of_a_colour_that_the_size_does_not_have_is_read_as_the_nearest_it_has() -> None:
    """Two by two has no orange tile; the red one is the nearest of its four."""
    orange = _colours(5)[0]
    assert sliding.read(board([[orange, *_colours(2)], _colours(3, 4)]), 2) == [[1, 2], [3, 4]]


@tabled
def test_a_state_has_every_number_once(reading: list[list[int | str]], state: tuple[int, ...] | None) -> None:
    assert sliding.to_state(reading) == state


def test_tiles_are_read_up_to_five_by_five_and_mazes_up_to_two_hundred_cells_a_side() -> None:
    tiles, row = board([_colours(1, 2), _colours(3, 4)]), board([[START, WALL]])
    assert [len(sliding.read(tiles, n)) for n in (1, 5)] == [1, 5]
    assert [len(maze.read(row, *size).grid) for size in ((1, 1), (200, 1), (1, 200))] == [1, 200, 1]
    for n in (0, 6):
        with pytest.raises(BadInput, match=f"{n}x{n}.*1x1 to 5x5"):
            sliding.read(tiles, n)
    for rows, cols in ((0, 3), (3, 0), (201, 1), (1, 201)):
        with pytest.raises(BadInput, match=f"{rows}x{cols}.*200x200"):
            maze.read(row, rows, cols)
