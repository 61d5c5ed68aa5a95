"""Shards put together are the run that was played at once."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark.files.jsonl import is_intact, is_sealed, plain
from sketchmark.folder import RunFolder
from sketchmark.view.runs import RunList
from tests.command_line import Done
from tests.command_line import sketchmark as say
from tests.runs.making import lines_in

ASKED: dict[str, Any] = {"mode": "direct,visual_cot", "canvas": "own,other", "limit": 7, "no_cache": True}
ASKED["engine"] = "local"  # as fast as workers, for this few
TASKS = "maze,sliding"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole run of a scripted player, and its three shards."""
    root = tmp_path_factory.mktemp("played")
    sketchmark.run("player/sketcher", TASKS, **ASKED, output_path=root / "whole")
    for shard in range(3):
        sketchmark.run("player/sketcher", TASKS, **ASKED, shard=f"{shard}/3", output_path=root / f"shard{shard}")
    return root


def command(*arguments: object) -> Done:
    return say("merge", *arguments)


@pytest.mark.slow
def test_three_shards_merged_equal_the_run_that_was_played_at_once(played: Path, tmp_path: Path) -> None:
    out = tmp_path / "merged"
    done = command(*(played / f"shard{number}" for number in (2, 0, 1)), "--out", out)
    assert done.returncode == 0, done.stderr
    merged, whole = RunFolder(out), RunFolder(played / "whole")
    assert plain(merged.results()) == plain(whole.results())
    own = {"started": "", "ended": None}
    assert {**plain(merged.about()), **own} == {**plain(whole.about()), **own}
    for cell in whole.cells:
        assert [_timeless(line) for line in merged.episodes(cell)] == sorted(
            (_timeless(line) for line in whole.episodes(cell)), key=lambda line: line["index"]
        )
        assert [_timeless(row) for row in merged.scores(cell)] == [_timeless(row) for row in whole.scores(cell)]
        for path in (merged.episodes_file(cell), merged.scores_file(cell)):
            assert all(is_sealed(line) and is_intact(line) for line in path.read_bytes().splitlines(keepends=True))
    assert _pictures(out) == _pictures(played / "whole")
    reports = [(folder.path / "report.html").read_text() for folder in (merged, whole)]
    assert _numbers(reports[0]) == _numbers(reports[1])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["merged"]


@pytest.mark.slow
def test_a_merged_folder_is_resumed_without_playing_anything_again(played: Path, tmp_path: Path) -> None:
    out = tmp_path / "merged"
    assert command(*(played / f"shard{number}" for number in range(3)), "-o", out, "-q").returncode == 0
    lines = {path: lines_in(path) for path in out.glob("episodes/*.jsonl")}
    folder = sketchmark.run("player/sketcher", TASKS, **ASKED, output_path=out).folder
    assert {path: lines_in(path) for path in out.glob("episodes/*.jsonl")} == lines
    assert plain(folder.results()) == plain(RunFolder(played / "whole").results())


@pytest.mark.slow
def test_a_missing_shard_is_named_and_what_is_there_can_be_merged_and_played_to_its_end(
    played: Path, tmp_path: Path
) -> None:
    parts, out = [played / "shard0", played / "shard2"], tmp_path / "merged"
    done = command(*parts, "--out", out)
    assert done.returncode == 2 and not out.exists() and not list(tmp_path.iterdir())
    assert "maze.visual_cot.other: 2 of 7 samples are missing: all 2 of shard 1/3" in done.stderr
    assert done.stderr.splitlines()[-1].startswith(
        "sketchmark: 6 gaps, and nothing was written (run the missing samples"
    )
    done = command(*parts, "--out", out, "--partial")
    assert done.returncode == 0, done.stderr
    assert any("2 of 7 samples are missing" in line for line in RunFolder(out).results().warnings)
    folder = sketchmark.run("player/sketcher", TASKS, **ASKED, output_path=out).folder
    assert plain(folder.results()) == plain(RunFolder(played / "whole").results())


@pytest.mark.slow
def test_a_merge_that_is_killed_leaves_nothing_that_looks_like_a_run(played: Path, tmp_path: Path) -> None:
    out, beside = tmp_path / "merged", tmp_path / ".merged.merging"
    words = [sys.executable, "-m", "sketchmark", "merge", *(str(played / f"shard{n}") for n in range(3))]
    for _ in range(5):  # on a busy machine a merge may end before its kill
        shutil.rmtree(out, ignore_errors=True)
        process = subprocess.Popen([*words, "--out", str(out)])
        while not (beside / "episodes").exists() and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        if process.wait() == -signal.SIGKILL and not out.exists():
            break
    assert beside.exists() and not out.exists()
    assert RunList(tmp_path).look() == []
    done = command(*(played / f"shard{number}" for number in range(3)), "--out", out)
    assert done.returncode == 0, done.stderr
    assert plain(RunFolder(out).results()) == plain(RunFolder(played / "whole").results()) and not beside.exists()


def _timeless(record: Any) -> dict[str, Any]:
    found: dict[str, Any] = plain(record)
    for key in ("started", "seconds"):
        found.pop(key, None)
    for turn in found.get("turns", []):
        turn.pop("seconds", None)
    return found


def _pictures(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in run.glob("pictures/*/*")}


def _numbers(report: str) -> str:
    """Without the time of the start, and without the seconds that episodes took."""
    return re.sub(r"started \S+|\d+(\.\d+)? m?s\b", "", report)


def test_the_command_refuses_what_is_no_run_and_a_run_named_twice(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    sketchmark.run("player/random", "maze", limit=1, output_path=folder)
    twice = command(folder, tmp_path / "." / "run", "--out", tmp_path / "out")
    assert twice.returncode == 2 and "is named twice" in twice.stderr
    none = command(tmp_path / "nothing", "--out", tmp_path / "out")
    assert none.returncode == 2 and "not a run folder" in none.stderr
    assert len(none.stderr.splitlines()) == len(twice.stderr.splitlines()) == 1
