"""Every folder is tried in a process and a home of its own, as many at once as there are places."""

from __future__ import annotations

import os
import resource
import signal
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.lmms_eval_tasks.finding import LOADS, Finding
from bench.lmms_eval_tasks.one import try_task

_WAITING = 4.0
"""So many times its processor time may pass on the clock: whoever shares the machine does not end a folder."""

Wanted = tuple[Path, Path]
"""A folder, and the task file that is tried of it."""


@dataclass(frozen=True)
class _Running:
    number: int
    task_file: Path
    home: TemporaryDirectory[str]
    ends: float

    def found(self) -> Finding:
        with self.home as home:
            try:
                return Finding.read(Path(home) / "told.json")
            except (OSError, ValueError):
                return Finding(LOADS, "not done in time", "ended", self.task_file.name)


def tried(wanted: Sequence[Wanted], seconds: int, at_once: int) -> Iterator[tuple[str, Finding]]:
    """What was found of each, in the order in which they are wanted. Each has `seconds` of processor time."""
    found: dict[int, Finding] = {}
    running: dict[int, _Running] = {}
    waiting = list(enumerate(wanted))[::-1]
    for number, (folder, _) in enumerate(wanted):
        while number not in found:
            while waiting and len(running) < at_once:
                pid, started = _start(*waiting.pop(), seconds)
                running[pid] = started
            for pid in _ended(running):
                one = running.pop(pid)
                found[one.number] = one.found()
            time.sleep(0.02)
        yield folder.name, found.pop(number)


def _start(number: int, wanted: Wanted, seconds: int) -> tuple[int, _Running]:
    folder, task_file = wanted
    home = TemporaryDirectory()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        _child(folder, task_file, Path(home.name))
    return pid, _Running(number, task_file, home, time.monotonic() + _WAITING * seconds)


def _ended(running: dict[int, _Running]) -> list[int]:
    """Those that are done, or late; whatever they have started ends with them."""
    done = []
    for pid, one in running.items():
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) or time.monotonic() > one.ends:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            done.append(pid)
    return done


def _child(folder: Path, task_file: Path, home: Path) -> None:
    """Never returns."""
    out = (home / "out.txt").open("w")
    os.dup2(out.fileno(), 1)
    os.dup2(out.fileno(), 2)
    try:
        try_task(folder, task_file, home, home / "told.json")
    except BaseException:
        last = traceback.format_exc().strip().splitlines()[-3:]
        Finding(LOADS, "stops the count itself", " ".join(last), task_file.name).write(home / "told.json")
    finally:
        os._exit(0)
