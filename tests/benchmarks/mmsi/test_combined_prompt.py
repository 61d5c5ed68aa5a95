"""The combined form of lmms-eval, both ways, and a model that wants it."""

from __future__ import annotations

from pathlib import Path

import pytest

import sketchmark
from sketchmark.episode.protocol import join, split
from sketchmark.errors import CannotPlay
from sketchmark.folder.records import drawn_names
from tests.benchmarks.mmsi.combined_prompt_model import OnePrompt
from tests.benchmarks.mmsi.published import row, scene, write


def test_what_is_joined_is_split_again() -> None:
    assert split(join("Draw it.", "Which?\nA: left, B: right")) == ("Draw it.", "Which?\nA: left, B: right")


def test_a_plain_question_is_not_of_the_combined_form() -> None:
    assert split("Which?") is None
    assert split("[QUESTION]Which?[/QUESTION]") is None


def test_the_question_can_be_put_into_the_generation_prompt() -> None:
    assert split("[GEN_PROMPT]Draw: {question}[/GEN_PROMPT] [QUESTION] Which? [/QUESTION]") == (
        "Draw: Which?",
        "Which?",
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "msr.parquet", [row(7, "MSR", images=3)])


def test_a_model_that_wants_combined_prompt_gets_one_call_and_its_drawing_is_kept(data: Path, tmp_path: Path) -> None:
    model = OnePrompt()
    folder = sketchmark.run(model, "mmsi_msr_visual_cot", data=data, output_path=tmp_path / "run").folder
    [context] = model.asked
    assert len(context.pictures) == 3
    assert split(context.texts[-1])
    cell = folder.results().tasks["mmsi_msr.visual_cot"]
    assert cell.metrics["accuracy"].mean == 1.0
    assert cell.usage["calls"] == 1
    [record] = folder.episodes("mmsi_msr.visual_cot")
    assert folder.pictures.load(drawn_names(record)[0]) == scene(9)


def test_its_missing_picture_is_a_failed_drawing(data: Path, tmp_path: Path) -> None:
    folder = sketchmark.run(
        OnePrompt(draws=False), "mmsi_msr_visual_cot", data=data, output_path=tmp_path / "run"
    ).folder
    assert folder.results().tasks["mmsi_msr.visual_cot"].failures == {"no_picture": 1}


def test_no_other_canvas_can_be_put_before_it(data: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotPlay, match="looks at its drawings itself"):
        sketchmark.run(OnePrompt(), "mmsi_msr_visual_cot", canvas="blank", data=data, output_path=tmp_path / "run")
