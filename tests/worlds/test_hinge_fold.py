"""The turns of a chain, which the contract of step worlds cannot know."""

from __future__ import annotations

import pytest

from sketchmark.worlds import LEVELS
from sketchmark.worlds.hinge_fold import Chain, HingeFold
from tests.tabled import tabled

TEXT = "chain: base d4, {}\nturns: {}"
FIRST = "red e4, blue f4, green f3, yellow f2, purple g2"


def chain(turns: str) -> Chain:
    found = HingeFold().parse(TEXT.format(FIRST, turns))
    assert found is not None
    return found


@tabled
def test_a_piece_turns_about_its_near_end_and_all_pieces_behind_it_turn_along(
    turns: str, steps: list[str], after: str
) -> None:
    world, state = HingeFold(), chain(turns)
    assert world.solve(state) == steps and world.conclude_from(state, steps) == [after[-2:]]
    for step in steps:
        assert world.legal(state, step)
        state = world.after(state, step)
    assert world.write(state) == TEXT.format(after, "none")


def test_a_piece_that_turns_alone_leaves_those_behind_it_as_they_point_and_is_illegal() -> None:
    world, state = HingeFold(), chain("red clockwise")
    after = world.after(state, "red down alone")
    assert world.write(after) == TEXT.format("red d5, blue e5, green e4, yellow e3, purple f3", "none")
    assert not world.legal(state, "red down alone") and not world.legal(state, "red up")


@pytest.mark.parametrize(
    ("turns", "step"), [("green anticlockwise", "green left"), ("green clockwise", "green right")]
)
def test_a_turn_onto_another_piece_or_off_the_grid_is_impossible(turns: str, step: str) -> None:
    world, state = HingeFold(), chain(turns)
    assert world.solve(state) == [step] and not world.legal(state, step) and world.after(state, step) == state


def test_no_piece_of_a_puzzle_covers_another_no_turn_undoes_one_and_only_the_last_brings_the_end_to_its_cell() -> (
    None
):
    world = HingeFold()
    for seed in range(20):
        for level in LEVELS:
            states = [world.puzzle(seed, level, "plain")]
            for step in world.solve(states[0]):
                states.append(world.after(states[-1], step))
            assert all(len({*state.cells}) == 6 and max(map(max, state.cells)) <= 6 for state in states)
            assert len({turn.colour for turn in states[0].turns}) == len({*states[0].turns})
            assert len(states) == level + 1 and states[-1].end not in [state.end for state in states[:-1]]


@pytest.mark.parametrize(("old", "new"), [("red e4", "red e5"), ("green", "red"), ("red clock", "pink clock")])
def test_a_torn_chain_or_a_turn_of_no_piece_is_not_parsed(old: str, new: str) -> None:
    text = TEXT.format(FIRST, "red clockwise")
    assert HingeFold().parse(text) and HingeFold().parse(text.replace(old, new)) is None
