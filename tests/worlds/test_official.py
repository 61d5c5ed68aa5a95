"""`official`: the published evaluator's scores to the letter, where it reads boards otherwise than we do."""

from __future__ import annotations

from typing import Any

import pytest
from PIL import Image

from sketchmark.episode import Grading, Scores
from sketchmark.media import Picture
from sketchmark.worlds import jigsaw as jigsaw_scoring
from sketchmark.worlds import maze as maze_scoring
from sketchmark.worlds import sliding as sliding_scoring
from sketchmark.worlds.sliding import board as sliding
from tests.episodes import BLANK, choice_answer, episode, maze_sample, moves_answer, painted, sliding_sample

BOARD = ("S #", "   ", "# G")
WAY = ["down", "right", "right", "down"]
FRAMES = [
    painted("  #", "S  ", "# G"),
    painted("  #", " S ", "# G"),
    painted("  #", "  S", "# G"),
    painted("  #", "   ", "# B"),
]
STATE: sliding.State = (2, 1, 3, 4, 5, 6, 7, 8, 9)
OURS = {"maze_solved", "maze_img_legal"}


def _maze(picture: Picture, drawings: list[Picture], how: str = "official") -> Scores:
    return maze_scoring.score(
        maze_sample(picture, WAY, 3, 3), episode(moves_answer(*WAY), drawings=drawings), Grading(how)
    )


def _on_a_page(picture: Picture, wide: int = 1, tall: int = 1) -> Picture:
    """The same board at the right or lower end of a white page as many times as wide or tall."""
    board = picture.image()
    page = Image.new("RGB", (board.width * wide, board.height * tall), "white")
    page.paste(board, (page.width - board.width, page.height - board.height))
    return Picture.from_image(page)


def test_the_choice_may_be_true_or_one_point_nought() -> None:
    from tests.worlds.test_jigsaw_scores import _sample

    for choice in (True, 1.0):
        said = episode(choice_answer(choice))
        assert jigsaw_scoring.score(_sample(1), said, Grading("official")).values == {"jigsaw_text_acc": 1.0}
        assert jigsaw_scoring.score(_sample(1), said, Grading("official+dreamsim")).values == {"jigsaw_text_acc": 1.0}
    assert jigsaw_scoring.score(_sample(1), episode(choice_answer(True)), Grading()).unparsed


def test_on_a_clear_square_board_official_and_strict_agree() -> None:
    drawn = [FRAMES[0], FRAMES[2], BLANK]
    assert _maze(painted(*BOARD), FRAMES).values == _maze(painted(*BOARD), FRAMES, "strict").values
    assert _maze(painted(*BOARD), drawn).values == _maze(painted(*BOARD), drawn, "strict").values


def test_an_unclear_cell_of_the_input_counts_as_floor_so_true_frames_are_right() -> None:
    unclear = painted("S #", "  ?", "# G")
    official, strict = _maze(unclear, FRAMES), _maze(unclear, FRAMES, "strict")
    assert (official.values["maze_img_exact"], official.values["maze_img_frame_acc"]) == (1.0, 1.0)
    assert (strict.values["maze_img_exact"], strict.values["maze_img_frame_acc"]) == (0.0, 0.0)
    assert {name: official.values[name] for name in OURS} == {name: strict.values[name] for name in OURS}


def test_an_unclear_cell_of_a_drawing_is_no_floor() -> None:
    unclear = [painted("  #", "S ?", "# G"), *FRAMES[1:]]
    assert _maze(painted(*BOARD), unclear).values["maze_img_frame_acc"] == 3 / 4


def test_an_input_without_goal_or_with_two_is_replayed_all_the_same() -> None:
    drawn = [painted("  #", "S  ", "#  "), painted("  #", " S ", "#  ")]
    assert _maze(painted("S #", "   ", "#  "), drawn).values["maze_img_frame_acc"] == 2 / 4
    last_counts = [painted("  #", "S  ", "# G")]
    assert _maze(painted("SG#", "   ", "# G"), last_counts).values["maze_img_frame_acc"] == 1 / 4


def test_an_input_without_an_agent_is_left_out() -> None:
    scores = _maze(painted("  #", "   ", "# G"), FRAMES)
    assert {name for name, value in scores.values.items() if value is not None} == OURS
    assert "leaves the item out" in scores.notes["skipped"]
    assert "skipped" not in _maze(painted("  #", "   ", "# G"), FRAMES, "strict").notes


@pytest.mark.parametrize("page", [{"wide": 2}, {"tall": 2}])
def test_on_wide_and_tall_pages_the_published_search_of_mazes_misses_the_board(page: dict[str, Any]) -> None:
    """It ends columns by the height and rows by the width: here it looks at the empty half of the page."""
    drawn = [_on_a_page(frame, **page) for frame in FRAMES]
    assert _maze(painted(*BOARD), drawn, "strict").values["maze_img_exact"] == 1.0
    official = _maze(painted(*BOARD), drawn)
    assert (official.values["maze_img_exact"], official.values["maze_img_frame_acc"]) == (0.0, 0.0)
    assert official.values["maze_parse_frame_success"] == 0.0
    assert official.values["maze_img_legal"] == 1.0, "ours, by our own reading"
    assert "skipped" in _maze(_on_a_page(painted(*BOARD), **page), FRAMES).notes


def _stretched(picture: Picture) -> Picture:
    """A board that fills its picture, half as wide again as it should be."""
    image = picture.image()
    margin = image.width // 14
    board = image.crop((margin, margin, image.width - margin, image.height - margin))
    return Picture.from_image(board.resize((board.width * 3 // 2, board.height), Image.Resampling.NEAREST))


def test_of_a_drawing_wider_than_tall_the_published_search_of_sliding_puzzles_sees_the_lower_half() -> None:
    """Its square begins above the picture, and numpy counts the negative row from the far end."""
    sample = sliding_sample(STATE, ["right"])
    frames = sample.frames() if sample.frames else []
    drawn = episode("", drawings=[_stretched(frame) for frame in frames])
    official, strict = (sliding_scoring.score(sample, drawn, Grading(how)).values for how in ("official", "strict"))
    assert (strict["sliding_img_exact"], official["sliding_img_exact"]) == (1.0, 0.0)
    assert official["sliding_parse_all_ok"] == 1.0, "ours, by our own reading"
    assert sliding.read(_stretched(sliding.render(STATE)), published=True)[-1] == [7, 8, 9]


def test_sliding_puzzles_on_square_pages_score_alike() -> None:
    sample = sliding_sample(STATE, ["up", "left"])
    frames = sample.frames() if sample.frames else []
    drawn = episode(moves_answer("up", "left"), drawings=frames)
    official, strict = (sliding_scoring.score(sample, drawn, Grading(how)).values for how in ("official", "strict"))
    assert official == strict and official["sliding_img_exact"] == 1.0


def test_sliding_frames_are_compared_as_the_published_evaluator_reads_both() -> None:
    sample = sliding_sample(STATE, ["right"])
    frames = sample.frames() if sample.frames else []
    drawn = episode("", drawings=[_on_a_page(frame, wide=2) for frame in frames])
    for how in ("official", "strict"):
        assert sliding_scoring.score(sample, drawn, Grading(how)).values["sliding_img_exact"] == 1.0
