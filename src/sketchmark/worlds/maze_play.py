"""Mazes as scripted players play them: of whatever size the picture shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sketchmark.picture import Picture
from sketchmark.pixels import Recent
from sketchmark.worlds import boards, maze
from sketchmark.worlds.maze_making import Maze
from sketchmark.worlds.playing import Shown, StepByStep

_SQUARE = [(n, n) for n in (6, *range(2, 6), *range(7, 26))]
_OBLONG = [(rows, cols) for rows in range(2, 16) for cols in range(2, 16) if rows != cols]


class MazePlay(StepByStep[Maze]):
    """A state is the maze with its start where the agent is."""

    unpictured = "I see the maze before me, but I cannot picture the next one."

    def begin(self, shown: Shown) -> Maze | None:
        return read_maze(shown.initial)

    def solve(self, state: Maze) -> list[str]:
        return maze.solve(state) or []

    def after(self, state: Maze, move: str) -> Maze:
        return replace(state, start=maze.step(state, state.start, move))

    def render(self, state: Maze) -> Picture:
        return maze.render(state)

    def shows(self, picture: Picture, state: Maze) -> bool:
        return read_maze(picture) == state

    def in_words(self, state: Maze) -> str:
        return f"The blue dot stands in row {state.start[0] + 1}, column {state.start[1] + 1}."

    def blindly(self, state: Maze) -> list[str]:
        """Straight towards the goal, blind to walls: what is left when one sees no further."""
        down, right = state.goal[0] - state.start[0], state.goal[1] - state.start[1]
        vertical = ["down" if down > 0 else "up"] * abs(down)
        return vertical + ["right" if right > 0 else "left"] * abs(right)


_READ: Recent[tuple[Maze | None]] = Recent(512)


def read_maze(picture: Picture) -> Maze | None:
    """The maze in a picture, of whatever size makes sense of it; None if it is no maze."""
    (found,) = _READ.get(picture.identity) or _READ.keep(picture.identity, (_read(picture),))
    return found


def _read(picture: Picture) -> Maze | None:
    for rows, cols in _likely_sizes(picture):
        reading = maze.read(picture, rows, cols)
        cells = [cell for row in reading.grid for cell in row]
        marks = (cells.count("S"), cells.count("G"), cells.count("SG"))
        if "?" not in cells and marks in ((1, 1, 0), (0, 0, 1)):
            return maze.to_maze(reading)
    return None


def _likely_sizes(picture: Picture) -> Iterator[tuple[int, int]]:
    """First what the goal's green frame tells: it is nearly as wide as its cell. Where nothing is green, no size."""
    pixels = boards.pixels_of(picture)
    content, page = boards.rgb01(maze.WALL, maze.START, maze.GOAL), boards.rgb01(maze.PAGE, maze.FLOOR)
    goal = boards.nearest(pixels, boards.rgb01(maze.FLOOR, maze.WALL, maze.START, maze.GOAL)) == 3
    columns = goal.any(axis=0).nonzero()[0]
    if not len(columns):
        return
    width = (columns[-1] - columns[0] + 1) / 0.92
    box = boards.find_board(pixels, content, page, 0.003, square=False)
    first = [
        (round((box.bottom - box.top) / cell), round((box.right - box.left) / cell))
        for cell in (round(width), width, round(width) - 1, round(width) + 1)
        if cell >= 1
    ]
    yield from (size for size in dict.fromkeys(first + _SQUARE + _OBLONG) if 1 <= min(size) <= max(size) <= 100)
