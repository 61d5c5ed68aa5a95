"""Form board: find the pieces that fill the outline, and put them in one by one.

What you see: an outline of up to 25 cells on a board of 5x6, and below it a tray of four to seven pieces in different
colours, each of three to five cells. Some pieces do not belong. What you may do: put a piece from the tray into the
outline, neither turned nor flipped nor on top of another. Pieces go in by a fixed order: the next one must cover the
first free cell, the leftmost one in the highest row that has any. A colour thus says where a piece goes. The answer
is the list of colours in this order, such as ["blue", "red"]. One list fills the outline: no other choice of pieces
does, nor any other places of them.

Levels: level n takes n pieces, among n + 3 in the tray, at most seven. At every step another piece fits too and leads
nowhere, so a model must look one piece further ahead.

Looks: `plain`, `night` (dark, pale pieces), `wood` (brown page, grained pieces).

Corrupt step: another piece that fits, in place of the right one.

Chance: a random list of one to five colours is right in about 7 of 1,000 puzzles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import perm
from random import Random
from typing import NamedTuple

import numpy as np
from PIL import ImageDraw

from sketchmark.worlds import LEVELS, boards
from sketchmark.worlds.boards import MOVES, Places, Position, Values
from sketchmark.worlds.steps import Scene, StepWorld

ROWS, COLS = 5, 6
BOX = 3
"""Rows and columns of a place in the tray: no piece is longer."""
COLOURS = ("red", "blue", "green", "yellow", "purple", "orange", "turquoise")
_LETTERS = {colour[0].upper(): colour for colour in COLOURS}
_ROW = re.compile(rf"^[.#{''.join(_LETTERS)}]{{{COLS}}}$", re.MULTILINE)
_TRAY = re.compile(rf"^tray: ([./{''.join(_LETTERS)}]{{1,{BOX * BOX + BOX - 1}}})$", re.MULTILINE)
_SIZES, _DECOYS = (3, 4, 4, 5), 3
_Cells = tuple[Position, ...]
"""Cells of a piece in reading order. In the tray its highest row and leftmost column are 0."""


class Piece(NamedTuple):
    colour: str
    cells: _Cells


@dataclass(frozen=True)
class Board(Scene):
    """Pieces are in the order of `COLOURS`. Each colour has its own place in the tray."""

    outline: frozenset[Position]
    tray: tuple[Piece, ...]
    placed: tuple[Piece, ...] = ()

    @property
    def free(self) -> frozenset[Position]:
        return self.outline.difference(*(piece.cells for piece in self.placed))


class _Look(NamedTuple):
    page: str
    tray: str
    edge: str
    floor: str
    pieces: dict[str, str]
    grained: bool = False


_VIVID = boards.palette(COLOURS, "#d62424 #2450d8 #1f9a3c #f7e03c #8d3bc4 #f07a14 #25bcc4")
_PALE = boards.palette(COLOURS, "#ea4458 #5c8dff #63dc7c #fff58a #c883ff #ff9a3d #6ff0ee")
_LOOKS = {
    "plain": _Look("#e0d3d8", "#cdbdc4", "#4a4448", "#8b858a", _VIVID),
    "night": _Look("#33203a", "#422c4a", "#e8e0ec", "#8a7d90", _PALE),
    "wood": _Look("#7a5238", "#8a6146", "#2e1d12", "#eae5d6", _VIVID, grained=True),
}
_CELL = 0.07
_BOARD = (0.05, 0.29)
_SLOTS = {colour: (0.48 + 0.245 * (n // 4), 0.0475 + 0.2325 * (n % 4)) for n, colour in enumerate(COLOURS)}
"""Side of a cell, and upper and left end of the board and of each colour's place in the tray, of the image."""
_TRAY_BOX = (0.45, 0.02, 0.97, 0.98)
_ALL = [(row, col) for row in range(ROWS) for col in range(COLS)]
_IN_SLOT = [(row, col) for row in range(BOX) for col in range(BOX)]


