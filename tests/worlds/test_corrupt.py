"""The true pictures with one thing wrong, and drawings put into words: what worlds make for two of the canvases."""

from __future__ import annotations

from random import Random

import pytest

from sketchmark import Sample
from sketchmark.media import Picture
from sketchmark.worlds import boards, installed_worlds
from sketchmark.worlds import jigsaw as jigsaw_world
from sketchmark.worlds import maze as maze_world
from sketchmark.worlds import sliding as sliding_world
from sketchmark.worlds.jigsaw import panels as jigsaw
from sketchmark.worlds.maze import MazePlay
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.sliding import Sliding, SlidingPlay
from sketchmark.worlds.sliding import board as sliding


def mazes(count: int) -> list[Sample]:
    made = maze_world.samples(seed=3, data=None, rows=4, cols=4, min_steps=2, max_steps=8)
    return [next(made) for _ in range(count)]


def slidings(count: int) -> list[Sample]:
    made = sliding_world.samples(seed=3, data=None, n=3, min_depth=1, max_depth=6)
    return [next(made) for _ in range(count)]


def frames_of(sample: Sample) -> tuple[list[Picture], list[Picture]]:
    world = installed_worlds().of(sample.target)
    assert sample.frames and world and world.corrupt
    return sample.frames(), world.corrupt(sample)


def caption(sample: Sample, drawing: Picture) -> str:
    world = installed_worlds().of(sample.target)
    assert world and world.caption
    return world.caption(sample, drawing)


def initial(sample: Sample) -> Picture:
    picture = sample.pictures["initial"]
    assert isinstance(picture, Picture)
    return picture


def test_a_corrupt_maze_is_true_but_for_where_the_agent_stands_at_the_end() -> None:
    for sample in mazes(12):
        true, wrong = frames_of(sample)
        assert wrong[:-1] == true[:-1] and wrong[-1] != true[-1] and len(wrong) == len(true)
        before, right, shown = (
            maze.to_maze(maze.read(picture, 4, 4)) for picture in ([initial(sample), *true][-2], true[-1], wrong[-1])
        )
        assert before and right and shown
        assert (shown.walls, shown.goal) == (right.walls, right.goal)
        ends = {maze.step(before, before.start, move) for move in boards.MOVES}
        assert shown.start in ends - {before.start, right.start}, "one legal move away, and not the true one"


def as_sample(board: maze.Maze, id: str = "m") -> Sample:
    target = {"moves": maze.solve(board), "rows": board.rows, "cols": board.cols}
    return Sample(id, {"initial": maze.render(board)}, target=target)


def test_a_corrupt_maze_goes_back_only_where_there_is_no_other_way() -> None:
    corridor = maze.Maze(((False, False, False), (True, True, True)), (0, 0), (0, 2))
    crossing = maze.Maze(((False, False, False), (True, False, True)), (0, 0), (0, 2))
    for id in "abcdefgh":
        back = maze.to_maze(maze.read(MazePlay().corrupted(as_sample(corridor, id))[-1], 2, 3))
        aside = maze.to_maze(maze.read(MazePlay().corrupted(as_sample(crossing, id))[-1], 2, 3))
        assert back and aside
        assert (back.start, aside.start) == ((0, 0), (1, 1))


def test_a_maze_with_only_one_move_cannot_be_corrupted() -> None:
    assert MazePlay().corrupted(as_sample(maze.Maze(((False, False), (True, True)), (0, 0), (0, 1)))) == []


def test_a_corrupt_sliding_puzzle_is_true_but_for_its_last_move() -> None:
    for sample in slidings(12):
        true, wrong = frames_of(sample)
        assert wrong[:-1] == true[:-1] and len(wrong) == len(true)
        before, right, shown = (
            sliding.to_state(sliding.read(picture)) for picture in ([initial(sample), *true][-2], true[-1], wrong[-1])
        )
        assert before and shown and shown != right
        assert shown in {sliding.apply(before, move) for move in sliding.legal_moves(before)}


def test_a_corrupt_jigsaw_shows_each_candidate_in_the_place_of_the_other() -> None:
    sample = next(jigsaw_world.samples(seed=1, data=None, difficulty="easy"))
    true, wrong = frames_of(sample)
    assert wrong == true[::-1]
    reference = sample.pictures["ref"]
    assert isinstance(reference, Picture)
    assert jigsaw_world.better_shown(true, reference) == sample.target["label"]
    assert jigsaw_world.better_shown(wrong, reference) == 1 - sample.target["label"]


def test_the_moves_that_pictures_show_are_read_from_one_to_the_next() -> None:
    play, state = SlidingPlay(), Sliding(sliding.generate(5, 4), sliding.goal_state())
    moves = play.solve(state)
    frames = sliding.frames(state.tiles, moves)
    assert play.moves_in(state, frames) == moves
    assert play.moves_in(state, [frames[0], frames[0], frames[1]]) == moves[:2], "a world that stands still"
    assert play.moves_in(state, [frames[1]]) is None, "two moves at once"
    assert play.moves_in(state, []) == []


def test_a_wrong_move_is_chosen_by_its_seed() -> None:
    board = maze.Maze(((False,) * 3,) * 3, (1, 1), (0, 1))
    found = {MazePlay().astray(board, "up", "", Random(seed)) for seed in range(20)}
    assert {one.start for one in found if one} == {(2, 1), (1, 0), (1, 2)}


def test_a_maze_is_put_into_words_row_by_row() -> None:
    sample = mazes(1)[0]
    assert sample.frames
    seen = maze.read(sample.frames()[0], 4, 4)
    names = {"#": "wall", " ": "floor", "S": "agent", "G": "goal", "SG": "agent in the goal"}
    second = ", ".join(names[cell] for cell in seen.grid[1])
    assert f"Row 2: {second}." in caption(sample, sample.frames()[0])


def test_tiles_are_named_by_their_colours_and_what_is_unclear_is_said() -> None:
    sample = slidings(1)[0]
    goal = caption(sample, sliding.render(sliding.goal_state()))
    assert goal == (
        "The drawing shows a board. Row 1: red, blue, green. Row 2: purple, orange, yellow. Row 3: brown, pink, grey."
    )
    halves = sliding.render(sliding.goal_state()).image()
    halves.paste("white", (0, 0, 80, 80))
    assert "Row 1: unclear" in caption(sample, Picture.from_image(halves))


@pytest.mark.parametrize("fits", [True, False])
def test_a_jigsaw_is_put_into_words_by_how_its_colours_change_at_the_seams(fits: bool) -> None:
    sample = next(jigsaw_world.samples(seed=1, data=None, difficulty="easy"))
    assert sample.frames
    label = sample.target["label"]
    drawn = sample.frames()[label if fits else 1 - label]
    assert f"the colors change by {jigsaw.seam_cost(drawn):.1f} of 255" in caption(sample, drawn)
    assert "does not show the panel" in caption(sample, sliding.render(sliding.goal_state()))
