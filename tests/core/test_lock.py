"""One process per run folder: refused while the other lives, free as soon as it is dead."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sketchmark.errors import RunConflict
from sketchmark.folder.lock import RunLock

HOLD = "import sys; from pathlib import Path; from sketchmark.folder.lock import RunLock; "
HOLD += "lock = RunLock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"


def _holder(folder: Path) -> subprocess.Popen[str]:
    """Another process that has the folder until its input ends or it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_on_the_folder_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    with _holder(tmp_path / "run") as holder:
        with pytest.raises(RunConflict, match="another process is running in") as caught:
            RunLock(tmp_path / "run")
        assert "--output_path" in caught.value.hint
        holder.communicate()
    assert holder.returncode == 0
    RunLock(tmp_path / "run").release()


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    with _holder(tmp_path / "run") as holder:
        os.kill(holder.pid, signal.SIGKILL)
    assert holder.returncode == -signal.SIGKILL
    assert (tmp_path / "run/.lock").exists(), "the file stays; it is not what locks"
    RunLock(tmp_path / "run").release()


def test_one_process_does_not_run_twice_in_a_folder_either(tmp_path: Path) -> None:
    """`sketchmark.run` from two threads, or from a notebook whose first cell still runs."""
    first = RunLock(tmp_path)
    with pytest.raises(RunConflict):
        RunLock(tmp_path)
    first.release()
    RunLock(tmp_path).release()


@pytest.mark.parametrize(
    "used",
    [
        "import sketchmark.folder, sketchmark.comparison, sketchmark.commands.compare",
        "import sketchmark.api, sketchmark.report, sketchmark.view",
        "import sys; from pathlib import Path; from sketchmark.folder.lock import RunLock;"
        "import warnings; warnings.simplefilter('ignore'); RunLock(Path(sys.argv[1])).release()",
    ],
)
def test_nothing_needs_the_unix_module_fcntl(tmp_path: Path, used: str) -> None:
    """A system without it (Windows) can compare, report and view; filelock locks there by its own means."""
    code = f"import sys; sys.modules['fcntl'] = None; {used}"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
