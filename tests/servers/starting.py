"""Start a real server in another process, wait until it responds, and end it. Run our commands against it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sketchmark.folder import RunFolder
from sketchmark.folder.format import EpisodeLine, ScoreRow

ROOT = Path(__file__).resolve().parents[2]
_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "PYTHONPATH": str(ROOT),
    "no_proxy": "127.0.0.1",
}
ON_CPU = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
}
"""Variables of vLLM and vLLM-Omni."""
START = 900
"""Seconds that a server may take to start: some 30 on an idle machine, many times that on a crowded one."""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def started(
    command: Sequence[str], health: str, log: Path, *, limit: float = 120, more: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start `command`, wait until `health` responds with 200, and end the process and its children afterwards."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, **_OFFLINE, **(more or {})},
        )
    try:
        _wait(process, health, log, limit)
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End the process and its children at once: what a crash looks like from outside."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def until(holds: Callable[[], bool], process: subprocess.Popen[str], limit: float = 300) -> None:
    """Wait until something holds that the process brings about."""
    last = time.monotonic() + limit
    while not holds():
        assert process.poll() is None, f"it ended before: {process.communicate()[0]}"
        assert time.monotonic() < last, f"not within {limit:.0f} s"
        time.sleep(0.05)


def _wait(process: subprocess.Popen[bytes], health: str, log: Path, limit: float) -> None:
    last = time.monotonic() + limit
    while not responds(health):
        said = log.read_text("utf-8", "replace")[-3000:]
        assert process.poll() is None, f"{process.args!r} ended with {process.returncode}:\n{said}"
        assert time.monotonic() < last, f"{health} did not respond within {limit:.0f} s:\n{said}"
        time.sleep(0.2)


def responds(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=10) as reply:
            return bool(reply.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def sketchmark(*words: str, limit: float = 600) -> subprocess.CompletedProcess[str]:
    """Run our command line in another process, as a user would."""
    return subprocess.run(_command(words), capture_output=True, text=True, timeout=limit, check=False)


def sketchmark_behind(*words: str) -> subprocess.Popen[str]:
    """Start our command line and return at once."""
    return subprocess.Popen(_command(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _command(words: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "sketchmark", *words]


def verdicts(printed: str) -> dict[str, str]:
    """Return check → verdict from the output of `doctor --json`."""
    return {finding["check"]: finding["verdict"] for finding in json.loads(printed)["findings"]}


def episodes(folder: Path, cell: str) -> list[tuple[EpisodeLine, ScoreRow]]:
    """Return the episodes of a cell with their scores, in the order of the samples."""
    run = RunFolder(folder)
    scores = {line.sample: line for line in run.scores(cell)}
    lines = sorted(run.episodes(cell), key=lambda line: line.index)
    return [(line, scores[line.sample.id]) for line in lines]


def replies(line: EpisodeLine, act: str) -> list[Any]:
    return [turn.reply for turn in line.turns if turn.act == act and turn.reply is not None]
