"""A file on the hub that is read in parts, like one on disk.

Parts are kept beside the hub's cache: what was read once is never asked for again, and is there offline.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sketchmark.files import hub
from sketchmark.files.atomic import write_atomic
from sketchmark.terminal import one_line, progress_log

BLOCK = 4 * 1024 * 1024
"""Small enough to fetch few bytes in vain, large enough that a request's own time does not count."""


class _Parts(io.RawIOBase):
    def __init__(self, of: hub.Listing, name: str) -> None:
        self.of, self.name, self.size = of, name, of.sizes[name]
        key = hashlib.sha256(f"{of.repo}\n{of.commit}\n{name}".encode()).hexdigest()[:32]
        self._folder = hub.home() / "parts" / key
        self._at = 0
        self._told = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence])
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        end = min(self.size, self._at + len(buffer))
        if end <= self._at:
            return 0
        first, last = self._at // BLOCK, (end - 1) // BLOCK
        self._fetch(first, last)
        data = b"".join(self._place(number).read_bytes() for number in range(first, last + 1))
        start = self._at - first * BLOCK
        buffer[: end - self._at] = data[start : start + end - self._at]
        count, self._at = end - self._at, end
        return count

    def _place(self, number: int) -> Path:
        return self._folder / f"{number:06d}"

    def _fetch(self, first: int, last: int) -> None:
        """The blocks that are not here yet; neighbours in one request."""
        for start, stop in _runs(n for n in range(first, last + 1) if not self._place(n).exists()):
            self._tell()
            data = hub.part(self.of, self.name, start * BLOCK, min(self.size, stop * BLOCK))
            for number in range(start, stop):
                block = data[(number - start) * BLOCK : (number - start + 1) * BLOCK]
                write_atomic(self._place(number), block, durable=False)

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            whole = f"{self.size / 1_000_000:,.1f} MB"
            progress_log().info(
                one_line(f"downloading what is needed of {self.of.repo}, {self.name} ({whole} in all)")
            )


def _runs(numbers: Iterator[int]) -> list[tuple[int, int]]:
    """Numbers as spans (from, to but not with)."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number:
            runs[-1] = (runs[-1][0], number + 1)
        else:
            runs.append((number, number + 1))
    return runs


def opened(of: hub.Listing, name: str) -> Path | BinaryIO:
    """The file, to be read where one likes: its path if it is in the cache whole, else in parts."""
    return hub.cached(of, name) or io.BufferedReader(_Parts(of, name))
