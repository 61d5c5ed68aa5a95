"""Mazes on a grid of cells, each floor or wall, with one agent (S) and one goal (G).

What you see: a board with an outline on a page; some cells are walls, a dot is the agent, a frame is the goal. What
you may do: move up, down, left or right by one cell; a move into a wall or out of the board leaves the agent where it
is. It ends when the dot is inside the frame. The look `plain` and its reading follow Uni-MMMU.

One shortest path: every other way to the goal is longer, and `maze_solved` accepts it too. A ground-truth image shows
the agent one move on.

Levels: level n has a shortest path of n moves, so a model must look one cell further ahead. Without a level the path
has 3 to 12 moves (`min_steps`, `max_steps`), in `maze_hard` 16 to 24 on 12x12 cells.

Looks: `plain` (dark walls on a white page, a blue dot, a green frame), `night` (pale walls on a dark page, yellow,
pink) and `sand` (brown walls, lines between the cells, violet, turquoise). A set with a level has them in turn;
without one all is `plain`. The prompts name the colours.

Corrupt step: the last move goes another way.

Chance: up to 12 random moves are the path of level 1 once in 48, and each level is four times as hard to guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sketchmark.errors import BadInput
from sketchmark.media import Picture
from sketchmark.media.pixels import Recent
from sketchmark.worlds import boards
from sketchmark.worlds.boards import MOVES, Position
from sketchmark.worlds.maze.generator import Maze, distances_from, generate

__all__ = [
    "LOOKS", "MOVES", "PLAIN", "Look", "Maze", "MazeReading", "around", "edges", "expected_grid", "frames",
    "from_text", "generate", "legal", "published_grids", "read", "read_strictly", "render",
    "replay", "shortest_paths", "solve", "step", "to_maze", "to_text", "unread",
]  # fmt: skip

PLAIN = "plain"
FLOOR, WALL, START, GOAL = "#f4efe6", "#1f2937", "#2563eb", "#22c55e"
PATH, PAGE = "#ef4444", "#ffffff"  # docs/benchmarks/uni-mmmu.md, "Colours"


class Look(NamedTuple):
    """Colours of a look, and their names in the prompts. `other` is a second colour of walls and outline, or that of
    `lines` between cells."""

    page: str
    floor: str
    wall: str
    start: str
    goal: str
    other: str
    lines: bool = False
    walls: str = "Black"
    floors: str = "White"
    agent: str = "blue"
    frame: str = "green"

    @property
    def colours(self) -> tuple[str, ...]:
        return self.page, self.floor, self.wall, self.start, self.goal, self.other

    @property
    def labelled(self) -> boards.Colours:
        return boards.rgb01(self.floor, self.wall, self.start, self.goal)

    @property
    def strict(self) -> boards.Look:
        palette = boards.rgb01(*self.colours)
        if self.lines:
            return boards.Look(palette, outside=(0,), outline=(2,), between=(5,))
        return boards.Look(palette, outside=(0, 1), outline=(2, 5))


LOOKS = {
    PLAIN: Look(PAGE, FLOOR, WALL, START, GOAL, "#000000"),
    "night": Look(
        *("#0b1020", "#1e3a5f", "#cbd5e1", "#facc15", "#f472b6", "#ffffff"),
        walls="Pale grey", floors="Dark blue", agent="yellow", frame="pink",
    ),
    "sand": Look(
        *("#dfc48c", "#fff6dc", "#7a3b16", "#6d28d9", "#06b6d4", "#c9b98f"),
        lines=True, walls="Brown", floors="Cream", agent="violet", frame="turquoise",
    ),
}  # fmt: skip
"""The first is Uni-MMMU's. Walls may be black there, and white in `night`."""
_SHOWN = {"#": (2, 5), " ": (0, 1), "S": (0, 1, 3), "G": (0, 1, 4), "SG": (0, 1, 3, 4), "?": range(6)}
"""Colours of a look that each kind of cell may show. Floor may have the colour of the page."""

_MIDDLE, _TRACE, _FULL, _LEAST, _START = 0.5, 0.08, 0.85, 0.35, 2
"""The middle of a cell, in which an agent is seen, and how far it may be on the way from floor or wall to the
colour of an agent. How far the agent must be, and in what least part of its pixels. Its number among the labels."""

TOLERANCE = 0.75
MIN_START, MIN_GOAL = 0.08, 0.25
MIN_CELL = 32
"""Below this many pixels per cell, the outline, the reader's two spare pixels and the one by which it shifts a board
of even side take too much of the first cells, and some of 29 pixels are read as unclear."""


