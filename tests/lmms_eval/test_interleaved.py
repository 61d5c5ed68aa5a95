"""`bagel_interleaved` in a task file of our shape: lmms-eval's place for a drawing's settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from sketchmark.catalog import Catalog
from sketchmark.cli import main
from sketchmark.tasks import Mode

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
