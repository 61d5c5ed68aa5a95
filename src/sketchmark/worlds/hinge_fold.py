"""Hinge fold: turn the pieces of a chain on their hinges, one by one, and say where its end is.

What you see: a grid of 7x7 cells and a chain of five coloured pieces. The chain begins at the square base, each piece
leads from the middle of a cell to that of the next, and a ring is at its end. Below the grid is a strip of
turns, each in the colour of a piece with a round arrow: clockwise or anticlockwise. What happens: from left to right
along the strip, the piece of that colour turns by 90 degrees about its hinge, the end that is nearer to the base, and
all pieces behind it turn along as one. The answer is the cell of the chain's end after the last turn, such as ["d4"].
There is one right answer. No piece covers another after a turn. A ground-truth image shows the chain after the next
turn, which is gone from the strip.

Levels: level n has n turns, so a model must keep one more fold of the chain in mind. Turns one after the other are
about different hinges, none undoes another (a piece turns at most twice, and then both times the same way), at least
half of them carry two or more other pieces along, and the end is in its last cell only after the last turn.

Looks: `plain`, `night` (dark, pale pieces), `cork` (chequered cells on a brown page).

Corrupt step: the right piece, turned the wrong way or without the pieces behind it.

Chance: a random cell is right once in 49.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import NamedTuple

import numpy as np
from PIL import ImageDraw, ImageFont

from sketchmark.worlds import LEVELS, boards
from sketchmark.worlds.boards import MOVES, Places, Position, Values
from sketchmark.worlds.steps import Scene, StepWorld

SIDE = 7
COLUMNS = "abcdefg"
COLOURS = ("red", "blue", "green", "yellow", "purple")
WAYS = ("up", "right", "down", "left")
"""The directions in which a piece can point, clockwise."""
TURNS = {"clockwise": 1, "anticlockwise": -1}
_CELLS = [(row, col) for row in range(SIDE) for col in range(SIDE)]
_NAMES = {cell: f"{COLUMNS[cell[1]]}{cell[0] + 1}" for cell in _CELLS}
_PLACED = {name: cell for cell, name in _NAMES.items()}
_CHAIN = re.compile(rf"^chain: base ([a-g][1-7])((?:, (?:{'|'.join(COLOURS)}) [a-g][1-7]){{5}})$", re.MULTILINE)
_STRIP = re.compile(r"^turns: (none|\w+ \w+(?:, \w+ \w+)*)$", re.MULTILINE)


class Turn(NamedTuple):
    colour: str
    turn: str


@dataclass(frozen=True)
class Chain(Scene):
    """Pieces from the base on, each with its colour and the direction in which it points, and the turns to come."""

    base: Position
    colours: tuple[str, ...]
    ways: tuple[str, ...]
    turns: tuple[Turn, ...]

    @property
    def cells(self) -> list[Position]:
        """The cells of the base and of the far end of each piece."""
        found = [self.base]
        for way in self.ways:
            found.append((found[-1][0] + MOVES[way][0], found[-1][1] + MOVES[way][1]))
        return found

    @property
    def end(self) -> Position:
        return self.cells[-1]

    def fits(self) -> bool:
        """Return whether all pieces are on the grid and none covers another."""
        cells = self.cells
        return len(set(cells)) == len(cells) and set(cells) <= _NAMES.keys()


def _turned(ways: Sequence[str], piece: int, quarters: int, alone: bool = False) -> tuple[str, ...]:
    """Return the directions of all pieces after one has turned clockwise, and those behind it unless `alone`."""
    last = piece if alone else len(ways)
    turned = [WAYS[(WAYS.index(way) + quarters) % 4] for way in ways]
    return tuple(turned[n] if piece <= n <= last else way for n, way in enumerate(ways))


class _Look(NamedTuple):
    page: str
    cell: str
    other: str
    """Colour of every second cell."""
    line: str
    label: str
    base: str
    hinge: str
    end: str
    arrow: str
    pieces: dict[str, str]


_VIVID = boards.palette(COLOURS, "#dd3b3b #3f78ea #35a552 #f5cb25 #a54fd6")
_PALE = boards.palette(COLOURS, "#ff5f5f #6a98ff #5cdc78 #ffe960 #d084ff")
_LOOKS = {
    "plain": _Look(
        "#bfc9d8", "#e4e8ee", "#e4e8ee", "#a9b4c5", "#566073", "#23272f", "#d3d9e2", "#e4e8ee", "#1c1f26", _VIVID
    ),
    "night": _Look(
        "#1a1422", "#2c2638", "#2c2638", "#484058", "#8d84a2", "#f4f1fa", "#3b344a", "#2c2638", "#120e19", _PALE
    ),
    "cork": _Look(
        "#a5764a", "#e8d9bb", "#dac8a3", "#bf9f70", "#4d3218", "#35230f", "#e0d3b8", "#e8d9bb", "#20160a", _VIVID
    ),
}
_LEFT, _TOP, _CELL = 0.125, 0.07, 0.11
"""Upper left corner of the grid and side of a cell, as proportions of the image."""
_BAR, _BASE, _DISC, _RING, _TIP = 0.22, 0.28, 0.14, 0.34, 0.18
"""Of a cell: half the width of a piece and of the base; radii of hinges, and of the ring at the end and its hole."""
_BOX, _NEXT, _STRIP_AT = 0.108, 0.1655, (_LEFT, 0.863)
"""Side of a turn in the strip, distance to the next one, and upper left corner of the first."""
_ARC, _ARC_WIDTH = 0.27, 0.14
"""Of a turn's box: radius and width of the arrow, whose head points down."""
_HEAD = np.array([(0.07, 0.05), (0.47, 0.05), (0.27, 0.38)])
_TIPS = np.array([(0.27, 0.15), (-0.27, 0.15)])
"""In a box, from its middle: where the head of a clockwise arrow is, and of an anticlockwise one."""
_FREE = np.array([(0.0, -0.43), (0.0, 0.3), (-0.43, -0.43), (0.43, -0.43)])
"""In a box: places that arrows leave free."""


