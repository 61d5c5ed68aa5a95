"""Sliding puzzles: depth, solutions, rules, drawing and reading."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sketchmark.errors import BadInput
from sketchmark.worlds.sliding import board as sliding
from tests.worlds.pictures import as_jpeg


def _slow_depth(state: sliding.State, deepest: int) -> int | None:
    """Plain breadth-first search, to hold the table and the search against."""
    seen, ring = {state}, [state]
    for depth in range(deepest + 1):
        if sliding.goal_state(sliding.side_of(state)) in ring:
            return depth
        after = {sliding.apply(one, move) for one in ring for move in sliding.legal_moves(one)}
        ring = [one for one in after if one is not None and one not in seen]
        seen.update(ring)
    return None


def optimal_solutions(state: sliding.State) -> int:
    """Return the number of shortest solutions of a state (0: it cannot be solved, or is deeper than DEEPEST)."""
    n = sliding.side_of(state)
    if not sliding.is_solvable(state, sliding.goal_state(n)):
        return 0
    if n <= 3:
        return int(sliding.table(n).solutions[sliding.rank_of(state)])
    return len(sliding.search(state, sliding.goal_state(n), deepest=sliding.DEEPEST[n]))


@pytest.mark.parametrize("depth", range(1, 32))
def test_every_depth_of_three_by_three_is_exact_and_unique_up_to_29(depth: int) -> None:
    for seed in range(5):
        state = sliding.generate(seed, depth)
        moves = sliding.solve(state)
        assert len(moves) == depth
        assert optimal_solutions(state) == {30: 4, 31: 40}.get(depth, 1)
        for move in moves:
            state = sliding.apply(state, move) or state
        assert state == sliding.goal_state()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**40), depth=st.integers(1, 13))
def test_the_depth_is_what_a_plain_search_finds(seed: int, depth: int) -> None:
    assert _slow_depth(sliding.generate(seed, depth), depth) == depth


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**40), depth=st.integers(1, 22))
def test_table_and_search_agree_on_all_optimal_solutions(seed: int, depth: int) -> None:
    rng, state = Random(seed), sliding.goal_state()
    for _ in range(depth):
        moves = sliding.legal_moves(state)
        state = sliding.moved(state, moves[rng.randrange(len(moves))])
    found = sliding.search(state, sliding.goal_state())
    assert found[0] == sliding.solve(state)
    assert len(found) == len({tuple(one) for one in found}) == optimal_solutions(state)


@pytest.mark.parametrize(("n", "depth"), [(2, 1), (2, 5), (4, 1), (4, 12), (4, 24), (5, 3), (5, 18)])
def test_other_sizes_have_exact_depths_and_one_solution_too(n: int, depth: int) -> None:
    for seed in range(3):
        state = sliding.generate(seed, depth, n)
        assert len(sliding.solve(state)) == depth
        assert optimal_solutions(state) == 1


@pytest.mark.parametrize(("depth", "n"), [(0, 3), (32, 3), (7, 2), (31, 4), (31, 5), (3, 1), (3, 6)])
def test_a_depth_or_size_that_cannot_be_made_is_refused(depth: int, n: int) -> None:
    with pytest.raises(BadInput):
        sliding.generate(0, depth, n)


def test_moves_are_named_by_the_direction_of_the_tile() -> None:
    state = (2, 1, 3, 4, 5, 6, 7, 8, 9)
    assert sliding.legal_moves(state) == ["up", "left", "right"]
    assert sliding.apply(state, "up") == (2, 5, 3, 4, 1, 6, 7, 8, 9)
    assert sliding.apply(state, "left") == (2, 3, 1, 4, 5, 6, 7, 8, 9)
    assert sliding.apply(state, "right") == sliding.goal_state()
    assert sliding.apply(state, "down") is None
    assert sliding.apply(state, "sideways") is None


def test_another_goal_is_reached_by_a_shortest_way() -> None:
    goal = (2, 3, 4, 5, 6, 7, 8, 9, 1)
    start: sliding.State = goal
    for move in ("down", "right", "down", "left"):
        start = sliding.apply(start, move) or start
    assert sliding.solve(start, goal) == ["right", "up", "left", "up"]


def test_a_puzzle_of_the_wrong_parity_is_said_to_be_unsolvable() -> None:
    swapped = (1, 3, 2, 4, 5, 6, 7, 8, 9)
    assert not sliding.is_solvable(swapped, sliding.goal_state())
    assert optimal_solutions(swapped) == 0
    with pytest.raises(BadInput, match="cannot be brought"):
        sliding.solve(swapped)


def test_a_large_puzzle_too_deep_to_search_is_refused_instead_of_searched_for_ever() -> None:
    deep = (1, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2)
    goal = sliding.goal_state(4)
    state = deep if sliding.is_solvable(deep, goal) else (1, 15, 16, *deep[3:])
    with pytest.raises(BadInput, match="more than 30 moves"):
        sliding.solve(state)


@pytest.mark.parametrize("state", [(1, 2, 3), (1, 2, 2, 4), (0, 1, 2, 3)])
def test_numbers_that_are_no_board_are_refused(state: sliding.State) -> None:
    with pytest.raises(BadInput, match="not a sliding puzzle"):
        sliding.solve(state)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**40), n=st.integers(2, 5), cell=st.integers(32, 150), jpeg=st.booleans())
def test_any_order_of_tiles_reads_back_as_drawn(seed: int, n: int, cell: int, jpeg: bool) -> None:
    """JPEG smears colours over a few pixels: in cells under 50 of them the published share of 80 % may be missed."""
    cells = list(sliding.goal_state(n))
    Random(seed).shuffle(cells)
    picture = sliding.render(tuple(cells), size=max(cell, 50) if jpeg else cell)
    assert sliding.to_state(sliding.read(as_jpeg(picture, 90) if jpeg else picture, n)) == tuple(cells)


def test_frames_show_every_move_and_end_in_the_goal() -> None:
    state = sliding.generate(5, 8)
    moves = sliding.solve(state)
    pictures = sliding.frames(state, moves)
    assert len(pictures) == 8
    assert sliding.read(pictures[-1]) == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert sliding.read(pictures[0]) != sliding.read(sliding.render(state))


@pytest.mark.parametrize(
    ("n", "depth", "digest"),
    [
        (3, 8, "171576ad92e3b3f571dee9e6609130af224150e8c89a3abcd2f5e127fb98f8ae"),
        (4, 10, "0aa1d491d8ccdc3381b3def3c01a9301924a5c2ddf673158f016c686990fe58b"),
    ],
)
def test_a_seed_gives_the_same_pixels_everywhere(n: int, depth: int, digest: str) -> None:
    assert sliding.render(sliding.generate(7, depth, n)).identity == digest
