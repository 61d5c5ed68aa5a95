"""Nodes, workers and drivers that die on a real cluster: nothing is lost, nothing is done twice."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from tests.engines.comparing import PLUG_IN, assert_same, first_picture, ids
from tests.ray.cluster import command, on_ray, two_nodes, wait_for_lines

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]

CELLS = ("maze.direct", "maze.visual_cot")


def _whole(path: Path, model: str, **asked: Any) -> Path:
    """The same as `command`, undisturbed and on this machine."""
    modes = "direct,visual_cot"
    how: dict[str, Any] = {"mode": modes, "limit": 20, "include": [PLUG_IN], "no_cache": True, **asked}
    sketchmark.run(model, "maze", output_path=path, **how)
    return path


def test_a_node_killed_in_the_middle_and_a_driver_killed_and_resumed(tmp_path: Path) -> None:
    """One cluster for both: first its second node dies under a run, then, on what is left, the run itself."""
    whole = _whole(tmp_path / "whole", "slow")
    with two_nodes() as cluster:
        (other,) = [node for node in cluster.list_all_nodes() if node is not cluster.head_node]
        asked = command(cluster, tmp_path / "node", "--model", "slow", "--concurrency", "6", "--replicas", "3")
        process = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_lines(tmp_path / "node", 4, process)
        cluster.remove_node(other, allow_graceful=False)
        out, told = process.communicate(timeout=120)
        assert process.returncode == 0, told
        (line,) = [line for line in out.splitlines() if line.startswith("workers:")]
        assert "lost; " in line and "had to be rerun elsewhere" in line
        assert_same(tmp_path / "node", whole)
        assert all(len(ids(tmp_path / "node", cell)) == 20 for cell in CELLS), "nothing is written twice"

        asked = command(cluster, tmp_path / "driver", "--model", "slow", "--concurrency", "4", "--quiet")
        process = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_lines(tmp_path / "driver", 4, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        before = {path: path.read_bytes() for path in (tmp_path / "driver").glob("episodes/*.jsonl")}
        done = subprocess.run(asked, capture_output=True, text=True, timeout=120)
        # Ray itself may still tell of the node that died, with its guesses why: (1), (2).
        ours = [line for line in done.stdout.splitlines() if "(raylet)" not in line and not line.startswith("\t(")]
        assert (done.returncode, ours) == (0, []), done.stderr
        assert_same(tmp_path / "driver", whole)
        for path, lines in before.items():
            kept = lines[: lines.rfind(b"\n") + 1]
            assert path.read_bytes().startswith(kept) and path.read_bytes().count(b"\n") == 20


def test_an_episode_that_kills_every_worker_fails_alone(cluster: Any, tmp_path: Path) -> None:
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    arguments = {"victim": first_picture(3), "folder": str(deaths), "deaths": 3}
    asked: dict[str, Any] = {"limit": 8, "include": [PLUG_IN], "model_args": arguments, "replicas": 1}
    folder = on_ray(cluster, "deadly", "maze", output_path=tmp_path / "run", **asked)
    cell = folder.results().tasks["maze.direct"]
    assert (cell.n, cell.failures) == (7, {"worker_lost": 1})
    assert sorted(ids(tmp_path / "run", "maze.direct")) == [f"maze-0-{number:06d}" for number in range(8)]
    folder = on_ray(cluster, "deadly", "maze", output_path=tmp_path / "run", **asked)
    assert folder.results().tasks["maze.direct"].n == 8 and len(list(deaths.iterdir())) == 3


def _memory() -> tuple[int, int]:
    """(all, free) in bytes, as the system says."""
    said = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return tuple(int(said[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))  # type: ignore[return-value]


def test_a_worker_that_runs_out_of_memory_costs_its_own_episode_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray's own watch over memory ends the worker, as it would the largest one on a real node."""
    total, free = _memory()
    if free < 8_000_000_000:
        pytest.skip("needs 8 GB of free memory")
    monkeypatch.setenv("RAY_memory_usage_threshold", f"{(total - free + 2_500_000_000) / total:.4f}")
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "100")
    with two_nodes() as cluster:
        folder = on_ray(
            cluster, "greedy", "maze", limit=6, include=[PLUG_IN], output_path=tmp_path / "run", replicas=2,
            model_args={"victim": first_picture(2), "megabytes": 6000},
        )  # fmt: skip
    cell = folder.results().tasks["maze.direct"]
    assert (cell.n, cell.failures) == (5, {"worker_lost": 1})
    (failure,) = [line.failure for line in folder.episodes("maze.direct") if line.failure]
    assert "memory" in failure.message.lower()


def test_a_cluster_that_is_full_is_waited_for(cluster: Any, tmp_path: Path) -> None:
    """More replicas than there is room for: those that have a place play, and the others do not hold them up."""
    began = time.monotonic()
    folder = on_ray(cluster, "player/solver", "maze", limit=10, replicas=8, output_path=tmp_path / "run")
    assert folder.results().tasks["maze.direct"].n == 10 and time.monotonic() - began < 120
