"""Arrowheads and paths, which the contract of step worlds cannot know."""

from __future__ import annotations

import pytest

from sketchmark.worlds import LEVELS
from sketchmark.worlds.reach import Graph, Reach
from tests.tabled import tabled

SQUARE = """node: red row 1 column 1
node: blue row 1 column 3
node: green row 3 column 1
node: pink row 3 column 3
{}
edge: red and green
{}
edge: blue and pink
path wanted: red to pink"""


def graph(*edges: str) -> Graph:
    found = Reach().parse(SQUARE.format(*edges))
    assert found is not None
    return found


@tabled
def test_a_one_way_edge_is_followed_only_the_way_it_points(edges: tuple[str, str], steps: list[str]) -> None:
    world, first = Reach(), graph(*edges)
    assert world.solve(first) == steps
    for step in ("blue", "green"):
        against = f"one-way: {step} to red" in edges
        assert world.after(first, step).path == ("red", step) and world.legal(first, step) != against
    assert not world.accepts(first, ["red", *steps]) and world.accepts(first, steps)


@pytest.mark.parametrize("level", LEVELS)
def test_a_puzzle_has_one_shortest_path_with_forks_and_arrowheads_that_matter(level: int) -> None:
    world = Reach()
    for seed in range(30):
        state = first = world.puzzle(seed, level, "plain")
        for step in world.solve(first):
            assert len(world.choices(state)) > 1, "another edge leads elsewhere"
            state = world.after(state, step)
        assert _paths_of(world, first, level, against=False) == [state.path]
        assert not any(_paths_of(world, first, less, against=False) for less in range(1, level))
        open_ways = [way for n in range(1, level + 1) for way in _paths_of(world, first, n, against=True)]
        assert len(open_ways) > 1 or level == 1


def _paths_of(world: Reach, state: Graph, length: int, against: bool) -> list[tuple[str, ...]]:
    """Return every path of so many edges to the goal, found by trying all steps."""
    if not length:
        return [state.path] if state.path[-1] == state.goal else []
    steps = [step for step in world.choices(state) if against or world.legal(state, step)]
    return [way for step in steps for way in _paths_of(world, world.after(state, step), length - 1, against)]


@tabled
def test_a_graph_that_cannot_be_drawn_is_not_parsed(part: str, other: str) -> None:
    text = SQUARE.format("edge: red and blue", "edge: green and pink")
    assert Reach().parse(text) is not None and Reach().parse(text.replace(part, other)) is None
