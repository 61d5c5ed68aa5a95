"""One process per run folder, on every system that Python runs on."""

from __future__ import annotations

from pathlib import Path

from sketchmark.errors import RunConflict


class RunLock:
    """A second process on the folder is told so instead of mixing its lines in.

    The system holds the lock for the process, not the file `.lock`, so a killed run leaves nothing to clean up.
    """

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock, Timeout

        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(folder / ".lock")
        try:
            self._lock.acquire(blocking=False)
        except Timeout as error:
            raise RunConflict(
                f"another process is running in {folder}", "wait for it, or use --output_path"
            ) from error

    def release(self) -> None:
        self._lock.release()