def _on_page(cell: tuple[float, float], places: Places) -> Places:
    """Places around the middle of a cell (x, y) → proportions of the image."""
    found: Places = np.array((_LEFT, _TOP)) + _CELL * (np.array(cell[::-1]) + 0.5 + places)
    return found


def _in_box(slot: int, places: Places) -> Places:
    """Places around the middle of a turn's box (x, y) → proportions of the image."""
    found: Places = np.array(_STRIP_AT) + (slot * _NEXT, 0) + _BOX * (0.5 + places)
    return found


_MIDDLES = np.array([_on_page(cell, np.zeros(2)) for cell in _CELLS])
_LINKS = [
    ((r, c), (r + down, c + 1 - down)) for r, c in _CELLS for down in (0, 1) if max(r + down, c + 1 - down) < SIDE
]
_BORDERS = np.array([_on_page(((a + c) / 2, (b + d) / 2), np.zeros(2)) for (a, b), (c, d) in _LINKS])
_BOX_PLACES = np.concatenate([_in_box(slot, np.concatenate([_FREE, _TIPS])) for slot in range(len(LEVELS))])
"""The places at which a reader looks: base, pieces between two cells, turns."""


class HingeFold(StepWorld[Chain]):
    name = "hinge_fold"
    about = "Chains of five pieces on a grid of 7x7 cells, with turns about their hinges."
    palettes = _LOOKS
    chances = (1 / SIDE**2,) * len(LEVELS)
    vocabulary = frozenset(_PLACED)
    answers_in_moves = False

    def generate(self, dice: Random, level: int, look: str) -> Chain:
        while True:
            colours = tuple(dice.sample(COLOURS, len(COLOURS)))
            chain = Chain(dice.choice(_CELLS), colours, tuple(dice.choice(WAYS) for _ in colours), (), look=look)
            now, pieces = chain, list[int]()
            while now.fits() and len(pieces) < level:
                pieces.append(dice.choice([piece for piece in range(len(colours)) if piece not in pieces[-1:]]))
                turn = dice.choice(list(TURNS))
                chain = replace(chain, turns=(*chain.turns, Turn(colours[pieces[-1]], turn)))
                now = replace(now, ways=_turned(now.ways, pieces[-1], TURNS[turn]))
            one_way = len({*chain.turns}) == len({*pieces}) and max(map(pieces.count, pieces), default=0) <= 2
            if now.fits() and one_way and 2 * sum(piece < 3 for piece in pieces) >= level and self._is_good(chain):
                return chain

    def _is_good(self, chain: Chain) -> bool:
        """Return whether each turn leads to a chain that fits and can be drawn wrongly too, and only the last one
        brings the end to its cell."""
        states = [chain]
        for step in self.solve(chain):
            states.append(self.after(states[-1], step))
            if states[-1] == states[-2] or not self._wrong(states[-2], step):
                return False
        return all(state.end != states[-1].end for state in states[:-1])

    def solve(self, state: Chain) -> list[str]:
        steps, ways = [], state.ways
        for colour, turn in state.turns:
            piece = state.colours.index(colour)
            ways = _turned(ways, piece, TURNS[turn])
            steps.append(f"{colour} {ways[piece]}")
        return steps

    def choices(self, state: Chain) -> Sequence[str]:
        """Every piece in every other direction, with the pieces behind it turned along or not."""
        if not state.turns:
            return []
        other = [
            f"{colour} {way}"
            for colour, now in zip(state.colours, state.ways, strict=True)
            for way in WAYS
            if way != now
        ]
        return [*other, *(f"{step} alone" for step in other if not step.startswith(state.colours[-1]))]

    def legal(self, state: Chain, step: str) -> bool:
        return [step] == self.solve(state)[:1] and self.after(state, step) != state

    def after(self, state: Chain, step: str) -> Chain:
        if step not in self.choices(state):
            return state
        colour, way, *alone = step.split()
        piece = state.colours.index(colour)
        quarters = WAYS.index(way) - WAYS.index(state.ways[piece])
        turned = replace(state, ways=_turned(state.ways, piece, quarters, bool(alone)), turns=state.turns[1:])
        return turned if turned.fits() else state

    def _wrong(self, state: Chain, step: str) -> list[Chain]:
        """Return the chains in which the right piece has turned wrongly, so that the end is in another cell."""
        right = self.after(state, step)
        others = [other for other in self.choices(state) if other.split()[0] == step.split()[0]]
        ends = [self.after(state, other) for other in others]
        return [end for end in ends if end != state and end.end != right.end]

    def astray(self, state: Chain, step: str, before: str, rng: Random) -> Chain | None:
        wrong = self._wrong(state, step) if step else []
        return rng.choice(wrong) if wrong else None

    def conclude_from(self, first: Chain, steps: Sequence[str]) -> list[str]:
        return [_NAMES[self._after_all(first, steps).end]]

    def guessed(self, rng: Random) -> list[str]:
        return [rng.choice(list(_PLACED))]

    def write(self, state: Chain) -> str:
        base, *ends = (_NAMES[cell] for cell in state.cells)
        pieces = [f"{colour} {end}" for colour, end in zip(state.colours, ends, strict=True)]
        turns = [f"{colour} {turn}" for colour, turn in state.turns]
        return f"chain: {', '.join((f'base {base}', *pieces))}\nturns: {', '.join(turns) or 'none'}"

    def parse(self, text: str) -> Chain | None:
        chains, strips = _CHAIN.findall(text), _STRIP.findall(text)
        if len(chains) != 1 or len(strips) != 1:
            return None
        pieces = [piece.split() for piece in chains[0][1].split(", ")[1:]]
        turns = [] if strips[0] == "none" else [Turn(*turn.split()) for turn in strips[0].split(", ")]
        cells = [_PLACED[name] for name in (chains[0][0], *(end for _, end in pieces))]
        return _chain(cells, [colour for colour, _ in pieces], turns)

    def back(self, pen: ImageDraw.ImageDraw, name: str, size: int) -> None:
        look, font = _LOOKS[name], ImageFont.load_default(0.045 * size)
        pen.rectangle(_around(size, (3, 3), SIDE / 2 + 0.04), fill=look.line)
        for cell in _CELLS:
            pen.rectangle(_around(size, cell, 0.48), fill=look.other if sum(cell) % 2 else look.cell)
        for n in range(SIDE):
            for sign, at in ((COLUMNS[n], (-0.86, float(n))), (str(n + 1), (float(n), -0.85))):
                x, y = _on_page(at, np.zeros(2)) * size
                pen.text((x, y), sign, look.label, font, anchor="mm")
        for slot in range(len(LEVELS)):
            pen.rectangle(_box(size, _in_box(slot, np.array([(-0.5, -0.5), (0.5, 0.5)]))), fill=look.line)
            if slot:
                onward = _in_box(slot, np.array([(-0.87, -0.13), (-0.87, 0.13), (-0.67, 0)]))
                pen.polygon((onward * size).ravel().tolist(), fill=look.label)

    def paint_on(self, pen: ImageDraw.ImageDraw, state: Chain, size: int) -> None:
        look, cells = _LOOKS[state.look or "plain"], state.cells
        for colour, *ends in zip(state.colours, cells, cells[1:], strict=False):
            corners = [
                _on_page(end, np.array((side, side))) for end, side in zip(sorted(ends), (-_BAR, _BAR), strict=True)
            ]
            pen.rectangle(_box(size, np.array(corners)), fill=look.pieces[colour])
        pen.rectangle(_around(size, cells[0], _BASE), fill=look.base)
        for cell in cells[1:-1]:
            pen.ellipse(_around(size, cell, _DISC), fill=look.hinge)
        pen.ellipse(_around(size, cells[-1], _RING), fill=look.pieces[state.colours[-1]])
        pen.ellipse(_around(size, cells[-1], _TIP), fill=look.end)
        for slot, turn in enumerate(state.turns, len(LEVELS) - len(state.turns)):
            whole = _box(size, _in_box(slot, np.array([(-0.5, -0.5), (0.5, 0.5)])))
            pen.rectangle(whole, fill=look.pieces[turn.colour])
            arc = _box(size, _in_box(slot, (_ARC + _ARC_WIDTH / 2) * np.array([(-1, -1), (1, 1)]) + (0, 0.06)))
            pen.arc(arc, 180, 360, look.arrow, round(_ARC_WIDTH * _BOX * size))
            pen.polygon((_in_box(slot, _HEAD * (TURNS[turn.turn], 1)) * size).ravel().tolist(), fill=look.arrow)

    def see(self, values: Values, name: str) -> Chain | None:
        look = _LOOKS[name]
        turns = _turns_in(boards.colours_at(values, _BOX_PLACES, 0.02 * _BOX), look)
        middles = boards.colours_at(values, _MIDDLES, 0.1 * _CELL)
        (base,) = _nearest(middles, look.base)
        pieces = _nearest(boards.colours_at(values, _BORDERS, 0.05 * _CELL), *look.pieces.values())
        links = {_LINKS[at]: colour for colour, at in zip(look.pieces, pieces, strict=True)}
        cells, colours = [_CELLS[base]], list[str]()
        while ahead := [link for link in links if cells[-1] in link]:
            colours.append(links.pop(ahead[0]))
            cells += [cell for cell in ahead[0] if cell != cells[-1]]
        return None if turns is None or links else _chain(cells, colours, turns)


