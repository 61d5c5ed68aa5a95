"""How the command line ends a run before its time: a refused key, Ctrl-C, SIGTERM. Each in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sketchmark
from sketchmark.folder import RunFolder
from sketchmark.folder.records import said
from sketchmark.models import load_model
from sketchmark.runs.runner import ALIKE_IN_A_ROW
from sketchmark.serve import serving
from tests.core.helpers import episodes
from tests.models.broken_server import free_port

RESUMES = "sketchmark: interrupted; what was finished is kept, the same command resumes from there\n"

PLUG_IN = '''
import asyncio, signal, threading, time
from sketchmark import Model
from sketchmark.models.players import Solver

class Last(Model):
    """Answers like the solver until it has answered three times, and then hangs: on the event loop, or in a thread
    that nothing can end. `signal` is sent to another thread than the main one, while that sleeps."""

    def __init__(self, name="", thread=False, signal=0):
        super().__init__(name)
        self.inner, self.left, self.thread, self.signal = Solver(), 3, thread, signal

    def interrupt(self):
        time.sleep(0.5)
        signal.pthread_kill(threading.get_ident(), self.signal)

    async def say(self, context, options):
        if not self.left:
            print("hangs", flush=True)
            if self.signal:
                threading.Thread(target=self.interrupt, daemon=True).start()
            try:
                await (asyncio.to_thread(threading.Event().wait) if self.thread else asyncio.Event().wait())
            except asyncio.CancelledError:
                print("ending", flush=True)
                raise
        self.left -= 1
        return await self.inner.say(context, options)
'''


def _command(*more: str) -> list[str]:
    return [sys.executable, "-m", "sketchmark", "run", "--tasks", "maze", "--no-cache", "--quiet", *more]


@pytest.mark.slow
def test_a_key_that_is_refused_ends_the_run_in_one_line_and_the_same_command_plays_the_rest(tmp_path: Path) -> None:
    limit = ALIKE_IN_A_ROW + 6

    def play(key: str, count: int) -> subprocess.CompletedProcess[str]:
        asked = ("--model", "openai/solver", "--model-args", f"base_url={url}", "--concurrency", "2")
        return subprocess.run(
            _command(*asked, "--limit", str(count), "--output-path", str(tmp_path / "run")),
            capture_output=True,
            text=True,
            timeout=240,
            env={**os.environ, "OPENAI_API_KEY": key},
        )

    with serving(load_model("player/solver"), key="right") as url:
        assert play("right", 3).returncode == 0
        refused = play("wrong", limit)
        assert refused.returncode == 2 and refused.stdout == ""
        (line,) = refused.stderr.splitlines()
        assert line.startswith(f"sketchmark: maze.direct: stopped after 3 of {limit}: ") and "auth" in line
        assert line.endswith("finished episodes are kept; fix this and run the same command to resume")
        cell = RunFolder(tmp_path / "run").results().tasks["maze.direct"]
        assert cell.n == 3 and 1 <= cell.failures["auth"] < limit - 3, "it did not go on through all samples"
        assert play("right", limit).returncode == 0
    sketchmark.run("player/solver", "maze", limit=limit, output_path=tmp_path / "whole", no_cache=True)
    resumed, whole = (episodes(tmp_path / name, "maze.direct") for name in ("run", "whole"))
    assert list(map(said, resumed)) == list(map(said, whole)) and len(whole) == limit
    cell, undisturbed = (RunFolder(tmp_path / name).results().tasks["maze.direct"] for name in ("run", "whole"))
    assert (cell.n, cell.metrics, cell.failures) == (limit, undisturbed.metrics, {})


@pytest.mark.slow
def test_an_address_where_nobody_listens_is_told_at_the_first_try_and_ends_the_run_in_one_line(
    tmp_path: Path,
) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    asked = ("--model", "openai/m", "--model-args", f"base_url={address}/v1,max_retries=2", "--limit", "5")
    command = [part for part in _command(*asked, "--output-path", str(tmp_path)) if part != "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    first, *_, last = done.stderr.splitlines()
    nobody = f"connection: no connection to {address}: nothing listens there"
    assert (done.returncode, first) == (2, f"calls: no reply yet: {nobody}")
    assert last == (
        f"sketchmark: maze.direct: stopped after 0 of 5: openai/m: {nobody}, tried 3 times "
        "(start the server, or check host and port of its address); "
        "finished episodes are kept; fix this and run the same command to resume"
    )
    assert "maze.direct" in done.stdout, "all that there is, is summed up"


@pytest.mark.slow
def test_v1_left_out_of_an_address_ends_the_run_in_one_line_that_proposes_it(tmp_path: Path) -> None:
    with serving(load_model("player/solver")) as url:
        asked = ("--model", "openai/solver", "--model-args", f"base_url={url.removesuffix('/v1')}", "--limit", "300")
        command = _command(*asked, "--output-path", str(tmp_path))
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        (line,) = done.stderr.splitlines()
        assert done.returncode == 2 and f"(was `/v1` left out? try base_url={url})" in line and "not_found: " in line
        repaired = [part.replace(url.removesuffix("/v1"), url).replace("300", "3") for part in command]
        subprocess.run(repaired, check=True, timeout=120)


def _hanging(tmp_path: Path, *more: str) -> tuple[subprocess.Popen[str], list[str]]:
    """A run that has finished three episodes and hangs in the fourth."""
    (tmp_path / "last.py").write_text(PLUG_IN)
    asked = ("--include", str(tmp_path / "last.py"), "--model", "last", "--limit", "6", "--concurrency", "1", *more)
    command = _command(*asked, "--output-path", str(tmp_path / "run"))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "hangs\n"
    return process, command


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_in_order_and_one_line_says_how_to_resume(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    process, command = _hanging(tmp_path)
    process.send_signal(number)
    out, told = process.communicate(timeout=60)
    assert (process.returncode, out, told) == (code, "ending\n", RESUMES)
    assert [line.index for line in episodes(tmp_path / "run", "maze.direct")] == [0, 1, 2]
    subprocess.run(command, check=True, timeout=120)
    assert [line.index for line in episodes(tmp_path / "run", "maze.direct")] == list(range(6))


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_heard_while_the_event_loop_sleeps_whichever_thread_it_is_given_to(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """Given to the main thread it would wake the loop by itself, but for the moment before that falls asleep: rare,
    and then for ever."""
    process, _ = _hanging(tmp_path, "--model-args", f"signal={int(number)}")
    out, told = process.communicate(timeout=60)
    assert (process.returncode, out, told) == (code, "ending\n", RESUMES)


@pytest.mark.slow
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_a_run_at_once_whatever_a_thread_is_busy_with(
    tmp_path: Path, second: signal.Signals
) -> None:
    process, _ = _hanging(tmp_path, "--model-args", "thread=true")
    process.send_signal(signal.SIGTERM)
    assert process.stdout is not None and process.stdout.readline() == "ending\n"
    process.send_signal(second)
    process.communicate(timeout=60)
    assert process.returncode == -second
