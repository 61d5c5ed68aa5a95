"""Reading a file that someone else is still appending to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


class Tail:
    """Gives each whole line of a growing file once, with the byte where it begins.

    A file that was replaced or cut (a new scoring, `--fresh`) is read from its beginning again, and `generation`
    counts up so that whoever kept something of the old file knows to forget it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.generation = 0
        self._read = 0
        self._lines = 0
        self._inode = 0

    @property
    def where(self) -> str:
        """Names the line that was given last, for an error."""
        return f"{self.path}, line {self._lines}"

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        try:
            file = self.path.open("rb")
        except OSError:
            if self._read:
                self._restart(0)
            return
        with file:
            now = os.fstat(file.fileno())
            if self._inode != now.st_ino or now.st_size < self._read:
                self._restart(now.st_ino)
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                begin, self._read = self._read, self._read + len(line)
                self._lines += 1
                yield begin, line

    def _restart(self, inode: int) -> None:
        if self._inode:
            self.generation += 1
        self._inode, self._read, self._lines = inode, 0, 0


def line_at(path: Path, begin: int) -> bytes:
    with path.open("rb") as file:
        file.seek(begin)
        return file.readline()
