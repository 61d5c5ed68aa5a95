"""A real Ray cluster of two nodes on this machine."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sketchmark
from tests.engines.comparing import PLUG_IN

_STORE = 100_000_000


@contextmanager
def two_nodes(head_cpus: int = 1, other_cpus: int = 2) -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": head_cpus, "object_store_memory": _STORE})
    try:
        cluster.add_node(num_cpus=other_cpus, object_store_memory=_STORE)
        yield cluster
    finally:
        cluster.shutdown()


def on_ray(cluster: Any, model: str, tasks: str, **asked: Any) -> Any:
    how: dict[str, Any] = {"engine": "ray", "ray_address": cluster.address, "no_cache": True, **asked}
    return sketchmark.run(model, tasks, **how)


def command(cluster: Any, folder: Path, *more: str) -> list[str]:
    """A run on the cluster in a process of its own: 40 episodes that take their time."""
    asked = [sys.executable, "-m", "sketchmark", "run", "--include", str(PLUG_IN), "--tasks", "maze", "--no-cache"]
    asked += ["--mode", "direct,visual_cot", "--limit", "20", "--output-path", str(folder), "--engine", "ray"]
    return [*asked, "--ray-address", cluster.address, *more]


def wait_for_lines(folder: Path, count: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 90
    while sum(path.read_bytes().count(b"\n") for path in folder.glob("episodes/*.jsonl")) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "nothing is played"
        time.sleep(0.05)
