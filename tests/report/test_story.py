"""Sentences about a run: what they claim is what the paired differences show, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from sketchmark.folder import RunFolder
from sketchmark.folder.index import RunView
from sketchmark.report.story import Story, story_of
from tests.comparison.folders import rows, write_run

LOW, SOME, HIGH = [0] * 20, [1] * 10 + [0] * 10, [1] * 20
INSTEAD = "With a blank image in place of its drawing, the gain"


def story(path: Path, **cells: list[int]) -> Story:
    named = {name.replace("__", "."): rows(values) for name, values in cells.items()}
    return story_of(RunView.whole(RunFolder.open(write_run(path / "run", named))))


@pytest.mark.parametrize(
    ("blank", "said"),
    [
        (LOW, f"{INSTEAD} is gone: the model uses what it drew."),
        (SOME, f"{INSTEAD} is smaller, but still there."),
        (HIGH, f"{INSTEAD} is not clearly smaller."),
    ],
)
def test_the_blank_control_decides_what_is_said_of_a_gain(tmp_path: Path, blank: list[int], said: str) -> None:
    found = story(tmp_path, maze__direct=LOW, maze__visual_cot=HIGH, maze__visual_cot__blank=blank)
    assert found.headline == f"Drawing helped on maze. {said}"


def test_tasks_are_told_apart(tmp_path: Path) -> None:
    cells = {"a__direct": LOW, "a__visual_cot": HIGH, "b__direct": HIGH, "b__visual_cot": LOW}
    found = story(tmp_path, **cells, c__direct=SOME, c__visual_cot=SOME)
    assert found.headline == "Drawing helped on a; drawing hurt on b; drawing changed no answer on c."
    assert found.lede.startswith("Gain by drawing: a +100.0 points [") and found.controls == ""


def test_controls_differ_by_task(tmp_path: Path) -> None:
    cells = {"a__direct": LOW, "a__visual_cot": HIGH, "a__visual_cot__blank": LOW}
    cells |= {"b__direct": LOW, "b__visual_cot": HIGH, "b__visual_cot__blank": HIGH}
    found = story(tmp_path, **cells)
    assert found.headline == f"Drawing helped on both tasks. {INSTEAD} is gone on a, is not clearly smaller on b."
    assert found.controls.startswith("With its own drawing the model scores 100.0%, not clearly less with a blank")


def test_without_a_gain_no_control_is_named(tmp_path: Path) -> None:
    found = story(tmp_path, maze__direct=SOME, maze__visual_cot=SOME, maze__visual_cot__blank=LOW)
    assert found.headline == "Drawing changed no answer on maze."


def test_ground_truth_images_show_what_wrong_drawings_cost(tmp_path: Path) -> None:
    found = story(tmp_path, maze__direct=LOW, maze__visual_cot=SOME, maze__visual_cot__oracle=HIGH)
    assert "With ground-truth images it scores 50.0 points more: wrong drawings cost that much." in found.lede
    assert found.apart["maze"]["oracle"].verdict == "worse"


def test_a_run_without_drawings_states_its_scores(tmp_path: Path) -> None:
    found = story(tmp_path, maze__direct=SOME)
    assert "50.0% [29.9, 70.1] on maze (direct)" in found.headline and not found.gains
