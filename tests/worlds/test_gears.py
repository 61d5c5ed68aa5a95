"""The motion that joints pass on, which the contract of step worlds cannot know."""

from __future__ import annotations

import pytest

from sketchmark.episode import Episode, Grading, Turn
from sketchmark.episode.model import Reply
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


@pytest.mark.parametrize("turn", ["anticlockwise", "counterclockwise", "counter-clockwise", "Anti-Clockwise"])
@pytest.mark.parametrize("tag", ["<ANSWER_JSON>{}</ANSWER_JSON>", "So it is\n{}"])
def test_every_usual_word_for_a_direction_is_accepted(turn: str, tag: str) -> None:
    world = Gears()
    train = world.parse("RB..\n....\n....\n....\narrow: red clockwise")
    assert train is not None
    sample = world.sample("one", train)
    for said, right in ((f"blue {turn}", 1.0), ("blue clockwise", 0.0), (f"red {turn}", 0.0)):
        reply = Turn("say", (), "", Reply(tag.format(f'["{said}"]')))
        assert world.score(sample, Episode(sample, (reply,)), Grading()).values["gears_right"] == right, said
