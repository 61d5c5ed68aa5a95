"""How the ball bounces and where it falls, which the contract of step worlds cannot know."""

from __future__ import annotations

from random import Random

import pytest

from sketchmark.worlds.billiards import Billiards, Table

WORLD = Billiards()
TEXT = """ball: column {}, row {}, arrow {}
pocket: red at top 7
pocket: blue at right 5
pocket: green at bottom 4
pocket: yellow at left 1
pocket: purple at top 3
pocket: orange at bottom 2"""
LONG = ["bottom 6", "right 4", "top 4", "left 4", "bottom 2"]


def table(column: int, row: int, arrow: str) -> Table:
    found = WORLD.parse(TEXT.format(column, row, arrow))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("ball", "steps", "pocket"),
    [
        ((1, 2, "up right"), ["top 3"], "purple"),
        ((1, 4, "up left"), ["left 3", "top 3"], "purple"),
        ((6, 3, "down left"), ["bottom 3", "left 3", "top 3"], "purple"),
        ((5, 5, "down right"), LONG, "orange"),
        ((2, 2, "up left"), [], "none"),  # to a corner
    ],
)
def test_a_ball_bounces_like_a_ray_until_it_falls(ball: tuple[int, int, str], steps: list[str], pocket: str) -> None:
    first = table(*ball)
    assert WORLD.solve(first) == steps and WORLD.conclude_from(first, steps) == [pocket]
    assert all(WORLD.conclude_from(first, steps[:count]) == ["none"] for count in range(len(steps)))


def test_a_segment_off_the_diagonal_is_read_but_is_not_legal_and_leads_nowhere() -> None:
    first = table(5, 5, "down right")
    wrong = WORLD.after(first, "bottom 7")
    assert WORLD.read(WORLD.render(wrong)) == wrong != first
    assert not WORLD.legal(first, "bottom 7") and WORLD.solve(wrong) == []


def test_a_corrupt_last_segment_ends_at_another_pocket() -> None:
    state = table(5, 5, "down right")
    for step in LONG[:-1]:
        astray = WORLD.astray(state, step, "", Random(1))
        assert astray is not None and astray.fallen is None
        state = WORLD.after(state, step)
    ends = {astray.fallen for seed in range(9) if (astray := WORLD.astray(state, LONG[-1], "", Random(seed)))}
    assert ends and not ends & {None, "orange"}


@pytest.mark.parametrize("change", [("red at", "blue at"), ("top 7", "top 8"), ("column 5", "column 8")])
def test_a_table_that_cannot_be_is_not_parsed(change: tuple[str, str]) -> None:
    assert WORLD.parse(TEXT.format(5, 5, "down right").replace(*change)) is None
