"""A planted key is found nowhere: not after success, not after failure, not after a crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sketchmark.models import load_model
from sketchmark.serve import serving
from sketchmark.serve.faults import Faults
from tests.serve.models import Speaker

KEY = "sk-planted-0123456789-secret"


def _command(url: str, folder: Path, limit: int) -> list[str]:
    return [
        *(sys.executable, "-m", "sketchmark", "run", "--model", "openai/solver", "--tasks", "maze"),
        *("--mode", "direct,visual_cot", "--limit", str(limit), "--model-args", f"base_url={url},max_retries=1"),
        *("--output-path", str(folder / "run"), "--cache", str(folder / "cache")),
    ]


def _environment(key: str = KEY) -> dict[str, str]:
    return {**os.environ, "OPENAI_API_KEY": key}


def _found(folder: Path, *texts: str) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    return [str(path) for path in files] + [text for text in texts if KEY in text]


def test_after_success(tmp_path: Path) -> None:
    with serving(load_model("player/solver"), key=KEY) as url:
        done = subprocess.run(_command(url, tmp_path, 2), env=_environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert _found(tmp_path, done.stdout, done.stderr) == []


def test_with_a_line_end_behind_it(tmp_path: Path) -> None:
    """As a file with Windows line ends leaves it: stripped, it is the right key."""
    with serving(load_model("player/solver"), key=KEY) as url:
        environment = _environment(f"{KEY}\r\n")
        done = subprocess.run(_command(url, tmp_path, 1), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert _found(tmp_path, done.stdout, done.stderr) == []


def test_in_what_the_model_says(tmp_path: Path) -> None:
    with serving(Speaker(f"It is {KEY}, is it not?"), key=KEY) as url:
        done = subprocess.run(_command(url, tmp_path, 1), env=_environment(), capture_output=True, text=True)
    assert "[key]" in (tmp_path / "run/episodes/maze.direct.jsonl").read_text(), done.stderr
    assert _found(tmp_path, done.stdout, done.stderr) == []


def test_in_the_address_of_a_server(tmp_path: Path) -> None:
    with serving(load_model("player/solver")) as url:
        address = url.replace("http://", f"http://me:{KEY}@")
        done = subprocess.run(_command(address, tmp_path, 2), env=_environment(""), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert _found(tmp_path, done.stdout, done.stderr) == []


@pytest.mark.parametrize("fail", ["500:1", "429:1", "reset:1"])
def test_after_failure(tmp_path: Path, fail: str) -> None:
    with serving(load_model("player/solver"), key=KEY, faults=Faults.parse(fail, "", seed=1)) as url:
        done = subprocess.run(_command(url, tmp_path, 1), env=_environment(), capture_output=True, text=True)
    assert done.returncode == 1 and "episodes failed" in done.stderr
    assert _found(tmp_path, done.stdout, done.stderr) == []


def test_after_a_key_that_the_server_refuses(tmp_path: Path) -> None:
    with serving(load_model("player/solver"), key="another") as url:
        done = subprocess.run(_command(url, tmp_path, 1), env=_environment(), capture_output=True, text=True)
    assert done.returncode == 2
    assert _found(tmp_path, done.stdout, done.stderr) == []


def test_after_a_crash(tmp_path: Path) -> None:
    with serving(load_model("player/solver"), key=KEY, faults=Faults.parse("", "30ms", seed=1)) as url:
        log = tmp_path / "log"
        with log.open("w") as file:
            process = subprocess.Popen(_command(url, tmp_path, 200), env=_environment(), stdout=file, stderr=file)
            deadline = time.monotonic() + 30
            while not list((tmp_path / "run").glob("episodes/*.jsonl")) and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.3)
            assert process.poll() is None
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
    assert list((tmp_path / "run").glob("episodes/*.jsonl"))
    assert _found(tmp_path) == []


def test_the_search_itself_would_find_it(tmp_path: Path) -> None:
    (tmp_path / "leak").write_text(f"Authorization: Bearer {KEY}")
    assert _found(tmp_path, "fine") == [str(tmp_path / "leak")]
