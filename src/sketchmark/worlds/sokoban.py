"""Sokoban: push the boxes onto the marks.

What you see: a store of 7x7 cells with walls, a worker (a disc), one or two boxes (red, blue) and as many marks
(green frames). A bar on the page shows which side is up. What you may do: push a box by one cell. The worker walks
to the other side of the box, if the way is free, and pushes it; it cannot pull, and cannot push two boxes or a box
into a wall. A push is named by the box and the direction, such as "red up"; walking costs nothing. The answer is the
list of pushes that brings every box onto a mark, any box onto any mark. Every such list is right, and one list is
shortest.

Levels: level n takes n pushes; from level 3 on there are two boxes. Each level adds a push, and a box that is pushed
into a corner cannot come back, so a model must look one push further ahead.

Looks: `plain`, `night` (dark) and `bricks` (brick walls, planks on the boxes).

Chance: a random list of one to five pushes is right in about 6 of 1,000 puzzles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import NamedTuple

import numpy as np
from PIL import ImageDraw

from sketchmark.worlds import boards
from sketchmark.worlds.boards import MOVES, Position, Values
from sketchmark.worlds.steps import Scene, StepWorld

SIDE = 7
BOXES = ("red", "blue")
_CELL, _EDGE = 0.124, 0.075
"""Side of a cell, and place of the board's left and upper end, as proportions of the image."""
_ROW = re.compile(rf"^[#.xRBrb@+]{{{SIDE}}}$", re.MULTILINE)
_UP_BAR = (0.3, 0.024, 0.7, 0.056)
_Boxes = tuple[Position, ...]


@dataclass(frozen=True)
class Store(Scene):
    """Boxes are in the order of `BOXES`."""

    walls: frozenset[Position]
    marks: frozenset[Position]
    boxes: _Boxes
    worker: Position


class _Look(NamedTuple):
    page: str
    wall: str
    floor: str
    mark: str
    worker: str
    boxes: dict[str, str]
    bricks: bool = False


_LOOKS = {
    "plain": _Look("#d5dde6", "#4a5568", "#fbfbf8", "#2fae4e", "#1a1a1a", {"red": "#d8392b", "blue": "#2b62d8"}),
    "night": _Look("#0d1f16", "#7f8fa6", "#1d2b3a", "#46d66d", "#f3e9a8", {"red": "#ff6b5e", "blue": "#5a9bff"}),
    "bricks": _Look(
        "#b08d5b", "#6d4a3c", "#efe3cc", "#3a9a3f", "#2a2a3c", {"red": "#de2f38", "blue": "#2f7fd0"}, True
    ),
}
_INSIDE = [(row, col) for row in range(1, SIDE - 1) for col in range(1, SIDE - 1)]
_BORDER = frozenset((row, col) for row in range(SIDE) for col in range(SIDE)) - frozenset(_INSIDE)


def _by(place: Position, move: str, times: int = 1) -> Position:
    return place[0] + times * MOVES[move][0], place[1] + times * MOVES[move][1]


_BITS = {(row, col): 1 << row * SIDE + col for row in range(SIDE) for col in range(SIDE)}


def _bits(places: Iterable[Position]) -> int:
    return sum(map(_BITS.__getitem__, places))


@lru_cache(maxsize=4096)
def _region(walls: frozenset[Position], boxes: _Boxes, worker: Position) -> int:
    """Return the cells that the worker can walk to, as the bits of a number. There is a wall all around."""
    free, found, before = ~(_bits(walls) | _bits(boxes)), _bits([worker]), 0
    while found != before:
        before = found
        found |= (found << 1 | found >> 1 | found << SIDE | found >> SIDE) & free
    return found


def _is_in(place: Position, region: int) -> bool:
    return bool(region >> place[0] * SIDE + place[1] & 1)


def _pushed(state: Store, step: str) -> Store | None:
    """Return the store after a push; None if it is not possible."""
    colour, _, move = step.partition(" ")
    if colour not in BOXES[: len(state.boxes)] or move not in MOVES:
        return None
    number = BOXES.index(colour)
    box = state.boxes[number]
    to, behind = _by(box, move), _by(box, move, -1)
    if to in state.walls or to in state.boxes or not _is_in(behind, _region(state.walls, state.boxes, state.worker)):
        return None
    boxes = (*state.boxes[:number], to, *state.boxes[number + 1 :])
    return replace(state, boxes=boxes, worker=box)


def _is_solved(state: Store) -> bool:
    return set(state.boxes) == state.marks


