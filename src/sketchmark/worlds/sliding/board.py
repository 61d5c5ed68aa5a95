"""Sliding puzzles of coloured tiles: n*n cells, one of them empty.

What you see: a square board on a page, each cell one colour; the red cell is the empty one. What you may do: slide a
neighbouring tile into the empty cell; the move is named by the direction in which the TILE moves. It ends in the goal
state, which all puzzles of a size share: the colours in reading order, the empty cell first. The look `plain` and its
reading follow Uni-MMMU; the first nine colours are the published ones.

One shortest list of moves; `sliding_solved` accepts longer ones too. Ground-truth images show one move more each.
Levels: level n is n moves from the goal, so a model must keep one more move in mind. Without a level it is 2 to 8
moves (`min_depth`, `max_depth`), in `sliding_hard` 14 to 20.

Looks: `plain` (white page), `night` (dark page, bright tiles) and `cloth` (beige page, dark tiles with gaps). Their
colours have the same names, in other shades. A set with a level has the looks in turn; without one all is `plain`.

Corrupt step: the last move slides another tile.

Chance: up to 12 random moves are the solution of level 1 once in 48, and each level is four times as hard to guess.

The distance to the goal comes from a table of all states up to 3x3, and from a search beyond.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import factorial, isqrt
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sketchmark.errors import BadInput
from sketchmark.media import Picture
from sketchmark.media.pixels import Recent
from sketchmark.worlds import boards, renderings
from sketchmark.worlds.boards import MOVES

State = tuple[int, ...]
EMPTY = 1
OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}


def side_of(state: State) -> int:
    side = isqrt(len(state))
    if side * side != len(state) or sorted(state) != list(range(1, len(state) + 1)):
        raise BadInput(
            f"{list(state)} is not a sliding puzzle", "the numbers 1 to n*n, each once; 1 is the empty cell"
        )
    return side


@lru_cache(maxsize=8)
def _sources(n: int) -> tuple[dict[str, int], ...]:
    """For each place of the empty cell: the moves possible there, and where the tile comes from. A tile that moves up
    comes from below the empty cell, and so on."""
    inside = range(n)
    return tuple(
        {m: (row - dr) * n + col - dc for m, (dr, dc) in MOVES.items() if row - dr in inside and col - dc in inside}
        for row, col in np.ndindex(n, n)
    )


def legal_moves(state: State) -> list[str]:
    return list(_sources(isqrt(len(state)))[state.index(EMPTY)])


def apply(state: State, move: str) -> State | None:
    """The state after a move; None if no tile can move that way."""
    return moved(state, move) if move in legal_moves(state) else None


def moved(state: State, move: str) -> State:
    empty = state.index(EMPTY)
    source = _sources(isqrt(len(state)))[empty][move]
    after = list(state)
    after[empty], after[source] = after[source], EMPTY
    return tuple(after)


def is_solvable(state: State, goal: State) -> bool:
    """Every move swaps two cells and takes the empty one a step, so the two parities must agree."""
    n = side_of(state)
    if side_of(goal) != n:
        return False
    places = [goal.index(number) for number in state]
    swaps = sum(places[i] > places[j] for i in range(len(places)) for j in range(i + 1, len(places)))
    here, there = divmod(state.index(EMPTY), n), divmod(goal.index(EMPTY), n)
    return (swaps + abs(here[0] - there[0]) + abs(here[1] - there[1])) % 2 == 0


def unrank(rank: int, n: int) -> State:
    left = list(range(1, n * n + 1))
    state = []
    for size in range(n * n, 0, -1):
        place, rank = divmod(rank, factorial(size - 1))
        state.append(left.pop(place))
    return tuple(state)


def _ranks(states: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The number of each state (a row) among all orders of its cells, the sorted one being 0."""
    count, cells = states.shape
    ranks = np.zeros(count, np.int64)
    for place in range(cells):
        smaller = (states[:, place + 1 :] < states[:, place : place + 1]).sum(axis=1)
        ranks += smaller * factorial(cells - 1 - place)
    return ranks


@dataclass(frozen=True)
class Depths:
    """Distance to the goal and number of optimal solutions of every state, by rank (255 and 0: cannot be solved)."""

    depth: NDArray[np.uint8]
    solutions: NDArray[np.int64]

    def descend(self, state: State) -> list[str]:
        moves = []
        while depth := int(self.depth[rank_of(state)]):
            move = next(m for m in legal_moves(state) if self.depth[rank_of(moved(state, m))] < depth)
            state = moved(state, move)
            moves.append(move)
        return moves


def rank_of(state: State) -> int:
    smaller = (sum(later < number for later in state[place:]) for place, number in enumerate(state, start=1))
    return sum(count * factorial(len(state) - place) for place, count in enumerate(smaller, start=1))