@lru_cache(maxsize=256)
def _around(cell: Position) -> tuple[Position, ...]:
    return tuple((cell[0] + down, cell[1] + right) for down, right in MOVES.values())


def _laid(cells: Sequence[Position]) -> _Cells:
    """Return a piece as it lies in the tray."""
    top, left = min(row for row, _ in cells), min(col for _, col in cells)
    return tuple(sorted((row - top, col - left) for row, col in cells))


def _is_piece(cells: Sequence[Position]) -> bool:
    """Return whether cells are in one piece that has its right size."""
    reached = list(cells[:1])
    for cell in reached:
        reached += [near for near in _around(cell) if near in cells and near not in reached]
    fits = all(row < BOX and col < BOX for row, col in _laid(cells)) if cells else False
    return fits and len(reached) == len(cells) and min(_SIZES) <= len(cells) <= max(_SIZES)


def _put(free: frozenset[Position], cells: _Cells) -> _Cells | None:
    """Return the cells of a piece that covers the first free cell; None if it does not fit."""
    if not free:
        return None
    (top, left), (row, col) = min(free), cells[0]
    there = tuple((down + top - row, right + left - col) for down, right in cells)
    return there if free.issuperset(there) else None


def _bits(cells: Iterable[Position]) -> int:
    return sum(1 << row * COLS + col for row, col in cells)


@lru_cache(maxsize=1024)
def _covers(cells: _Cells) -> dict[int, int]:
    """Return the bits of all cells of a piece by that of its first one, for each place on the board."""
    row, col = cells[0]
    high, wide = (max(ends) for ends in zip(*cells, strict=True))
    places = ((down, right) for down, right in _ALL if down + high < ROWS and 0 <= right - col < COLS - wide)
    return {_bits([at]): _bits((r + at[0] - row, c + at[1] - col) for r, c in cells) for at in places}


def _fillings(free: int, tray: Sequence[tuple[str, dict[int, int]]]) -> list[tuple[str, ...]]:
    """Return all lists of colours that fill the free cells, which are the bits of a number."""
    if not free:
        return [()]
    found = list[tuple[str, ...]]()
    for piece in tray:
        covered = piece[1].get(free & -free, 0)
        if covered and not covered & ~free:
            left = [other for other in tray if other is not piece]
            found += [(piece[0], *rest) for rest in _fillings(free ^ covered, left)]
    return found


def _all_fillings(board: Board) -> list[tuple[str, ...]]:
    return _fillings(_bits(board.free), [(piece.colour, _covers(piece.cells)) for piece in board.tray])


def _grown(dice: Random, free: Sequence[Position], start: Position) -> _Cells | None:
    """Return a random piece of free cells around a first one; None if it cannot be one."""
    cells, size = [start], dice.choice(_SIZES)
    while len(cells) < size:
        near = sorted({cell for one in cells for cell in _around(one) if cell in free and cell not in cells})
        if not near:
            return None
        cells.append(dice.choice(near))
    return tuple(sorted(cells)) if _is_piece(cells) else None


def _filled(dice: Random, count: int) -> list[_Cells]:
    """Return neighbouring pieces at random places of the board; fewer if they do not fit."""
    pieces, free = list[_Cells](), list(_ALL)
    for _ in range(8 * count):
        taken = [cell for piece in pieces for cell in piece]
        starts = sorted({near for cell in taken for near in _around(cell) if near in free}) if taken else free
        piece = _grown(dice, free, dice.choice(starts)) if starts else None
        if piece and _laid(piece) not in map(_laid, pieces):
            pieces.append(piece)
            free = [cell for cell in free if cell not in piece]
        if len(pieces) == count:
            break
    return pieces


def _decoy(dice: Random, like: _Cells) -> _Cells | None:
    """Return a piece that is easily taken for another one: turned, or with a cell less or more."""
    cells = list(like)
    kind = dice.choice(("turned", "less", "more"))
    if kind == "turned":
        cells = [(col, -row) for row, col in cells]
    elif kind == "less":
        cells.remove(dice.choice(cells))
    else:
        cells.append(dice.choice(sorted({near for cell in cells for near in _around(cell)} - set(cells))))
    return _laid(cells) if _is_piece(cells) else None