_STEPS = tuple(f"{colour} {move}" for colour in BOXES for move in MOVES)


@lru_cache(maxsize=512)
def _solution(first: Store) -> tuple[str, ...]:
    """Return the shortest list of pushes; none if there is no way within reach."""
    queue: list[tuple[Store, tuple[str, ...]]] = [(first, ())]
    seen = {(first.boxes, _region(first.walls, first.boxes, first.worker))}
    for state, way in queue:
        if _is_solved(state):
            return way
        for step in _STEPS:
            after = _pushed(state, step)
            if after is not None:
                key = (after.boxes, _region(after.walls, after.boxes, after.worker))
                if key not in seen:
                    seen.add(key)
                    queue.append((after, (*way, step)))
    return ()


def _before(walls: frozenset[Position], boxes: _Boxes, region: int) -> list[tuple[_Boxes, Position]]:
    """Return the boxes and the worker's place before each push that leads here."""
    found = []
    for number, box in enumerate(boxes):
        for move in MOVES:
            came, behind = _by(box, move, -1), _by(box, move, -2)
            if _is_in(came, region) and behind not in walls and behind not in boxes:
                found.append(((*boxes[:number], came, *boxes[number + 1 :]), behind))
    return found


def _at_distance(walls: frozenset[Position], marks: _Boxes, level: int) -> list[tuple[_Boxes, int]]:
    """Return the arrangements from which exactly one shortest list of `level` pushes leads onto the marks."""
    ways: dict[tuple[_Boxes, int], int] = {}
    ring: list[tuple[_Boxes, int]] = []
    for boxes in dict.fromkeys((marks, marks[::-1])):
        free = [place for place in _INSIDE if place not in walls and place not in boxes]
        ring += dict.fromkeys((boxes, _region(walls, boxes, place)) for place in free)
    ways |= dict.fromkeys(ring, 1)
    for _ in range(level):
        counted: dict[tuple[_Boxes, int], int] = {}
        for boxes, region in ring:
            for earlier, worker in _before(walls, boxes, region):
                state = (earlier, _region(walls, earlier, worker))
                if state not in ways:
                    counted[state] = counted.get(state, 0) + ways[boxes, region]
        ways |= counted
        ring = list(counted)
    return [state for state in ring if ways[state] == 1]


