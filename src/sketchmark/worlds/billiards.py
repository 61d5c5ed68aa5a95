"""Billiards: follow a ball from cushion to cushion and say into which pocket it falls.

What you see: a table with faint lines, a ball with an arrow, and six pockets of different colours in the rim. The
ball moves along diagonals of the squares, so that every bounce is at the end of a line and exact. What happens: the
ball rolls straight on until it meets the edge. At a pocket it falls in; anywhere else it bounces and goes on like a
ray from a mirror. The answer is the colour of the pocket, such as ["red"]. There is one right answer. A ground-truth
image adds one segment of the way and has the ball at its end.

Levels: level n takes n segments, so the ball bounces n - 1 times and a model must turn it once more. At level 1 it
is enough to look along the arrow. Two other pockets are close to the right one, so that a small error counts.

Looks: `plain` (green cloth), `night` (dark blue cloth, pale pockets), `clay` (tan cloth, brown page).

Corrupt step: the segment begins at the right place and ends at another one near the right end; in the last step it
ends at another pocket.

Chance: a random colour is right once in six.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import ImageDraw

from sketchmark.worlds import LEVELS, boards
from sketchmark.worlds.boards import Places, Position, Values
from sketchmark.worlds.steps import Scene, StepWorld

WIDE, HIGH = 8, 6
"""Squares of the table in a row and in a column."""
COLOURS = ("red", "blue", "green", "yellow", "purple", "orange")
WAYS: dict[str, Position] = {"up left": (-1, -1), "up right": (1, -1), "down left": (-1, 1), "down right": (1, 1)}
"""Directions of the ball → steps across and down."""
_LONGEST = 8
"""Segments that a drawing may show at most."""


def _around() -> dict[str, Position]:
    """Return the ends of lines at the edge, clockwise: their names and where they are, across and down."""
    top = {f"top {at}": (at, 0) for at in range(1, WIDE)}
    right = {f"right {at}": (WIDE, at) for at in range(1, HIGH)}
    bottom = {f"bottom {at}": (at, HIGH) for at in range(WIDE - 1, 0, -1)}
    left = {f"left {at}": (0, at) for at in range(HIGH - 1, 0, -1)}
    return top | right | bottom | left


EDGE = _around()
_NAMES = {at: name for name, at in EDGE.items()}
_ENDS = list(EDGE)
_OUTWARD = {"top": (0, -1), "right": (1, 0), "bottom": (0, 1), "left": (-1, 0)}
_INSIDE = [(across, down) for down in range(1, HIGH) for across in range(1, WIDE)]
_BALL = re.compile(rf"^ball: column ([1-{WIDE - 1}]), row ([1-{HIGH - 1}]), arrow ({'|'.join(WAYS)})$", re.MULTILINE)
_POCKET = re.compile(rf"^pocket: ({'|'.join(COLOURS)}) at (\w+ \d)$", re.MULTILINE)
_SEGMENT = re.compile(r"^segment: to (\w+ \d)$", re.MULTILINE)


@dataclass(frozen=True)
class Table(Scene):
    """Where the ball begins, across and down, its first direction, the ends of the segments so far, and pockets in
    the order of their places."""

    start: Position
    way: str
    pockets: tuple[tuple[str, str], ...]
    """Place and colour of each."""
    path: tuple[str, ...] = ()

    @property
    def fallen(self) -> str | None:
        """Colour of the pocket in which the ball is."""
        return dict(self.pockets).get(self.path[-1]) if self.path else None


class _Look(NamedTuple):
    page: str
    rim: str
    cloth: str
    line: str
    """Colour of the ball's way."""
    arrow: str
    ball: str
    pockets: dict[str, str]


