"""The motion that joints pass on, which the contract of step worlds cannot know."""

from __future__ import annotations

import pytest

from sketchmark.worlds.gears import WORLD, Gears

ACROSS = "R.B.\n....\n....\n....\nbelt: red blue {}\narrow: red clockwise"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("RB..\n....\n....\n....\narrow: red clockwise", ["blue anticlockwise"]),
        ("R...\nBG..\n....\n...Y\narrow: red anticlockwise", ["blue clockwise", "green anticlockwise"]),
        (ACROSS.format("open"), ["blue clockwise"]),
        (ACROSS.format("crossed"), ["blue anticlockwise"]),
    ],
)
def test_teeth_and_crossed_belts_reverse_and_open_belts_keep_the_direction(text: str, steps: list[str]) -> None:
    world = WORLD.play
    assert isinstance(world, Gears)
    train = world.parse(text)
    assert train is not None and world.solve(train) == steps and world.accepts(train, steps[-1:])


@pytest.mark.parametrize("belt", ["red green open", "red red open"])
def test_a_belt_between_gears_that_are_not_there_is_not_parsed(belt: str) -> None:
    assert Gears().parse(ACROSS.format("open").replace("red blue open", belt)) is None
