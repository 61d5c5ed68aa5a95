"""The index of a run, while it grows and after it was changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder
from sketchmark.folder.index import RunView
from sketchmark.view.runs import RunList
from tests.view.making import Maker, fail, play, sample


def index(maker: Maker) -> RunView:
    run = RunView(maker.folder, "run")
    run.refresh()
    return run


def test_appended_episodes_are_taken_in_without_reading_the_rest_again(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(3)
    run = index(maker)
    before = run.version
    maker.add("maze.direct", play(sample(3), "direct", True), 3)
    run.refresh()
    assert len(run.cells["maze.direct"].episodes) == 4
    assert run.version == before + 2  # one episode line, one score line
    assert run.cells["maze.direct"].value("maze-00003") == 1.0


def test_a_line_without_its_newline_is_not_there_yet(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(1)
    path = maker.folder.episodes_file("maze.direct")
    whole = path.read_bytes()
    seal = whole.rindex(b',"crc"')
    path.write_bytes(whole + whole[:seal].replace(b"maze-00000", b"maze-00009") + b"}")
    run = index(maker)
    assert list(run.cells["maze.direct"].episodes) == ["maze-00000"]
    with path.open("ab") as file:
        file.write(b"\n")
    run.refresh()
    assert list(run.cells["maze.direct"].episodes) == ["maze-00000", "maze-00009"]


def test_of_a_retried_sample_the_last_line_counts(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run")
    maker.add("maze.direct", fail(sample(0), "direct", "timeout", "too slow"), 0)
    maker.add("maze.direct", play(sample(0), "direct", True), 0)
    cell = index(maker).cells["maze.direct"]
    assert cell.episode("maze-00000").failure is None
    assert cell.value("maze-00000") == 1.0 and len(cell.rows) == 1


def test_scores_that_were_made_anew_replace_the_old_ones(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(4, skill=0.0)
    run = index(maker)
    path = maker.folder.scores_file("maze.direct")
    first = path.read_bytes().splitlines(keepends=True)[0]
    path.unlink()
    path.write_bytes(first)
    run.refresh()
    assert list(run.cells["maze.direct"].rows) == ["maze-00000"]


def test_an_id_with_quotes_and_backslashes_is_read_like_any_other(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run")
    strange = 'a "quoted" \\ id\n<script>'
    of = sample(0)
    named = type(of)(**{**{name: getattr(of, name) for name in of.__dataclass_fields__}, "id": strange})
    maker.add("maze.direct", play(named, "direct", True), 0)
    assert index(maker).cells["maze.direct"].episode(strange).sample.id == strange


def test_a_link_that_leads_out_of_the_run_is_not_followed(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(1)
    secret = tmp_path / "secret.jsonl"
    path = maker.folder.episodes_file("maze.direct")
    path.rename(secret)
    path.symlink_to(secret)
    with pytest.raises(BadInput, match="is a link"):
        index(maker)


def test_a_run_whose_results_are_a_link_is_named_and_hides_no_other(tmp_path: Path) -> None:
    Maker(tmp_path / "good").fill(1)
    bad = Maker(tmp_path / "bad").fill(1)
    (bad.folder.path / "results.json").unlink(missing_ok=True)
    (bad.folder.path / "results.json").symlink_to(tmp_path / "secret")
    shelf = RunList(tmp_path)
    assert [run.key for run in shelf.look()] == ["good"] and "is a link" in shelf.troubles["bad"]


def test_a_cell_name_with_dots_and_slashes_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "outside.jsonl").write_text("{}\n")
    maker = Maker(tmp_path / "run", cells=("maze.direct", "../../outside", "..", "maze.direct/../../x"))
    run = index(maker)
    assert list(run.cells) == ["maze.direct"]


def test_one_broken_folder_hides_no_other(tmp_path: Path) -> None:
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


def test_a_run_is_running_until_its_results_are_newer_than_its_episodes(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(1)
    run = index(maker)
    played = max(maker.folder.episodes_file(name).stat().st_mtime for name in maker.cells)
    assert run.state(played + 5) == "running"
    assert run.state(played + 5_000) == "stopped"
    maker.finish()
    os.utime(maker.folder.path / "results.json", (played + 1, played + 1))
    assert run.state(played + 5) == "finished"


def test_a_copied_run_is_finished_if_its_results_count_every_episode(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(2)
    maker.finish()
    played = max(maker.folder.episodes_file(name).stat().st_mtime for name in maker.cells)
    os.utime(maker.folder.path / "results.json", (played - 1, played - 1))
    run = index(maker)
    assert run.state(played + 5) == run.state(played + 5_000) == "finished"
    maker.fill(3)
    run.refresh()
    assert (run.state(played + 5), run.state(played + 5_000)) == ("running", "stopped")


def test_looking_at_a_run_writes_nothing_to_it(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(2)
    before = {path: path.stat().st_mtime_ns for path in maker.folder.path.rglob("*")}
    run = RunView(RunFolder(maker.folder.path), "run")
    run.refresh()
    run.cells["maze.direct"].episode("maze-00000")
    assert before == {path: path.stat().st_mtime_ns for path in maker.folder.path.rglob("*")}


def test_a_line_that_goes_bad_while_one_looks_is_named_every_time(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(2)
    shelf = RunList(tmp_path)
    assert len(shelf.look()) == 1
    with maker.folder.scores_file("maze.direct").open("ab") as file:
        file.write(b"not JSON\n")
    for _ in range(2):
        with pytest.raises(BadInput, match=r"maze\.direct\.jsonl.*: not JSON"):
            shelf.run("run")
    assert shelf.look() == [] and "not JSON" in shelf.troubles["run"]
