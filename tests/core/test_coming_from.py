"""docs/coming-from.md: our lines work, or are refused only for the key, the weights or the data that they need."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.command_line import sketchmark

PAGE = (Path(__file__).parents[2] / "docs/coming-from.md").read_text("utf-8")
LINES = [
    line
    for line in re.findall(r"`sketchmark ((?:run|list|voila|score-file) [^`…]*)`", PAGE)
    if "--" in line or line.startswith("list")
]
WORKING = (
    *("list ", "voila create_dataset", "voila inference_test_VOILA_WD --model_name player"),
    "voila score_model_result",
)
NEEDED = re.compile(
    r"is not set|azure_endpoint|the hub|--data|there is no file|pip install|needs|not exist|no `response`|checkout"
)


def test_the_page_maps_every_command_line_of_the_seed_pages() -> None:
    for old in (
        "create_dataset.py",
        "inference_test_VOILA_WD.py",
        "score_model_result.py",
        "--model bagel",
        "qwen2_5_vl",
    ):
        assert re.search(rf"\| `python [^`]*{re.escape(old)}", PAGE), old
    assert len(LINES) >= 10


@pytest.mark.slow
def test_every_line_of_ours_works_or_is_refused_for_what_it_needs(tmp_path: Path) -> None:
    for line in LINES:
        done = sketchmark(*shlex.split(line), cwd=tmp_path)
        assert "Traceback" not in done.stderr and "No such option" not in done.stderr, line
        if line.startswith(WORKING):
            assert done.returncode == 0, f"{line}\n{done.stderr}"
        else:
            assert done.returncode == 2 and NEEDED.search(done.stderr), f"{line}\n{done.stderr}"
