"""Mazes: making, rules, drawing and reading."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sketchmark.errors import BadInput
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.maze.generator import Maze, longest_way
from tests.worlds.pictures import as_jpeg

OPEN = Maze(((False,) * 3,) * 3, (0, 0), (2, 2))
SHUT = Maze(((False, True, False),) * 3, (0, 0), (0, 2))


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**63),
    rows=st.integers(1, 14),
    cols=st.integers(1, 14),
    low=st.integers(1, 40),
    more=st.integers(0, 30),
)
def test_every_maze_has_one_shortest_way_of_a_wanted_length(
    seed: int, rows: int, cols: int, low: int, more: int
) -> None:
    assume(low <= longest_way(rows, cols))
    made = maze.generate(seed, rows, cols, low, low + more)
    moves = maze.solve(made)
    assert (made.rows, made.cols) == (rows, cols)
    assert moves is not None and low <= len(moves) <= low + more
    assert maze.shortest_paths(made) == 1
    assert maze.replay(made, moves)[-1] == made.goal


@pytest.mark.parametrize(("rows", "cols"), [(1, 2), (2, 2), (3, 3), (6, 6), (5, 9), (9, 5), (20, 20), (40, 7)])
def test_the_longest_way_promised_can_be_made(rows: int, cols: int) -> None:
    longest = longest_way(rows, cols)
    for seed in range(5):
        moves = maze.solve(maze.generate(seed, rows, cols, longest, longest))
        assert moves is not None and len(moves) == longest


@pytest.mark.parametrize(
    ("rows", "cols", "low", "high"),
    [(6, 6, 30, 40), (1, 1, 1, 1), (6, 6, 5, 4), (6, 6, 0, 3), (0, 6, 3, 4), (6, 101, 3, 4)],
)
def test_an_impossible_wish_is_refused_at_once(rows: int, cols: int, low: int, high: int) -> None:
    with pytest.raises(BadInput):
        maze.generate(0, rows, cols, low, high)


def test_mazes_differ_in_length_walls_and_loops() -> None:
    made = [maze.generate(seed) for seed in range(300)]
    assert {len(maze.solve(one) or ()) for one in made} == set(range(3, 13))
    assert len(set(made)) == 300
    walls = [sum(map(sum, one.walls)) for one in made]
    assert min(walls) < 10 and max(walls) > 18
    squares = sum(
        any(not (w[r][c] or w[r + 1][c] or w[r][c + 1] or w[r + 1][c + 1]) for r in range(5) for c in range(5))
        for w in (one.walls for one in made)
    )
    assert 30 < squares < 290


def test_a_move_into_a_wall_or_out_of_the_board_stays() -> None:
    assert maze.step(OPEN, (0, 0), "right") == (0, 1)
    for move in ("up", "left", "jump"):
        assert maze.step(OPEN, (0, 0), move) == (0, 0)
        assert not maze.legal(OPEN, (0, 0), move)
    assert maze.replay(SHUT, ["right", "down", "down", "down"]) == [(0, 0), (1, 0), (2, 0), (2, 0)]


def test_equal_ways_are_counted_and_a_walled_goal_has_none() -> None:
    assert maze.shortest_paths(OPEN) == 6
    assert maze.solve(OPEN) == ["down", "down", "right", "right"]
    assert maze.solve(SHUT) is None
    assert maze.shortest_paths(SHUT) == 0


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(1, 10),
    cols=st.integers(2, 10),
    cell=st.integers(maze.MIN_CELL, 90),
    jpeg=st.booleans(),
)
def test_every_frame_of_an_episode_reads_back_as_drawn(
    seed: int, rows: int, cols: int, cell: int, jpeg: bool
) -> None:
    made = maze.generate(seed, rows, cols, 1, 12)
    moves = maze.solve(made)
    assert moves is not None
    for picture, at in zip(
        [maze.render(made, size=cell), *maze.frames(made, moves, size=cell)],
        [made.start, *maze.replay(made, moves)],
        strict=True,
    ):
        seen = maze.read(as_jpeg(picture) if jpeg else picture, rows, cols)
        assert seen.grid == maze.expected_grid(made, at)
        assert (seen.start, seen.goal) == (at, made.goal)
    assert seen.grid[made.goal[0]][made.goal[1]] == "SG"


@pytest.mark.parametrize("cell", [maze.MIN_CELL, maze.MIN_CELL + 1])
@pytest.mark.parametrize("side", [3, 6, 12, 17, 29, 50])
def test_the_smallest_cells_are_read_on_boards_of_any_size_even_when_they_differ_from_all_around(
    side: int, cell: int
) -> None:
    for odd in (0, 1):
        for lone in (True, False):
            walls = tuple(tuple((row % 2 == col % 2 == odd) is lone for col in range(side)) for row in range(side))
            floor = [(row, col) for row in range(side) for col in range(side) if not walls[row][col]]
            if len(floor) > 1:
                made = maze.Maze(walls, floor[0], floor[-1])
                assert maze.to_maze(maze.read(maze.render(made, size=cell), side, side)) == made


@pytest.mark.parametrize("quality", [25, 50, 95])
def test_a_badly_compressed_maze_is_still_read(quality: int) -> None:
    for seed in range(20):
        made = maze.generate(seed)
        assert maze.to_maze(maze.read(as_jpeg(maze.render(made), quality))) == made


def test_cells_too_small_to_read_are_refused() -> None:
    with pytest.raises(BadInput, match="too small"):
        maze.render(OPEN, size=maze.MIN_CELL - 1)


@pytest.mark.parametrize(
    ("seed", "digest"),
    [
        (0, "fc2234ae117a46499f2f57006e4a98b879f21ae6b1c82c7ce7cc5ae2df9d8aa2"),
        (7, "5b566b0c5729ec7e19d741821b4b24ceea49f912fb9e9a2384c3d5faaa6ea834"),
        (123456789, "072aad502481e4f25202e1e3ae8b2e4668efead2430c16f4600c1f60b1fea735"),
    ],
)
def test_a_seed_gives_the_same_pixels_everywhere(seed: int, digest: str) -> None:
    assert maze.render(maze.generate(seed)).identity == digest