def step(maze: Maze, at: Position, move: str) -> Position:
    """Return where a move leads. Into a wall, out of the board, or by an unknown word, it leads nowhere."""
    change = MOVES.get(move)
    if change is None:
        return at
    row, col = at[0] + change[0], at[1] + change[1]
    inside = 0 <= row < maze.rows and 0 <= col < maze.cols
    return (row, col) if inside and not maze.walls[row][col] else at


def legal(maze: Maze, at: Position, move: str) -> bool:
    return step(maze, at, move) != at


def replay(maze: Maze, moves: Iterable[str]) -> list[Position]:
    """The agent's position after each move, the start not included."""
    at = maze.start
    return [at := step(maze, at, move) for move in moves]


def solve(maze: Maze) -> list[str] | None:
    """A shortest list of moves to the goal, ties broken in the order of MOVES; None if there is no way."""
    away = distances_from(maze.walls, maze.goal)
    at, moves = maze.start, list[str]()
    if at not in away:
        return None
    while at != maze.goal:
        move = next(m for m in MOVES if away.get(step(maze, at, m), away[at]) < away[at])
        at = step(maze, at, move)
        moves.append(move)
    return moves


def shortest_paths(maze: Maze) -> int:
    """Return the number of different shortest paths (0: none)."""
    away = distances_from(maze.walls, maze.start)
    ways = {maze.start: 1}
    for at in away:
        for dr, dc in MOVES.values():
            then = at[0] + dr, at[1] + dc
            if away.get(then) == away[at] + 1:
                ways[then] = ways.get(then, 0) + ways[at]
    return ways.get(maze.goal, 0)


def to_text(maze: Maze) -> str:
    """Write a maze for the mode text_input, a line per row: # wall, . floor, S agent, G goal, B both in one cell."""
    rows = [["#" if wall else "." for wall in row] for row in maze.walls]
    rows[maze.goal[0]][maze.goal[1]] = "G"
    rows[maze.start[0]][maze.start[1]] = "B" if maze.start == maze.goal else "S"
    return "\n".join(map("".join, rows))


_TEXT_ROW = re.compile(r"^[#.SGB]+$", re.MULTILINE)


def from_text(text: str) -> Maze | None:
    """Return the maze that `to_text` wrote somewhere in a text; None if there is none."""
    rows = _TEXT_ROW.findall(text)
    places = {letter: (r, c) for r, row in enumerate(rows) for c, letter in enumerate(row) if letter in "SGB"}
    start, goal = places.get("S", places.get("B")), places.get("G", places.get("B"))
    if not rows or len(set(map(len, rows))) > 1 or start is None or goal is None:
        return None
    return Maze(tuple(tuple(letter == "#" for letter in row) for row in rows), start, goal)


