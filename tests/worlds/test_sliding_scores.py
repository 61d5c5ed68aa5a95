"""The sliding puzzle's scores, text and picture channel."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sketchmark.episode import Grading, Scores
from sketchmark.media import Picture
from sketchmark.worlds import sliding as sliding_scoring
from sketchmark.worlds.sliding import board as sliding
from tests.episodes import BLANK, episode, moves_answer, sliding_sample, smeared

FIRST = (2, 5, 3, 4, 1, 6, 7, 8, 9)
WAY = ["down", "right"]
BETWEEN = (2, 1, 3, 4, 5, 6, 7, 8, 9)
GOAL = (1, 2, 3, 4, 5, 6, 7, 8, 9)
FRAMES = [sliding.render(BETWEEN), sliding.render(GOAL)]
SAMPLE = sliding_sample(FIRST, WAY)
PICTURE_SCORES = {"img_exact", "img_frame_acc", "img_legal", "parse_frame_success", "parse_all_ok"}


def _said(*moves: str) -> Scores:
    return sliding_scoring.score(SAMPLE, episode(moves_answer(*moves)), Grading())


def _drawn(*pictures: Picture | None) -> Scores:
    return sliding_scoring.score(SAMPLE, episode(moves_answer(*WAY), drawings=pictures), Grading())


def _picture_scores(scores: Scores) -> dict[str, float | None]:
    return {
        name.removeprefix("sliding_"): value
        for name, value in scores.values.items()
        if "_img_" in name or "_parse_" in name
    }


@pytest.mark.parametrize(
    ("moves", "solved"),
    [
        (WAY, 1.0), (["up", "down", *WAY], 1.0), (["down", "left", "right", "right"], 1.0),
        ([*WAY, "left", "right"], 1.0), ([*WAY, "left"], 0.0), (["down"], 0.0),
        (["down", "down", "right"], 0.0), ([*WAY, "down"], 0.0), (["jump", *WAY], 0.0),
        (["right", "down"], 0.0), ([], 0.0),
    ],
)  # fmt: skip
def test_solved_means_possible_moves_only_that_end_in_the_goal(moves: list[str], solved: float) -> None:
    assert _said(*moves).values["sliding_solved"] == solved


def test_the_goal_is_the_state_in_which_the_true_moves_end() -> None:
    sample = sliding_sample(GOAL, ["left", "up"])
    for moves, solved in ((["left", "up"], 1.0), (["up", "down", "left", "up"], 1.0), (["left"], 0.0), ([], 0.0)):
        values = sliding_scoring.score(sample, episode(moves_answer(*moves)), Grading()).values
        assert values["sliding_solved"] == solved


def test_a_true_move_that_is_not_possible_changes_nothing() -> None:
    sample = sliding_sample(FIRST, ["down", "down", "right"])
    assert sliding_scoring.score(sample, episode(moves_answer(*WAY)), Grading()).values["sliding_solved"] == 1.0


@pytest.mark.parametrize(
    ("moves", "exact", "share"),
    [
        (WAY, 1.0, 1.0), (["down"], 0.0, 0.5), (["down", "left"], 0.0, 0.5), (["up", "right"], 0.0, 0.5),
        ([*WAY, "up", "up"], 0.0, 1.0), (["right", "down"], 0.0, 0.0), ([], 0.0, 0.0),
    ],
)  # fmt: skip
def test_text_scores_compare_position_by_position_with_the_truth(
    moves: list[str], exact: float, share: float
) -> None:
    values = _said(*moves).values
    assert (values["sliding_text_exact"], values["sliding_text_frame_acc"]) == (exact, share)


def test_an_answer_that_cannot_be_read_is_wrong_and_unparsed() -> None:
    scores = sliding_scoring.score(SAMPLE, episode("Slide it down."), Grading())
    assert scores.unparsed and set(scores.values.values()) == {0.0}
    assert scores.notes == {"answer": None, "expected": WAY}
    assert not _said().unparsed


def test_answers_are_read_by_the_rules_asked_for() -> None:
    loose = episode("['down', 'right']")
    assert sliding_scoring.score(SAMPLE, loose, Grading("official")).unparsed
    for name in ("strict", "lenient"):
        assert sliding_scoring.score(SAMPLE, loose, Grading(name)).values["sliding_text_exact"] == 1.0


def test_pictures_are_scored_only_when_drawing_was_asked_for() -> None:
    assert set(_said(*WAY).values) == {"sliding_text_exact", "sliding_text_frame_acc", "sliding_solved"}
    assert "frames_right" not in _said(*WAY).notes
    missing = _drawn(None)
    assert _picture_scores(missing) == dict.fromkeys(PICTURE_SCORES, 0.0)
    assert missing.notes["frames_right"] == []


def test_the_true_frames_are_right_in_every_picture_score() -> None:
    scores = _drawn(*FRAMES)
    assert _picture_scores(scores) == dict.fromkeys(PICTURE_SCORES, 1.0)
    assert scores.notes == {"answer": WAY, "expected": WAY, "frames_right": [True, True]}


Expected = tuple[float, float, float, float, float]


@pytest.mark.parametrize(
    ("drawn", "expected", "right"),
    [
        ([FRAMES[0]], (0, 0.5, 1, 1, 1), [True]),
        ([*FRAMES, FRAMES[0]], (0, 1, 1, 1, 1), [True, True, False]),
        ([FRAMES[1], FRAMES[0]], (0, 0, 0.5, 1, 1), [False, False]),
        ([FRAMES[0], FRAMES[0]], (0, 0.5, 0.5, 1, 1), [True, False]),
        ([FRAMES[0], BLANK], (0, 0.5, 0.5, 1, 1), [True, False]),
        ([BLANK, FRAMES[1]], (0, 0.5, 0, 1, 1), [False, True]),
        ([smeared(BETWEEN), FRAMES[1]], (0, 0.5, 0, 0.5, 0), [False, True]),
        ([FRAMES[0], smeared(GOAL)], (0, 0.5, 0.5, 0.5, 0), [True, False]),
        ([sliding.render((2, 5, 3, 1, 4, 6, 7, 8, 9))], (0, 0, 1, 1, 1), [False]),
        ([sliding.render((5, 2, 3, 4, 1, 6, 7, 8, 9))], (0, 0, 0, 1, 1), [False]),
    ],
)
def test_drawings_are_scored_frame_by_frame(drawn: Sequence[Picture], expected: Expected, right: list[bool]) -> None:
    """Exact, share, legal, parsed frames, all parsed. A blank page parses: each of its cells is of one colour."""
    scores = _drawn(*drawn)
    names = ("img_exact", "img_frame_acc", "img_legal", "parse_frame_success", "parse_all_ok")
    assert _picture_scores(scores) == dict(zip(names, expected, strict=True))
    assert scores.notes["frames_right"] == right


def test_a_sample_without_true_frames_has_none_to_be_right_about() -> None:
    sample = sliding_sample(FIRST, WAY, with_frames=False)
    scores = sliding_scoring.score(sample, episode("", drawings=FRAMES), Grading())
    found = _picture_scores(scores)
    assert (found["img_exact"], found["img_frame_acc"], found["img_legal"]) == (0.0, 0.0, 1.0)
    assert scores.notes["frames_right"] == [False, False]


def test_without_ground_truth_there_is_no_score_where_one_would_need_it() -> None:
    sample = sliding_sample(FIRST, None, with_frames=False)
    scores = sliding_scoring.score(sample, episode(moves_answer(*WAY), drawings=FRAMES), Grading())
    assert scores.values == {
        "sliding_text_exact": None, "sliding_text_frame_acc": None, "sliding_solved": None,
        "sliding_img_exact": None, "sliding_img_frame_acc": None, "sliding_img_legal": 1.0,
        "sliding_parse_frame_success": 1.0, "sliding_parse_all_ok": 1.0,
    }  # fmt: skip
    assert scores.notes["no_truth"] is True


def test_an_input_that_cannot_be_read_is_said_and_nothing_can_follow_from_it() -> None:
    sample = sliding_sample(FIRST, WAY)
    broken = type(sample)("x", {"initial": smeared(FIRST)}, target=sample.target, frames=sample.frames)
    scores = sliding_scoring.score(broken, episode(moves_answer(*WAY), drawings=FRAMES), Grading())
    assert scores.notes["input_unreadable"] is True
    assert scores.values["sliding_solved"] == 0.0
    assert scores.values["sliding_img_legal"] == 0.5, "the first frame alone has nothing before it"
    assert scores.values["sliding_img_exact"] == 1.0, "the true frames are the data's own"
    assert "input_unreadable" not in _said(*WAY).notes


def test_a_board_of_another_size_is_read_as_such() -> None:
    first = (3, 2, 1, 4)
    sample = sliding_sample(first, ["down", "left"])
    drawn = episode(moves_answer("down", "left"), drawings=sliding.frames(first, ["down", "left"]))
    assert set(sliding_scoring.score(sample, drawn, Grading()).values.values()) == {1.0}
