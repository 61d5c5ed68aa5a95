"""The folds of a sheet, which the contract of step worlds cannot know."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sketchmark.worlds import LEVELS
from sketchmark.worlds.boards import Position
from sketchmark.worlds.paper_fold import CELLS, Fold, Paper, PaperFold

PAPER = PaperFold()


def opened(folds: Sequence[Fold], holes: Sequence[Position]) -> list[str]:
    first = Paper(tuple(folds), tuple(holes))
    return PAPER.conclude_from(first, PAPER.solve(first))


@pytest.mark.parametrize(
    ("folds", "holes", "answer"),
    [
        ([Fold("left", 3)], [(0, 3)], ["2", "c1", "d1"]),
        ([Fold("right", 1)], [(2, 4), (5, 0)], ["3", "e3", "f3", "a6"]),
        ([Fold("top", 2), Fold("top", 2)], [(5, 1)], ["3", "b2", "b3", "b6"]),
        ([Fold("bottom", 3), Fold("right", 3)], [(2, 2)], ["4", "c3", "d3", "c4", "d4"]),
    ],
)
def test_holes_are_mirrored_over_each_crease(folds: list[Fold], holes: list[Position], answer: list[str]) -> None:
    assert opened(folds, holes) == answer


@pytest.mark.parametrize("level", LEVELS)
def test_a_sheet_folded_cell_by_cell_has_the_same_holes(level: int) -> None:
    for seed in range(30):
        first = PAPER.puzzle(seed, level, "plain")
        cells = {cell: [cell] for cell in CELLS}  # place on the page → cells of the sheet that are there
        for side, width in first.folds:
            axis = 1 if side in ("left", "right") else 0
            lines = [cell[axis] for cell in cells]
            first_ones = side in ("left", "top")
            crease = min(lines) + width - 0.5 if first_ones else max(lines) - width + 0.5
            for place in [at for at in cells if (at[axis] < crease) == first_ones]:
                over = int(2 * crease - place[axis])
                onto = (place[0], over) if axis else (over, place[1])
                cells[onto] += cells.pop(place)  # a strip never reaches beyond the rest
        punched = sorted(cell for hole in first.holes for cell in cells[hole])
        answer = [str(len(punched)), *(f"{'abcdef'[col]}{row + 1}" for row, col in punched)]
        assert PAPER.conclude_from(first, PAPER.solve(first)) == answer


def test_cells_count_in_any_order_but_the_number_comes_first() -> None:
    first = Paper((Fold("left", 3),), ((0, 3), (4, 5)))
    assert PAPER.accepts(first, ["4", "f5", "d1", "a5", "c1"])
    for answer in (["4", "c1", "d1", "a5"], ["3", "c1", "d1", "a5", "f5"], ["c1", "d1", "a5", "f5", "4"]):
        assert not PAPER.accepts(first, answer)


def test_each_fold_adds_holes_and_their_number_does_not_follow_from_the_folds() -> None:
    numbers = {level: set[int]() for level in LEVELS}
    for level in LEVELS:
        for seed in range(30):
            state = PAPER.puzzle(seed, level, "plain")
            counts = [len(state.holes)]
            for step in PAPER.solve(state):
                state = PAPER.after(state, step)
                counts.append(len(state.holes))
            assert counts == sorted(set(counts)) and counts[-1] <= 12
            numbers[level].add(counts[-1])
    assert min(map(len, numbers.values())) >= 3, numbers
