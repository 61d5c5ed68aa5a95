"""Generator of mazes: a winding path, then as much open floor as keeps it the only shortest path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random

from sketchmark.errors import BadInput
from sketchmark.worlds.boards import MOVES, Position, check_grid

_STEPS = tuple(MOVES.values())
_MOST_CELLS_A_SIDE = 100


@dataclass(frozen=True)
class Maze:
    """`walls[row][col]` is True for a wall. Start and goal are (row, col) of floor cells. Two mazes are equal if they
    show the same, in whatever look."""

    walls: tuple[tuple[bool, ...], ...]
    start: Position
    goal: Position
    look: str = field(default="", compare=False, kw_only=True)

    @property
    def rows(self) -> int:
        return len(self.walls)

    @property
    def cols(self) -> int:
        return len(self.walls[0])


def distances_from(walls: Sequence[Sequence[bool]], origin: Position) -> dict[Position, int]:
    """Steps from `origin` to every floor cell that can be reached, nearest first."""
    away = {origin: 0}
    queue = [origin]
    for at in queue:
        for dr, dc in _STEPS:
            then = row, col = at[0] + dr, at[1] + dc
            if 0 <= row < len(walls) and 0 <= col < len(walls[0]) and then not in away and not walls[row][col]:
                away[then] = away[at] + 1
                queue.append(then)
    return away


@lru_cache(maxsize=16)
def longest_way(rows: int, cols: int) -> int:
    """The longest shortest way that can be promised: a snake through every other row (or column). A few steps more
    are possible on some boards (23 instead of 20 on 6x6), but not found reliably."""
    return max(len(_snake(rows, cols)), len(_snake(cols, rows))) - 1


def generate(seed: int, rows: int = 6, cols: int = 6, min_steps: int = 3, max_steps: int = 12) -> Maze:
    """A maze whose only shortest way from start to goal has `min_steps` to `max_steps` steps.

    The length is drawn evenly from the wanted range (as far as the board can hold it), then a random way of that
    length that never touches itself, then other cells are opened in random order, each only if every way through it
    is longer. How many and which differs from maze to maze: from winding corridors to wide rooms with pillars.
    """
    check_grid(rows, cols, _MOST_CELLS_A_SIDE)
    longest = longest_way(rows, cols)
    if not 1 <= min_steps <= max_steps:
        raise BadInput(f"no maze has {min_steps} to {max_steps} steps", "at least 1, and the smaller number first")
    if min_steps > longest:
        raise BadInput(f"a {rows}x{cols} maze has no way of {min_steps} steps", f"at most {longest}")
    rng = Random(seed)
    steps = rng.randint(min_steps, min(max_steps, longest))
    way = _wander(rng, rows, cols, steps) or _cut_snake(rng, rows, cols, steps)
    walls = _open_up(rng, rows, cols, way)
    return Maze(tuple(map(tuple, walls)), way[0], way[-1])


@lru_cache(maxsize=16)
def _neighbours(rows: int, cols: int) -> dict[Position, list[Position]]:
    return {
        (row, col): [(row + dr, col + dc) for dr, dc in _STEPS if 0 <= row + dr < rows and 0 <= col + dc < cols]
        for row in range(rows)
        for col in range(cols)
    }


def _wander(rng: Random, rows: int, cols: int, steps: int) -> list[Position] | None:
    """A random way that is nowhere next to an earlier part of itself; None if not found within a few tries. Such a
    way is the shortest one between its ends when all else is wall. Each dead end goes back half the way."""
    around = _neighbours(rows, cols)
    way = [(rng.randrange(rows), rng.randrange(cols))]
    used = set(way)
    for _ in range(40 + 8 * steps):
        if len(way) > steps:
            return way
        onward = [
            then for then in around[way[-1]] if then not in used and sum(near in used for near in around[then]) == 1
        ]
        if onward:
            way.append(onward[rng.randrange(len(onward))])
            used.add(way[-1])
        else:
            used.difference_update(way[1 + len(way) // 2 :])
            del way[1 + len(way) // 2 :]
    return None


def _snake(rows: int, cols: int) -> list[Position]:
    """Along every other row, down at alternating ends."""
    way: list[Position] = []
    for row in range(rows):
        if row % 4 in (0, 2):
            across = range(cols) if row % 4 == 0 else range(cols - 1, -1, -1)
            way += [(row, col) for col in across]
        else:
            way.append((row, cols - 1 if row % 4 == 1 else 0))
    return way


def _cut_snake(rng: Random, rows: int, cols: int, steps: int) -> list[Position]:
    """A stretch of a snake, turned and flipped at random: the fallback for ways too long to wander into."""
    down, across = _snake(rows, cols), [(row, col) for col, row in _snake(cols, rows)]
    choices = [way for way in (down, across) if len(way) > steps]
    way = choices[rng.randrange(len(choices))]
    begin = rng.randrange(len(way) - steps)
    way = way[begin : begin + steps + 1]
    if rng.randrange(2):
        way = [(rows - 1 - row, col) for row, col in way]
    if rng.randrange(2):
        way = [(row, cols - 1 - col) for row, col in way]
    return way[::-1] if rng.randrange(2) else way


def _open_up(rng: Random, rows: int, cols: int, way: list[Position]) -> list[list[bool]]:
    """Open floor around a path. A cell may open if start to cell to goal is longer than the path, which stays unique.
    Floor grows from floor. How often a cell may join several floor cells decides between corridors and rooms."""
    around = _neighbours(rows, cols)
    far = rows * cols + 1
    from_start, from_goal = ([[far] * cols for _ in range(rows)] for _ in range(2))
    walls = [[True] * cols for _ in range(rows)]
    for index, (row, col) in enumerate(way):
        walls[row][col] = False
        from_start[row][col], from_goal[row][col] = index, len(way) - 1 - index
    others = [(row, col) for row in range(rows) for col in range(cols) if walls[row][col]]
    rng.shuffle(others)
    wanted, roomy = rng.randint(len(others) // 3, len(others)), max(0, rng.randrange(6) - 3)
    for row, col in others * 3:
        if not wanted:
            break
        near = [(r, c) for r, c in around[row, col] if not walls[r][c]]
        if not walls[row][col] or not near or (len(near) > 1 and rng.randrange(5) >= roomy):
            continue
        to_start = min(from_start[r][c] for r, c in near) + 1
        to_goal = min(from_goal[r][c] for r, c in near) + 1
        if to_start + to_goal >= len(way):
            walls[row][col] = False
            wanted -= 1
            _relax(walls, around, from_start, (row, col), to_start)
            _relax(walls, around, from_goal, (row, col), to_goal)
    return walls


def _relax(
    walls: list[list[bool]],
    around: dict[Position, list[Position]],
    away: list[list[int]],
    origin: Position,
    value: int,
) -> None:
    """Distances after `origin` has opened at `value`, passed on as far as they get shorter."""
    queue = [(origin, value)]
    for (row, col), steps in queue:
        if steps < away[row][col]:
            away[row][col] = steps
            queue += [(then, steps + 1) for then in around[row, col] if not walls[then[0]][then[1]]]
