"""Gears: find the last gear of a train and say which way it turns.

What you see: up to seven gears of different colours. One has an arrow: it drives the others. Gears that touch turn
in opposite directions. A belt joins two gears that do not touch: an open belt turns both the same way, a crossed one
turns them in opposite ways. Gears that nothing joins to the train are idle. The answer is the last gear of the train
and its direction, such as ["blue clockwise"]. There is one right answer. A ground-truth image adds the arrow of the
next gear.

Levels: level n has n gears behind the driving one, so a model must pass the motion on once more. From level 2 on at
least one belt is among the joints and from level 4 on two, so the place of a gear does not give its direction away.

Looks: `plain`, `night` (dark, pale gears), `workshop` (tan page, gears with a rim).

Corrupt step: the arrow of the right gear, in the wrong direction.

Chance: a random colour and direction are right once in 14.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import cos, radians, sin
from random import Random
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from PIL import ImageDraw

from sketchmark.worlds import LEVELS, boards
from sketchmark.worlds.boards import Places, Position, Values
from sketchmark.worlds.steps import Scene, StepWorld

SIDE = 4
COLOURS = ("red", "blue", "green", "yellow", "purple", "orange", "turquoise")
TURNS = ("clockwise", "anticlockwise")
BELTS = ("open", "crossed")
_LETTERS = {colour[0].upper(): colour for colour in COLOURS}
_ROW = re.compile(rf"^([.{''.join(_LETTERS)}]{{{SIDE}}})$", re.MULTILINE)
_BELT = re.compile(rf"^belt: (\w+) (\w+) ({'|'.join(BELTS)})$", re.MULTILINE)
_ARROW = re.compile(rf"^arrow: (\w+) ({'|'.join(TURNS)})$", re.MULTILINE)


class Gear(NamedTuple):
    colour: str
    at: Position
    turn: str = ""
    """Direction of its arrow; empty without one."""


class Belt(NamedTuple):
    """A belt between the gears at two places, the upper or left one first."""

    one: Position
    other: Position
    kind: str


@dataclass(frozen=True)
class Train(Scene):
    """Gears in the order of their places, row by row, and belts likewise."""

    gears: tuple[Gear, ...]
    belts: tuple[Belt, ...]


class _Look(NamedTuple):
    page: str
    belt: str
    arrow: str
    gears: dict[str, str]
    rim: bool = False


_VIVID = boards.palette(COLOURS, "#dd3b3b #4a78e8 #3aa655 #f5cf2a #a557d8 #f58a24 #2cc3cb")
_PALE = boards.palette(COLOURS, "#ff6464 #6f9bff #63dc7c #ffee70 #c883ff #ffa54d #6ff0ee")
_LOOKS = {
    "plain": _Look("#eef1f5", "#7d8796", "#1b1e25", _VIVID),
    "night": _Look("#141824", "#7f889e", "#10131c", _PALE),
    "workshop": _Look("#c2a278", "#6f583e", "#2a1d12", _VIVID, rim=True),
}
_EDGE, _CELL = 0.04, 0.23
"""Margin of the gears and distance between two that touch, as proportions of the image."""
_PULLEY, _BELT_WIDTH, _ARC, _ARC_WIDTH = 0.12, 0.06, 0.32, 0.06
"""Of a cell: radius of the pulleys, width of belts, radius and width of arrows."""
_TEETH = 12


def _round(radius: float, degrees: float) -> tuple[float, float]:
    """Return a place on a circle, from the right end clockwise."""
    return radius * cos(radians(degrees)), radius * sin(radians(degrees))


def _gear_shape(first: float) -> Places:
    """Return the outline of a gear whose first tooth is at an angle."""
    tooth = ((0.44, -9.0), (0.525, -4.5), (0.525, 4.5), (0.44, 9.0))
    step = 360 / _TEETH
    return np.array([_round(radius, first + n * step + angle) for n in range(_TEETH) for radius, angle in tooth])


_SHAPES = (_gear_shape(0), _gear_shape(180 / _TEETH))
"""Outlines of every second gear: teeth of one are between those of its neighbours."""
_HEAD = np.array([_round(_ARC - 0.11, 28), _round(_ARC + 0.11, 28), _round(_ARC, 68)])
_FLANKS = np.array([_round(0.255, 42), _round(0.345, 42)])
"""Places in the head of a clockwise arrow where the arc of the other one ends before."""
_FACES = np.array([(0, -0.23), (0, 0.23), (-0.23, 0), (0.23, 0)])
"""Places of a gear that arrows and belts leave free."""
_MIRRORED = np.array([-1.0, 1.0])
_CELLS = [(row, col) for row in range(SIDE) for col in range(SIDE)]


def _on_page(cell: tuple[float, float], places: Places) -> Places:
    """Places around the middle of a cell (x, y) → proportions of the image."""
    found: Places = _EDGE + _CELL * (np.array(cell[::-1]) + 0.5 + places)
    return found


def _apart(one: Position, other: Position) -> int:
    """Return how many cells two places are apart in a row or column; 0 if they are in neither."""
    down, right = abs(one[0] - other[0]), abs(one[1] - other[1])
    return 0 if down and right else down + right


def _middle(one: Position, other: Position) -> Position:
    return (one[0] + other[0]) // 2, (one[1] + other[1]) // 2


def _may_be(places: Sequence[Position], belts: Sequence[Belt]) -> bool:
    """Return whether gears and belts do not cover each other."""
    middles = [_middle(belt.one, belt.other) for belt in belts]
    ends = {end for belt in belts for end in belt[:2]}
    fit = all(_apart(belt.one, belt.other) == 2 for belt in belts) and ends <= set(places)
    return fit and len({*places, *middles}) == len(places) + len(middles)


def _passed_on(turn: str, kind: str) -> str:
    return turn if kind == "open" else TURNS[1 - TURNS.index(turn)]


_SPANS = [pair for pair in combinations(_CELLS, 2) if _apart(*pair) == 2]
_ACROSS = [np.array((0, _PULLEY) if one[0] == other[0] else (_PULLEY, 0)) for one, other in _SPANS]
_FACE_PLACES = np.concatenate([_on_page(cell, _FACES) for cell in _CELLS])
_HEAD_PLACES = np.concatenate([_on_page(cell, _FLANKS * flip) for cell in _CELLS for flip in ((1, 1), _MIRRORED)])
_BELT_PLACES = np.concatenate(
    [_on_page(_middle(*pair), np.array([side, 0 * side, -side])) for pair, side in zip(_SPANS, _ACROSS, strict=True)]
)
_KINDS: dict[tuple[str | None, ...], str] = {("belt", "", "belt"): "open", ("", "belt", ""): "crossed"}
"""The places at which a reader looks: gears, heads of their arrows, middles of belts, and what these show."""


def _joints(train: Train) -> dict[Position, dict[Position, str]]:
    """Return what joins each gear to others: teeth or a kind of belt."""
    joints: dict[Position, dict[Position, str]] = {gear.at: {} for gear in train.gears}
    touching = [pair for pair in combinations(joints, 2) if _apart(*pair) == 1]
    for one, other, kind in (*train.belts, *((*pair, "teeth") for pair in touching)):
        joints[one][other] = joints[other][one] = kind
    return joints


class Gears(StepWorld[Train]):
    name = "gears"
    about = "Trains of gears and belts with one driving gear."
    palettes = _LOOKS
    chances = (1 / (len(COLOURS) * len(TURNS)),) * len(LEVELS)
    vocabulary = frozenset((*COLOURS, *TURNS))
    synonyms = MappingProxyType({"(?:counter ?|anti )clockwise": TURNS[1]})
    answers_in_moves = False

    def generate(self, dice: Random, level: int, look: str) -> Train:
        while True:
            path, belts = [dice.choice(_CELLS)], list[Belt]()
            for _ in range(level):
                span = dice.choice((1, 1, 2))
                ahead = [cell for cell in _CELLS if _apart(cell, path[-1]) == span and cell not in path]
                if not ahead:
                    break
                path.append(dice.choice(ahead))
                if span == 2:
                    one, other = sorted(path[-2:])
                    belts.append(Belt(one, other, dice.choice(BELTS)))
            meshed = sum(_apart(*pair) == 1 for pair in combinations(path, 2))
            is_train = len(path) > level and meshed == level - len(belts)
            if not is_train or len(belts) < level // 2 or not _may_be(path, belts):
                continue
            taken = [*path, *(_middle(belt.one, belt.other) for belt in belts)]
            free = [cell for cell in _CELLS if cell not in taken and all(_apart(cell, at) != 1 for at in path)]
            idle = dice.sample(free, min(len(free), 1))
            colours = dice.sample(COLOURS, len(path) + len(idle))
            first = dice.choice(TURNS)
            gears = [Gear(*pair, "") for pair in zip(colours, [*path, *idle], strict=True)]
            gears[0] = gears[0]._replace(turn=first)
            return Train(_in_order(gears), tuple(sorted(belts)), look=look)

    def solve(self, state: Train) -> list[str]:
        """Return the arrows that are missing, from the gears that have one on."""
        joints, steps = _joints(state), list[str]()
        turns = {gear.at: gear.turn for gear in state.gears if gear.turn}
        colours = {gear.at: gear.colour for gear in state.gears}
        queue = list(turns)
        for at in queue:
            for to, kind in joints[at].items():
                if to not in turns:
                    turns[to] = _passed_on(turns[at], kind)
                    queue.append(to)
                    steps.append(f"{colours[to]} {turns[to]}")
        return steps

    def choices(self, state: Train) -> Sequence[str]:
        return [f"{gear.colour} {turn}" for gear in state.gears if not gear.turn for turn in TURNS]

    def legal(self, state: Train, step: str) -> bool:
        return [step] == self.solve(state)[:1]

    def after(self, state: Train, move: str) -> Train:
        if move not in self.choices(state):
            return state
        colour, _, turn = move.partition(" ")
        gears = (gear._replace(turn=turn) if gear.colour == colour else gear for gear in state.gears)
        return replace(state, gears=tuple(gears))

    def astray(self, state: Train, move: str, before: str, rng: Random) -> Train | None:
        """Return the right gear with the wrong arrow."""
        colour, _, turn = move.partition(" ")
        return self.after(state, f"{colour} {_passed_on(turn, 'teeth')}") if turn in TURNS else None

    def conclude_from(self, first: Train, moves: Sequence[str]) -> list[str]:
        return [*(f"{gear.colour} {gear.turn}" for gear in first.gears if gear.turn), *moves][-1:]

    def guessed(self, rng: Random) -> list[str]:
        return [f"{rng.choice(COLOURS)} {rng.choice(TURNS)}"]

    def write(self, state: Train) -> str:
        colours = {gear.at: gear.colour for gear in state.gears}
        letters = {at: colour[0].upper() for at, colour in colours.items()}
        rows = ["".join(letters.get((row, col), ".") for col in range(SIDE)) for row in range(SIDE)]
        belts = [f"belt: {colours[belt.one]} {colours[belt.other]} {belt.kind}" for belt in state.belts]
        return "\n".join((*rows, *belts, *(f"arrow: {gear.colour} {gear.turn}" for gear in state.gears if gear.turn)))

    def parse(self, text: str) -> Train | None:
        rows, turns = _ROW.findall(text), dict(_ARROW.findall(text))
        if len(rows) != SIDE:
            return None
        found = [Gear(_LETTERS[rows[row][col]], (row, col)) for row, col in _CELLS if rows[row][col] != "."]
        places, belts = {gear.colour: gear.at for gear in found}, list[Belt]()
        for *joined, kind in _BELT.findall(text):
            if not {*joined} <= set(places):
                return None
            one, other = sorted(places[colour] for colour in joined)
            belts.append(Belt(one, other, kind))
        return _train([gear._replace(turn=turns.get(gear.colour, "")) for gear in found], belts)

    def paint_on(self, pen: ImageDraw.ImageDraw, state: Train, size: int) -> None:
        look = _LOOKS[state.look or "plain"]
        unit = _CELL * size

        def shape(cell: Position, corners: Places, fill: str, outline: str | None = None) -> None:
            points = (_on_page(cell, corners) * size).ravel().tolist()
            pen.polygon(points, fill=fill, outline=outline, width=max(1, size // 256))

        def box(cell: Position, radius: float) -> tuple[float, ...]:
            return tuple((_on_page(cell, np.array([(-radius, -radius), (radius, radius)])) * size).ravel().tolist())

        near, far = round(0.02 * size), size - 1 - round(0.02 * size)
        pen.rectangle((near, near, far, far), outline=look.belt, width=round(0.012 * size))
        for gear in state.gears:
            fill = look.gears[gear.colour]
            dark = boards.mixed(fill, "#000000", 0.5)
            shape(gear.at, _SHAPES[sum(gear.at) % 2], fill, dark)
            if look.rim:
                pen.ellipse(box(gear.at, 0.43), outline=dark, width=max(1, round(0.02 * unit)))
            pen.ellipse(box(gear.at, 0.06), fill=look.belt)
        for one, other, kind in state.belts:
            for at in (one, other):
                pen.ellipse(box(at, _PULLEY + _BELT_WIDTH / 2), outline=look.belt, width=round(_BELT_WIDTH * unit))
            across = np.array((0, _PULLEY) if one[0] == other[0] else (_PULLEY, 0))
            for side in (across, -across):
                end, half = side if kind == "open" else -side, across / _PULLEY * _BELT_WIDTH / 2
                away = np.array(other[::-1]) - one[::-1]
                shape(one, np.array((side - half, side + half, end + half + away, end - half + away)), look.belt)
        for gear in state.gears:
            if gear.turn:
                flip = _MIRRORED if gear.turn == TURNS[1] else np.array([1.0, 1.0])
                begins, ends = (150, 395) if gear.turn == TURNS[0] else (145, 390)
                pen.arc(box(gear.at, _ARC + _ARC_WIDTH / 2), begins, ends, look.arrow, round(_ARC_WIDTH * unit))
                shape(gear.at, _HEAD * flip, look.arrow)

    def see(self, values: Values, name: str) -> Train | None:
        look, gears = _LOOKS[name], list[Gear]()
        faces = boards.colours_at(values, _FACE_PLACES, 0.025 * _CELL)
        names = boards.named(faces, {**look.gears, "": look.page, "belt": look.belt})
        heads = boards.colours_at(values, _HEAD_PLACES, 0.012 * _CELL)
        from_arrow, *from_gears = boards.apart(heads, look.arrow, *look.gears.values()).T.reshape(
            -1, len(_CELLS), 2, 2
        )
        for number, cell in enumerate(_CELLS):
            shown = names[4 * number : 4 * number + 4]
            colour = max(COLOURS, key=shown.count)
            if shown.count(colour) >= 3:
                covered = from_arrow[number] < from_gears[COLOURS.index(colour)][number]
                turns = [turn for turn, head in zip(TURNS, covered, strict=True) if head.all()]
                gears.append(Gear(colour, cell, turns[0] if len(turns) == 1 and covered.sum() == 2 else ""))
        places, belts = [gear.at for gear in gears], list[Belt]()
        seen = boards.named(
            boards.colours_at(values, _BELT_PLACES, 0.01 * _CELL), {"belt": look.belt, "": look.page}, most=200
        )
        for number, (one, other) in enumerate(_SPANS):
            kind = _KINDS.get(tuple(seen[3 * number : 3 * number + 3]))
            if kind and one in places and other in places and _middle(one, other) not in places:
                belts.append(Belt(one, other, kind))
        return _train(gears, belts)


def _in_order(gears: Sequence[Gear]) -> tuple[Gear, ...]:
    return tuple(sorted(gears, key=lambda gear: gear.at))


def _train(gears: Sequence[Gear], belts: Sequence[Belt]) -> Train | None:
    """Return gears and belts as a scene; None if a colour is there twice, no gear turns or they cover each other."""
    several = len(gears) > len({gear.colour for gear in gears})
    if several or not any(gear.turn for gear in gears) or not _may_be([gear.at for gear in gears], belts):
        return None
    return Train(_in_order(gears), tuple(sorted(belts)))


WORLD = Gears().world(__doc__ or "")
