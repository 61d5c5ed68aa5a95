"""Paper fold: unfold a punched sheet of paper and say how many holes it has, and where.

What you see: a square sheet of 6x6 cells that was folded and then punched through all its layers. A strip that was
folded over is empty; the number of dots in its middle says when it was folded, one dot for the first fold. A mark
shows the upper left corner of the sheet. What happens: the folds open again, the last one first. A strip goes back to
its empty place, and its holes are mirror images of those in the paper that it covered. The answer is the number of
holes in the open sheet, then their cells row by row, such as ["2", "c1", "d1"]. There is one right answer; its cells
may be in any order. A ground-truth image shows one more strip unfolded.

Levels: level n has n folds, so a model must mirror holes once more, and each fold adds holes. From level 2 on folds
go both across and down. From level 3 on a fold leaves a hole without a mirror image, so the number of holes does not
follow from the number of folds.

Looks: `plain` (orange paper), `night` (dark, blue paper), `slate` (chequered paper, red holes).

Corrupt step: the right strip is unfolded, but its holes are copied instead of mirrored, or a cell off.

Chance: a random number of random cells is right about once in 70,000.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from random import Random
from typing import NamedTuple

import numpy as np
from PIL import ImageDraw

from sketchmark.worlds import boards
from sketchmark.worlds.boards import Position, Values
from sketchmark.worlds.steps import Scene, StepWorld

SIDE = 6
SIDES = ("left", "right", "top", "bottom")
MOST_HOLES = 12
MISTAKES = ("bare", "copied", "shifted")
"""Ways in which the holes of an unfolded strip may be wrong."""
_FOLD = re.compile(rf"^fold (\d): ({'|'.join(SIDES)}) ([1-{SIDE // 2}])$", re.MULTILINE)
_ROW = re.compile(rf"^([.#O]{{{SIDE}}})$", re.MULTILINE)


class Area(NamedTuple):
    """Rows `top` to `bottom` and columns `left` to `right` of the sheet, the ends exclusive."""

    top: int
    left: int
    bottom: int
    right: int

    def cells(self) -> tuple[Position, ...]:
        return tuple(product(range(self.top, self.bottom), range(self.left, self.right)))


class Fold(NamedTuple):
    """A strip at one side of the paper that is folded over onto the rest."""

    side: str
    width: int

    def strip(self, paper: Area) -> Area:
        """Return the place of the strip before the fold."""
        return _parted(self, paper)[0]

    def rest(self, paper: Area) -> Area:
        """Return the paper that is left after the fold."""
        return _parted(self, paper)[1]

    def source(self, paper: Area, cell: Position, mistake: str = "") -> Position:
        """Return the cell of the rest that a cell of the strip covers, or would by a mistake."""
        (row, col), rest = cell, self.rest(paper)
        across = self.side in ("left", "right")
        crease = {"left": rest.left, "right": rest.right, "top": rest.top, "bottom": rest.bottom}[self.side]
        if mistake == "copied":
            away = self.width if self.side in ("left", "top") else -self.width
            return (row, col + away) if across else (row + away, col)
        if mistake == "shifted":
            row, col = (
                (_before(row, paper.top, paper.bottom), col)
                if across
                else (row, _before(col, paper.left, paper.right))
            )
        return (row, 2 * crease - 1 - col) if across else (2 * crease - 1 - row, col)


@lru_cache(maxsize=8192)
def _parted(fold: Fold, paper: Area) -> tuple[Area, Area]:
    match fold.side:
        case "left":
            crease = paper.left + fold.width
            return paper._replace(right=crease), paper._replace(left=crease)
        case "right":
            crease = paper.right - fold.width
            return paper._replace(left=crease), paper._replace(right=crease)
        case "top":
            crease = paper.top + fold.width
            return paper._replace(bottom=crease), paper._replace(top=crease)
        case _:
            crease = paper.bottom - fold.width
            return paper._replace(top=crease), paper._replace(bottom=crease)


def _before(line: int, first: int, end: int) -> int:
    """Return the row or column before one; the last before the first."""
    return line - 1 if line > first else end - 1


SHEET = Area(0, 0, SIDE, SIDE)
CELLS = SHEET.cells()


@dataclass(frozen=True)
class Paper(Scene):
    """The folds that are still closed, the first one first, and the holes in the paper that you see, row by row."""

    folds: tuple[Fold, ...]
    holes: tuple[Position, ...]


class _Look(NamedTuple):
    page: str
    empty: str
    """Colour of the places of strips that are folded over."""
    line: str
    paper: str
    other: str
    """Colour of every second cell of the paper."""
    hole: str
    dot: str
    mark: str


_LOOKS = {
    "plain": _Look("#e9efe0", "#c3cdb6", "#9aa68c", "#f7b648", "#f7b648", "#2b2f38", "#2f5d8c", "#c9344a"),
    "night": _Look("#1d1530", "#3f345f", "#5a4d80", "#7fd0e8", "#7fd0e8", "#140c24", "#f2e36b", "#e8556a"),
    "slate": _Look("#5f8195", "#8fb0c2", "#6d8fa3", "#f6f3e8", "#e9dfca", "#a3282f", "#17303f", "#ffd45e"),
}
_EDGE, _CELL = 0.08, 0.14
"""Margin of the sheet and side of a cell, as proportions of the image."""
_HOLE, _DOT, _SPREAD = 0.3, 0.13, 0.27
"""Of a cell: radius of holes and dots, and how far the outer dots are from the middle of a strip."""
_SITES = _SPREAD * np.array([(0, 0), (-1, -1), (1, 1), (1, -1), (-1, 1)], np.float64)
_DOTS = {1: (0,), 2: (1, 2), 3: (0, 1, 2), 4: (1, 2, 3, 4), 5: (0, 1, 2, 3, 4)}
_MIDDLES = _EDGE + _CELL * (np.array([cell[::-1] for cell in CELLS]) + 0.5)


def _papers(folds: Sequence[Fold]) -> list[Area] | None:
    """Return the paper before each fold and after the last; None if a strip is wider than what it is folded onto."""
    papers = [SHEET]
    for fold in folds:
        if fold not in _possible(papers[-1]):
            return None
        papers.append(fold.rest(papers[-1]))
    return papers


@lru_cache(maxsize=1024)
def _possible(paper: Area) -> tuple[Fold, ...]:
    """Return the folds that cover no more than the rest of the paper."""
    sizes = [paper.right - paper.left] * 2 + [paper.bottom - paper.top] * 2
    pairs = zip(SIDES, sizes, strict=True)
    return tuple(Fold(side, width) for side, size in pairs for width in range(1, size // 2 + 1))


def _middle(area: Area) -> tuple[float, float]:
    return (area.left + area.right) / 2, (area.top + area.bottom) / 2


def cell_name(cell: Position) -> str:
    return f"{'abcdefghij'[cell[1]]}{cell[0] + 1}"


def _row_by_row(holes: Iterable[Position]) -> tuple[Position, ...]:
    return tuple(sorted(set(holes)))


class PaperFold(StepWorld[Paper]):
    name = "paper_fold"
    about = "Sheets of 6x6 cells that were folded and punched."
    palettes = _LOOKS
    chances = (6.6e-5, 6.7e-7, 2.2e-8, 1.5e-9, 6e-10)
    vocabulary = frozenset((*map(cell_name, CELLS), *(str(number) for number in range(2, MOST_HOLES + 1))))
    answers_in_moves = False

    def generate(self, dice: Random, level: int, look: str) -> Paper:
        most = dice.choice((10, MOST_HOLES))
        while True:
            folds, paper = list[Fold](), SHEET
            while len(folds) < level and (possible := _possible(paper)):
                folds.append(dice.choice(possible))
                paper = folds[-1].rest(paper)
            both_ways = len({fold.side in SIDES[:2] for fold in folds}) == min(level, 2)
            if len(folds) < level or not both_ways:
                continue
            punched = dice.sample(paper.cells(), min(len(paper.cells()), dice.choice((1, 2))))
            first = Paper(tuple(folds), _row_by_row(punched), look=look)
            *_, before, last = states = self._opened(first)
            counts = [len(state.holes) for state in states]
            grows = len(set(counts)) == level + 1 and counts[-1] <= most
            uneven = level < 3 or counts[-1] < counts[0] * 2**level
            if grows and uneven and self.after(before, f"unfold {folds[0].side} as shifted") != last:
                return first

    def _opened(self, first: Paper) -> list[Paper]:
        """Return the paper as it is and after each fold is opened."""
        states = [first]
        for step in self.solve(first):
            states.append(self.after(states[-1], step))
        return states

    def solve(self, state: Paper) -> list[str]:
        return [f"unfold {fold.side}" for fold in reversed(state.folds)]

    def choices(self, state: Paper) -> Sequence[str]:
        """The last fold opened, with the right holes or wrong ones."""
        right = self.solve(state)[:1]
        return [*right, *(f"{step} as {mistake}" for step in right for mistake in MISTAKES)]

    def legal(self, state: Paper, step: str) -> bool:
        return [step] == self.solve(state)[:1]

    def after(self, state: Paper, move: str) -> Paper:
        papers = _papers(state.folds)
        if papers is None or move not in self.choices(state):
            return state
        fold, before, mistake = state.folds[-1], papers[-2], move.partition(" as ")[2]
        cells = () if mistake == "bare" else fold.strip(before).cells()
        opened = (cell for cell in cells if fold.source(before, cell, mistake) in state.holes)
        return replace(state, folds=state.folds[:-1], holes=_row_by_row((*state.holes, *opened)))

    def astray(self, state: Paper, move: str, before: str, rng: Random) -> Paper | None:
        """Return the strip opened with as many holes as it has, in wrong cells: without any, the answer would be that
        of the image before."""
        ends = [self.after(state, f"{move} as {mistake}") for mistake in MISTAKES if mistake != "bare"]
        wrong = [end for end in ends if end not in (state, self.after(state, move))]
        return rng.choice(wrong) if wrong else None

    def conclude_from(self, first: Paper, moves: Sequence[str]) -> list[str]:
        holes = self._after_all(first, moves).holes
        return [str(len(holes)), *map(cell_name, holes)]

    def accepts(self, first: Paper, answer: Sequence[str]) -> bool:
        """Cells count in any order."""
        right = self.conclude_from(first, self.solve(first))
        return list(answer[:1]) == right[:1] and sorted(answer[1:]) == sorted(right[1:])

    def guessed(self, rng: Random) -> list[str]:
        cells = _row_by_row(rng.sample(CELLS, MOST_HOLES)[: rng.randint(2, MOST_HOLES)])
        return [str(len(cells)), *map(cell_name, cells)]

    def write(self, state: Paper) -> str:
        paper = (_papers(state.folds) or [SHEET])[-1]
        signs = {cell: "O" if cell in state.holes else "#" for cell in paper.cells()}
        rows = ["".join(signs.get((row, col), ".") for col in range(SIDE)) for row in range(SIDE)]
        return "\n".join((*(f"fold {n}: {side} {width}" for n, (side, width) in enumerate(state.folds, 1)), *rows))

    def parse(self, text: str) -> Paper | None:
        found, rows = _FOLD.findall(text), _ROW.findall(text)
        folds = tuple(Fold(side, int(width)) for _, side, width in found)
        papers = _papers(folds)
        if len(rows) != SIDE or papers is None or [int(n) for n, *_ in found] != list(range(1, len(found) + 1)):
            return None
        paper = tuple((row, col) for row, col in CELLS if rows[row][col] != ".")
        holes = _row_by_row((row, col) for row, col in paper if rows[row][col] == "O")
        return Paper(folds, holes) if paper == papers[-1].cells() and holes else None

    def paint_on(self, pen: ImageDraw.ImageDraw, state: Paper, size: int) -> None:
        look, papers = _LOOKS[state.look or "plain"], _papers(state.folds) or [SHEET]
        unit = _CELL * size
        thin = max(1, round(0.004 * size))

        def at(place: float) -> float:
            return _EDGE * size + place * unit

        def block(area: tuple[float, float, float, float], fill: str) -> None:
            top, left, bottom, right = map(at, area)
            pen.rectangle((left, top, right - 1, bottom - 1), fill=fill)

        def disc(x: float, y: float, radius: float, fill: str) -> None:
            pen.ellipse((at(x - radius), at(y - radius), at(x + radius), at(y + radius)), fill=fill)

        block((-0.36, -0.36, -0.1, -0.1), look.mark)
        block((-0.03, -0.03, SIDE + 0.03, SIDE + 0.03), look.line)
        block(SHEET, look.empty)
        for row, col in papers[-1].cells():
            block((row, col, row + 1, col + 1), look.other if (row + col) % 2 else look.paper)
        for area, fill in ((SHEET, look.empty), (papers[-1], look.paper)):
            faint = boards.mixed(fill, "#000000", 0.14)
            for line in range(area.left + 1, area.right):
                pen.line((at(line), at(area.top), at(line), at(area.bottom) - 1), faint, thin)
            for line in range(area.top + 1, area.bottom):
                pen.line((at(area.left), at(line), at(area.right) - 1, at(line)), faint, thin)
        for number, (fold, paper) in enumerate(zip(state.folds, papers, strict=False), 1):
            top, left, bottom, right = map(at, fold.strip(paper))
            pen.rectangle((left, top, right, bottom), outline=look.line, width=2 * thin)
            for x, y in _SITES[list(_DOTS[number])] + _middle(fold.strip(paper)):
                disc(x, y, _DOT, look.dot)
        for row, col in state.holes:
            disc(col + 0.5, row + 0.5, _HOLE, look.hole)

    def see(self, values: Values, name: str) -> Paper | None:
        look, folds, paper = _LOOKS[name], list[Fold](), SHEET
        while len(folds) < len(_DOTS) and (fold := _fold_in(values, paper, len(folds) + 1, look)):
            folds.append(fold)
            paper = fold.rest(paper)
        seen = boards.named(
            boards.colours_at(values, _MIDDLES, 0.08 * _CELL),
            {"paper": look.paper, "other": look.other, "hole": look.hole},
            most=200,
        )
        inside = paper.cells()
        holes = [cell for cell, shown in zip(CELLS, seen, strict=True) if shown == "hole" and cell in inside]
        return Paper(tuple(folds), _row_by_row(holes)) if holes else None


def _fold_in(values: Values, paper: Area, number: int, look: _Look) -> Fold | None:
    """Return the fold whose strip of the paper has this number of dots in its middle; None if there is none."""
    possible = _possible(paper)
    if not possible:
        return None
    middles = np.array([_middle(fold.strip(paper)) for fold in possible])
    sites = _EDGE + _CELL * (middles[:, None] + _SITES).reshape(-1, 2)
    palette = {"dot": look.dot, "": look.empty, "paper": look.paper, "other": look.other, "hole": look.hole}
    seen = boards.named(boards.colours_at(values, sites, 0.04 * _CELL), palette)
    expected = ["dot" if site in _DOTS[number] else "" for site in range(len(_SITES))]
    found = [fold for n, fold in enumerate(possible) if seen[n * len(_SITES) : (n + 1) * len(_SITES)] == expected]
    return min(
        found, key=lambda fold: fold.width, default=None
    )  # dots of two strips may look like others between them


WORLD = PaperFold().world(__doc__ or "")
