"""A full disk costs one line on the terminal and no episode.

The test uses the system's limit on file sizes: a write across it ends half-way, as on a full disk.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

COMMAND = ("run", "--model", "player/sketcher", "--tasks", "maze", "--mode", "direct,visual_cot", "--limit", "8")
LIMITED = (
    "import resource, sys; limit = int(sys.argv[1]);"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)) if limit else None;"
    "from sketchmark.cli import main; main(sys.argv[2:])"
)


def _run(folder: Path, largest: int = 0) -> subprocess.CompletedProcess[str]:
    asked = [*COMMAND, "-o", str(folder), "--no-cache", "-c", "4", "-q"]
    return subprocess.run([sys.executable, "-c", LIMITED, str(largest), *asked], capture_output=True, text=True)


def _results(folder: Path) -> Any:
    return json.loads((folder / "results.json").read_bytes())


def _ids(path: Path) -> list[str]:
    return [json.loads(line)["sample"]["id"] for line in path.read_bytes().splitlines()]


@pytest.mark.slow
def test_a_run_on_a_full_disk_ends_with_one_line_and_finishes_when_there_is_room(tmp_path: Path) -> None:
    played: list[int] = []
    for largest, file in [
        (3_000, "run.json"),
        (10_000, "episodes/maze.visual_cot.jsonl"),
        (30_000, "episodes/maze.visual_cot.jsonl"),
        (100_000, "report.html"),
    ]:
        done = _run(tmp_path / "full", largest)
        said = f"the disk is full: {tmp_path / 'full' / file}: File too large; what is done is kept"
        assert done.returncode == 2 and done.stdout == ""
        assert done.stderr == f"sketchmark: {said}: free space and run the same command\n"
        assert not list((tmp_path / "full").rglob(".*.*.*")), "nothing half-made is left"
        played.append(sum(len(_ids(path)) for path in tmp_path.glob("full/episodes/*.jsonl")))
    assert 0 == played[0] < played[1] < played[2] < played[3] == 16
    assert _run(tmp_path / "full").returncode == 0
    assert _run(tmp_path / "roomy").returncode == 0
    assert _results(tmp_path / "full") == _results(tmp_path / "roomy")
    for path in (tmp_path / "roomy").glob("episodes/*.jsonl"):
        assert sorted(_ids(tmp_path / "full/episodes" / path.name)) == sorted(_ids(path)), "none lost, none doubled"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_unwritable_output_gives_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sketchmark", "list", "models"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("sketchmark: the disk is full: input or output: No space left on device")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_gives_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    done = _run(tmp_path / "run")
    assert done.returncode == 2
    assert done.stderr == f"sketchmark: {tmp_path / 'run'}: Permission denied; {KEPT}\n"


KEPT = "what is done is kept: make it accessible, or use another folder"