_VIVID = boards.palette(COLOURS, "#d42a45 #4a78e8 #3aa655 #ffe14a #a557d8 #f07818")
_PALE = boards.palette(COLOURS, "#ff5070 #6f9bff #63dc7c #ffee70 #c883ff #ff9a3c")
_LOOKS = {
    "plain": _Look("#dfe3e0", "#4a5260", "#74b894", "#f4f6f8", "#1d2430", "#e0218a", _VIVID),
    "night": _Look("#10131c", "#3a4054", "#23405e", "#e8edf5", "#f0b429", "#ff4fa3", _PALE),
    "clay": _Look("#74482a", "#3a261a", "#bf9f72", "#f8f6f2", "#2a1d12", "#c2185b", _VIVID),
}
_UNIT = 0.1
_CORNER = np.array([(1 - WIDE * _UNIT) / 2, (1 - HIGH * _UNIT) / 2])
"""Side of a square and place of the table's corner, as proportions of the image."""
_RIM, _LINE, _BOUNCE, _BALL_SIZE, _START = 0.75, 0.22, 0.26, 0.25, 0.45
"""Of a square: width of the rim and of the way; radius of a bounce, the ball and the mark where it began."""
_POCKET_NEAR, _POCKET_FAR, _POCKET_HALF = 0.2, 0.7, 0.36
"""Of a square: how far outside the edge a pocket begins and ends, and half of its length along the edge."""
_HEAD = np.array([(0.55, -0.32), (0.55, 0.32), (1.25, 0.0)])
_FLANKS = np.array([(0.68, -0.16), (0.68, 0.16)])
"""Of a square, along an arrow and across: corners of its head, and places in it beside the ball's way."""
_DRAWN = 0.75
"""Least share of places along a segment that do not show the cloth."""
_BESIDE = np.array([(-0.36, 0.0), (0.36, 0.0), (0.0, -0.36), (0.0, 0.36)])
"""Places in the mark where the ball began that the ball leaves free."""


def _on_page(places: Places | Sequence[Position]) -> Places:
    """Places on the table, in squares across and down → proportions of the image."""
    found: Places = _CORNER + _UNIT * np.asarray(places, np.float64)
    return found


def _along(start: Position, way: str, places: Places) -> Places:
    """Places along an arrow and across it → places on the table."""
    ahead = np.array(WAYS[way]) / 2**0.5
    found: Places = np.array(start) + places @ np.array((ahead, (-ahead[1], ahead[0])))
    return found


def _side(end: str) -> str:
    return end.split()[0]


def _outside(end: str, distance: float) -> Places:
    """Return a place in the rim beside the end of a line."""
    found: Places = np.array(EDGE[end]) + distance * np.array(_OUTWARD[_side(end)])
    return found


def _rolled(at: Position, way: Position) -> tuple[str | None, Position]:
    """Return where a ball meets the edge, and how it goes on from there if it bounces; None at a corner."""
    (x, y), (right, down) = at, way
    while True:
        x, y = x + right, y + down
        if x in (0, WIDE) or y in (0, HIGH):
            after = (-right if x in (0, WIDE) else right, -down if y in (0, HIGH) else down)
            return _NAMES.get((x, y)), after


_STARTS = _on_page(np.concatenate([np.array(at) + _BESIDE for at in _INSIDE]))
_BLOCKS = _on_page(np.array([_outside(end, (_POCKET_NEAR + _POCKET_FAR) / 2) for end in _ENDS]))
_AT_ENDS = _on_page(list(EDGE.values()))
_PARTS = np.linspace(0.1, 0.9, 17)[:, None]
"""The places at which a reader looks: around the ball, in pockets, at the ends of lines, and along them."""


@cache
def _heads(start: Position) -> Places:
    """Return places in the heads of all arrows from the ball."""
    return _on_page(np.concatenate([_along(start, way, _FLANKS) for way in WAYS]))


