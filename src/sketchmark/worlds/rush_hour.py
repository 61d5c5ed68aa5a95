"""Rush hour: slide the cars until the red one can leave.

What you see: a walled car park of 6x6 places with a gap in its right wall, a red car and two to five more in other
colours, each two or three places long. What you may do: slide one car forwards or backwards. It runs until it meets
a wall or another car, and counts as one move however far it runs. A free red car runs out of the gap. The answer is
the list of moves, such as ["blue up", "red right"]. Every list that frees the red car is right, and one list is
shortest.

Levels: level n takes n moves among n + 2 cars, at most six. Each level adds a car that is in the way of another one,
so a model must look one move further ahead.

Looks: `plain`, `night` (dark, pale cars), `lot` (hatched ground, cars with windows), and `turned`: the car park is
turned by up to 35 degrees, hatched, and each car is parked a little askew, so that its places are not a grid of the
image.

Chance: a random list of one to five moves is right in about 15 of 10,000 puzzles.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from math import cos, radians, sin
from operator import or_
from random import Random
from typing import NamedTuple

import numpy as np
from PIL import ImageDraw

from sketchmark.worlds import boards
from sketchmark.worlds.boards import MOVES, Places, Values
from sketchmark.worlds.steps import Scene, StepWorld

SIDE = 6
COLOURS = ("red", "blue", "green", "yellow", "purple", "orange", "turquoise")
_LETTERS = {colour[0].upper(): colour for colour in COLOURS}
_ROW = re.compile(rf"^([.{''.join(_LETTERS)}]{{{SIDE}}})(>?)$", re.MULTILINE)
_MOST_CARS, _MOST_STATES = 6, 250


class Car(NamedTuple):
    """A car: the place of its upper or left end, its length, and whether it is upright."""

    colour: str
    row: int
    col: int
    length: int
    upright: bool

    @property
    def places(self) -> list[tuple[int, int]]:
        return [(self.row + n * self.upright, self.col + n * (not self.upright)) for n in range(self.length)]


@dataclass(frozen=True)
class Park(Scene):
    """The cars in the order of `COLOURS`; the red one is missing once it has left."""

    cars: tuple[Car, ...]
    exit: int
    """Row of the gap."""
    angle: int = field(default=0, compare=False)
    """Degrees by which the look `turned` turns everything."""


class _Look(NamedTuple):
    page: str
    ground: str
    line: str
    wall: str
    cars: dict[str, str]
    hatched: bool = False
    windows: bool = False


_VIVID = boards.palette(COLOURS, "#d62424 #2450d8 #1f9a3c #f5cf2a #8d3bc4 #f58214 #25bcc4")
_PALE = boards.palette(COLOURS, "#ff5a5a #5c8dff #63dc7c #ffee70 #c883ff #ffa54d #6ff0ee")
_LOOKS = {
    "plain": _Look("#ffffff", "#e9ecf1", "#cfd5de", "#333a45", _VIVID),
    "night": _Look("#141824", "#2b3142", "#3a4258", "#aab3c8", _PALE),
    "lot": _Look("#86ad80", "#70757c", "#878c93", "#3a3d42", _VIVID, hatched=True, windows=True),
    "turned": _Look("#c9a36b", "#efe6d4", "#e2d6bd", "#5b4630", _VIVID, hatched=True),
}
_ANGLES = (-35, -30, -25, -20, -15, 15, 20, 25, 30, 35)


@lru_cache(maxsize=64)
def _line(upright: bool, across: int, length: int) -> tuple[int, ...]:
    """Return the places that a car takes, as the bits of a number, for each place of it on its line."""
    cars = (
        Car("", at, across, length, True) if upright else Car("", across, at, length, False) for at in range(SIDE)
    )
    return tuple(sum(1 << row * SIDE + col for row, col in car.places) for car in cars)[: SIDE - length + 1]


def _line_of(car: Car) -> tuple[int, ...]:
    return _line(car.upright, car.col if car.upright else car.row, car.length)


def _at(car: Car) -> int:
    return car.row if car.upright else car.col


def _slid(cars: tuple[Car, ...], number: int, direction: str, exit: int) -> tuple[Car, ...] | None:
    """Return the cars after one runs as far as it can; None if it cannot move that way."""
    car, by = cars[number], sum(MOVES[direction])
    others = sum(_line_of(other)[_at(other)] for other in cars if other is not car)
    line, at = _line_of(car), _at(car)
    while 0 <= at + by < len(line) and not line[at + by] & others:
        at += by
    if car.colour == "red" and direction == "right" and car.row == exit and at + 1 == len(line):
        return cars[:number] + cars[number + 1 :]
    return None if at == _at(car) else (*cars[:number], _put(car, at), *cars[number + 1 :])


def _moves(cars: tuple[Car, ...], exit: int) -> dict[str, tuple[Car, ...]]:
    found = {}
    for number, car in enumerate(cars):
        for direction in ("up", "down") if car.upright else ("left", "right"):
            if (after := _slid(cars, number, direction, exit)) is not None:
                found[f"{car.colour} {direction}"] = after
    return found


def _is_free(cars: tuple[Car, ...]) -> bool:
    return not cars or cars[0].colour != "red"


@lru_cache(maxsize=512)
def _solution(cars: tuple[Car, ...], exit: int) -> tuple[str, ...]:
    """Return the shortest list of moves, the first if there are several; none if there is no way."""
    queue = [cars]
    found: dict[tuple[Car, ...], tuple[str, ...]] = {cars: ()}
    for at in queue:
        if _is_free(at):
            return found[at]
        for move, after in _moves(at, exit).items():
            if after not in found:
                found[after] = (*found[at], move)
                queue.append(after)
    return ()


def _parked(dice: Random, count: int, exit: int) -> tuple[Car, ...]:
    """Park cars at random, the red one in the row of the gap."""
    red = Car("red", exit, dice.randrange(0, 3), 2, False)
    cars, taken = [red], set(red.places)
    others = dice.sample(COLOURS[1:], count - 1)
    for colour in sorted(others, key=COLOURS.index):
        for _ in range(20):
            upright, length = dice.random() < 0.6, dice.choice((2, 2, 3))
            row = dice.randrange(SIDE - length + 1 if upright else SIDE)
            col = dice.randrange(SIDE if upright else SIDE - length + 1)
            car = Car(colour, row, col, length, upright)
            in_the_way = not upright and row == exit
            if not in_the_way and not taken & set(car.places):
                cars.append(car)
                taken |= set(car.places)
                break
    return tuple(cars)


def _at_distance(cars: tuple[Car, ...], level: int) -> list[tuple[Car, ...]]:
    """Return the arrangements within reach from which exactly one shortest list of `level` moves frees the red car.

    An arrangement is a number with three bits for each car's place on its line, and its taken places are the bits of
    another: making a puzzle takes hundreds of them.
    """
    bits = [_line_of(car) for car in cars]
    known: list[dict[int, tuple[tuple[int, int], ...] | None]] = [{} for _ in cars]
    lines = [(3 * number, reduce(or_, of), known[number]) for number, of in enumerate(bits)]
    places = [_at(car) for car in cars]
    first = sum(at << 3 * number for number, at in enumerate(places))
    before: dict[int, list[int]] = {first: []}
    queue = [(first, sum(of[at] for of, at in zip(bits, places, strict=True)))]
    ring = list[int]()
    for state, taken in queue:
        for shift, line, slides in lines:
            at = state >> shift & 7
            key = taken & line | at << SIDE * SIDE
            if key not in slides:
                slides[key] = _slides(bits[shift // 3], at, taken, shift)
            ends = slides[key]
            if ends is None:
                ring.append(state)
                continue
            for change, moved in ends:
                after = state + change
                if after not in before:
                    before[after] = []
                    queue.append((after, taken ^ moved))
                before[after].append(state)
        if len(queue) > _MOST_STATES:
            return []
    ways = dict.fromkeys(ring, 1)
    for _ in range(1, level):
        counted: dict[int, int] = {}
        for solved in ring:
            for state in before[solved]:
                if state not in ways:
                    counted[state] = counted.get(state, 0) + ways[solved]
        ways |= counted
        ring = list(counted)
    found = (state for state in ring if ways[state] == 1)
    return [tuple(_put(car, state >> 3 * number & 7) for number, car in enumerate(cars)) for state in found]


def _slides(of: tuple[int, ...], at: int, taken: int, shift: int) -> tuple[tuple[int, int], ...] | None:
    """Return how each end to which a car can run changes an arrangement and its taken places. The car has the bits
    `of` at each place of its line. None if it is the red one and free to leave."""
    others, low, high = taken ^ of[at], at, at
    while low and not of[low - 1] & others:
        low -= 1
    while high + 1 < len(of) and not of[high + 1] & others:
        high += 1
    if not shift and high + 1 == len(of):
        return None
    return tuple((end - at << shift, of[at] ^ of[end]) for end in (low, high) if end != at)


def _put(car: Car, at: int) -> Car:
    return car._replace(row=at) if car.upright else car._replace(col=at)


class RushHour(StepWorld[Park]):
    name = "rush_hour"
    about = "Car parks of 6x6 places with one shortest way to free the red car."
    palettes = _LOOKS
    chances = (0.0078, 3.2e-4, 1.2e-5, 4.4e-7, 1.2e-8)
    vocabulary = frozenset((*COLOURS, *MOVES))

    def generate(self, dice: Random, level: int, look: str) -> Park:
        while True:
            exit = dice.randrange(1, SIDE - 1)
            found = _at_distance(_parked(dice, min(level + 2, _MOST_CARS), exit), level)
            if found:
                return Park(dice.choice(found), exit, dice.choice(_ANGLES), look=look)

    def solve(self, state: Park) -> list[str]:
        return list(_solution(state.cars, state.exit))

    def choices(self, state: Park) -> Sequence[str]:
        return list(_moves(state.cars, state.exit))

    def after(self, state: Park, move: str) -> Park:
        return replace(state, cars=_moves(state.cars, state.exit).get(move, state.cars))

    def accepts(self, first: Park, answer: Sequence[str]) -> bool:
        state = first
        for move in answer:
            if _is_free(state.cars) or not self.legal(state, move):
                return False
            state = self.after(state, move)
        return _is_free(state.cars)

    def guessed(self, rng: Random) -> list[str]:
        return [f"{rng.choice(COLOURS)} {rng.choice(list(MOVES))}" for _ in range(rng.randint(1, 5))]

    def write(self, state: Park) -> str:
        places = {place: car.colour[0].upper() for car in state.cars for place in car.places}
        rows = ("".join(places.get((row, col), ".") for col in range(SIDE)) for row in range(SIDE))
        return "\n".join(text + ">" * (row == state.exit) for row, text in enumerate(rows))

    def parse(self, text: str) -> Park | None:
        rows = _ROW.findall(text)
        exits = [number for number, (_, gap) in enumerate(rows) if gap]
        if len(rows) != SIDE or len(exits) != 1:
            return None
        return _park([[_LETTERS.get(letter) for letter in row] for row, _ in rows], exits[0])

    def paint_on(self, pen: ImageDraw.ImageDraw, state: Park, size: int) -> None:
        look = _LOOKS[state.look or "plain"]
        angle = state.angle if state.look == "turned" else 0

        def block(row: float, col: float, high: float, wide: float, fill: str, askew: float = 0.0) -> None:
            corners = np.array([(col, row), (col + wide, row), (col + wide, row + high), (col, row + high)])
            if askew:
                middle = corners.mean(axis=0)
                corners = middle + (corners - middle) @ _turn(askew).T
            pen.polygon([(x * size, y * size) for x, y in _on_page(corners, angle).tolist()], fill=fill)

        block(-0.3, -0.3, SIDE + 0.6, SIDE + 0.6, look.wall)
        block(0, 0, SIDE, SIDE, look.ground)
        if look.hatched:
            for n in range(SIDE * 4):
                block(n / 4 + 0.1, 0, 0.05, SIDE, look.line)
        else:
            for n in range(1, SIDE):
                block(n - 0.02, 0, 0.04, SIDE, look.line)
                block(0, n - 0.02, SIDE, 0.04, look.line)
        block(state.exit, SIDE - 0.01, 1, 0.34, look.ground)
        for car in state.cars:
            high, wide = (car.length, 1) if car.upright else (1, car.length)
            shift, askew = _askew(car) if state.look == "turned" else ((0.0, 0.0), 0.0)
            row, col, fill = car.row + shift[0], car.col + shift[1], look.cars[car.colour]
            dark = boards.mixed(fill, "#000000", 0.45)
            block(row + 0.09, col + 0.09, high - 0.18, wide - 0.18, dark, askew)
            block(row + 0.14, col + 0.14, high - 0.28, wide - 0.28, fill, askew)
            if look.windows:
                for end in (0.2, -0.3):
                    if car.upright:
                        block(row + end + high * (end < 0), col + 0.24, 0.1, 0.52, "#20252c")
                    else:
                        block(row + 0.24, col + end + wide * (end < 0), 0.52, 0.1, "#20252c")

    def see(self, values: Values, name: str) -> Park | None:
        look, angle = _LOOKS[name], 0
        if name == "turned":
            found = _angle_in(values, look)
            if found is None:
                return None
            angle = found
        grid = np.array([(col + 0.5, row + 0.5) for row in range(SIDE) for col in range(SIDE)])
        colours = boards.colours_at(values, _on_page(grid, angle), 0.14 * _unit(angle))
        shown = boards.named(colours, {**look.cars, "": look.ground})
        gaps = np.array([(SIDE + 0.15, row + 0.5) for row in range(SIDE)])
        palette = {"gap": look.ground, "wall": look.wall}
        walls = boards.named(boards.colours_at(values, _on_page(gaps, angle), 0.02 * _unit(angle)), palette)
        if None in shown or walls.count("gap") != 1:
            return None
        rows = [[name or None for name in shown[at : at + SIDE]] for at in range(0, SIDE * SIDE, SIDE)]
        park = _park(rows, walls.index("gap"))
        return replace(park, angle=angle) if park else None


_UNIT, _TURNED_UNIT = 0.145, 0.105
"""Side of a place, as a proportion of the image; a turned car park must still fit."""


def _turn(degrees: float) -> Places:
    c, s = cos(radians(degrees)), sin(radians(degrees))
    return np.array([(c, -s), (s, c)])


def _unit(angle: int) -> float:
    return _TURNED_UNIT if angle else _UNIT


def _on_page(corners: Places, angle: int) -> Places:
    """Places of the car park (column, row) → proportions of the image."""
    found: Places = 0.5 + _unit(angle) * ((corners - SIDE / 2) @ _turn(angle).T)
    return found


def _askew(car: Car) -> tuple[tuple[float, float], float]:
    """Return how a car is parked off its place; the same wherever it slides."""
    dice = Random(f"{car.colour}{car.col if car.upright else car.row}")
    return (dice.uniform(-0.05, 0.05), dice.uniform(-0.05, 0.05)), dice.uniform(-2.5, 2.5)


def _angle_in(values: Values, look: _Look) -> int | None:
    """Return the angle whose walls are where the image has them."""
    along = np.linspace(0.3, SIDE - 0.3, 12)
    sides = [(x, y) for at in along for x, y in ((at, -0.15), (at, SIDE + 0.15), (-0.15, at))]
    scores = []
    for angle in _ANGLES:
        colours = boards.colours_at(values, _on_page(np.array(sides), angle), 0.02 * _TURNED_UNIT)
        names = boards.named(colours, {"wall": look.wall, "page": look.page, "ground": look.ground})
        scores.append(names.count("wall"))
    best = max(scores)
    return _ANGLES[scores.index(best)] if best >= 0.9 * len(sides) else None


def _park(rows: Sequence[Sequence[str | None]], exit: int) -> Park | None:
    """Return the cars of a grid of colours; None if a colour is not one car of two or three places."""
    cars = []
    for colour in COLOURS:
        places = [(row, col) for row in range(SIDE) for col in range(SIDE) if rows[row][col] == colour]
        if not places:
            continue
        (row, col), length = places[0], len(places)
        car = Car(colour, row, col, length, length > 1 and places[1][0] > row)
        if length not in (2, 3) or car.places != places:
            return None
        cars.append(car)
    return Park(tuple(cars), exit)


WORLD = RushHour().world(__doc__ or "")