@lru_cache(maxsize=64)
def fewest_solutions(n: int, depth: int) -> NDArray[np.intp]:
    """The ranks of the states of a depth that have one optimal solution, or else as few as there are."""
    depths = table(n)
    there = np.flatnonzero(depths.depth == depth)
    counts = depths.solutions[there]
    fewest: NDArray[np.intp] = there[counts == counts.min()]
    return fewest


@lru_cache(maxsize=2)
def table(n: int) -> Depths:
    """All states of an n*n board (n up to 3), breadth first from the goal; a fraction of a second, made once."""
    cells = n * n
    depth = np.full(factorial(cells), 255, np.uint8)
    solutions = np.zeros(factorial(cells), np.int64)
    states = np.arange(1, cells + 1, dtype=np.uint8)[None]
    ranks = _ranks(states)
    depth[ranks], solutions[ranks] = 0, 1
    level = 0
    while len(states):
        level += 1
        after, origins = [], []
        for place, sources in enumerate(_sources(n)):
            here = np.flatnonzero(states[:, place] == EMPTY)
            for source in sources.values():
                swapped = states[here]
                swapped[:, place], swapped[:, source] = swapped[:, source].copy(), EMPTY
                after.append(swapped)
                origins.append(ranks[here])
        reached, origin = np.concatenate(after), np.concatenate(origins)
        found = _ranks(reached)
        new = depth[found] == 255
        np.add.at(solutions, found[new], solutions[origin[new]])
        ranks, first = np.unique(found[new], return_index=True)
        states = reached[new][first]
        depth[ranks] = level
    return Depths(depth, solutions)


def search(state: State, goal: State, most: int | None = None, deepest: int = 31) -> list[list[str]]:
    """All shortest solutions (at most `most`), in the order of MOVES: iterative deepening on the Manhattan distance.
    Every move changes that distance by one, so only every other limit can succeed. Empty if there is no solution
    within `deepest` moves."""
    n = side_of(state)
    home = {number: divmod(place, n) for place, number in enumerate(goal)}
    away = [
        [abs(r - home[number][0]) + abs(c - home[number][1]) if number != EMPTY else 0 for r, c in np.ndindex(n, n)]
        for number in range(1, n * n + 1)
    ]
    sources = _sources(n)
    cells, path, found = list(state), list[str](), list[list[str]]()
    estimate = sum(away[number - 1][place] for place, number in enumerate(state))

    def dive(empty: int, estimate: int, left: int) -> None:
        if estimate == 0:
            if left == 0:
                found.append(path.copy())
            return
        for move, source in sources[empty].items():
            if path and move == OPPOSITE[path[-1]]:
                continue
            number = cells[source]
            after = estimate - away[number - 1][source] + away[number - 1][empty]
            if after < left:
                cells[empty], cells[source] = number, EMPTY
                path.append(move)
                dive(source, after, left - 1)
                path.pop()
                cells[source], cells[empty] = number, EMPTY
            if most is not None and len(found) >= most:
                return

    for limit in range(estimate, deepest + 1, 2):
        dive(state.index(EMPTY), estimate, limit)
        if found:
            return found
    return []


COLOURS = (
    *("#e41a1c", "#377eb8", "#4daf4a", "#984ea3", "#ff7f00", "#ffff33", "#a65628", "#f781bf", "#999999"),
    *("#000000", "#00ffff", "#0000ff", "#ff00ff", "#00ff00", "#2d0f78", "#87ff00", "#5affa5"),
    *("#007800", "#7800ff", "#ff0087", "#78c3ff", "#69000f", "#00f069", "#c3ff87", "#f0a55a"),
)
"""Number 1 (empty) first; nine are published (docs/benchmarks/uni-mmmu.md, "Colours"), those from the tenth on chosen
far from each other, from the nine and from white."""

PLAIN = "plain"


class Look(NamedTuple):
    """Colours of a look, those of tiles by their number, and how many gaps would fill a cell."""

    page: str
    tiles: tuple[str, ...]
    gaps: int = 60


_BRIGHT = "#ff4d4f", "#4f8cff", "#3ddc84", "#a855f7", "#ff9f1c", "#fff275", "#8d5a34", "#ff9ecf", "#9aa5b1", "#ffffff"
_DARK = "#b3261e", "#1d3f8f", "#1f6b3a", "#7a2fa0", "#e8851f", "#f2d41f", "#5c3a1e", "#d96c9f", "#8a929c"
LOOKS = {
    PLAIN: Look("#ffffff", COLOURS),
    "night": Look("#111827", (*_BRIGHT, *COLOURS[10:])),
    "cloth": Look("#e8dcc8", (*_DARK, *COLOURS[9:]), 14),
}
TOLERANCE = 0.80
_EDGE, _TRACES = 0.03, 0.12
"""The part of a cell at its edges that is not compared; how far two cells may be on the way to each other's colours,
added up."""
DEEPEST = {2: 6, 3: 31, 4: 30, 5: 30}
"""Greatest depth of puzzles of each size: for 2 and 3 the deepest there is, beyond, what a search settles quickly."""
_MIN_CELL, _TRIES = 32, 200


