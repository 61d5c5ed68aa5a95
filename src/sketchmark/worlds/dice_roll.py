"""Dice roll: roll a die along a path and say which number ends on top.

What you see: a board of 3x3 cells, a path that ends in a tinted cell, and a die at its other end. You see three faces
of the die: the top, the front below it and the right face. Opposite faces have seven dots together. What happens: the
die rolls over one of its lower edges into the next cell of the path, cell by cell. The answer is the number of dots
on top when it reaches the tinted cell, such as ["4"]. There is one right answer.

Levels: level n takes n rolls. Each roll turns three visible faces at once and brings a hidden one up, so a model must
keep one more turn in mind. From level 2 on the path has a bend and from level 4 on two: a turn about another axis
cannot be counted along with the ones before it.

Looks: `plain` (white die, black dots), `night` (dark board, red die), `wood` (chequered board, green die).

Corrupt step: the die is in the right cell, turned as if it had rolled in another direction.

Chance: a random number is right once in six.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import cos, pi, sin
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import ImageDraw

from sketchmark.worlds import LEVELS, boards
from sketchmark.worlds.boards import MOVES, Places, Position, Values
from sketchmark.worlds.steps import Scene, StepWorld

SIDE = 3
NUMBERS = ("1", "2", "3", "4", "5", "6")
_ARROWS = {"up": "^", "down": "v", "left": "<", "right": ">"}
_AHEAD = {arrow: direction for direction, arrow in _ARROWS.items()}
_ROW = re.compile(rf"^([.G^v<>]{{{SIDE}}})$", re.MULTILINE)
_DIE = re.compile(r"^die: row ([1-3]), column ([1-3]), top ([1-6]), front ([1-6]), right ([1-6])$", re.MULTILINE)


class Die(NamedTuple):
    """The three faces of a die that you see."""

    top: int
    front: int
    right: int

    def rolled(self, direction: str) -> Die:
        top, front, right = self
        return {
            "up": Die(front, 7 - top, right),
            "down": Die(7 - front, top, right),
            "left": Die(right, front, 7 - top),
            "right": Die(7 - right, front, top),
        }[direction]


def _turned() -> tuple[Die, ...]:
    """Return the 24 ways in which a die can be placed."""
    found = [Die(1, 2, 3)]
    for die in found:
        found += [after for move in MOVES if (after := die.rolled(move)) not in found]
    return tuple(found)


DICE = _turned()


@dataclass(frozen=True)
class Board(Scene):
    """A path of cells from its start to the tinted cell, and the die in one cell."""

    path: tuple[Position, ...]
    at: Position
    die: Die


class _Look(NamedTuple):
    page: str
    cell: str
    other: str
    """Colour of every second cell."""
    line: str
    path: str
    goal: str
    body: str
    dot: str


_LOOKS = {
    "plain": _Look("#f1f3f6", "#c6d0e0", "#c6d0e0", "#9eabc0", "#3f76cf", "#ffd766", "#efefec", "#343b47"),
    "night": _Look("#12151f", "#2a3042", "#2a3042", "#485068", "#8b93ad", "#1f7f6b", "#d8343f", "#ffffff"),
    "wood": _Look("#8a5a34", "#f0dcb8", "#e0c493", "#a87c4e", "#b5432f", "#a9bfe8", "#2f7d45", "#fff6d8"),
}
_EDGE, _CELL = 0.05, 0.3
"""Margin of the board and side of a cell, as proportions of the image."""
_CORNER, _FACE, _DEPTH = 0.08, 0.56, 0.28
"""Of a cell: place and side of the die's top, and how far down and right its other faces reach."""
_SHADES = (0.0, 0.16, 0.34)
_DOT = (0.095, 0.12, 0.12)
"""Radius of a dot on the top, the front and the right face, as a proportion of the face."""
_SITES = np.array([(0.24, 0.24), (0.76, 0.76), (0.76, 0.24), (0.24, 0.76), (0.24, 0.5), (0.76, 0.5), (0.5, 0.5)])
"""Places of dots on a face (across, down)."""
_DOTS = {1: (6,), 2: (0, 1), 3: (0, 1, 6), 4: (0, 1, 2, 3), 5: (0, 1, 2, 3, 6), 6: (0, 1, 2, 3, 4, 5)}
_ROUND = np.array([(cos(pi * n / 8), sin(pi * n / 8)) for n in range(16)])
_SHOWN = np.array([[site in _DOTS[number] for number in die for site in range(7)] for die in DICE], float)
"""A row for each way to place a die: the sites that have a dot on the top, the front and the right face."""
_MIDDLE = np.array([0.5, 0.5])
_SURE = 0.16
"""Largest mean squared difference between dots that were seen and those of a die."""


