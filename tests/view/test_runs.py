"""The list of runs below a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from sketchmark.errors import BadInput
from sketchmark.view.runs import RunList
from tests.view.making import Maker


def test_a_run_whose_results_are_a_link_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    Maker(tmp_path / "good").fill(1)
    bad = Maker(tmp_path / "bad").fill(1)
    (bad.folder.path / "results.json").unlink(missing_ok=True)
    (bad.folder.path / "results.json").symlink_to(tmp_path / "secret")
    shelf = RunList(tmp_path)
    assert [run.key for run in shelf.look()] == ["good"] and "is a link" in shelf.troubles["bad"]


def test_broken_folders_are_named_and_the_others_are_shown(tmp_path: Path) -> None:
    Maker(tmp_path / "deep" / "er" / "good").fill(1)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{")
    (tmp_path / "worse").mkdir()
    (tmp_path / "worse" / "run.json").write_text('{"format": 3, "cells": 5}')
    shelf = RunList(tmp_path)
    assert [run.key for run in shelf.look()] == ["deep/er/good"]
    assert set(shelf.troubles) == {"bad", "worse"}


def test_runs_are_found_three_folders_down_but_not_through_links(tmp_path: Path) -> None:
    Maker(tmp_path / "shelf" / "a" / "b" / "c").fill(1)
    Maker(tmp_path / "shelf" / "1" / "2" / "3" / "too-deep").fill(1)
    Maker(tmp_path / "elsewhere").fill(1)
    (tmp_path / "shelf" / "link").symlink_to(tmp_path / "elsewhere")
    assert [run.key for run in RunList(tmp_path / "shelf").look()] == ["a/b/c"]


@pytest.mark.parametrize("key", ["../elsewhere", "/etc", "a/../../elsewhere", "..", "\x00"])
def test_a_run_outside_the_shelf_cannot_be_named(tmp_path: Path, key: str) -> None:
    Maker(tmp_path / "shelf" / "a").fill(1)
    Maker(tmp_path / "elsewhere").fill(1)
    with pytest.raises(BadInput, match="there is no run"):
        RunList(tmp_path / "shelf").run(key)


def test_a_line_that_breaks_later_is_named_every_time(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(2)
    shelf = RunList(tmp_path)
    assert len(shelf.look()) == 1
    with maker.folder.scores_file("maze.direct").open("ab") as file:
        file.write(b"not JSON\n")
    for _ in range(2):
        with pytest.raises(BadInput, match=r"maze\.direct\.jsonl.*: not JSON"):
            shelf.run("run")
    assert shelf.look() == [] and "not JSON" in shelf.troubles["run"]
