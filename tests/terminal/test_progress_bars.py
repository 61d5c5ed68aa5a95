"""Slow commands show progress on a terminal and write none of it into a pipe."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import termios
import threading
from pathlib import Path

import pytest

import sketchmark
from sketchmark.terminal import counted, show_progress
from tests.command_line import sketchmark as say

NAMES = "jigsaw.visual_cot"


def _on_a_screen(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output (a pipe) and standard error (a terminal of 80 columns)."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "FORCE_COLOR")}
    child = subprocess.Popen(
        [sys.executable, "-m", "sketchmark", *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, text=True, cwd=folder,
        env={**environment, "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    seen = bytearray()

    def listen() -> None:
        try:
            while piece := os.read(ours, 65536):
                seen.extend(piece)
        except OSError:  # the other end is closed
            pass

    listening = threading.Thread(target=listen)
    listening.start()
    out, _ = child.communicate(timeout=120)
    listening.join()
    os.close(ours)
    return child.returncode, out, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shards")
    for shard in ("0/2", "1/2"):
        sketchmark.run(
            "player/solver", "jigsaw", mode="direct,visual_cot", limit=6, shard=shard, no_cache=True,
            output_path=folder / f"part-{shard[0]}",
        )  # fmt: skip
    sketchmark.run("player/solver", "jigsaw", mode="direct,visual_cot", limit=6, output_path=folder / "run")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        ("merge part-0 part-1 --out merged", ("comparing", NAMES, "100%")),
        ("score run", (f"{NAMES} strict", "6/6")),
        ("export run --to lmms-eval", ("reading", NAMES, "100%")),
        ("report run", ("reading", "100%")),
        ("run --model player/solver --tasks jigsaw --mode visual_cot --limit 5 --dry-run", (NAMES, "100%")),
    ],
    ids=lambda value: value.split()[0] if isinstance(value, str) else "",
)
def test_a_terminal_shows_progress_and_a_pipe_gets_only_the_results(
    shards: Path, arguments: str, seen: tuple[str, ...]
) -> None:
    code, out, shown = _on_a_screen(shards, *arguments.split())
    assert code == 0, shown
    for words in seen:
        assert words in shown and (words == NAMES or words not in out)
    assert max(len(line) for line in re.split(r"[\r\n]", shown)) <= 80


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["report run", "score run", "export run --to inspect"])
def test_a_pipe_gets_only_the_results(shards: Path, arguments: str) -> None:
    done = say(*arguments.split(), cwd=shards)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout


def test_python_callers_see_no_bars(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    show_progress(False)  # a command in this process may have set it
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with counted([1, 2, 3], 3, "three") as items:
        assert list(items) == [1, 2, 3]
    assert capsys.readouterr().err == ""
