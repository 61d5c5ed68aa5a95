"""Exports of repeated episodes: every format has all of them, and none takes two for one."""

from __future__ import annotations

import csv
import json
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark.export import export
from sketchmark.folder import RunFolder

CELL, SCORE = "maze.visual_cot", "maze_text_exact"
PLACES = [(repeat, branch) for repeat in range(3) for branch in range(2)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    faults = "draw_slip=0.4,read_slip=0.3,knows=0.5"
    return sketchmark.run(
        "player/flawed", "maze", mode="direct,visual_cot", limit=4, repeats=3, answers=2, model_args=faults,
        output_path=tmp_path_factory.mktemp("repeated") / "run", no_cache=True, quiet=True,
        engine="local",
    ).folder  # fmt: skip


def scores(folder: RunFolder) -> dict[tuple[str, int, int], float | None]:
    return {(row.sample, row.repeat or 0, row.branch or 0): row.value(SCORE) for row in folder.scores(CELL)}


def test_inspect_reads_every_repeat_and_answer_as_an_epoch(folder: RunFolder, tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log

    (path,) = (path for path in export(folder, "inspect", tmp_path / "out") if "visual" in path.name)
    log = read_eval_log(str(path))
    assert log.samples and log.results and log.reductions and log.eval.dataset.sample_ids
    assert (log.eval.config.epochs, log.eval.config.epochs_reducer) == (6, ["mean"])
    assert (log.eval.dataset.samples, len(log.eval.dataset.sample_ids), len(log.samples)) == (4, 4, 24)
    assert len({(one.id, one.epoch) for one in log.samples}) == 24 and {one.epoch for one in log.samples} == {
        *range(1, 7)
    }
    wanted = scores(folder)
    for one in log.samples:
        place = one.metadata.get("repeat", 0), one.metadata.get("branch", 0)
        assert place == PLACES[one.epoch - 1] and one.scores
        assert one.scores[SCORE].value == wanted[str(one.id), *place]
    (reduced,) = (one for one in log.reductions if one.scorer == SCORE)
    by_sample = {one.sample_id: one.value for one in reduced.samples}
    for sample, mean in by_sample.items():
        assert mean == pytest.approx(sum(wanted[str(sample), *place] or 0 for place in PLACES) / 6)
    mean = folder.results().tasks[CELL].metrics[SCORE].mean
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(mean)


def test_lmms_eval_gets_one_line_per_document_with_all_replies(folder: RunFolder, tmp_path: Path) -> None:
    results_file, *files = export(folder, "lmms-eval", tmp_path / "out")
    (path,) = (path for path in files if "visual" in path.name)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [line["doc_id"] for line in lines] == [0, 1, 2, 3]
    wanted = scores(folder)
    for line in lines:
        episodes = line["sketchmark_episodes"]
        places = [(one.get("sketchmark_repeat", 0), one.get("sketchmark_branch", 0)) for one in episodes]
        assert places == PLACES and line["resps"] == [[one["filtered_resps"][0] for one in episodes]]
        assert [one[SCORE] for one in episodes] == [wanted[line["sketchmark_sample"], *place] for place in places]
        assert line[SCORE] == pytest.approx(sum(one[SCORE] for one in episodes) / 6)
    results = json.loads(results_file.read_text())
    assert results["configs"]["maze_visual_cot"]["repeats"] == results["configs"]["maze"]["repeats"] == 3
    assert results["n-samples"]["maze_visual_cot"] == {"original": 4, "effective": 4}
    means = [line[SCORE] for line in lines]
    assert results["results"]["maze_visual_cot"][f"{SCORE},none"] == pytest.approx(sum(means) / 4)


def test_datasets_and_csv_have_a_row_per_episode_with_its_repeat_and_answer(
    folder: RunFolder, tmp_path: Path
) -> None:
    export(folder, "hf", tmp_path / "hf")
    load: Any = import_module("datasets").load_dataset
    rows = load(str(tmp_path / "hf"), CELL, split="train", cache_dir=str(tmp_path / "cache"))
    wanted = scores(folder)
    assert {(row["sample"], row["repeat"], row["branch"]): row["score"] for row in rows} == wanted
    (path,) = export(folder, "csv", tmp_path / "csv")
    with path.open(newline="") as file:
        written = [row for row in csv.DictReader(file) if row["cell"] == CELL]
    found = {(row["sample"], int(row["repeat"]), int(row["branch"])): float(row[f"score.{SCORE}"]) for row in written}
    assert found == wanted and Counter(row["sample"] for row in written).most_common(1)[0][1] == 6
