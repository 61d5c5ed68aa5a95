"""What fits into an outline, which the contract of step worlds cannot know."""

from __future__ import annotations

import pytest

from sketchmark.worlds import LEVELS
from sketchmark.worlds.form_board import FormBoard, _all_fillings

TWO = "......\n.###..\n.###..\n......\n......\ntray: RR/R.\ntray: .B/BB\ntray: GGG"


def test_a_piece_covers_the_first_free_cell_and_is_not_turned() -> None:
    world = FormBoard()
    board = world.parse(TWO)
    assert board is not None and world.solve(board) == ["red", "blue"]
    assert world.choices(board) == ["red", "green"], "blue would stick out on the left"
    half = world.after(board, "red")
    assert world.write(half) == TWO.replace("###", "RR#", 1).replace("###", "R##", 1).replace("tray: RR/R.\n", "")
    assert world.after(half, "red") == world.after(half, "green") == half and world.choices(half) == ["blue"]
    assert world.accepts(board, ["red", "blue"])
    assert not any(world.accepts(board, wrong) for wrong in (["blue", "red"], ["red"], ["red", "blue", "green"]))
    assert world.solve(world.after(board, "green")) == [], "nothing leads on from a wrong piece"


@pytest.mark.parametrize("level", LEVELS)
def test_one_choice_of_pieces_fills_an_outline_and_another_piece_fits_at_every_step(level: int) -> None:
    world = FormBoard()
    for seed in range(30):
        state = world.puzzle(seed, level, "plain")
        shapes = [piece.cells for piece in state.tray]
        assert len(_all_fillings(state)) == 1 and len(shapes) == len(set(shapes)) == min(level + 3, 7)
        for step in world.solve(state):
            assert len(world.choices(state)) > 1
            state = world.after(state, step)
        assert not state.free


@pytest.mark.parametrize(
    ("old", "new"),
    [("RR/R.", "RR/B."), ("GGG", "RRR"), ("GGG", "GG"), ("GGG", "GGGG"), ("GGG", "G.G/GG."), (".###", ".RGB")],
)
def test_what_is_not_a_piece_or_there_twice_is_not_parsed(old: str, new: str) -> None:
    assert FormBoard().parse(TWO.replace(old, new, 1)) is None