def default_cell(maze: Maze) -> int:
    """Pixels a cell: a board of about 360 pixels, for large mazes a larger one."""
    return max(MIN_CELL, 360 // max(maze.rows, maze.cols))


def render(maze: Maze, agent: Position | None = None, size: int | None = None) -> Picture:
    """The picture of a maze with the agent somewhere (None: at the start). `size` is pixels a cell, 32 or more."""
    cell = default_cell(maze) if size is None else size
    if cell < MIN_CELL:
        raise BadInput(f"maze cells of {cell} pixels are too small to be read back", f"at least {MIN_CELL}")
    return _rendered(replace(maze, start=agent or maze.start), cell, maze.look or PLAIN)


def around(cell: int) -> int:
    """Return how wide outline and page are around a board."""
    return _line(cell) + max(4, cell // 3)


def _line(cell: int) -> int:
    return max(1, cell // 24)


@lru_cache(maxsize=256)
def _rendered(maze: Maze, cell: int, look: str) -> Picture:
    """Cached: players that draw right, the oracle canvas and scorers ask for the same ground-truth images."""
    line, edge = _line(cell), around(cell)
    margin = edge - line
    page = np.zeros((maze.rows * cell + 2 * edge, maze.cols * cell + 2 * edge), np.uint8)
    page[margin:-margin, margin:-margin] = 2
    walls = np.array(maze.walls, np.uint8) + 1
    page[edge:-edge, edge:-edge] = walls.repeat(cell, axis=0).repeat(cell, axis=1)
    style = LOOKS[look]
    for place in range(1, max(maze.rows, maze.cols)) if style.lines else ():
        at = edge + place * cell - line // 2
        page[at : at + line, edge:-edge] = page[edge:-edge, at : at + line] = 5
    dot, frame = _stamps(cell)
    for (row, col), stamp, colour in ((maze.goal, frame, 4), (maze.start, dot, 3)):
        top, left = edge + row * cell, edge + col * cell
        page[top : top + cell, left : left + cell][stamp] = colour
    return boards.painted(page, boards.rgb8(*style.colours[: 6 if style.lines else 5]))


@lru_cache(maxsize=8)
def _stamps(cell: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The agent's dot and the goal's frame; the dot fits into the frame, so both can be read from one cell. The frame
    covers less of its cell than the evaluator's first goal threshold: like the published pictures with thin frames it
    is found by the second rule (the largest share of goal colour, at least a quarter)."""
    across = np.arange(cell) * 2 + 1 - cell
    reach = np.maximum(np.abs(across)[:, None], np.abs(across)[None, :]) * 100
    frame = (reach <= 92 * cell) & (reach > 62 * cell)
    dot = (across[:, None] ** 2 + across[None, :] ** 2) * 100**2 <= (58 * cell) ** 2
    return dot, frame


def frames(maze: Maze, moves: Iterable[str], size: int | None = None) -> list[Picture]:
    """The true picture after every move."""
    return [render(maze, at, size) for at in replay(maze, moves)]


@dataclass(frozen=True)
class MazeReading:
    """A maze as read from an image: `#` wall, ` ` floor, `S`, `G`, `SG`, `?` (unclear), and where S and G are."""

    grid: list[list[str]]
    start: Position | None
    goal: Position | None
    look: str = PLAIN


def read(
    picture: Picture, rows: int = 6, cols: int = 6, *, published: bool = False, look: str = PLAIN
) -> MazeReading:
    """Read a picture of a maze, whatever made it, by the rules (docs/benchmarks/uni-mmmu.md, "Reading a maze").

    Every cell that passes a threshold is labelled; the last one in reading order is the start (goal) position. The
    published evaluator knows boards with as many rows as columns; others are read without squaring the board.
    `published` looks for the board where it looks, also in a wide or tall picture.
    """
    boards.check_grid(rows, cols, most=200)
    key = (picture.digest, rows, cols, published, look)
    seen = _READINGS.get(key) or _READINGS.keep(key, _read(picture, rows, cols, published, look))
    return replace(seen, grid=[row.copy() for row in seen.grid])


_READINGS: Recent[MazeReading] = Recent(1024)
"""The same pixels read the same: a drawing is read by who drew it and by the scorer."""


def _read(picture: Picture, rows: int, cols: int, published: bool, look: str) -> MazeReading:
    pixels = boards.pixels_of(picture)
    box = _find(pixels, rows, cols, look, published)
    labels = boards.nearest(pixels, LOOKS[look].labelled)[box.top : box.bottom, box.left : box.right]
    inner = boards.Box(0, 0, *labels.shape)
    return replace(_judge(boards.cell_shares(labels, boards.cells(inner, rows, cols), 4)), look=look)


def read_strictly(picture: Picture, rows: int = 6, cols: int = 6, *, look: str = PLAIN) -> MazeReading:
    """Read a picture like `read`, with `?` for each cell that shows something else too.

    So a second agent, a mark or another colour makes a cell unclear, and a mark around the board all of them.
    """
    seen = read(picture, rows, cols, look=look)
    key = (picture.digest, rows, cols, look)
    unclear = _UNCLEAR.get(key)
    if unclear is None:
        unclear = _UNCLEAR.keep(key, _unclear(picture, seen))
    grid = [
        ["?" if bad else cell for cell, bad in zip(*row, strict=True)] for row in zip(seen.grid, unclear, strict=True)
    ]
    return replace(seen, grid=grid)


_UNCLEAR: Recent[list[list[bool]]] = Recent(1024)


def _unclear(picture: Picture, seen: MazeReading) -> list[list[bool]]:
    pixels = boards.pixels_of(picture)
    ends, strict = edges(picture, len(seen.grid), len(seen.grid[0]), seen.look), LOOKS[seen.look].strict
    bad = boards.stained(pixels, ends, [[_SHOWN[cell] for cell in row] for row in seen.grid], strict)
    middles, grid, typical = boards.middles(pixels, ends, _MIDDLE), np.array(seen.grid), strict.palette.copy()
    for kind, number in ((" ", 1), ("#", 2)):
        if (mine := grid == kind).any():
            typical[number] = np.median(middles[mine], axis=0)
            bad[mine] |= boards.towards(middles[mine], typical[number], typical[3]) > _TRACE
    pale, usual = (float(np.linalg.norm(one[2] - one[1])) for one in (typical, strict.palette))
    bits = boards.near(pixels, strict)
    dot, frame = ((bits & bits.dtype.type(1 << number)) > 0 for number in (3, 4))
    likely = np.flatnonzero(dot)
    full = boards.towards(pixels.colours(likely), typical[1], typical[3])
    dot.reshape(-1)[likely] = full >= _FULL * min(1.0, pale / usual)
    if seen.start is not None:
        cell = tuple(slice(*line[place : place + 2]) for line, place in zip(ends, seen.start, strict=True))
        marked = boards.nearest(pixels, LOOKS[seen.look].labelled)[cell] == _START
        faint = np.count_nonzero(dot[cell]) < _LEAST * np.count_nonzero(marked)
        dot = boards.within_frame(dot)
        bad[seen.start] |= faint or not (boards.is_one_mark(dot, 0.6) and boards.is_round(dot))
    frame = boards.within_frame(frame)
    if seen.goal is not None and seen.goal != seen.start and not boards.is_one_mark(frame, 0.1):
        bad[seen.goal] = True
    found: list[list[bool]] = bad.tolist()
    return found


def edges(picture: Picture, rows: int, cols: int, look: str = PLAIN) -> tuple[list[int], list[int]]:
    """Return the edges of the cells in an image, as the reader finds them."""
    return boards.cells(_find(boards.pixels_of(picture), rows, cols, look), rows, cols)


def _find(pixels: boards.Pixels, rows: int, cols: int, look: str, published: bool = False) -> boards.Box:
    style = LOOKS[look]
    content = (style.wall, style.start, style.goal, *((PATH,) if look == PLAIN else ()))
    ends = (pixels.width, pixels.height) if published else None  # the evaluator of mazes has them the wrong way round
    around = boards.rgb01(style.page, style.floor)
    return boards.find_board(pixels, boards.rgb01(*content), around, 0.003, square=rows == cols, published=ends)


def _judge(shares: NDArray[np.float32]) -> MazeReading:
    """Labels from each cell's shares of floor, wall, start and goal."""
    floor, wall, start, goal = np.moveaxis(shares, -1, 0)
    is_start, is_goal = start >= np.float32(TOLERANCE * 0.25), goal >= np.float32(TOLERANCE * 0.75)
    solid = np.float32(TOLERANCE)
    grid = np.select(
        [is_start & is_goal, is_start, is_goal, wall >= solid, floor >= solid], ["SG", "S", "G", "#", " "], "?"
    ).tolist()
    start_at, goal_at = _last(is_start), _last(is_goal)
    if start_at is None and (best := _largest(start, MIN_START)):
        start_at = best
        grid[best[0]][best[1]] = "S"
    if goal_at is None and (best := _largest(goal, MIN_GOAL)):
        goal_at = best
        grid[best[0]][best[1]] = "SG" if grid[best[0]][best[1]] == "S" else "G"
    if start_at is not None and start_at == goal_at:
        grid[start_at[0]][start_at[1]] = "SG"
    return MazeReading(grid, start_at, goal_at)


def _last(passed: NDArray[np.bool_]) -> Position | None:
    found = np.argwhere(passed)
    return (int(found[-1][0]), int(found[-1][1])) if len(found) else None


def _largest(share: NDArray[np.float32], least: float) -> Position | None:
    row, col = divmod(int(share.argmax()), share.shape[1])
    return (row, col) if share[row, col] >= np.float32(least) else None


def unread(rows: int, cols: int, look: str = PLAIN) -> MazeReading:
    """Return the reading of a picture in which nothing is clear."""
    return MazeReading([["?"] * cols for _ in range(rows)], None, None, look)


def to_maze(reading: MazeReading) -> Maze | None:
    """Return the maze of a reading; None if a cell is unclear, or S or G is missing or repeated."""
    labels = [label for row in reading.grid for label in row]
    if reading.start is None or reading.goal is None or "?" in labels:
        return None
    apart = labels.count("S") == labels.count("G") == 1 and "SG" not in labels
    together = labels.count("SG") == 1 and not {"S", "G"} & set(labels)
    if not apart and not together:
        return None
    walls = tuple(tuple(label == "#" for label in row) for row in reading.grid)
    return Maze(walls, reading.start, reading.goal, look=reading.look)


def expected_grid(seen: MazeReading | Maze, position: Position) -> list[list[str]]:
    """The grid that a right picture reads as with the agent at `position`, the rest as `seen` in the input. Every
    cell except walls is floor, also an unclear one, as in the published evaluator."""
    if isinstance(seen, Maze):
        grid = [["#" if wall else " " for wall in row] for row in seen.walls]
    else:
        grid = [["#" if label == "#" else " " for label in row] for row in seen.grid]
    if seen.goal is not None:
        grid[seen.goal[0]][seen.goal[1]] = "G"
    grid[position[0]][position[1]] = "SG" if position == seen.goal else "S"
    return grid


def published_grids(seen: MazeReading, moves: Iterable[str]) -> list[list[list[str]]]:
    """Return the drawings that the published evaluator expects, from its reading of the input: it must find the agent
    there and nothing else (docs/benchmarks/uni-mmmu.md, "Reading a maze")."""
    if seen.start is None:
        return []
    walls = tuple(tuple(label == "#" for label in row) for row in seen.grid)
    places = replay(Maze(walls, seen.start, seen.goal or seen.start), moves)
    return [expected_grid(seen, place) for place in places]