def _box(size: int, places: Places) -> tuple[float, ...]:
    """Return two corners of a box in pixels, less those that its neighbour begins with."""
    return tuple((places * size - [(0, 0), (1, 1)]).ravel().tolist())


def _around(size: int, cell: Position, half: float) -> tuple[float, ...]:
    return _box(size, _on_page(cell, half * np.array([(-1, -1), (1, 1)])))


def _nearest(colours: Places, *sought: str) -> list[int]:
    """Return for each colour that is sought which row is nearest to it."""
    away = np.linalg.norm(colours[:, None] - boards.rgb8(*sought).astype(float), axis=2)
    return [int(row) for row in away.argmin(axis=0)]


def _turns_in(colours: Places, look: _Look) -> list[Turn] | None:
    """Return the turns of a strip; None if it has a gap or a box that is neither a turn nor empty."""
    turns, boxes = list[Turn](), colours.reshape(len(LEVELS), -1, 3)
    named = boards.named(np.median(boxes[:, : len(_FREE)], axis=1), {**look.pieces, "": look.line})
    for box, colour in zip(boxes, named, strict=True):
        if colour is None or (turns and not colour):
            return None
        if colour:
            (head,) = _nearest(box[len(_FREE) :], look.arrow)
            turns.append(Turn(colour, list(TURNS)[head]))
    return turns


def _chain(cells: Sequence[Position], colours: Sequence[str], turns: Sequence[Turn]) -> Chain | None:
    """Return a chain through these cells; None if it is torn, a piece is missing or a turn is of no piece."""
    names = {change: way for way, change in MOVES.items()}
    ways = [names.get((after[0] - before[0], after[1] - before[1]), "") for before, after in pairwise(cells)]
    known = all(turn.colour in COLOURS and turn.turn in TURNS for turn in turns) and len(turns) <= len(LEVELS)
    if not known or sorted(colours) != sorted(COLOURS) or "" in ways or len(ways) != len(colours):
        return None
    chain = Chain(cells[0], tuple(colours), tuple(ways), tuple(turns))
    return chain if chain.fits() else None


WORLD = HingeFold().world(__doc__ or "")
