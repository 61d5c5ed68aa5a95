"""The maze's scores, text and picture channel, on boards painted by hand.

The board has four columns and three rows, so that nothing that swaps the two goes unnoticed.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sketchmark.episode import Grading, Scores
from sketchmark.media import Picture
from sketchmark.worlds import maze as maze_scoring
from tests.episodes import BLANK, episode, maze_sample, moves_answer, painted

BOARD = ("S # ", "    ", "  #G")
WAY = ["down", "right", "right", "right", "down"]
FRAMES = [
    painted("  # ", "S   ", "  #G"),
    painted("  # ", " S  ", "  #G"),
    painted("  # ", "  S ", "  #G"),
    painted("  # ", "   S", "  #G"),
    painted("  # ", "    ", "  #B"),
]
SAMPLE = maze_sample(painted(*BOARD), WAY, 3, 4)
PICTURE_SCORES = {"img_exact", "img_frame_acc", "img_legal", "parse_frame_success", "parse_all_ok"}


def _text(*moves: str) -> Mapping[str, float | None]:
    return maze_scoring.score(SAMPLE, episode(moves_answer(*moves)), Grading()).values


def _drawn(*pictures: Picture | None) -> Scores:
    return maze_scoring.score(SAMPLE, episode(moves_answer(*WAY), drawings=pictures), Grading())


def _picture_scores(scores: Scores) -> dict[str, float | None]:
    return {name.removeprefix("maze_"): value for name, value in scores.values.items() if "_text_" not in name}


@pytest.mark.parametrize(
    ("moves", "solved"),
    [
        (WAY, 1.0), (["right", "down", "right", "right", "down"], 1.0),
        (["down", "down", "up", "right", "right", "right", "down"], 1.0), ([*WAY, "up", "down"], 1.0),
        ([*WAY, "up"], 0.0), (WAY[:-1], 0.0), (["up", *WAY], 0.0),
        (["right", "right", "down", "right", "right", "down"], 0.0), ([*WAY, "right"], 0.0),
        ([*WAY, "stop"], 0.0), ([], 0.0),
    ],
)  # fmt: skip
def test_solved_means_legal_moves_only_that_end_on_the_goal(moves: list[str], solved: float) -> None:
    assert _text(*moves)["maze_solved"] == solved


@pytest.mark.parametrize(
    ("moves", "exact", "share"),
    [
        (WAY, 1.0, 1.0), (WAY[:3], 0.0, 3 / 5), ([*WAY, "down"], 0.0, 1.0),
        (["down", "right", "left", "right", "down"], 0.0, 4 / 5),
        (["right", "down", "right", "right", "down"], 0.0, 3 / 5), (WAY[1:], 0.0, 2 / 5), ([], 0.0, 0.0),
    ],
)  # fmt: skip
def test_text_scores_compare_position_by_position_with_the_truth(
    moves: list[str], exact: float, share: float
) -> None:
    values = _text(*moves)
    assert (values["maze_text_exact"], values["maze_text_frame_acc"]) == (exact, share)


def test_of_a_truth_without_moves_no_position_can_agree() -> None:
    values = maze_scoring.score(maze_sample(painted(*BOARD), [], 3, 4), episode(moves_answer()), Grading()).values
    assert (values["maze_text_exact"], values["maze_text_frame_acc"]) == (1.0, 0.0)


def test_an_answer_that_cannot_be_read_is_wrong_and_unparsed() -> None:
    scores = maze_scoring.score(SAMPLE, episode("I would go down."), Grading())
    assert scores.unparsed
    assert set(scores.values.values()) == {0.0}
    assert scores.notes == {"answer": None, "expected": WAY}


def test_an_empty_list_is_an_answer_and_a_failed_episode_has_none() -> None:
    assert not maze_scoring.score(SAMPLE, episode(moves_answer()), Grading()).unparsed
    assert maze_scoring.score(SAMPLE, episode(moves_answer(*WAY), failed=True), Grading()).unparsed


def test_the_notes_hold_what_was_read_and_what_is_true() -> None:
    scores = maze_scoring.score(SAMPLE, episode(moves_answer("Down ", "up")), Grading())
    assert scores.notes == {"answer": ["down", "up"], "expected": WAY}
    assert not scores.unparsed


def test_answers_are_read_by_the_rules_asked_for_with_dreamsim_or_without() -> None:
    loose = episode(str(WAY))
    for name, right in {"strict": 1.0, "official": 0.0, "lenient": 1.0}.items():
        for suffix in ("", "+dreamsim"):
            assert maze_scoring.score(SAMPLE, loose, Grading(name + suffix)).values["maze_text_exact"] == right


def test_pictures_are_scored_only_when_drawing_was_asked_for() -> None:
    assert set(_text(*WAY)) == {"maze_text_exact", "maze_text_frame_acc", "maze_solved"}
    assert set(_picture_scores(_drawn(*FRAMES))) == PICTURE_SCORES | {"solved"}


def test_a_drawing_that_was_asked_for_and_did_not_come_is_worth_nothing() -> None:
    scores = _drawn(None)
    assert _picture_scores(scores) == {"solved": 1.0, **dict.fromkeys(PICTURE_SCORES, 0.0)}
    assert scores.notes["frames_right"] == []


def test_the_true_frames_are_right_in_every_picture_score() -> None:
    scores = _drawn(*FRAMES)
    assert _picture_scores(scores) == {"solved": 1.0, **dict.fromkeys(PICTURE_SCORES, 1.0)}
    assert scores.notes["frames_right"] == [True] * 5


def test_too_few_drawings_spoil_the_share_and_not_what_they_show_themselves() -> None:
    scores = _drawn(*FRAMES[:2])
    assert _picture_scores(scores) == {
        "solved": 1.0, "img_exact": 0.0, "img_frame_acc": pytest.approx(2 / 5), "img_legal": 1.0,
        "parse_frame_success": 1.0, "parse_all_ok": 1.0,
    }  # fmt: skip
    assert scores.notes["frames_right"] == [True, True]


def test_surplus_drawings_are_flagged_and_spoil_only_the_exact_score() -> None:
    scores = _drawn(*FRAMES, FRAMES[-2])
    found = _picture_scores(scores)
    assert (found["img_exact"], found["img_frame_acc"], found["img_legal"]) == (0.0, 1.0, 1.0)
    assert scores.notes["frames_right"] == [True] * 5 + [False]


def test_a_frame_that_cannot_be_read_breaks_legality_before_and_after_it() -> None:
    scores = _drawn(FRAMES[0], BLANK, *FRAMES[2:])
    assert _picture_scores(scores) == {
        "solved": 1.0, "img_exact": 0.0, "img_frame_acc": pytest.approx(4 / 5),
        "img_legal": pytest.approx(3 / 5), "parse_frame_success": pytest.approx(4 / 5), "parse_all_ok": 0.0,
    }  # fmt: skip
    assert scores.notes["frames_right"] == [True, False, True, True, True]


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
    ],
)
def test_a_frame_that_does_not_follow_by_one_legal_move_is_not_legal(frame: tuple[str, ...], why: str) -> None:
    assert _drawn(painted(*frame)).values["maze_img_legal"] == 0.0, why


@pytest.mark.parametrize("moved", [("  # ", "S   ", "  #G"), (" S# ", "    ", "  #G")])
def test_a_legal_move_need_not_be_the_right_one(moved: tuple[str, ...]) -> None:
    assert _drawn(painted(*moved)).values["maze_img_legal"] == 1.0


@pytest.mark.parametrize(
    ("frame", "parses"),
    [
        (BOARD, True),
        (("  # ", "    ", "  #B"), True),
        (("  # ", "G   ", "  #S"), True),
        (("  # ", "S   ", "  #?"), False),
        (("  # ", "S  ?", "  #G"), False),
        (("  # ", "S   ", " ##G"), False),
        (("    ", "S   ", "  #G"), False),
        (("  # ", "S   ", "  # "), False),
        (("  # ", "    ", "  #G"), False),
        (("  # ", "SS  ", "  #G"), False),
        (("  # ", "S  G", "  #G"), False),
        (("  # ", "S   ", "  #B"), False),
        (("  # ", "   G", "  #B"), False),
        (("  # ", "   B", "  #B"), False),
    ],
)
def test_a_frame_parses_with_the_inputs_walls_one_agent_and_one_goal(frame: tuple[str, ...], parses: bool) -> None:
    values = _drawn(painted(*frame)).values
    assert values["maze_parse_frame_success"] == values["maze_parse_all_ok"] == float(parses)


def test_expected_frames_show_an_agent_that_stays_where_the_true_moves_run_into_a_wall() -> None:
    sample = maze_sample(painted(*BOARD), ["up", "down"], 3, 4)
    drawn = episode("", drawings=[painted(*BOARD), FRAMES[0]])
    assert maze_scoring.score(sample, drawn, Grading()).values["maze_img_exact"] == 1.0


def test_without_ground_truth_there_is_no_score_where_one_would_need_it() -> None:
    sample = maze_sample(painted(*BOARD), None, 3, 4)
    scores = maze_scoring.score(sample, episode(moves_answer(*WAY), drawings=FRAMES), Grading())
    assert scores.values == {
        "maze_text_exact": None, "maze_text_frame_acc": None, "maze_solved": 1.0, "maze_img_exact": None,
        "maze_img_frame_acc": None, "maze_img_legal": 1.0, "maze_parse_frame_success": 1.0,
        "maze_parse_all_ok": 1.0,
    }  # fmt: skip
    assert scores.notes["no_truth"] is True
    assert "no_truth" not in _drawn(*FRAMES).notes


def test_an_input_that_cannot_be_read_is_said_and_nothing_can_follow_from_it() -> None:
    sample = maze_sample(painted("S # ", "  ? ", "  #G"), WAY, 3, 4)
    scores = maze_scoring.score(sample, episode(moves_answer(*WAY), drawings=FRAMES), Grading())
    assert scores.notes["input_unreadable"] is True
    assert scores.values["maze_text_exact"] == 1.0
    assert scores.values["maze_solved"] == 0.0
    assert (scores.values["maze_img_exact"], scores.values["maze_img_frame_acc"]) == (0.0, 0.0)
    assert scores.values["maze_img_legal"] == pytest.approx(4 / 5), "the first frame alone has nothing before it"
    assert scores.values["maze_parse_all_ok"] == 1.0
    assert "input_unreadable" not in _drawn(*FRAMES).notes


def test_an_agent_that_begins_on_the_goal_has_nothing_to_do() -> None:
    sample = maze_sample(painted("B # ", "    ", "  # "), None, 3, 4)
    assert maze_scoring.score(sample, episode(moves_answer()), Grading()).values["maze_solved"] == 1.0
    assert maze_scoring.score(sample, episode("nothing"), Grading()).values["maze_solved"] == 0.0