class Sokoban(StepWorld[Store]):
    name = "sokoban"
    about = "Stores of 7x7 cells with one shortest list of pushes."
    palettes = _LOOKS
    chances = (0.026, 0.0033, 4.2e-4, 4.9e-5, 6.1e-6)
    vocabulary = frozenset((*BOXES, *MOVES))

    def generate(self, dice: Random, level: int, look: str) -> Store:
        while True:
            walls = _BORDER | frozenset(dice.sample(_INSIDE, dice.randint(4, 7)))
            free = [place for place in _INSIDE if place not in walls]
            marks = tuple(dice.sample(free, 1 if level < 3 else 2))
            found = _at_distance(walls, marks, level)
            if found:
                boxes, region = dice.choice(found)
                store = Store(
                    walls,
                    frozenset(marks),
                    boxes,
                    dice.choice([place for place in _INSIDE if _is_in(place, region)]),
                    look=look,
                )
                if self._leaves_a_choice(store):
                    return store

    def _leaves_a_choice(self, state: Store) -> bool:
        """Return whether another push than the right one is possible at the end, for corrupt drawings."""
        for step in self.solve(state)[:-1]:
            state = self.after(state, step)
        return len(self.choices(state)) > 1

    def solve(self, state: Store) -> list[str]:
        return list(_solution(replace(state, look="")))

    def choices(self, state: Store) -> Sequence[str]:
        return [step for step in _STEPS if _pushed(state, step)]

    def after(self, state: Store, move: str) -> Store:
        return _pushed(state, move) or state

    def accepts(self, first: Store, answer: Sequence[str]) -> bool:
        state: Store | None = first
        for step in answer:
            state = _pushed(state, step) if state else None
        return state is not None and _is_solved(state)

    def guessed(self, rng: Random) -> list[str]:
        return [rng.choice(_STEPS) for _ in range(rng.randint(1, 5))]

    def write(self, state: Store) -> str:
        def letter(place: Position) -> str:
            marked = place in state.marks
            if place in state.boxes:
                box = BOXES[state.boxes.index(place)][0]
                return box if marked else box.upper()
            if place == state.worker:
                return "+" if marked else "@"
            return "#" if place in state.walls else "x" if marked else "."

        return "\n".join("".join(letter((row, col)) for col in range(SIDE)) for row in range(SIDE))

    def parse(self, text: str) -> Store | None:
        rows = _ROW.findall(text)
        return _store(rows) if len(rows) == SIDE else None

    def paint_on(self, pen: ImageDraw.ImageDraw, state: Store, size: int) -> None:
        look = _LOOKS[state.look or "plain"]

        def block(place: Position, fill: str, top: float, left: float, bottom: float, right: float) -> None:
            y, x = (_EDGE + _CELL * at for at in place)
            box = [x + _CELL * left, y + _CELL * top, x + _CELL * right, y + _CELL * bottom]
            pen.rectangle(
                [round(size * box[0]), round(size * box[1]), *(round(size * end) - 1 for end in box[2:])], fill
            )

        pen.rectangle([size * end for end in _UP_BAR], look.wall)
        mortar = boards.mixed(look.wall, look.floor, 0.25)
        for row, col in np.ndindex(SIDE, SIDE):
            place = row, col
            block(place, look.wall if place in state.walls else look.floor, 0, 0, 1, 1)
            if place in state.walls and look.bricks:
                for n in (0.22, 0.72):
                    block(place, mortar, n, 0, n + 0.06, 1)
            if place in state.marks:
                block(place, look.mark, 0.03, 0.03, 0.97, 0.97)
                block(place, look.floor, 0.18, 0.18, 0.82, 0.82)
        for colour, place in zip(BOXES, state.boxes, strict=False):
            fill = look.boxes[colour]
            block(place, boards.mixed(fill, "#000000", 0.4), 0.2, 0.2, 0.8, 0.8)
            block(place, fill, 0.25, 0.25, 0.75, 0.75)
            if look.bricks:
                block(place, boards.mixed(fill, "#000000", 0.25), 0.32, 0.25, 0.36, 0.75)
                block(place, boards.mixed(fill, "#000000", 0.25), 0.64, 0.25, 0.68, 0.75)
        y, x = (_EDGE + _CELL * (at + 0.5) for at in state.worker)
        pen.ellipse([size * (at + way * 0.29 * _CELL) for way in (-1, 1) for at in (x, y)], look.worker)

    def see(self, values: Values, name: str) -> Store | None:
        look = _LOOKS[name]
        places = [(row, col) for row in range(SIDE) for col in range(SIDE)]
        middles = np.array([(_EDGE + _CELL * (col + 0.5), _EDGE + _CELL * (row + 0.5)) for row, col in places])
        palette = {**look.boxes, "#": look.wall, ".": look.floor, "@": look.worker}
        seen = boards.named(boards.colours_at(values, middles, 0.1 * _CELL), palette)
        sides = (middles[:, None] + 0.395 * _CELL * np.array([(-1, 0), (1, 0), (0, -1), (0, 1)])).reshape(-1, 2)
        palette = {"x": look.mark, "#": look.wall, ".": look.floor}
        frames = boards.named(boards.colours_at(values, sides, 0.02 * _CELL), palette, 200)
        letters = []
        for at, found in enumerate(seen):
            marked = frames[4 * at : 4 * at + 4].count("x") >= 3
            if found is None or (marked and found == "#"):
                return None
            if found in BOXES:
                letters.append(found[0] if marked else found[0].upper())
            else:
                letters.append({"@": "+", ".": "x"}.get(found, found) if marked else found)
        return _store(["".join(letters[at : at + SIDE]) for at in range(0, SIDE * SIDE, SIDE)])


def _store(rows: Sequence[str]) -> Store | None:
    """Return the store that letters describe; None if it is not one: a worker, and as many boxes as marks."""
    at: dict[str, list[Position]] = {}
    for row, col in np.ndindex(SIDE, SIDE):
        at.setdefault(rows[row][col], []).append((row, col))
    boxes = [places for box in BOXES if (places := at.get(box[0], []) + at.get(box[0].upper(), []))]
    marks = [place for letter in "xrb+" for place in at.get(letter, [])]
    workers = at.get("@", []) + at.get("+", [])
    walls = frozenset(at.get("#", []))
    first = at.get("r", []) + at.get("R", [])
    if len(workers) != 1 or not first or any(len(of) != 1 for of in boxes) or len(boxes) != len(marks):
        return None
    if not walls >= _BORDER:
        return None
    return Store(walls, frozenset(marks), tuple(of[0] for of in boxes), workers[0])


WORLD = Sokoban().world(__doc__ or "")
