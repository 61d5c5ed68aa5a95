"""The context of every turn is exactly the published one: one readable file per protocol.

After a change that is meant, `SKETCHMARK_WRITE_GOLDEN=1 pytest tests/golden` writes them anew; read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark.catalog import Catalog
from sketchmark.models.code_drawing import ByCode, DrawsByCode
from sketchmark.models.players import make
from tests.benchmarks.mmsi import published as mmsi
from tests.benchmarks.mmsi.combined_prompt_model import OnePrompt
from tests.benchmarks.uni_mmmu import published as uni_mmmu
from tests.benchmarks.uni_mmmu import published_rest as uni_mmmu_rest
from tests.golden.recording import Recorder, transcript
from tests.media.players import Careless

HERE = Path(__file__).parent

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "jigsaw_direct": ("uni_mmmu_jigsaw100", {}),
    "jigsaw_visual_cot": ("uni_mmmu_jigsaw100_visual_cot", {}),
    "jigsaw_visual_cot_unig2u": ("uni_mmmu_jigsaw100_visual_cot", {"prompts": "unig2u"}),
    "jigsaw_text_cot": ("uni_mmmu_jigsaw100_text_cot", {}),
    "maze_direct": ("uni_mmmu_maze100", {}),
    "maze_visual_cot": ("uni_mmmu_maze100_visual_cot", {}),
    "maze_visual_cot_unig2u": ("uni_mmmu_maze100_visual_cot", {"prompts": "unig2u"}),
    "maze_visual_cot_steps_model": ("uni_mmmu_maze100_visual_cot", {"steps": "model"}),
    "maze_visual_cot_demonstration": ("uni_mmmu_maze_visual_cot", {"task_args": {"demonstration": True}}),
    "maze_visual_cot_svg": ("uni_mmmu_maze100_visual_cot", {"draw": "svg"}),
    "maze_text_cot": ("uni_mmmu_maze100_text_cot", {}),
    "sliding_direct": ("uni_mmmu_sliding54", {}),
    "sliding_direct_show_goal": ("uni_mmmu_sliding54", {"task_args": {"show_goal": True}}),
    "sliding_visual_cot": ("uni_mmmu_sliding54_visual_cot", {}),
    "sliding_visual_cot_unig2u": ("uni_mmmu_sliding54_visual_cot", {"prompts": "unig2u"}),
    "sliding_visual_cot_demonstration": ("uni_mmmu_sliding_visual_cot", {"task_args": {"demonstration": True}}),
    "sliding_visual_cot_show_goal": ("uni_mmmu_sliding54_visual_cot", {"task_args": {"show_goal": True}}),
    "sliding_visual_cot_svg_source": ("uni_mmmu_sliding54_visual_cot", {"draw": "svg", "canvas": "source"}),
    "sliding_visual_cot_svg_again": ("uni_mmmu_sliding54_visual_cot", {}),
    "sliding_text_cot": ("uni_mmmu_sliding54_text_cot", {}),
    "geometry_direct": ("uni_mmmu_geometry", {}),
    "geometry_direct_lines": ("uni_mmmu_geometry", {"prompts": "lines"}),
    "geometry_visual_cot": ("uni_mmmu_geometry_visual_cot", {}),
    "geometry_text_cot": ("uni_mmmu_geometry_text_cot", {}),
    "science_direct": ("uni_mmmu_science", {}),
    "science_visual_cot": ("uni_mmmu_science_visual_cot", {}),
    "code_direct": ("uni_mmmu_code", {}),
    "code_visual_cot": ("uni_mmmu_code_visual_cot", {}),
    "mmsi_direct": ("mmsi_msr", {}),
    "mmsi_bench_direct": ("mmsi_bench", {}),
    "mmsi_visual_cot": ("mmsi_msr_visual_cot", {}),
    "mmsi_visual_cot_unig2u": ("mmsi_msr_visual_cot", {"prompts": "unig2u"}),
    "mmsi_visual_cot_combined_prompt": ("mmsi_msr_visual_cot", {}),
    "mmsi_text_cot": ("mmsi_msr_text_cot", {}),
}


_EXTRACTED = {"demonstration", "geometry", "science", "code"}


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("published")
    uni_mmmu.parquet_folder(root / "parquet")
    uni_mmmu.extracted_folder(root / "extracted")
    uni_mmmu_rest.extracted(root / "extracted")
    mmsi.write(root / "mmsi" / "msr.parquet", [mmsi.row(7, "MSR", images=4)])
    return {name: root / name for name in ("parquet", "extracted", "mmsi")}


@pytest.mark.parametrize("name", CASES)
def test_every_request_is_the_one_in_the_golden_file(name: str, data: dict[str, Path], tmp_path: Path) -> None:
    task, options = CASES[name]
    kind = "mmsi" if "mmsi" in name else "extracted" if _EXTRACTED & set(name.split("_")) else "parquet"
    player = OnePrompt() if name.endswith("combined_prompt") else make("random" if kind == "mmsi" else "solver")
    again = name.endswith("again")
    recorder = Recorder(Careless(player) if again else player)
    asked = DrawsByCode(recorder, ByCode(retries=1)) if again else recorder
    folder = sketchmark.run(asked, task, data=data[kind], limit=1, output_path=tmp_path / "run", **options).folder
    [cell] = folder.cells
    recorder.drawings = [drawing for _, episode in folder.played(cell) for drawing in episode.drawings]
    pick = Catalog().pick(task)[0]
    opened = Catalog().task(pick.task, arguments=options.get("task_args"))
    sample = next(opened.samples(data=data[kind]))
    text = transcript(f"{task} {options or ''}".strip(), recorder, sample)
    file = HERE / f"{name}.txt"
    if os.environ.get("SKETCHMARK_WRITE_GOLDEN"):
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


def test_there_is_no_golden_file_that_nothing_checks() -> None:
    assert {file.stem for file in HERE.glob("*.txt")} - {"house_cases"} == set(CASES)
