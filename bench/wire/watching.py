"""One process and its children, watched from outside from start to end."""

from __future__ import annotations

import os
import resource
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

_EVERY = 0.05


@dataclass
class Watched:
    """`cpu` is user and system time, children's included; `memory` and `files` are the sums over the process tree, in
    megabytes and open files, looked at twenty times a second."""

    wall: float = 0.0
    cpu: float = 0.0
    memory: list[float] = field(default_factory=list)
    files: list[int] = field(default_factory=list)

    @property
    def peak(self) -> float:
        return max(self.memory, default=0.0)


def watch(command: Sequence[str], cwd: Path, env: Mapping[str, str], log: Path) -> Watched:
    seen = Watched()
    ended = threading.Event()
    with log.open("wb") as words:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, env=dict(env), stdout=words, stderr=subprocess.STDOUT)
        looking = threading.Thread(target=_look, args=(process.pid, seen, ended))
        looking.start()
        _, status, used = os.wait4(process.pid, 0)
        seen.wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        looking.join()
    seen.cpu = used.ru_utime + used.ru_stime
    seen.memory.append(used.ru_maxrss / 1024)
    if process.returncode:
        raise RuntimeError(
            f"{command[0]} ended with {process.returncode}:\n{log.read_text(errors='replace')[-3000:]}"
        )
    return seen


def _look(pid: int, seen: Watched, ended: threading.Event) -> None:
    while not ended.wait(_EVERY):
        pages = files = 0
        for one in tree(pid):
            with suppress(OSError, IndexError):  # it has just ended
                pages += int(Path(f"/proc/{one}/statm").read_text().split()[1])
                files += len(os.listdir(f"/proc/{one}/fd"))  # noqa: PTH208
        if pages:
            seen.memory.append(pages * resource.getpagesize() / 2**20)
            seen.files.append(files)


def tree(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        with suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def cpu_of(processes: Sequence[int]) -> float:
    """Return the seconds of CPU that these processes have used so far, without children that ended."""
    fields = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in processes]
    return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")


def peak_of(processes: Sequence[int]) -> float:
    """Return the sum of the largest resident memories that these processes had, in megabytes."""
    lines = [Path(f"/proc/{one}/status").read_text().splitlines() for one in processes]
    return sum(int(line.split()[1]) for one in lines for line in one if line.startswith("VmHWM")) / 1024


def bytes_below(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