class Billiards(StepWorld[Table]):
    name = "billiards"
    about = "Tables with a ball, an arrow and six coloured pockets."
    palettes = _LOOKS
    chances = (1 / len(COLOURS),) * len(LEVELS)
    vocabulary = frozenset(COLOURS)
    answers_in_moves = False

    def generate(self, dice: Random, level: int, look: str) -> Table:
        while True:
            start, name = dice.choice(_INSIDE), dice.choice(list(WAYS))
            at, way, path = start, WAYS[name], list[str]()
            while len(path) < level:
                end, way = _rolled(at, way)
                if end is None or end in path:
                    break
                at = EDGE[end]
                path.append(end)
            if len(path) < level:
                continue
            last = _ENDS.index(path[-1])
            near = [_ENDS[(last + by) % len(_ENDS)] for by in (-3, -2, -1, 1, 2, 3)]
            close = dice.sample([end for end in near if end not in path], 2)
            others = dice.sample([end for end in _ENDS if end not in (*path, *close)], len(COLOURS) - 3)
            ends = sorted((path[-1], *close, *others), key=_ENDS.index)
            colours = dice.sample(COLOURS, len(COLOURS))
            return Table(start, name, tuple(zip(ends, colours, strict=True)), look=look)

    def solve(self, state: Table) -> list[str]:
        """Return the ends of all segments to come; none if the ball never falls, or is not on a diagonal."""
        at, way, path = state.start, WAYS[state.way], list(state.path)
        if path:
            before, at = ([state.start] + [EDGE[end] for end in path])[-2:]
            right, down = at[0] - before[0], at[1] - before[1]
            if abs(right) != abs(down):
                return []
            way = _rolled(before, (right // abs(right), down // abs(down)))[1]
        pockets = dict(state.pockets)
        while not path or path[-1] not in pockets:
            end, way = _rolled(at, way)
            if end is None or end in path or len(path) == _LONGEST:
                return []
            at = EDGE[end]
            path.append(end)
        return path[len(state.path) :]

    def choices(self, state: Table) -> Sequence[str]:
        """All ends of lines, but for those on the cushion at which the ball is, and those where it has been."""
        if state.fallen or len(state.path) == _LONGEST:
            return []
        here = _side(state.path[-1]) if state.path else ""
        return [end for end in _ENDS if _side(end) != here and end not in state.path]

    def legal(self, state: Table, step: str) -> bool:
        return [step] == self.solve(state)[:1]

    def after(self, state: Table, move: str) -> Table:
        return replace(state, path=(*state.path, move)) if move in self.choices(state) else state

    def astray(self, state: Table, move: str, before: str, rng: Random) -> Table | None:
        """Return the segment with another end near the right one: a pocket if the right one is, else none."""
        pockets = dict(state.pockets)
        kin = [end for end in self.choices(state) if end != move and (end in pockets) == (move in pockets)]
        if move not in EDGE or not kin:
            return None
        right = np.array(EDGE[move])
        kin.sort(key=lambda end: float(np.abs(right - EDGE[end]).sum()))
        return self.after(state, rng.choice(kin[:2]))

    def conclude_from(self, first: Table, moves: Sequence[str]) -> list[str]:
        """Return the pocket, or "none" if the ball is not in one yet."""
        return [self._after_all(first, moves).fallen or "none"]

    def guessed(self, rng: Random) -> list[str]:
        return [rng.choice(COLOURS)]

    def write(self, state: Table) -> str:
        ball = f"ball: column {state.start[0]}, row {state.start[1]}, arrow {state.way}"
        pockets = (f"pocket: {colour} at {end}" for end, colour in state.pockets)
        return "\n".join((ball, *pockets, *(f"segment: to {end}" for end in state.path)))

    def parse(self, text: str) -> Table | None:
        balls, pockets, path = _BALL.findall(text), _POCKET.findall(text), _SEGMENT.findall(text)
        if len(balls) != 1 or not {*path, *(end for _, end in pockets)} <= set(EDGE):
            return None
        column, row, way = balls[0]
        return self._table((int(column), int(row)), way, {end: colour for colour, end in pockets}, path)

    def _table(self, start: Position, way: str, pockets: dict[str, str], path: Sequence[str]) -> Table | None:
        """Return a scene; None if a colour is missing, or if a segment cannot be drawn."""
        if sorted(pockets.values()) != sorted(COLOURS):
            return None
        table = Table(start, way, tuple((end, pockets[end]) for end in _ENDS if end in pockets))
        found = self._after_all(table, path)
        return found if found.path == tuple(path) else None

    def paint_on(self, pen: ImageDraw.ImageDraw, state: Table, size: int) -> None:
        look = _LOOKS[state.look or "plain"]
        unit = _UNIT * size

        def flat(places: Places | Sequence[Position]) -> list[float]:
            found: list[float] = (_on_page(places) * size).ravel().tolist()
            return found

        def block(middle: Places, half: Places, fill: str) -> None:
            pen.rectangle(flat(np.array((middle - half, middle + half))), fill=fill)

        def disc(at: Position, radius: float, fill: str) -> None:
            pen.ellipse(flat(np.array((np.array(at) - radius, np.array(at) + radius))), fill=fill)

        middle = np.array((WIDE, HIGH)) / 2
        block(middle, middle + _RIM, look.rim)
        block(middle, middle, look.cloth)
        faint = boards.mixed(look.cloth, look.line, 0.2)
        for end, other in [(f"top {at}", f"bottom {at}") for at in range(1, WIDE)] + [
            (f"left {at}", f"right {at}") for at in range(1, HIGH)
        ]:
            pen.line(flat([EDGE[end], EDGE[other]]), fill=faint, width=max(1, size // 200))
        for end, colour in state.pockets:
            outward = np.abs(np.array(_OUTWARD[_side(end)]))
            half = outward * (_POCKET_FAR - _POCKET_NEAR) / 2 + (1 - outward) * _POCKET_HALF
            block(_outside(end, (_POCKET_NEAR + _POCKET_FAR) / 2), half, look.pockets[colour])
        stops = [state.start, *(EDGE[end] for end in state.path)]
        for ends in pairwise(stops):
            pen.line(flat(ends), fill=look.line, width=round(_LINE * unit))
        for at in stops[1:]:
            disc(at, _BOUNCE, look.line)
        shaft = _along(state.start, state.way, np.array([(0.0, 0.0), (_HEAD[0][0], 0.0)]))
        pen.line(flat(shaft), fill=look.arrow, width=round(_LINE * unit))
        pen.polygon(flat(_along(state.start, state.way, _HEAD)), fill=look.arrow)
        disc(state.start, _START, look.arrow)
        disc(stops[-1], _BALL_SIZE, look.ball)

    def see(self, values: Values, name: str) -> Table | None:
        look = _LOOKS[name]

        def names(places: Places, palette: dict[str, str], most: float = 120) -> list[str | None]:
            return boards.named(boards.colours_at(values, places, 0.04 * _UNIT), palette, most)

        def away(places: Places, colour: str) -> NDArray[np.float64]:
            """Return how far the colours of places are from one."""
            return boards.apart(boards.colours_at(values, places, 0.03 * _UNIT), colour)[:, 0]

        start = _INSIDE[int(away(_STARTS, look.arrow).reshape(-1, len(_BESIDE)).max(axis=1).argmin())]
        heads = away(_heads(start), look.arrow)
        way = list(WAYS)[int(heads.reshape(-1, len(_FLANKS)).max(axis=1).argmin())]
        shown = names(_BLOCKS, {**look.pockets, "": look.rim})
        ground = {"": look.cloth, "rim": look.rim, "edge": boards.mixed(look.cloth, look.rim, 0.5)}
        at_ends = names(_AT_ENDS, {"line": look.line, "ball": look.ball, **ground})
        stops = [end for end, seen in zip(_ENDS, at_ends, strict=True) if seen == "line"]
        balls = [end for end, seen in zip(_ENDS, at_ends, strict=True) if seen == "ball"]
        if len(balls) > 1 or len(stops) >= _LONGEST or (stops and not balls):
            return None
        palette = {"line": look.line, "ball": look.ball, "arrow": look.arrow, "": look.cloth}

        def drawn(one: Position, other: Position) -> float:
            """Return how much of a segment is drawn. Another one or the arrow may cover a part of it, and blur may
            give the edges of the arrow the colour of the cloth."""
            seen = names(_on_page(np.array(one) + _PARTS * (np.array(other) - one)), palette)
            return sum(map(bool, seen)) / len(seen)

        _, path = _in_turn(start, "", stops, balls, drawn)
        found = {end: colour for end, colour in zip(_ENDS, shown, strict=True) if colour}
        return self._table(start, way, found, path) if len(path) == len(stops + balls) else None


def _in_turn(
    at: Position, side: str, stops: Sequence[str], last: Sequence[str], drawn: Callable[[Position, Position], float]
) -> tuple[float, list[str]]:
    """Return stops in the order in which segments are drawn from a place to the last one, and how much of the worst
    segment is; no stops if there is no such order."""
    best: tuple[float, list[str]] = (0.0 if stops or last else 1.0, [])
    for end in stops or last:
        share = drawn(at, EDGE[end]) if _side(end) != side else 0.0
        if share >= _DRAWN:
            others = [other for other in stops if other != end]
            least, rest = _in_turn(EDGE[end], _side(end), others, last if stops else (), drawn)
            best = max(best, (min(share, least), [end, *rest]))
    return best


WORLD = Billiards().world(__doc__ or "")