def _on_face(face: int, points: Places) -> Places:
    """Places on a face, 0 to 1 across and down → places in the cell. Depth goes down and to the right."""
    s, k = _FACE, _DEPTH
    across, down = [((s, 0), (0, s)), ((s, 0), (k, k)), ((k, k), (0, s))][face]
    corner = [(0, 0), (0, s), (s, 0)][face]
    found: Places = _CORNER + np.array(corner) + points @ np.array((across, down))
    return found


_CORNERS = [_on_face(face, np.array([(0.0, 0.0), (1, 0), (1, 1), (0, 1)])) for face in range(3)]
_SITES_SEEN = np.concatenate([_on_face(face, _SITES) for face in range(3)])


def _on_page(cell: Position, places: Places) -> Places:
    """Places in a cell (x, y) → proportions of the image."""
    found: Places = _EDGE + _CELL * (np.array(cell[::-1]) + places)
    return found


def _step(cell: Position, direction: str) -> Position | None:
    row, col = cell[0] + MOVES[direction][0], cell[1] + MOVES[direction][1]
    return (row, col) if 0 <= row < SIDE and 0 <= col < SIDE else None


_CELLS = [(row, col) for row in range(SIDE) for col in range(SIDE)]
_LINKS = [(cell, to) for cell in _CELLS for move in ("down", "right") if (to := _step(cell, move))]
_BORDERS = np.array([(_on_page(one, _MIDDLE) + _on_page(other, _MIDDLE)) / 2 for one, other in _LINKS])
_GOAL_PLACES = np.concatenate([_on_page(cell, np.array([(0.9, 0.1), (0.1, 0.9)])) for cell in _CELLS])
_RIMS = np.concatenate([_on_page(cell, _on_face(0, np.array([(0.5, 0.12), (0.12, 0.37)]))) for cell in _CELLS])
"""The places at which a reader looks: between cells, in corners that a die leaves free, and on its top."""


def _directions(path: Sequence[Position]) -> list[str]:
    """Return the directions from cell to cell."""
    names = {change: name for name, change in MOVES.items()}
    return [names[after[0] - before[0], after[1] - before[1]] for before, after in pairwise(path)]


