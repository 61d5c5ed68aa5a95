"""The turns of a die, which the contract of step worlds cannot know."""

from __future__ import annotations

from itertools import product

import pytest

from sketchmark.worlds.boards import MOVES
from sketchmark.worlds.dice_roll import DICE, Die


@pytest.mark.parametrize(
    ("move", "after"),
    [("right", Die(4, 2, 1)), ("left", Die(3, 2, 6)), ("down", Die(5, 1, 3)), ("up", Die(2, 6, 3))],
)
def test_a_roll_brings_up_the_face_behind_it_and_tips_the_top_forward(move: str, after: Die) -> None:
    assert Die(1, 2, 3).rolled(move) == after


def test_a_die_can_be_placed_in_24_ways_and_returns_after_four_rolls() -> None:
    assert len(DICE) == 24 and {len({die.top, die.front, die.right}) for die in DICE} == {3}
    for die, move in product(DICE, MOVES):
        turned = [die]
        for _ in range(4):
            turned.append(turned[-1].rolled(move))
        assert turned[4] == die and len(set(turned)) == 4
        assert turned[2].top == 7 - die.top and set(turned) <= set(DICE)