def goal_state(n: int = 3) -> State:
    """The state all puzzles of a size end in: 1 (empty), 2, 3, … in reading order."""
    return tuple(range(1, n * n + 1))


def generate(seed: int, depth: int, n: int = 3) -> State:
    """A state exactly `depth` moves from the goal, with one optimal solution where there is such a state.

    Sizes 2 and 3 are drawn evenly from all states of that depth with one optimal solution. On 3x3 there are such
    states for depths 1 to 29 (six at 29); at depth 30 the fewest is 4 solutions, at 31 it is 40, on 2x2 at depth 6
    it is 2, and then it is drawn from those. Larger boards: random walks from the goal, kept when a search proves the
    depth and that there is one solution.
    """
    deepest = DEEPEST.get(n)
    if deepest is None:
        raise BadInput(f"there are no sliding puzzles of {n}x{n} cells", "2x2 to 5x5")
    if not 1 <= depth <= deepest:
        raise BadInput(f"a {n}x{n} sliding puzzle {depth} moves deep cannot be made", f"1 to {deepest}")
    rng = Random(seed)
    if n <= 3:
        choices = fewest_solutions(n, depth)
        return unrank(int(choices[rng.randrange(len(choices))]), n)
    best: State | None = None
    for _ in range(_TRIES):
        state = _walk(rng, goal_state(n), depth)
        solutions = search(state, goal_state(n), most=2, deepest=depth)
        if solutions and len(solutions[0]) == depth:
            if len(solutions) == 1:
                return state
            best = best or state
    if best is None:
        raise BadInput(f"no {n}x{n} sliding puzzle {depth} moves deep was found with seed {seed}", "another seed")
    return best


def _walk(rng: Random, state: State, steps: int) -> State:
    """`steps` random moves, none of which takes back the one before."""
    back = ""
    for _ in range(steps):
        moves = [move for move in legal_moves(state) if move != back]
        move = moves[rng.randrange(len(moves))]
        state = moved(state, move)
        back = OPPOSITE[move]
    return state


def solve(state: State, goal: State | None = None) -> list[str]:
    """The shortest list of moves to the goal, of several the first in the order of MOVES; BadInput if none."""
    n = side_of(state)
    goal = goal or goal_state(n)
    if not is_solvable(state, goal):
        raise BadInput(f"the sliding puzzle {list(state)} cannot be brought to {list(goal)}")
    if n <= 3 and goal == goal_state(n):
        return table(n).descend(state)
    solutions = search(state, goal, most=1, deepest=DEEPEST[n])
    if not solutions:
        raise BadInput(f"the sliding puzzle {list(state)} is more than {DEEPEST[n]} moves from its goal")
    return solutions[0]


