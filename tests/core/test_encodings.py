"""Output to terminals of any encoding, to closed streams, and about folders with any name: never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sketchmark

SKETCHMARK = [sys.executable, "-m", "sketchmark"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("encodings") / "run"
    sketchmark.run("player/solver", "maze", mode="direct,visual_cot", limit=2, output_path=path, no_cache=True)
    return path


COMMANDS = [["compare", "RUN"], ["card", "RUN"], ["list", "tasks"], ["run", "--help"], ["run", "-m", "é→"],
            ["run", "-m", "player/solver", "-t", "maze", "--limit", "1", "-o", "RUN-again"]]  # fmt: skip


IN_TURN = """
import json, os, sys
from sketchmark.cli import main

for number, words in enumerate(json.loads(sys.argv[1])):
    for stream, kept in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{number}.{kept}", os.O_WRONLY | os.O_CREAT), stream)
    try:
        main(words)
    except SystemExit as ended:
        sys.stdout.flush(), sys.stderr.flush()
        open(f"{number}.code", "w").write(str(ended.code))
"""
"""Types command after command in one process, each with files as its streams."""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437", "utf-8"])
def test_what_an_encoding_lacks_is_spelled_out(run: Path, tmp_path: Path, encoding: str) -> None:
    typed = [[word.replace("RUN-again", "again").replace("RUN", str(run)) for word in words] for words in COMMANDS]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"}
    words = [sys.executable, "-c", IN_TURN, json.dumps(typed)]
    subprocess.run(words, env=environment, cwd=tmp_path, check=True)
    for number, command in enumerate(COMMANDS):
        out, err, code = ((tmp_path / f"{number}.{kept}").read_bytes() for kept in ("out", "err", "code"))
        assert b"Traceback" not in err and code == (b"2" if "é→" in command else b"0"), (command, err[-500:])
        (out + err).decode("utf-8" if encoding == "ascii" else encoding)  # click mistrusts ASCII
        if encoding in ("cp1252", "latin-1") and command[0] == "compare":
            assert b"-----" in out and b"\\u2500" not in out


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", COMMANDS[:1] + COMMANDS[-1:], ids=lambda words: words[0])
def test_a_closed_stream_is_no_error_and_no_file_takes_its_place(
    run: Path, tmp_path: Path, closed: str, command: list[str]
) -> None:
    words = [word.replace("RUN-again", str(tmp_path / "again")).replace("RUN", str(run)) for word in command]
    shell = f"{' '.join([*SKETCHMARK, *words])} {closed}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, cwd=tmp_path)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr[-500:]
    for path in (tmp_path / "again").rglob("*.jsonl"):
        assert all(line.startswith(b"{") for line in path.read_bytes().splitlines()), "nothing is printed into it"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_folder_whose_name_is_not_utf_8_has_a_card(run: Path, tmp_path: Path, encoding: str) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xff"))
    odd.symlink_to(run)
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    for command in ("card", "compare"):
        done = subprocess.run([*SKETCHMARK, command, os.fsencode(odd)], capture_output=True, env=environment)
        assert done.returncode == 0 and b"Traceback" not in done.stderr, done.stderr[-500:]
        assert command != "card" or b"r%FF/episodes/maze.direct.jsonl" in done.stdout
