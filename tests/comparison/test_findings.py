"""Breakdowns, drawings and canvases: their groups and their sentences."""

from pathlib import Path

import pytest

from sketchmark.comparison import compare
from sketchmark.comparison.findings import Breakdown, CanvasTable, TableRow
from tests.comparison.folders import row, rows, write_run


def gain_by(tmp_path: Path, filed: list[dict[str, str | int]], direct: list[int], drawn: list[int]) -> TableRow:
    cells = {
        f"maze.{mode}": [row(place, value, groups=filed[place]) for place, value in enumerate(values)]
        for mode, values in (("direct", direct), ("visual_cot", drawn))
    }
    (found,) = compare([write_run(tmp_path / "run", cells)]).rows
    return found


def only(found: TableRow, key: str) -> Breakdown:
    (breakdown,) = (one for one in found.breakdowns if one.key == key)
    return breakdown


def test_the_gain_is_given_for_each_category(tmp_path: Path) -> None:
    filed: list[dict[str, str | int]] = [{"kind": "plan" if place % 2 else "depth"} for place in range(40)]
    found = only(gain_by(tmp_path, filed, [0] * 40, [place % 2 for place in range(40)]), "kind")
    assert found.kind == "category"
    assert found.trend is None
    assert [(group.value, group.difference.mean, group.difference.n) for group in found.groups] == [
        ("depth", 0, 20),
        ("plan", 1, 20),
    ]
    assert found.groups[1].p_holm == pytest.approx(2 * (found.groups[1].difference.p or 0))


