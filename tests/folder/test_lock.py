"""One process per run folder: refused while the other lives, free as soon as it is dead."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sketchmark.errors import RunConflict
from sketchmark.folder.lock import RunLock
from tests.runs.making import make_row, write_lines

IMPORT = "import sys; from pathlib import Path; from sketchmark.folder.lock import RunLock; "
HOLD = IMPORT + "lock = RunLock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"


def _holder(folder: Path) -> subprocess.Popen[str]:
    """Another process that holds the folder until its input ends or it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_is_refused_until_the_first_has_ended_or_was_killed(tmp_path: Path) -> None:
    with _holder(tmp_path / "run") as holder:
        who = re.escape(f": process {holder.pid} on {socket.gethostname()!r}")
        with pytest.raises(RunConflict, match=f"another process is running in .*{who}") as caught:
            RunLock(tmp_path / "run")
        assert "--output_path" in caught.value.hint
        holder.communicate()
    assert holder.returncode == 0
    RunLock(tmp_path / "run").release()
    with _holder(tmp_path / "run") as holder:
        os.kill(holder.pid, signal.SIGKILL)
    assert holder.returncode == -signal.SIGKILL
    assert (tmp_path / "run/.lock").exists(), "the file stays; it is not what locks"
    RunLock(tmp_path / "run").release()


def test_one_process_does_not_run_twice_in_a_folder(tmp_path: Path) -> None:
    """`sketchmark.run` from two threads, or from a notebook whose first cell still runs."""
    lock = RunLock(tmp_path / "new/run")
    before = list(Path("/dev/fd").iterdir())
    with pytest.raises(RunConflict, match=r"another process is running in .*--output_path"):
        RunLock(tmp_path / "new/run")
    assert len(list(Path("/dev/fd").iterdir())) == len(before), "no file stays open"
    lock.release()
    RunLock(tmp_path / "new/run").release()
    assert [path.name for path in (tmp_path / "new/run").iterdir()] == [".lock"]


@pytest.mark.parametrize("content", [None, b"", b"nonsense", b'{"pid": "x", "host": 1}'])
def test_the_holder_file_decides_nothing(tmp_path: Path, content: bytes | None) -> None:
    (tmp_path / ".lock-holder").write_text(json.dumps({"pid": os.getpid(), "host": "of a process that was killed"}))
    lock = RunLock(tmp_path)
    (tmp_path / ".lock-holder").unlink()
    if content is not None:
        (tmp_path / ".lock-holder").write_bytes(content)
    with pytest.raises(RunConflict, match=f"another process is running in {re.escape(str(tmp_path))} .wait"):
        RunLock(tmp_path)
    lock.release()


def test_others_may_read_a_run_and_only_its_owner_may_write(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_lines(tmp_path / "lines.jsonl", [make_row("s0")])
        RunLock(tmp_path).release()
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("lines.jsonl", ".lock")] == [0o644, 0o644]


def test_nothing_needs_the_unix_module_fcntl(tmp_path: Path) -> None:
    """A system without it (Windows) can compare, report and view; filelock locks there by its own means."""
    code = (
        "import sys, warnings; sys.modules['fcntl'] = None; warnings.simplefilter('ignore');"
        "import sketchmark.comparison, sketchmark.commands.compare, sketchmark.api;"
        "import sketchmark.report, sketchmark.view;"
        f"{IMPORT} RunLock(Path(sys.argv[1])).release()"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
