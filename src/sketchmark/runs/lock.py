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


_HOLDER = LineReader(Holder, "the name of a process")


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
                f"another process is running in {folder}{self._who()}", "wait for it, or use --output_path"
            ) from error
        with suppress(OSError):  # a full disk: the lock holds all the same
            write_json(self._holder, Holder(os.getpid(), socket.gethostname()))

    def _who(self) -> str:
        try:
            found = _HOLDER.one(self._holder.read_bytes(), "")
        except (OSError, SketchmarkError):
            return ""
        return f": process {found.pid} on {found.host[:80]!r}"

    def release(self) -> None:
        with suppress(OSError):
            self._holder.unlink()
        self._lock.release()
