"""The readers of a run folder: what they return, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sketchmark.errors import BadInput
from sketchmark.files import write_json
from sketchmark.folder import RunFolder, differences
from sketchmark.folder.format import FORMAT, CellRecord, ModelAbout, RunRecord
from sketchmark.folder.records import pack_episode
from sketchmark.folder.results_format import Results
from sketchmark.results.summary import summarise
from tests.runs.making import make_episode, make_row, make_sample, write_lines


def _folder(path: Path, **about: Any) -> RunFolder:
    write_json(path / "run.json", {"format": FORMAT, **about})
    return RunFolder.open(path)


def test_a_folder_without_run_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no run\.json"):
        RunFolder.open(tmp_path)
    assert _folder(tmp_path).path == tmp_path
    assert RunFolder.open(str(tmp_path)).run_file == tmp_path / "run.json"


def test_run_json_is_read_as_written_with_defaults_for_missing_keys(tmp_path: Path) -> None:
    assert FORMAT == 3, "as the documents say"
    assert _folder(tmp_path).about() == RunRecord(FORMAT, cells={}, seed=0, model=ModelAbout(""))
    full = RunRecord(FORMAT, cells={"a.b": CellRecord("a")}, seed=4, model=ModelAbout("m"))
    write_json(tmp_path / "run.json", full)
    assert RunFolder(tmp_path).about() == full


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("[]", "does not describe"),
        (f'{{"format": {FORMAT}, "cells": []}}', "does not describe"),
        ("nul", "cannot read"),
        ('{"format": 1}', "another version .format 1, not 3"),
        ('{"format": 4}', "another version .format 4, not .*new folder"),
        ("{}", "another version .format None"),
    ],
)
def test_a_bad_run_json_is_refused_with_the_reason(tmp_path: Path, content: str, why: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(BadInput, match=why):
        RunFolder(tmp_path).about()


def test_cells_have_the_requested_order_and_bad_names_are_left_out(tmp_path: Path) -> None:
    names = ["z.direct", "a.visual_cot.blank", "plain", "../x.y", "a.b/c", "A-1_b.direct"]
    cells = _folder(tmp_path, cells={name: {} for name in names}).cells
    assert cells == ["z.direct", "a.visual_cot.blank", "A-1_b.direct"]


@pytest.mark.parametrize("name", ["plain", "../up.direct", "a.b/c", "a.b\n", "", "a..b", "a.b~X"])
def test_a_bad_cell_name_gives_no_path(tmp_path: Path, name: str) -> None:
    for path in (RunFolder(tmp_path).episodes_file, RunFolder(tmp_path).scores_file):
        with pytest.raises(BadInput, match="not a name of a run's cell"):
            path(name)


def test_every_scoring_has_a_separate_file(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.episodes_file("a.b") == tmp_path / "episodes/a.b.jsonl"
    assert folder.scores_file("a.b") == tmp_path / "scores/a.b.jsonl"
    assert folder.scores_file("a.b", "lenient") == tmp_path / "scores/a.b~lenient.jsonl"


def test_the_newest_line_of_a_sample_counts(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    attempts = [("x", 1), ("y", 1), ("x", 2), ("z", 1), ("x", 3), ("y", 2)]
    episodes = [make_episode(make_sample(id), seconds=number) for id, number in attempts]
    write_lines(folder.episodes_file("a.b"), [pack_episode(one, 0, folder.pictures.save) for one in episodes])
    assert [(line.sample.id, line.seconds) for line in folder.episodes("a.b")] == [("z", 1), ("x", 3), ("y", 2)]
    rows = [make_row("c", 0.0, 2), make_row("a", 0.0, 0), make_row("c", 1.0, 2), make_row("b", 1.0, 1)]
    write_lines(folder.scores_file("a.b"), rows)
    write_lines(folder.scores_file("a.b", "lenient"), [make_row("a", 0.5, 0)])
    assert [(row.sample, row.values["right"]) for row in folder.scores("a.b")] == [("a", 0), ("b", 1), ("c", 1)]
    assert [row.values["right"] for row in folder.scores("a.b", "lenient")] == [0.5]


def test_results_are_empty_until_they_are_written(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.results() == Results(tasks={}, gains=[])
    some = Results(tasks={"a.b": summarise([make_row("a")], None)}, gains=[])
    write_json(tmp_path / "results.json", some)
    assert folder.results() == some and some.tasks["a.b"].n == 1


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"b": {"x": 1, "y": 2}, "a": 1}, {"b": {"x": 1, "y": 3}, "a": 2}, ["a: 1 -> 2", "b.y: 2 -> 3"]),
        ({"a": 1}, {}, ["a: 1 -> null"]),
        ({}, {"a": {"b": "x"}}, ['a: null -> {"b": "x"}']),
        ({"a": {"b": 1}}, {"a": "text"}, ['a: {"b": 1} -> "text"']),
        ({"a": [1, 2]}, {"a": [2, 1]}, ["a: [1, 2] -> [2, 1]"]),
        ({"a": "x" * 78}, {"a": "y" * 79}, [f'a: "{"x" * 78}" -> "{"y" * 76}...']),
    ],
)
def test_a_change_is_named_by_its_path_with_both_values(before: Any, now: Any, said: list[str]) -> None:
    assert differences(before, now) == said
