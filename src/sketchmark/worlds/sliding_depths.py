"""How far sliding puzzles are from being solved: a table of all states up to 3x3, a search beyond."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import factorial, isqrt

import numpy as np
from numpy.typing import NDArray

from sketchmark.errors import BadInput
from sketchmark.worlds.boards import MOVES

State = tuple[int, ...]
EMPTY = 1
OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}


def side_of(state: State) -> int:
    side = isqrt(len(state))
    if side * side != len(state) or sorted(state) != list(range(1, len(state) + 1)):
        raise BadInput(f"{list(state)} is no sliding puzzle", "the numbers 1 to n*n, each once; 1 is the empty cell")
    return side


@lru_cache(maxsize=8)
def _sources(n: int) -> tuple[dict[str, int], ...]:
    """For each place of the empty cell: the moves possible there, and where the tile comes from.

    A tile that moves up comes from below the empty cell, and so on.
    """
    places = []
    for row, col in np.ndindex(n, n):
        found = {move: (row - dr, col - dc) for move, (dr, dc) in MOVES.items()}
        places.append({move: r * n + c for move, (r, c) in found.items() if 0 <= r < n and 0 <= c < n})
    return tuple(places)


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

    def solutions_of(self, state: State) -> int:
        return int(self.solutions[_rank(state)])

    def descend(self, state: State) -> list[str]:
        moves = []
        while depth := int(self.depth[_rank(state)]):
            move = next(m for m in legal_moves(state) if self.depth[_rank(moved(state, m))] < depth)
            state = moved(state, move)
            moves.append(move)
        return moves


def _rank(state: State) -> int:
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
    within `deepest` moves.
    """
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
