"""One process per run folder, on every system that Python runs on."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

import msgspec

from sketchmark.errors import RunConflict, SketchmarkError
from sketchmark.files.atomic import write_json
from sketchmark.files.lines import LineReader
from sketchmark.files.own import own_file


class Holder(msgspec.Struct):
    """Who says that it works in the folder."""

    pid: int
    host: str
    began: str = ""
    """When the process began, where the system tells: numbers of processes are given again."""

    @property
    def lives(self) -> bool | None:
        """None where nobody here can tell: it is another machine's, or the system has no harmless way to ask."""
        if self.host != socket.gethostname() or os.name != "posix" or not 0 < self.pid < 2**31:
            return None
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return not self.began or _began(self.pid) == self.began


_HOLDER = LineReader(Holder, "the name of a process")


def holder_of(folder: Path) -> Holder | None:
    """Who works in the folder, or was killed at it; the lock itself is not touched."""
    try:
        return _HOLDER.one(own_file(folder, ".lock-holder").read_bytes(), "")
    except (OSError, SketchmarkError):
        return None


def _who(folder: Path) -> str:
    found = holder_of(folder)
    return f": process {found.pid} on {found.host[:80]!r}" if found else ""


def _began(pid: int) -> str:
    """In ticks since the machine's start: field 22, of which the second may hold spaces and brackets."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, ValueError, IndexError):
        return ""


class RunLock:
    """A second process on the folder is told so, and by whom, instead of mixing its lines in.

    The system holds the lock for the process, not the file `.lock`, so a killed run leaves nothing to clean up. Who
    holds it stands in `.lock-holder`, beside it: some systems let nobody else read a locked file, and some versions
    of filelock empty it. What stands there is said to whoever is kept out, and never decides anything.
    """

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock, Timeout

        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(own_file(folder, ".lock"))
        self._holder = own_file(folder, ".lock-holder")
        try:
            self._lock.acquire(blocking=False)
        except Timeout as error:
            raise RunConflict(
                f"another process is running in {folder}{_who(folder)}", "wait for it, or use --output_path"
            ) from error
        with suppress(OSError):  # a full disk: the lock holds all the same
            write_json(self._holder, Holder(os.getpid(), socket.gethostname(), _began(os.getpid())))

    def release(self) -> None:
        with suppress(OSError):
            self._holder.unlink()
        self._lock.release()
