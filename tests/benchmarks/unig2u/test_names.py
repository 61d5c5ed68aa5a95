"""UniG2U's names: lmms-eval's, the short ones as aliases, the groups, and the eight that other folders describe."""

from __future__ import annotations

from pathlib import Path

import pytest

from sketchmark.benchmarks.unig2u import total
from sketchmark.catalog import Catalog, Pick
from sketchmark.errors import UnknownName
from sketchmark.tasks import TaskOptions
from tests.benchmarks.mmsi.published import row, write
from tests.benchmarks.unig2u import published
from tests.tabled import tabled


def test_the_groups_hold_every_subtask_directly_and_drawn() -> None:
    assert Catalog().pick("unig2u") == [Pick(name) for name in published.TASKS]
    assert Catalog().pick("unig2u_GtA") == [Pick(name, "visual_cot") for name in published.TASKS]
    assert Catalog().pick("unig2u_gta") == Catalog().pick("unig2u_visual_cot") == Catalog().pick("unig2u_GtA")
    assert len(published.TASKS) == 31, "thirty subtasks, of which visual_shortest_path is two files"


@tabled
def test_the_names_in_use_elsewhere(name: str, tasks: list[str], mode: str | None) -> None:
    assert Catalog().pick(name) == [Pick(f"unig2u_{task}", mode) for task in tasks]


def test_every_task_has_its_short_name_but_where_another_benchmark_has_it() -> None:
    catalog = Catalog()
    for name in published.OWN:
        short = name.removeprefix("unig2u_")
        if short == "geometry3k":  # elsewhere another data set, with options
            with pytest.raises(UnknownName, match="did you mean unig2u_geometry3k"):
                catalog.pick(short)
        else:
            assert catalog.pick(short) == [Pick(name)]
    for name in set(published.TASKS) - set(published.OWN):
        short = name.removeprefix("unig2u_")
        assert catalog.pick(short) == [Pick(short)], "MMSI's and Uni-MMMU's own"


def test_an_alias_hides_nobodys_task(tmp_path: Path) -> None:
    own = tmp_path / "chartqa100.yaml"
    source = Path(__file__).parents[3] / "src" / "sketchmark" / "benchmarks" / "mmsi" / "mmsi_msr.yaml"
    own.write_text(f"include: {source}\n")
    assert Catalog((own,)).pick("chartqa100") == [Pick("chartqa100")]
    assert Catalog((own,)).task("chartqa100").headline == "accuracy"
    foreign = tmp_path / "foreign.yaml"
    foreign.write_text("task: foreign\ndataset_path: a/b\ntag: realunify_mental_tracking\n")
    assert Catalog((foreign,)).pick("realunify_mental_tracking") == [Pick("foreign")]


def test_mmsi_and_uni_mmmu_are_played_with_unig2us_prompts(tmp_path: Path) -> None:
    data = write(tmp_path / "msr.parquet", [row(7, "MSR")])
    for name, prompts in (("unig2u_mmsi_msr", ""), ("mmsi_msr", "unig2u")):
        task = Catalog().task(name, TaskOptions(prompts=prompts))
        filled = task.mode("visual_cot").fill(next(task.samples(data=data)), "truth")
        assert filled.text("ask").startswith("You are given the original images and a visualization breaking down")
    default = Catalog().task("unig2u_mmsi_msr", TaskOptions(prompts="default")).mode("visual_cot").prompts
    assert default == Catalog().task("mmsi_msr").mode("visual_cot").prompts
    maze = Catalog().task("unig2u_uni_mmmu_maze100")
    assert maze.mode("visual_cot").settings["plan_tokens"] == 128
    assert maze.headline == "maze_text_frame_acc"


def test_every_task_knows_its_total_and_the_prompt_set() -> None:
    catalog = Catalog()
    for name in published.TASKS:
        task = catalog.task(name, TaskOptions(prompts="unig2u"))
        assert task.total == total()
        assert {"strict", "official"} <= set(task.declared.scorings)
        assert {"direct", "visual_cot", "text_cot"} <= set(task.modes)


def test_a_question_that_mmsi_holds_twice_is_played_twice_and_is_no_independent_one(tmp_path: Path) -> None:
    data = write(tmp_path / "msr.parquet", [row(7, "MSR"), row(8, "MSR"), row(7, "MSR")])
    samples = list(Catalog().task("unig2u_mmsi_msr").samples(data=data))
    assert [sample.id for sample in samples] == ["7", "8", "7#2"]
    assert [sample.groups.get("cluster") for sample in samples] == [None, None, "7"]
