"""Kill it anywhere and start it again: nothing finished is done twice, nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from sketchmark.files.jsonl import plain
from sketchmark.folder.format import EpisodeLine
from tests.core.helpers import episodes

KILLS = 20
CELLS = ("maze.direct", "maze.visual_cot")


def _command(output: Path, cache: Path) -> list[str]:
    plug_in = Path(__file__).with_name("slow_solver.py")
    return [
        *(sys.executable, "-m", "sketchmark", "run", "--include", str(plug_in), "--model", "slow", "--tasks", "maze"),
        *("--mode", "direct,visual_cot", "--limit", "120", "--concurrency", "4", "--cache", str(cache)),
        *("--output-path", str(output), "--quiet"),
    ]


@pytest.mark.slow
def test_a_run_killed_at_twenty_points_ends_with_exactly_the_episodes_of_an_undisturbed_one(tmp_path: Path) -> None:
    rng = Random(7)
    disturbed = _command(tmp_path / "killed", tmp_path / "cache")
    kills, progress = 0, list[int]()
    while kills < KILLS:
        process = subprocess.Popen(disturbed)
        if kills % 2:
            _wait_for_lines(tmp_path / "killed", progress[-1] + 1 + rng.randrange(4))
        time.sleep(rng.random() * 0.4)
        assert process.poll() is None, f"the run ended after {kills} kills: it is too short for this test"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
        progress.append(_lines(tmp_path / "killed"))
    assert progress == sorted(progress), "lines that were written do not go away"
    assert len(set(progress)) > 3, "the kills fell at different points of the work"
    subprocess.run(disturbed, check=True)
    subprocess.run(_command(tmp_path / "whole", tmp_path / "other_cache"), check=True)
    for cell in CELLS:
        killed = episodes(tmp_path / "killed", cell)
        assert len(killed) == 120
        assert _asked(killed) == _asked(episodes(tmp_path / "whole", cell))
        path = tmp_path / f"killed/episodes/{cell}.jsonl"
        samples = [json.loads(line)["sample"]["id"] for line in path.read_text().splitlines()]
        assert len(samples) == len(set(samples)), "no episode was played twice"
    killed, whole = (json.loads((tmp_path / name / "results.json").read_text()) for name in ("killed", "whole"))
    for cell in CELLS:
        killed["tasks"][cell].pop("usage"), whole["tasks"][cell].pop("usage")
    assert killed == whole


def _wait_for_lines(folder: Path, count: int) -> None:
    """Every other kill falls after new episodes were written, however slow the machine; the rest fall anywhere."""
    deadline = time.monotonic() + 60
    while _lines(folder) < count and time.monotonic() < deadline:
        time.sleep(0.01)


def _lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("episodes/*.jsonl"))


def _asked(lines: list[EpisodeLine]) -> str:
    """All of the episodes but `usage`, which says whether a reply came from the cache."""
    text = json.dumps(plain(lines))
    return text.replace('"calls": 1, ', "").replace(', "calls": 1', "").replace('"calls": 1', "")
