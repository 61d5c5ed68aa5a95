"""`_published.yaml`: what others published, as they printed it; and a stranger's file within bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput
from sketchmark.tasks import published
from tests.tabled import tabled

GOOD = """published:
  - source: "a paper"
    protocol: "asked once"
    figures:
      - {tasks: [mine], mode: direct, score: right, channel: accuracy, n: 200, values: {Model A: 41.5, human: 93}}
"""
TASK = """include: %s
source: {use: "maze", rows: 6, cols: 6, min_steps: 3, max_steps: 5}
"""


@tabled
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
        *("image, step", "image, sample", "text, step", "text, sample")
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


@tabled
def test_what_is_wrong_is_told_in_one_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(BadInput) as caught:
        _mine(tmp_path, GOOD.replace(old, new, 1))
    assert said in str(caught.value) and "\n" not in str(caught.value)
    assert published.FILE in str(caught.value)
