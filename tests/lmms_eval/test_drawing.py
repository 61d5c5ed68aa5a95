"""Any task file of lmms-eval's shape can be drawn on: by a prompt of its own, else by the generic one."""

from __future__ import annotations

from pathlib import Path

import pytest

import sketchmark
from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput
from sketchmark.runs.results_format import CellSummary
from tests.lmms_eval.test_own_tasks import Eye

ASKED = "Look. Is it dark or light?\nAnswer with one word."


def play(folder: Path, task: str, mode: str, out: Path) -> tuple[Eye, CellSummary]:
    eye = Eye()
    run = sketchmark.run(eye, task, mode=mode, include=(folder,), trust_code=True, output_path=out)
    [cell] = run.results.tasks.values()
    return eye, cell


def drawn_by(folder: Path, task: str, tmp_path: Path, mode: str = "visual_cot") -> str:
    eye, _ = play(folder, task, mode, tmp_path / "out")
    act = "draw" if mode == "visual_cot" else "say"
    return next(str(contents[-1]) for what, contents, _ in eye.asked if what == act)


def test_a_task_without_a_drawing_prompt_is_drawn_on_by_the_generic_one(folder: Path, tmp_path: Path) -> None:
    prompt = drawn_by(folder, "shades", tmp_path)
    assert prompt.startswith("Draw one picture that helps to answer the question below.") and prompt.endswith(ASKED)


def test_in_words_it_asks_for_words(folder: Path, tmp_path: Path) -> None:
    prompt = drawn_by(folder, "shades", tmp_path, "text_cot")
    assert prompt.startswith("Describe in words one picture") and "Draw" not in prompt and prompt.endswith(ASKED)


def test_a_file_beside_the_task_words_it_otherwise(folder: Path, tmp_path: Path) -> None:
    (folder / "_generic_drawing.yaml").write_text(
        "modes: {visual_cot: {prompts: {generation_prompt: 'Sketch: {question}'}}}\n"
    )
    assert drawn_by(folder, "shades", tmp_path) == f"Sketch: {ASKED}"
    (folder / "_generic_drawing.yaml").write_text("generation_prompt: x\n")
    with pytest.raises(BadInput, match=r"_generic_drawing\.yaml must hold `modes`"):
        Catalog((folder,), trust_code=True).task("shades")


def test_a_tasks_own_drawing_prompt_goes_first(folder: Path, tmp_path: Path) -> None:
    assert drawn_by(folder, "shades_visual_cot", tmp_path) == "Draw the shade."


def test_all_modes_that_are_offered_can_be_played(folder: Path, tmp_path: Path) -> None:
    catalog = Catalog((folder,), trust_code=True)
    modes = catalog.task("shades").modes
    assert modes == catalog.summary("shades")["modes"] == ["direct", "visual_cot", "text_cot"]
    for mode in modes:
        _, cell = play(folder, "shades", mode, tmp_path / mode)
        assert cell.n == 4 and not cell.failures
