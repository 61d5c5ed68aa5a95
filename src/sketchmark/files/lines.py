"""Append-only JSON lines that survive a kill: a torn last line is noticed, cut off and written again."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from sketchmark.errors import BadInput
from sketchmark.files.plain import plain

Record = TypeVar("Record")


def encode(record: Any) -> bytes:
    """Compact JSON. A NaN is refused: JSON has none, and msgspec's own encoder would write null in its place."""
    return json.dumps(plain(record), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


class LineReader(Generic[Record]):
    """Reads lines of one kind. Keys that the kind does not name are ignored, and their order says nothing."""

    def __init__(self, kind: type[Record], called: str = "a line of a run") -> None:
        self._decoder = msgspec.json.Decoder(kind)
        self._called = called

    def one(self, line: bytes, where: str) -> Record:
        """The record of a line; `where` names it for the error."""
        try:
            return self._decoder.decode(line)
        except msgspec.ValidationError as error:
            raise BadInput(f"{where}: not {self._called} ({error})", "the file was changed by hand") from error
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{where}: not JSON", "the file was changed by hand") from error

    def all(self, path: Path) -> Iterator[Record]:
        for where, line in whole_lines(path):
            yield self.one(line, where)


def whole_lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """(`FILE, line 3`, its bytes). A last line without its newline was being written when the process died: it is
    not there."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            yield f"{path}, line {number}", line


class LineWriter:
    """Appends whole lines and makes them durable in groups: many episodes share one fsync."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _cut_torn_line(path)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._written = 0
        self._synced = 0
        self._lock = asyncio.Lock()

    def write(self, record: Any) -> None:
        data = encode(record)
        while data:
            data = data[os.write(self._file, data) :]
        self._written += 1

    async def settle(self) -> None:
        """Return once everything written so far is on the disk."""
        mine = self._written
        while self._synced < mine:
            async with self._lock:
                if self._synced < mine:
                    upto = self._written
                    await asyncio.to_thread(os.fsync, self._file)
                    self._synced = upto

    def close(self) -> None:
        os.close(self._file)


def _cut_torn_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        position = end
        while position > 0:
            step = min(65536, position)
            file.seek(position - step)
            newline = file.read(step).rfind(b"\n")
            if newline >= 0:
                position = position - step + newline + 1
                break
            position -= step
        if position < end:
            file.truncate(position)
