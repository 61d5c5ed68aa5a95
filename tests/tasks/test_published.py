"""`_published.yaml`: what others published, as they printed it; and a stranger's file within bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput
from sketchmark.tasks import published

GOOD = """published:
  - source: "a paper"
    protocol: "asked once"
    figures:
      - {tasks: [mine], mode: direct, score: right, channel: accuracy, n: 200, values: {Model A: 41.5, human: 93}}
"""
TASK = """include: %s
source: {use: "maze", rows: 6, cols: 6, min_steps: 3, max_steps: 5}
"""


@pytest.mark.parametrize(
    ("task", "mode", "model", "score", "value", "n"),
    [
        ("uni_mmmu_maze", "visual_cot", "GPT-4.1 + GPT-image", "maze_text_frame_acc", 0.49, 149),
        ("uni_mmmu_maze", "visual_cot", "nano-banana", "maze_img_frame_acc", 0.018, 149),
        ("uni_mmmu_maze", "visual_cot", "GPT-4.1 + GPT-image", "maze_img_exact", 0.007, 149),
        ("uni_mmmu_sliding", "visual_cot", "Bagel", "sliding_text_exact", 0.012, 84),
        ("uni_mmmu_jigsaw", "visual_cot", "OmniGen2", "jigsaw_img_dreamsim", 0.703, 151),
        ("uni_mmmu_geometry", "visual_cot", "nano-banana", "geometry_text_acc", 0.478, 140),
        ("uni_mmmu_maze100", "direct", "BAGEL", "maze_text_frame_acc", 0.021, 100),
        ("uni_mmmu_maze100", "visual_cot", "BAGEL", "maze_text_frame_acc", 0.281, 100),
        ("uni_mmmu_maze100", "visual_cot", "Ovis-U1", "maze_text_frame_acc", 0.003, 100),
        ("mmsi_bench", "direct", "o3", "accuracy", 0.41, 1000),
        ("mmsi_bench", "direct", "human", "accuracy", 0.972, None),
        ("mmsi_bench", "direct", "chance", "accuracy", 0.25, None),
        ("mmsi_msr", "visual_cot", "OneCAT", "accuracy", 0.39, 100),
        ("voila_wd", "visual_cot", "LLaMA-3.2", "voila_step3_overall", 0.13, 10013),
        ("voila_nd", "visual_cot", "human", "voila_step3_overall", 0.69, None),
    ],
)
def test_figures_are_those_that_were_printed(
    task: str, mode: str, model: str, score: str, value: float, n: int | None
) -> None:
    figures = Catalog().task(task).published(mode)
    (found,) = [one for one in figures if (one.model, one.score) == (model, score)]
    assert (found.value, found.n) == (value, n)
    assert found.source and found.protocol


def test_all_six_models_of_uni_mmmu_are_there_in_both_channels() -> None:
    figures = Catalog().task("uni_mmmu_maze").published("visual_cot")
    assert len(figures) == 24 and {one.channel for one in figures} == {
        *("image, step", "image, sample", "text, step", "text, sample"),
    }
    assert Catalog().task("uni_mmmu_maze").published("direct") == []
    assert Catalog().task("maze").published("visual_cot") == [], "made here: nobody published on these"


def _mine(folder: Path, text: str) -> list[published.Published]:
    published.read.cache_clear()
    maze = Path(published.__file__).parents[1] / "worlds/maze/_maze.yaml"
    (folder / "mine.yaml").write_text(TASK % maze)
    (folder / published.FILE).write_text(text)
    return Catalog((folder,)).task("mine").published("direct")


def test_a_task_of_ones_own_brings_such_a_file(tmp_path: Path) -> None:
    first, second = _mine(tmp_path, GOOD)
    assert (first.model, first.value, first.n, first.scoring) == ("Model A", 0.415, 200, "official")
    assert (second.model, second.value) == ("human", 0.93)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("41.5", "141.5", "<= 100"),
        ("41.5", "-1", ">= 0"),
        ("41.5", "high", "must be a number"),
        ('protocol: "asked once"', 'protocol: "asked once"\n    unit: fraction', "more than 1 fraction"),
        ("channel: accuracy", "chanel: accuracy", "did you mean channel?"),
        ("n: 200", "n: 0", "n"),
        ("tasks: [mine]", "tasks: []", "tasks"),
        ('"a paper"', f'"{"x" * 501}"', "source"),
        ("published:", "publish:", "unknown key publish"),
        ("41.5", "!!python/object/apply:os.system [true]", "cannot read"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(BadInput) as caught:
        _mine(tmp_path, GOOD.replace(old, new, 1))
    assert said in str(caught.value) and "\n" not in str(caught.value)
    assert published.FILE in str(caught.value)