class FormBoard(StepWorld[Board]):
    name = "form_board"
    about = "Outlines with one choice of pieces, out of a tray, that fills them."
    palettes = _LOOKS
    chances = tuple(1 / perm(len(COLOURS), level) / len(LEVELS) for level in LEVELS)
    vocabulary = frozenset(COLOURS)

    def generate(self, dice: Random, level: int, look: str) -> Board:
        while True:
            pieces = _filled(dice, level)
            if len(pieces) < level:
                continue
            shapes = [_laid(piece) for piece in pieces]
            while len(shapes) < min(level + _DECOYS, len(COLOURS)):
                decoy = _decoy(dice, dice.choice(shapes))
                if decoy and decoy not in shapes:
                    shapes.append(decoy)
            colours = dice.sample(COLOURS, len(shapes))
            tray = _in_order(Piece(*pair) for pair in zip(colours, shapes, strict=True))
            board = Board(frozenset(cell for piece in pieces for cell in piece), tray, look=look)
            if len(_all_fillings(board)) == 1 and self._leaves_choices(board):
                return board

    def _leaves_choices(self, state: Board) -> bool:
        """Return whether more than one piece fits at every step."""
        for step in self.solve(state):
            if len(self.choices(state)) < 2:
                return False
            state = self.after(state, step)
        return True

    def solve(self, state: Board) -> list[str]:
        return list(next(iter(_all_fillings(state)), ()))

    def choices(self, state: Board) -> Sequence[str]:
        free = state.free
        return [piece.colour for piece in state.tray if _put(free, piece.cells)]

    def after(self, state: Board, move: str) -> Board:
        for piece in state.tray:
            there = _put(state.free, piece.cells) if piece.colour == move else None
            if there:
                tray = tuple(other for other in state.tray if other != piece)
                return replace(state, tray=tray, placed=_in_order((*state.placed, Piece(move, there))))
        return state

    def guessed(self, rng: Random) -> list[str]:
        return rng.sample(COLOURS, rng.choice(LEVELS))

    def write(self, state: Board) -> str:
        letters = dict.fromkeys(state.outline, "#")
        letters |= {cell: piece.colour[0].upper() for piece in state.placed for cell in piece.cells}
        rows = ["".join(letters.get((row, col), ".") for col in range(COLS)) for row in range(ROWS)]
        return "\n".join((*rows, *(f"tray: {_written(piece)}" for piece in state.tray)))

    def parse(self, text: str) -> Board | None:
        rows = _ROW.findall(text)
        if len(rows) != ROWS:
            return None
        tray = []
        for written in _TRAY.findall(text):
            shown = {
                (row, col): letter for row, line in enumerate(written.split("/")) for col, letter in enumerate(line)
            }
            colours = set(shown.values()) - {"."}
            if len(colours) != 1:
                return None
            tray.append(
                Piece(_LETTERS[colours.pop()], tuple(cell for cell, letter in shown.items() if letter != "."))
            )
        names = {"#": "#", ".": "", **_LETTERS}
        return _board({(row, col): names[rows[row][col]] for row, col in _ALL}, tray)

    def paint_on(self, pen: ImageDraw.ImageDraw, state: Board, size: int) -> None:
        look = _LOOKS[state.look or "plain"]

        def block(fill: str, top: float, left: float, bottom: float, right: float) -> None:
            ends = [round(size * end) for end in (left, top, right, bottom)]
            if ends[2] > ends[0] and ends[3] > ends[1]:
                pen.rectangle((ends[0], ends[1], ends[2] - 1, ends[3] - 1), fill)

        def cell(fill: str, at: Position, corner: tuple[float, float], *ends: float) -> None:
            (y, x), (top, left, bottom, right) = corner, ends
            y, x = y + _CELL * at[0], x + _CELL * at[1]
            block(fill, y + _CELL * top, x + _CELL * left, y + _CELL * bottom, x + _CELL * right)

        def piece(colour: str, cells: _Cells, corner: tuple[float, float]) -> None:
            fill = look.pieces[colour]
            dark, seam = boards.mixed(fill, "#000000", 0.45), boards.mixed(fill, "#000000", 0.2)
            for at in cells:
                up, down, left, right = (near in cells for near in _around(at))
                cell(dark, at, corner, 0, 0, 1, 1)
                cell(
                    seam,
                    at,
                    corner,
                    0.08 * (not up),
                    0.08 * (not left),
                    1 - 0.08 * (not down),
                    1 - 0.08 * (not right),
                )
                ends = [0.03 if up else 0.08, 0.03 if left else 0.08, 0.97 if down else 0.92, 0.97 if right else 0.92]
                cell(fill, at, corner, *ends)
                if look.grained:
                    for line in (0.2, 0.76):
                        cell(seam, at, corner, line, ends[1], line + 0.05, ends[3])

        block(look.tray, *_TRAY_BOX)
        for at in sorted(state.outline):
            cell(look.edge, at, _BOARD, -0.12, -0.12, 1.12, 1.12)
        line = boards.mixed(look.floor, look.edge, 0.25)
        for at in sorted(state.outline):
            cell(line, at, _BOARD, 0, 0, 1, 1)
            cell(look.floor, at, _BOARD, 0.03, 0.03, 0.97, 0.97)
        for colour, cells in state.placed:
            piece(colour, cells, _BOARD)
        for colour, cells in state.tray:
            piece(colour, cells, _SLOTS[colour])

    def see(self, values: Values, name: str) -> Board | None:
        look = _LOOKS[name]
        spread = 0.12 * _CELL
        palette = {**look.pieces, "#": look.floor, "": look.page}
        cells = boards.named(boards.colours_at(values, _middles(_BOARD, _ALL), spread), palette)
        places = np.concatenate([_middles(_SLOTS[colour], _IN_SLOT) for colour in COLOURS])
        slots = boards.named(boards.colours_at(values, places, spread), {**look.pieces, "": look.tray})
        tray = []
        for number, colour in enumerate(COLOURS):
            shown = slots[len(_IN_SLOT) * number : len(_IN_SLOT) * (number + 1)]
            if not {*shown} <= {colour, ""}:
                return None
            if colour in shown:
                tray.append(Piece(colour, tuple(at for at, seen in zip(_IN_SLOT, shown, strict=True) if seen)))
        if None in cells:
            return None
        return _board({at: seen or "" for at, seen in zip(_ALL, cells, strict=True)}, tray)