class DiceRoll(StepWorld[Board]):
    name = "dice_roll"
    about = "Boards of 3x3 cells with a path, along which a die rolls."
    palettes = _LOOKS
    chances = (1 / 6,) * len(LEVELS)
    vocabulary = frozenset(NUMBERS)
    answers_in_moves = False

    def generate(self, dice: Random, level: int, look: str) -> Board:
        while True:
            path = [(dice.randrange(SIDE), dice.randrange(SIDE))]
            for _ in range(level):
                ahead = [cell for move in MOVES if (cell := _step(path[-1], move)) and cell not in path]
                if ahead:
                    path.append(dice.choice(ahead))
            ways = _directions(path)
            if len(ways) == level and sum(one != other for one, other in pairwise(ways)) >= level // 2:
                return Board(tuple(path), path[0], dice.choice(DICE), look=look)

    def solve(self, state: Board) -> list[str]:
        return _directions(state.path[state.path.index(state.at) :]) if state.at in state.path else []

    def choices(self, state: Board) -> Sequence[str]:
        """All rolls, and for the next cell of the path also the die turned as by other rolls."""
        return [*MOVES, *(f"{move} as {other}" for move in self.solve(state)[:1] for other in MOVES if other != move)]

    def legal(self, state: Board, step: str) -> bool:
        return [step] == self.solve(state)[:1]

    def after(self, state: Board, move: str) -> Board:
        to, _, turned = move.partition(" as ")
        cell = _step(state.at, to) if to in MOVES and (turned or to) in MOVES else None
        return replace(state, at=cell, die=state.die.rolled(turned or to)) if cell else state

    def astray(self, state: Board, move: str, before: str, rng: Random) -> Board | None:
        """Return the die in the right cell, turned wrongly."""
        wrong = [other for other in self.choices(state) if other.startswith(f"{move} as ")]
        return self.after(state, rng.choice(wrong)) if wrong else None

    def conclude_from(self, first: Board, moves: Sequence[str]) -> list[str]:
        return [str(self._after_all(first, moves).die.top)]

    def guessed(self, rng: Random) -> list[str]:
        return [rng.choice(NUMBERS)]

    def write(self, state: Board) -> str:
        signs = {cell: _ARROWS[move] for cell, move in zip(state.path, _directions(state.path), strict=False)}
        signs[state.path[-1]] = "G"
        rows = ["".join(signs.get((row, col), ".") for col in range(SIDE)) for row in range(SIDE)]
        (row, col), (top, front, right) = state.at, state.die
        return "\n".join((*rows, f"die: row {row + 1}, column {col + 1}, top {top}, front {front}, right {right}"))

    def parse(self, text: str) -> Board | None:
        rows, found = _ROW.findall(text), _DIE.findall(text)
        if len(rows) != SIDE or len(found) != 1:
            return None
        signs = {(row, col): sign for row, line in enumerate(rows) for col, sign in enumerate(line) if sign != "."}
        links = [(cell, _step(cell, _AHEAD[sign])) for cell, sign in signs.items() if sign != "G"]
        goals = [cell for cell, sign in signs.items() if sign == "G"]
        row, col, *faces = map(int, found[0])
        if Die(*faces) not in DICE or len(goals) != 1:
            return None
        path = _path(goals[0], [(cell, to) for cell, to in links if to])
        return Board(path, (row - 1, col - 1), Die(*faces)) if path and len(path) == len(signs) else None

    def paint_on(self, pen: ImageDraw.ImageDraw, state: Board, size: int) -> None:
        look = _LOOKS[state.look or "plain"]

        def shape(cell: Position, corners: Places, fill: str, outline: str | None = None) -> None:
            points = (_on_page(cell, corners) * size).ravel().tolist()
            pen.polygon(points, fill=fill, outline=outline, width=max(1, size // 256))

        def block(cell: Position, left: float, top: float, right: float, bottom: float, fill: str) -> None:
            (x0, y0), (x1, y1) = (_on_page(cell, np.array([(left, top), (right, bottom)])) * size).tolist()
            pen.rectangle((x0, y0, x1 - 1, y1 - 1), fill=fill)

        block((0, 0), -0.03, -0.03, SIDE + 0.03, SIDE + 0.03, look.line)
        for row, col in np.ndindex(SIDE, SIDE):
            plain = look.other if (row + col) % 2 else look.cell
            block((row, col), 0.015, 0.015, 0.985, 0.985, look.goal if (row, col) == state.path[-1] else plain)
        for before, after in pairwise(state.path):
            first, last = sorted((before, after))
            block(first, 0.43, 0.43, 0.57 + last[1] - first[1], 0.57 + last[0] - first[0], look.path)
        block(state.path[-1], 0.36, 0.36, 0.64, 0.64, look.path)
        for face, number in enumerate(state.die):
            fill = boards.mixed(look.body, "#000000", _SHADES[face])
            shape(state.at, _CORNERS[face], fill, boards.mixed(look.body, "#000000", 0.6))
            for site in _DOTS[number]:
                shape(state.at, _on_face(face, _SITES[site] + _DOT[face] * _ROUND), look.dot)

    def see(self, values: Values, name: str) -> Board | None:
        look = _LOOKS[name]

        def likeness(places: Places, spread: float, sought: str, strict: bool = False) -> NDArray[np.float64]:
            return _likeness(boards.colours_at(values, places, spread * _CELL), look.cell, sought, strict)

        goals = likeness(_GOAL_PLACES, 0.03, look.goal).reshape(-1, 2).min(axis=1)
        on_path = likeness(_BORDERS, 0.035, look.path)
        path = _path(
            _CELLS[int(goals.argmax())], [link for link, at in zip(_LINKS, on_path, strict=True) if at > 0.6]
        )
        dice = likeness(_RIMS, 0.02, look.body, strict=True).reshape(-1, 2).min(axis=1)
        at = _CELLS[int(dice.argmax())]
        die = _die_in(boards.colours_at(values, _on_page(at, _SITES_SEEN), 0.012 * _CELL), look)
        return Board(path, at, die) if path and die else None


def _likeness(colours: Places, ground: str | Sequence[str], sought: str, strict: bool = False) -> NDArray[np.float64]:
    """Return how far each colour is on the way from the ground's to the one that is sought, from 0 to 1; if `strict`,
    without these limits and less its distance from that way."""
    begin = boards.rgb8(*([ground] if isinstance(ground, str) else ground)).astype(float)
    way = boards.rgb8(sought).astype(float) - begin
    found: NDArray[np.float64] = ((colours - begin) * way).sum(axis=1) / (way**2).sum(axis=1)
    if not strict:
        return found.clip(0, 1)
    found -= np.linalg.norm(colours - begin - found[:, None] * way, axis=1) / np.linalg.norm(way, axis=1)
    return found


def _die_in(colours: Places, look: _Look) -> Die | None:
    """Return the die whose dots are where the sites of three faces have the colour of dots."""
    bodies = [boards.mixed(look.body, "#000000", shade) for shade in _SHADES for _ in _SITES]
    away = ((_SHOWN - _likeness(colours, bodies, look.dot)) ** 2).mean(axis=1)
    return DICE[int(away.argmin())] if away.min() <= _SURE else None


def _path(goal: Position, links: Sequence[tuple[Position, Position]]) -> tuple[Position, ...] | None:
    """Return the path of these links that ends in a cell; None if they are not one path."""
    path, left = [goal], [set(link) for link in links]
    while ahead := [link for link in left if path[-1] in link]:
        (cell,) = ahead[0] - {path[-1]}
        if len(ahead) > 1 or cell in path:
            return None
        left.remove(ahead[0])
        path.append(cell)
    return tuple(reversed(path)) if len(path) > 1 and not left else None


WORLD = DiceRoll().world(__doc__ or "")