def test_the_gain_is_followed_along_the_difficulty(tmp_path: Path) -> None:
    filed: list[dict[str, str | int]] = [{"steps": 1 + place // 10} for place in range(50)]
    drawn = [int(place % 10 < 2 * (place // 10)) for place in range(50)]
    found = only(gain_by(tmp_path, filed, [0] * 50, drawn), "steps")
    assert found.kind == "difficulty"
    assert [group.difference.mean for group in found.groups] == pytest.approx([0, 0.2, 0.4, 0.6, 0.8])
    assert found.trend is not None
    assert found.trend.slope == pytest.approx(0.2)
    assert found.trend.p < 0.001


def test_many_levels_of_difficulty_are_shown_in_ranges_that_cover_all_samples(tmp_path: Path) -> None:
    filed: list[dict[str, str | int]] = [{"steps": place} for place in range(100)]
    found = only(gain_by(tmp_path, filed, [0] * 100, [1] * 100), "steps")
    assert [group.value for group in found.groups] == ["0 to 19", "20 to 39", "40 to 59", "60 to 79", "80 to 99"]
    assert sum(group.difference.n for group in found.groups) == 100


def test_a_skewed_difficulty_loses_and_repeats_no_sample(tmp_path: Path) -> None:
    filed: list[dict[str, str | int]] = [{"steps": max(1, place - 60)} for place in range(100)]
    found = only(gain_by(tmp_path, filed, [0] * 100, [1] * 100), "steps")
    assert sum(group.difference.n for group in found.groups) == 100


def test_keys_with_one_value_or_one_per_sample_are_not_categories(tmp_path: Path) -> None:
    filed: list[dict[str, str | int]] = [{"file": f"{place}.png", "size": "6x6"} for place in range(50)]
    assert gain_by(tmp_path, filed, [0] * 50, [1] * 50).breakdowns == ()


def drawn_rows(exact: list[int], answers: list[int]) -> list[dict[str, object]]:
    return [
        row(place, answer, values={"maze_img_exact": right})
        for place, (right, answer) in enumerate(zip(exact, answers, strict=True))
    ]


def test_the_answer_is_split_by_whether_the_drawing_was_right(tmp_path: Path) -> None:
    cells = {
        "maze.direct": rows([0] * 8),
        "maze.visual_cot": drawn_rows([1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 1, 0, 0, 0]),
    }
    split = compare([write_run(tmp_path / "run", cells)]).rows[0].drawing
    assert split is not None
    assert (split.right.mean, split.wrong.mean) == (0.75, 0.25)
    assert split.gain_right.helped == 3
    assert split.sentence == (
        "When the drawn frames are right, the answer is right 75.0% of the time (4 samples); "
        "when wrong, 25.0% (4 samples)."
    )


@pytest.mark.parametrize(("exact", "says"), [(1, "always right (3 of 3)"), (0, "never all right (0 of 3)")])
def test_drawings_that_are_all_right_or_all_wrong_have_their_sentence(tmp_path: Path, exact: int, says: str) -> None:
    cells = {"maze.direct": rows([0] * 3), "maze.visual_cot": drawn_rows([exact] * 3, [1] * 3)}
    split = compare([write_run(tmp_path / "run", cells)]).rows[0].drawing
    assert split is not None
    assert says in split.sentence
    assert "100.0% of the time" in split.sentence


def test_frames_marked_in_the_notes_replace_a_missing_score(tmp_path: Path) -> None:
    drawn = [row(place, 1, notes={"frames_right": [True, place == 0]}) for place in range(3)]
    split = compare([write_run(tmp_path / "run", {"j.direct": rows([0] * 3), "j.visual_cot": drawn})]).rows[0].drawing
    assert split is not None
    assert (split.right.n, split.wrong.n) == (1, 2)


def test_an_answer_scored_in_fractions_is_not_called_right(tmp_path: Path) -> None:
    drawn = [row(place, 0.5, notes={"frames_right": [place > 1]}) for place in range(4)]
    split = compare([write_run(tmp_path / "run", {"j.direct": rows([0] * 4), "j.visual_cot": drawn})]).rows[0].drawing
    assert split is not None
    assert "the answer scores 50.0% on average" in split.sentence


def test_unscored_drawings_are_not_split(tmp_path: Path) -> None:
    cells = {"j.direct": rows([0] * 3), "j.visual_cot": rows([1] * 3)}
    assert compare([write_run(tmp_path / "run", cells)]).rows[0].drawing is None


def canvases(tmp_path: Path, **scores: list[int]) -> CanvasTable:
    cells = {f"maze.visual_cot.{canvas}": rows(values) for canvas, values in scores.items()}
    (found,) = compare([write_run(tmp_path / "run", cells)]).canvases
    return found


FEW, MOST = [0] * 24 + [1] * 6, [1] * 24 + [0] * 6


def test_controls_show_that_the_drawing_is_used(tmp_path: Path) -> None:
    found = canvases(tmp_path, oracle=[1] * 30, other=FEW, own=MOST, blank=FEW)
    assert [one.canvas for one in found.scores] == ["own", "blank", "other", "oracle"]
    assert found.scores[0].own_minus_this is None
    assert found.scores[1].own_minus_this is not None
    assert found.scores[1].own_minus_this.mean == pytest.approx(0.6)
    assert "The answer depends on the drawing: on a blank canvas it loses 60.0 points [25.4, 81.0]." in found.sentence
    assert "The content matters" in found.sentence
    assert "Wrong drawings cost 20.0 points [6.4, 37.3] against ground-truth images." in found.sentence


def test_equal_controls_settle_the_question_only_with_a_narrow_interval(tmp_path: Path) -> None:
    few = canvases(tmp_path / "few", own=MOST, blank=MOST, other=MOST, oracle=MOST)
    assert few.sentence.count("is unclear") == 3
    assert "own − blank is ±0.0 points [-11.4, +11.4]" in few.sentence
    many = canvases(tmp_path / "many", own=MOST * 2, blank=MOST * 2, other=MOST * 2, oracle=MOST * 2)
    assert many.sentence.count("about as well") == 3


def test_controls_can_do_better_than_the_drawing(tmp_path: Path) -> None:
    found = canvases(tmp_path, own=FEW, blank=MOST, other=MOST)
    assert "The drawing does harm: on a blank canvas the answer gains 60.0 points [25.4, 81.0]." in found.sentence
    assert "Another sample's drawing does better than its own, by 60.0 points [25.4, 81.0]." in found.sentence


def test_controls_need_the_own_drawing(tmp_path: Path) -> None:
    assert "nothing to be compared with" in canvases(tmp_path, blank=FEW, oracle=MOST).sentence


def test_canvases_of_one_model_in_two_folders_are_compared(tmp_path: Path) -> None:
    own = write_run(tmp_path / "own", {"maze.visual_cot": rows(MOST)})
    blank = write_run(tmp_path / "blank", {"maze.visual_cot": rows(FEW)}, canvas="blank")
    (found,) = compare([own, blank]).canvases
    assert [one.canvas for one in found.scores] == ["own", "blank"]
