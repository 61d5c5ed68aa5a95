"""What a player understands of a context: which puzzle it is, what is wanted now, and what the pictures show.

Everything here comes from the texts and pixels of the context. A player has no other source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from sketchmark.parts import Context, Part, Picture
from sketchmark.worlds import boards
from sketchmark.worlds import maze as mazes
from sketchmark.worlds import sliding as slidings

World = Literal["maze", "sliding", "jigsaw", "voila", "other"]
Wanted = Literal["plan", "describe", "final"]

_MOVE = re.compile(r"\b(up|down|left|right)\b", re.IGNORECASE)
_SQUARE = [(n, n) for n in (6, *range(2, 6), *range(7, 26))]
_OBLONG = [(rows, cols) for rows in range(2, 16) for cols in range(2, 16) if rows != cols]


def world_of(context: Context) -> World:
    for text in context.texts:
        if "maze solver" in text:
            return "maze"
        if "sliding puzzle solver" in text:
            return "sliding"
        if "2×2 reference image" in text or "2x2 reference image" in text:
            return "jigsaw"
        if "fourth image" in text or "first three images" in text:
            return "voila"
    return "other"


def wanted(context: Context) -> Wanted:
    """What the last text asks for."""
    last = context.texts[-1] if context.texts else ""
    if re.search(r"\bplann?ing for step\b", last):
        return "plan"
    if re.search(r"\bdescri(be|ption) in words\b", last):
        return "describe"
    return "final"


def may_stop(context: Context) -> bool:
    return "DONE" in context.texts[-1]


@dataclass(frozen=True)
class Board:
    """A puzzle as it stands in the context: the newest problem's pictures, and what came after them."""

    initial: Picture
    goal: Picture | None
    later: tuple[Part, ...]

    @property
    def drawings(self) -> list[Picture]:
        """Every picture after the problem's own. Not by author: over the wire a drawing comes back in a user's
        message, because most APIs take no pictures from the assistant."""
        return [part.content for part in self.later if isinstance(part.content, Picture)]

    @property
    def plans(self) -> list[str]:
        """The moves of this episode's plans, in order: the player's own words."""
        moves = []
        for part in self.later:
            if (
                part.by == "model"
                and part.text
                and (found := _MOVE.search(part.text))
                and "move" in part.text.lower()
            ):
                moves.append(found[1].lower())
        return moves


def board_of(context: Context) -> Board | None:
    """The first picture after the demonstration, if there is one, is the problem."""
    parts = list(context)
    start = max((i for i, part in enumerate(parts) if "DEMONSTRATION" in (part.text or "")), default=-1)
    first = next((i for i, part in enumerate(parts) if i > start and part.picture), None)
    if first is None:
        return None
    initial = parts[first].picture
    assert initial is not None
    goal = labelled(context, "FINAL state:")
    own = [i for i, part in enumerate(parts) if i > first and goal and part.picture == goal][:1]
    later = tuple(parts[(own[0] if own else first) + 1 :])
    return Board(initial, goal or labelled(context, "final state to reach"), later)


def labelled(context: Context, label: str) -> Picture | None:
    """The picture right behind the last text that says `label`."""
    found = [after.picture for text, after in pairwise(context) if label in (text.text or "") and after.picture]
    return found[-1] if found else None


@lru_cache(maxsize=512)
def read_maze(picture: Picture) -> mazes.Maze | None:
    """The maze in a picture, of whatever size makes sense of it; None if it is no maze."""
    for rows, cols in _likely_sizes(picture):
        reading = mazes.read(picture, rows, cols)
        cells = [cell for row in reading.grid for cell in row]
        marks = (cells.count("S"), cells.count("G"), cells.count("SG"))
        if "?" not in cells and marks in ((1, 1, 0), (0, 0, 1)):
            return mazes.to_maze(reading)
    return None


def _likely_sizes(picture: Picture) -> Iterator[tuple[int, int]]:
    """First what the goal's green frame tells: it is nearly as wide as its cell. Where nothing is green, no size."""
    pixels = boards.pixels_of(picture)
    content, page = boards.rgb01(mazes.WALL, mazes.START, mazes.GOAL), boards.rgb01(mazes.PAGE, mazes.FLOOR)
    goal = boards.nearest(pixels, boards.rgb01(mazes.FLOOR, mazes.WALL, mazes.START, mazes.GOAL)) == 3
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


@lru_cache(maxsize=512)
def read_sliding(picture: Picture) -> slidings.State | None:
    for n in (3, 2, 4, 5):
        state = slidings.to_state(slidings.read(picture, n))
        if state is not None:
            return state
    return None


def next_move_words(move: str) -> str:
    return f"Next, move one step {move}."