def around(cell: int) -> int:
    """Return how wide the page is around a board."""
    return max(4, cell // 4)


def render(state: State, *, size: int | None = None, look: str = PLAIN) -> Picture:
    """The picture of a state. `size` is pixels per cell."""
    side = side_of(state)
    cell = 360 // side if size is None else size
    if cell < _MIN_CELL:
        raise BadInput(f"tiles of {cell} pixels are too small to be read back", f"at least {_MIN_CELL}")
    return _rendered(state, side, cell, look)


@lru_cache(maxsize=256)
def _rendered(state: State, side: int, cell: int, look: str) -> Picture:
    """Cached: players that draw right, the oracle canvas and scorers ask for the same ground-truth images."""
    style = LOOKS[look]
    gap, margin = cell // style.gaps, around(cell)
    page = np.zeros((side * cell + 2 * margin,) * 2, np.uint8)
    tiles = np.array(state, np.uint8).reshape(side, side)
    page[margin:-margin, margin:-margin] = tiles.repeat(cell, axis=0).repeat(cell, axis=1)
    for line in range(1, side):
        at = margin + line * cell - gap // 2
        page[at : at + gap] = page[:, at : at + gap] = 0
    return boards.painted(page, boards.rgb8(style.page, *style.tiles[: side * side]))


def replay(state: State, moves: Iterable[str]) -> list[State]:
    """The state after every move; a move that is not possible changes nothing."""
    return [state := apply(state, move) or state for move in moves]


def frames(state: State, moves: Iterable[str], size: int | None = None, look: str = PLAIN) -> list[Picture]:
    """The true picture after every move."""
    return [render(after, size=size, look=look) for after in replay(state, moves)]


def read(picture: Picture, n: int = 3, *, published: bool = False, look: str = PLAIN) -> list[list[int | str]]:
    """The number of each cell's colour, or `?` where no colour covers 80% of it
    (docs/benchmarks/uni-mmmu.md, "Reading a sliding puzzle"). `published` looks for the board where the published
    evaluator looks, also in a wide or tall picture."""
    boards.check_grid(n, n, most=5)
    key = (picture.digest, n, published, look)
    seen = _READINGS.get(key) or _READINGS.keep(key, _read(picture, n, published, look))
    return [row.copy() for row in seen]


_READINGS: Recent[list[list[int | str]]] = Recent(1024)
"""The same pixels read the same: a drawing is read by who drew it and by the scorer."""


def _read(picture: Picture, n: int, published: bool, look: str) -> list[list[int | str]]:
    pixels, tiles = boards.pixels_of(picture), boards.rgb01(*LOOKS[look].tiles[: n * n])
    box = _find(pixels, n, look, published)
    labels = boards.nearest(pixels, tiles)[box.top : box.bottom, box.left : box.right]
    shares = boards.cell_shares(labels, boards.cells(boards.Box(0, 0, *labels.shape), n, n), n * n)
    numbers, sure = shares.argmax(axis=-1) + 1, shares.max(axis=-1) >= np.float32(TOLERANCE)
    return [
        [int(number) if certain else "?" for number, certain in zip(*row, strict=True)]
        for row in zip(numbers, sure, strict=True)
    ]


def read_strictly(picture: Picture, n: int = 3, *, look: str = PLAIN) -> list[list[int | str]]:
    """Read a picture like `read`, with `?` for each tile that shows something else too, or another shade. A mark
    around the board makes all tiles unclear."""
    seen = read(picture, n, look=look)
    key = (picture.digest, n, look)
    unclear = _UNCLEAR.get(key)
    if unclear is None:
        unclear = _UNCLEAR.keep(key, _unclear(picture, seen, look).tolist())
    return [["?" if bad else cell for cell, bad in zip(*row, strict=True)] for row in zip(seen, unclear, strict=True)]


_UNCLEAR: Recent[list[list[bool]]] = Recent(1024)


def _unclear(picture: Picture, seen: list[list[int | str]], look: str) -> NDArray[np.bool_]:
    n, pixels, (page, tiles, gaps) = len(seen), boards.pixels_of(picture), LOOKS[look]
    strict = boards.Look(boards.rgb01(page, *tiles[: n * n]), outside=(0,), between=(0,))
    shown = [[range(n * n + 1) if cell == "?" else (int(cell),) for cell in row] for row in seen]
    ends = edges(picture, n, look)
    bad, state = boards.stained(pixels, ends, shown, strict), to_state(seen)
    if state is not None:
        middles = boards.middles(pixels, ends, 1 - 1 / gaps - _EDGE).reshape(-1, 3)
        own = _as_shown(strict.palette[list(state)], middles)
        share = boards.towards(middles[:, None], own[:, None], own[None])
        bad |= (share + share.T > _TRACES).any(axis=1).reshape(n, n)
    return bad


def edges(picture: Picture, n: int, look: str = PLAIN) -> tuple[list[int], list[int]]:
    """Return the edges of the cells in an image, as the reader finds them."""
    return boards.cells(_find(boards.pixels_of(picture), n, look), n, n)


def _find(pixels: boards.Pixels, n: int, look: str, published: bool = False) -> boards.Box:
    page, tiles, _ = LOOKS[look]
    ends = (pixels.height, pixels.width) if published else None
    return boards.find_board(pixels, boards.rgb01(*tiles[: n * n]), boards.rgb01(page), 0.002, published=ends)


def to_state(reading: list[list[int | str]]) -> State | None:
    """The state that was read; None if a cell is unclear or a colour is missing."""
    numbers = [number for row in reading for number in row if isinstance(number, int)]
    return tuple(numbers) if sorted(numbers) == list(range(1, sum(map(len, reading)) + 1)) else None


def _as_shown(palette: boards.Colours, shown: boards.Colours) -> boards.Colours:
    """Return the colours of a palette after the even change, within limits, that brings them nearest to those that an
    image shows. Single colours that are off have little weight."""
    gain, offset = renderings.recolouring(palette.T * 255, shown.T * 255)
    found: boards.Colours = (palette * gain[:, 0] + offset[:, 0] / 255).clip(0, 1)
    return found