def _middles(corner: tuple[float, float], cells: Sequence[Position]) -> Places:
    """Return the middles of cells as proportions of the image."""
    return np.array([(corner[1] + _CELL * (col + 0.5), corner[0] + _CELL * (row + 0.5)) for row, col in cells])


def _written(piece: Piece) -> str:
    """Return the rows of a piece from top to bottom."""
    height, width = (1 + max(ends) for ends in zip(*piece.cells, strict=True))
    letter = piece.colour[0].upper()
    rows = ("".join(letter if (row, col) in piece.cells else "." for col in range(width)) for row in range(height))
    return "/".join(rows)


def _board(shown: dict[Position, str], tray: Sequence[Piece]) -> Board | None:
    """Return the board that shows these colours ("#" is free) and this tray; None if a colour is there twice, or what
    it covers is not a piece."""
    covered = [(colour, tuple(at for at in _ALL if shown[at] == colour)) for colour in COLOURS]
    placed = [Piece(colour, cells) for colour, cells in covered if cells]
    pieces = [*placed, *tray]
    several = len(pieces) > len({piece.colour for piece in pieces})
    outline = frozenset(at for at in _ALL if shown[at])
    if several or not outline or not all(_is_piece(piece.cells) for piece in pieces):
        return None
    if any(piece.cells != _laid(piece.cells) for piece in tray):
        return None
    return Board(outline, _in_order(tray), tuple(placed))


def _in_order(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    return tuple(sorted(pieces, key=lambda piece: COLOURS.index(piece.colour)))


WORLD = FormBoard().world(__doc__ or "")
