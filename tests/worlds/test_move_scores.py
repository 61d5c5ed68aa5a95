"""Scores of mazes and sliding puzzles, text and picture channel, on boards painted by hand.

The maze has four columns and three rows, so that nothing that swaps the two goes unnoticed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest

from sketchmark import Sample
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.media import Picture
from sketchmark.worlds import installed_worlds
from sketchmark.worlds import maze as maze_scoring
from sketchmark.worlds import sliding as sliding_scoring
from sketchmark.worlds.sliding import board as sliding
from tests.episodes import BLANK, episode, maze_sample, moves_answer, painted, sliding_sample, smeared

BOARD = ("S # ", "    ", "  #G")
WAY = ["down", "right", "right", "right", "down"]
FRAMES = [
    painted("  # ", "S   ", "  #G"), painted("  # ", " S  ", "  #G"), painted("  # ", "  S ", "  #G"),
    painted("  # ", "   S", "  #G"), painted("  # ", "    ", "  #B"),
]  # fmt: skip
FIRST: sliding.State = (2, 5, 3, 4, 1, 6, 7, 8, 9)
BETWEEN: sliding.State = (2, 1, 3, 4, 5, 6, 7, 8, 9)
GOAL: sliding.State = (1, 2, 3, 4, 5, 6, 7, 8, 9)
SLID = [sliding.render(BETWEEN), sliding.render(GOAL)]
PICTURE_SCORES = ("img_exact", "img_frame_acc", "img_legal", "parse_frame_success", "parse_all_ok")


class Puzzle(NamedTuple):
    """A world with one of its samples, as it is, without a ground truth, and with an input that cannot be read."""

    name: str
    way: list[str]
    frames: list[Picture]
    sample: Sample
    untrue: Sample
    unreadable: Sample

    def score(self, said: Episode, how: str = "strict", sample: Sample | None = None) -> Scores:
        found = installed_worlds()[self.name].scorers["score"](sample or self.sample, said, Grading(how))
        assert isinstance(found, Scores)
        return found

    def said(self, *moves: str) -> Mapping[str, float | None]:
        return self.score(episode(moves_answer(*moves))).values

    def drawn(self, *pictures: Picture | None, sample: Sample | None = None) -> Scores:
        return self.score(episode(moves_answer(*self.way), drawings=pictures), sample=sample)


_SLIDING = sliding_sample(FIRST, ["down", "right"])
MAZE = Puzzle(
    "maze", WAY, FRAMES, maze_sample(painted(*BOARD), WAY, 3, 4), maze_sample(painted(*BOARD), None, 3, 4),
    maze_sample(painted("S # ", "  ? ", "  #G"), WAY, 3, 4),
)  # fmt: skip
TILES = Puzzle(
    "sliding", ["down", "right"], SLID, _SLIDING, sliding_sample(FIRST, None, with_frames=False),
    Sample("x", {"initial": smeared(FIRST)}, target=_SLIDING.target, frames=_SLIDING.frames),
)  # fmt: skip
both = pytest.mark.parametrize("puzzle", [MAZE, TILES], ids=["maze", "sliding"])


def _picture_scores(scores: Scores) -> dict[str, float | None]:
    found = {name.partition("_")[2]: value for name, value in scores.values.items()}
    return {name: value for name, value in found.items() if name.startswith(("img_", "parse_"))}


@pytest.mark.parametrize(
    ("puzzle", "moves", "solved"),
    [
        *((MAZE, moves, 1.0) for moves in (WAY, ["right", "down", "right", "right", "down"])),
        *((MAZE, [*moves, "right", "right", "right", "down"], 1.0) for moves in (["down"], ["down", "down", "up"])),
        (MAZE, [*WAY, "up", "down"], 1.0), (MAZE, [*WAY, "up"], 0.0), (MAZE, WAY[:-1], 0.0), (MAZE, [], 0.0),
        (MAZE, ["up", *WAY], 0.0), (MAZE, ["right", "right", "down", "right", "right", "down"], 0.0),
        (MAZE, [*WAY, "right"], 0.0), (MAZE, [*WAY, "stop"], 0.0),
        *((TILES, [*moves, "down", "right"], 1.0) for moves in ([], ["up", "down"])),
        (TILES, ["down", "left", "right", "right"], 1.0), (TILES, ["down", "right", "left", "right"], 1.0),
        (TILES, ["down", "right", "left"], 0.0), (TILES, ["down"], 0.0), (TILES, ["down", "down", "right"], 0.0),
        (TILES, ["down", "right", "down"], 0.0), (TILES, ["jump", "down", "right"], 0.0),
        (TILES, ["right", "down"], 0.0), (TILES, [], 0.0),
    ],
)  # fmt: skip
def test_solved_means_legal_moves_only_that_end_on_the_goal(puzzle: Puzzle, moves: list[str], solved: float) -> None:
    assert puzzle.said(*moves)[f"{puzzle.name}_solved"] == solved


@pytest.mark.parametrize(
    ("puzzle", "moves", "exact", "share"),
    [
        (MAZE, WAY, 1.0, 1.0), (MAZE, WAY[:3], 0.0, 3 / 5), (MAZE, [*WAY, "down"], 0.0, 1.0), (MAZE, [], 0.0, 0.0),
        (MAZE, ["down", "right", "left", "right", "down"], 0.0, 4 / 5), (MAZE, WAY[1:], 0.0, 2 / 5),
        (MAZE, ["right", "down", "right", "right", "down"], 0.0, 3 / 5),
        (TILES, ["down", "right"], 1.0, 1.0), (TILES, ["down"], 0.0, 0.5), (TILES, ["down", "left"], 0.0, 0.5),
        (TILES, ["up", "right"], 0.0, 0.5), (TILES, ["down", "right", "up", "up"], 0.0, 1.0),
        (TILES, ["right", "down"], 0.0, 0.0), (TILES, [], 0.0, 0.0),
    ],
)  # fmt: skip
def test_text_scores_compare_position_by_position_with_the_truth(
    puzzle: Puzzle, moves: list[str], exact: float, share: float
) -> None:
    values = puzzle.said(*moves)
    assert (values[f"{puzzle.name}_text_exact"], values[f"{puzzle.name}_text_frame_acc"]) == (exact, share)


@both
def test_an_answer_that_cannot_be_read_is_wrong_and_unparsed(puzzle: Puzzle) -> None:
    scores = puzzle.score(episode("I would go down."))
    assert scores.unparsed and set(scores.values.values()) == {0.0}
    assert scores.notes == {"answer": None, "expected": puzzle.way}
    assert not puzzle.score(episode(moves_answer())).unparsed, "an empty list is an answer"
    assert puzzle.score(episode(moves_answer(*puzzle.way), failed=True)).unparsed, "a failed episode has none"
    scores = puzzle.score(episode(moves_answer("Down ", "up")))
    assert scores.notes == {"answer": ["down", "up"], "expected": puzzle.way} and not scores.unparsed


@both
def test_answers_are_read_by_the_rules_asked_for_with_dreamsim_or_without(puzzle: Puzzle) -> None:
    loose = episode(str(puzzle.way))
    for name, right in {"strict": 1.0, "official": 0.0, "lenient": 1.0}.items():
        for suffix in ("", "+dreamsim"):
            scores = puzzle.score(loose, name + suffix)
            assert scores.values[f"{puzzle.name}_text_exact"] == right and scores.unparsed is (right == 0)


@both
def test_pictures_are_scored_only_when_drawing_was_asked_for(puzzle: Puzzle) -> None:
    unasked, missing, whole = puzzle.score(episode("")), puzzle.drawn(None), puzzle.drawn(*puzzle.frames)
    assert {name.partition("_")[2] for name in unasked.values} == {"text_exact", "text_frame_acc", "solved"}
    assert "frames_right" not in unasked.notes
    assert _picture_scores(missing) == dict.fromkeys(PICTURE_SCORES, 0.0) and missing.notes["frames_right"] == []
    assert _picture_scores(whole) == dict.fromkeys(PICTURE_SCORES, 1.0)
    right = [True] * len(puzzle.frames)
    assert whole.notes == {"answer": puzzle.way, "expected": puzzle.way, "frames_right": right}


Expected = tuple[float, float, float, float, float]


@pytest.mark.parametrize(
    ("puzzle", "drawn", "expected", "right"),
    [
        (MAZE, FRAMES[:2], (0, 2 / 5, 1, 1, 1), [True, True]),
        (MAZE, [*FRAMES, FRAMES[-2]], (0, 1, 1, 1, 1), [True] * 5 + [False]),
        (MAZE, [FRAMES[0], BLANK, *FRAMES[2:]], (0, 4 / 5, 3 / 5, 4 / 5, 0), [True, False, True, True, True]),
        (TILES, [SLID[0]], (0, 0.5, 1, 1, 1), [True]),
        (TILES, [*SLID, SLID[0]], (0, 1, 1, 1, 1), [True, True, False]),
        (TILES, [SLID[1], SLID[0]], (0, 0, 0.5, 1, 1), [False, False]),
        (TILES, [SLID[0], SLID[0]], (0, 0.5, 0.5, 1, 1), [True, False]),
        (TILES, [SLID[0], BLANK], (0, 0.5, 0.5, 0.5, 0), [True, False]),
        (TILES, [BLANK, SLID[1]], (0, 0.5, 0, 0.5, 0), [False, True]),
        (TILES, [smeared(BETWEEN), SLID[1]], (0, 0.5, 0, 0.5, 0), [False, True]),
        (TILES, [SLID[0], smeared(GOAL)], (0, 0.5, 0.5, 0.5, 0), [True, False]),
        (TILES, [sliding.render((2, 5, 3, 1, 4, 6, 7, 8, 9))], (0, 0, 1, 1, 1), [False]),
        (TILES, [sliding.render((5, 2, 3, 4, 1, 6, 7, 8, 9))], (0, 0, 0, 1, 1), [False]),
    ],
)
def test_drawings_are_scored_frame_by_frame(
    puzzle: Puzzle, drawn: Sequence[Picture], expected: Expected, right: list[bool]
) -> None:
    """Exact, share, legal, parsed frames, all parsed. Too few drawings spoil the share, surplus ones only the exact
    score."""
    scores = puzzle.drawn(*drawn)
    assert _picture_scores(scores) == pytest.approx(dict(zip(PICTURE_SCORES, expected, strict=True)))
    assert scores.notes["frames_right"] == right and scores.values[f"{puzzle.name}_solved"] == 1.0


@both
def test_without_ground_truth_there_is_no_score_where_one_would_need_it(puzzle: Puzzle) -> None:
    scores = puzzle.drawn(*puzzle.frames, sample=puzzle.untrue)
    found = {name.partition("_")[2]: value for name, value in scores.values.items()}
    drawn = {"img_legal": 1.0, "parse_frame_success": 1.0, "parse_all_ok": 1.0}
    unknown = dict.fromkeys(("text_exact", "text_frame_acc", "img_exact", "img_frame_acc"))
    assert found == {**drawn, **unknown, "solved": 1.0 if puzzle is MAZE else None}
    assert scores.notes["no_truth"] is True and "no_truth" not in puzzle.drawn(*puzzle.frames).notes


@both
def test_an_input_that_cannot_be_read_is_said_and_nothing_can_follow_from_it(puzzle: Puzzle) -> None:
    scores = puzzle.drawn(*puzzle.frames, sample=puzzle.unreadable)
    assert scores.notes["input_unreadable"] is True
    assert "input_unreadable" not in puzzle.drawn(*puzzle.frames).notes
    found = {name.partition("_")[2]: value for name, value in scores.values.items()}
    assert (found["text_exact"], found["solved"], found["parse_all_ok"]) == (1.0, 0.0, 1.0)
    count = len(puzzle.frames)
    assert found["img_legal"] == pytest.approx((count - 1) / count), "only the first frame has nothing before it"
    known = 0.0 if puzzle is MAZE else 1.0  # the true frames of tiles are the data's own
    assert (found["img_exact"], found["img_frame_acc"]) == (known, known)


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (BOARD, "the agent stands still"),
        (("  # ", " S  ", "  #G"), "two steps at once"),
        (("  # ", "S   ", " ##G"), "another wall"),
        (("    ", "S   ", "  #G"), "a wall is gone"),
        (("  # ", "S   ", " G# "), "the goal has moved"),
        (("  #G", "S   ", "  #G"), "two goals"),
        (("  # ", "SS  ", "  #G"), "two agents"),
        (("  # ", "    ", "  #G"), "no agent"),
        (("  # ", "S  ?", "  #G"), "an unclear cell"),
        (("  S ", "    ", "  #G"), "inside a wall"),
        (("  # ", "S   ", "  #G"), ""),
        ((" S# ", "    ", "  #G"), ""),
    ],
)
def test_a_maze_follows_by_one_legal_move_which_need_not_be_the_right_one(frame: tuple[str, ...], why: str) -> None:
    assert MAZE.drawn(painted(*frame)).values["maze_img_legal"] == float(not why), why


@pytest.mark.parametrize(
    ("frame", "parses"),
    [
        (BOARD, True), (("  # ", "    ", "  #B"), True), (("  # ", "G   ", "  #S"), True),
        (("  # ", "S   ", "  #?"), False), (("  # ", "S  ?", "  #G"), False), (("  # ", "S   ", " ##G"), False),
        (("    ", "S   ", "  #G"), False), (("  # ", "S   ", "  # "), False), (("  # ", "    ", "  #G"), False),
        (("  # ", "SS  ", "  #G"), False), (("  # ", "S  G", "  #G"), False), (("  # ", "S   ", "  #B"), False),
        (("  # ", "   G", "  #B"), False), (("  # ", "   B", "  #B"), False),
    ],
)  # fmt: skip
def test_a_maze_parses_with_the_inputs_walls_one_agent_and_one_goal(frame: tuple[str, ...], parses: bool) -> None:
    values = MAZE.drawn(painted(*frame)).values
    assert values["maze_parse_frame_success"] == values["maze_parse_all_ok"] == float(parses)


def test_true_moves_may_be_none_run_into_a_wall_or_be_impossible() -> None:
    values = maze_scoring.score(maze_sample(painted(*BOARD), [], 3, 4), episode(moves_answer()), Grading()).values
    assert (values["maze_text_exact"], values["maze_text_frame_acc"]) == (1.0, 0.0)
    drawn = episode("", drawings=[painted(*BOARD), FRAMES[0]])
    stays = maze_scoring.score(maze_sample(painted(*BOARD), ["up", "down"], 3, 4), drawn, Grading())
    assert stays.values["maze_img_exact"] == 1.0
    impossible = TILES.score(episode(moves_answer(*TILES.way)), sample=sliding_sample(FIRST, ["down", *TILES.way]))
    assert impossible.values["sliding_solved"] == 1.0


def test_an_agent_that_begins_on_the_goal_has_nothing_to_do() -> None:
    sample = maze_sample(painted("B # ", "    ", "  # "), None, 3, 4)
    assert maze_scoring.score(sample, episode(moves_answer()), Grading()).values["maze_solved"] == 1.0
    assert maze_scoring.score(sample, episode("nothing"), Grading()).values["maze_solved"] == 0.0


def test_the_goal_of_tiles_is_the_state_in_which_the_true_moves_end() -> None:
    sample = sliding_sample(GOAL, ["left", "up"])
    for moves, solved in ((["left", "up"], 1.0), (["up", "down", "left", "up"], 1.0), (["left"], 0.0), ([], 0.0)):
        assert TILES.score(episode(moves_answer(*moves)), sample=sample).values["sliding_solved"] == solved


def test_tiles_without_true_frames_have_none_to_be_right_about() -> None:
    scores = TILES.drawn(*SLID, sample=sliding_sample(FIRST, TILES.way, with_frames=False))
    assert list(_picture_scores(scores).values())[:3] == [0.0, 0.0, 1.0]
    assert scores.notes["frames_right"] == [False, False]


def test_a_board_of_another_size_is_read_as_such() -> None:
    first = (3, 2, 1, 4)
    drawn = episode(moves_answer("down", "left"), drawings=sliding.frames(first, ["down", "left"]))
    scores = sliding_scoring.score(sliding_sample(first, ["down", "left"]), drawn, Grading())
    assert set(scores.values.values()) == {1.0}
