"""Any task file of lmms-eval's shape can be drawn on: by a prompt of its own, else by the generic one."""

from __future__ import annotations

from pathlib import Path

import pytest

import sketchmark
from sketchmark.catalog import Catalog
from sketchmark.cli import main
from sketchmark.errors import BadInput
from sketchmark.folder.results_format import CellResult
from sketchmark.lmms_eval.shape import read_config
from sketchmark.tasks import Mode
from tests.lmms_eval.test_own_tasks import Eye

ASKED = "Look. Is it dark or light?\nAnswer with one word."


def play(folder: Path, task: str, mode: str, out: Path) -> tuple[Eye, CellResult]:
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


@pytest.mark.parametrize(
    ("modes", "meant"),
    [
        ("{visual_cot: {prompts: {generation_promt: 'Sketch: {question}'}}}", "generation_prompt"),
        ("{text_cot: {prompts: {generation_prompt@owns: x}}}", "generation_prompt@own"),
        ("{visual_cott: {prompts: {ask: x}}}", "visual_cot"),
    ],
)
def test_nearly_the_name_of_a_prompt_or_mode_is_refused_and_another_one_may_be_there(
    folder: Path, modes: str, meant: str
) -> None:
    (folder / "_generic_drawing.yaml").write_text(f"modes: {modes}\n")
    with pytest.raises(BadInput, match=f"did you mean {meant}"):
        Catalog((folder,), trust_code=True).task("shades")
    (folder / "_generic_drawing.yaml").write_text("modes: {direct: {prompts: {hint: Look.}}}\n")
    assert Catalog((folder,), trust_code=True).task("shades").mode("direct").prompts["hint"] == "Look."


def test_a_description_in_words_has_room_however_short_the_answer_must_be(folder: Path, tmp_path: Path) -> None:
    eye, _ = play(folder, "shades", "text_cot", tmp_path / "short")
    assert [options.max_new_tokens for _, _, options in eye.asked[:2]] == [512, 16], "described, then answered"
    file = folder / "_template.yaml"
    file.write_text(file.read_text().replace("max_new_tokens: 16", "max_new_tokens: 900"))
    read_config.cache_clear()
    eye, _ = play(folder, "shades", "text_cot", tmp_path / "long")
    assert [options.max_new_tokens for _, _, options in eye.asked[:2]] == [900, 900]


def test_a_tasks_own_drawing_prompt_goes_first(folder: Path, tmp_path: Path) -> None:
    assert drawn_by(folder, "shades_visual_cot", tmp_path) == "Draw the shade."


def test_all_modes_that_are_offered_can_be_played(folder: Path, tmp_path: Path) -> None:
    catalog = Catalog((folder,), trust_code=True)
    modes = catalog.task("shades").modes
    assert modes == ["direct", "visual_cot", "text_cot", "blind"]
    assert catalog.summary("shades")["modes"] == modes[:-1], "every task has blind"
    for mode in modes[:-1]:  # the player of this test reads the images, which blind does not show
        _, cell = play(folder, "shades", mode, tmp_path / mode)
        assert cell.n == 4 and not cell.failures


# `bagel_interleaved` in a task file of our shape: lmms-eval's place for a drawing's settings.


FILE = """
source: {use: maze, rows: 6, cols: 6, min_steps: 3, max_steps: 12}
lmms_eval_specific_kwargs: {bagel_interleaved: {task_type: maze, num_images: 3, cfg_text_scale: 4.0}}
modes:
  direct: {settings: {task_type: own}, prompts: {inputs: [<initial>]}}
  like_direct: {like: direct, lmms_eval_specific_kwargs: {bagel_interleaved: {num_images: 5, task_type: other}}}
  drawn: {drawing: {cfg_text_scale: 1.5, width: 64}, prompts: {inputs: [<initial>]}}
"""


def _mode(folder: Path, name: str) -> Mode:
    (folder / "walks.yaml").write_text(FILE)
    return Catalog((folder,)).task("walks").mode(name)


def test_the_block_gives_the_drawing_its_settings_and_the_protocol_its_counts(tmp_path: Path) -> None:
    mode = _mode(tmp_path, "direct")
    assert mode.settings == {"task_type": "own", "num_images": 3}
    assert mode.drawing.extra == {"num_images": 3, "cfg_text_scale": 4.0} and mode.saying.extra == {}


def test_a_modes_block_goes_over_the_files_and_settings_that_it_inherits_go_over_both(tmp_path: Path) -> None:
    mode = _mode(tmp_path, "like_direct")
    assert mode.settings == {"task_type": "own", "num_images": 5}
    assert mode.drawing.extra == {"num_images": 5, "cfg_text_scale": 4.0}


def test_the_modes_own_drawing_goes_over_the_block(tmp_path: Path) -> None:
    mode = _mode(tmp_path, "drawn")
    assert mode.settings == {"task_type": "maze", "num_images": 3}
    assert mode.drawing.extra == {"num_images": 3, "cfg_text_scale": 1.5, "width": 64}


def test_check_finds_a_wrong_count_in_the_block(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "walks.yaml").write_text(FILE.replace("num_images: 3", "num_images: many"))
    with pytest.raises(SystemExit) as ended:
        main(["check", str(tmp_path / "walks.yaml")])
    assert ended.value.code == 2 and "num_images" in capsys.readouterr().err
