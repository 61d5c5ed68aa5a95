"""Append-only JSON lines that survive a kill: a torn last line is noticed, cut off and written again."""

from __future__ import annotations

import asyncio
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from sketchmark.errors import BadInput
from sketchmark.files.plain import plain

Record = TypeVar("Record")


_CRC = b',"crc":"'
_SEAL_LENGTH = len(_CRC + b'01234567"}\n')
HINT = "it was damaged, or changed by hand: sketchmark repair RUN"


def encode(record: Any) -> bytes:
    """Compact JSON."""
    return json.dumps(plain(record), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def seal(line: bytes) -> bytes:
    """The line of an object with a checksum of all before it as its last key: still JSON, and what half a write, a
    bad disk or a slip in an editor made of it is noticed also where it is JSON as well."""
    body = line.rstrip(b"\n")[:-1]
    return b'%s%s%08x"}\n' % (body, _CRC, zlib.crc32(body))


def is_sealed(line: bytes) -> bool:
    return line[-_SEAL_LENGTH:].startswith(_CRC)


def is_intact(line: bytes) -> bool:
    """Is it as it was written? Lines without a checksum (an older version's, another program's) are taken as such."""
    body, end = memoryview(line)[:-_SEAL_LENGTH], line[-_SEAL_LENGTH:]
    return not end.startswith(_CRC) or end == b'%s%08x"}\n' % (_CRC, zlib.crc32(body))


class LineReader(Generic[Record]):
    """Reads lines of one kind. Keys that the kind does not name are ignored, and their order says nothing."""

    def __init__(self, kind: type[Record], called: str = "a line of a run") -> None:
        self._decoder = msgspec.json.Decoder(kind)
        self._called = called

    def one(self, line: bytes, where: str) -> Record:
        """The record of a line; `where` names it for the error."""
        if not is_intact(line):
            raise BadInput(f"{where}: not what was written (its checksum is wrong)", HINT)
        try:
            return self._decoder.decode(line)
        except msgspec.ValidationError as error:
            raise BadInput(f"{where}: not {self._called} ({error})", HINT) from error
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{where}: not JSON", HINT) from error

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
    """Appends whole lines and makes them durable in groups: many episodes share one fsync.

    A write that fails half-way (a full disk) leaves nothing of its line behind: the next one, whenever there is room
    again, begins where a line begins.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _cut_torn_line(path)
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._torn_at: int | None = None
        self._written = 0
        self._synced = 0
        self._lock = asyncio.Lock()

    def write(self, record: Any) -> None:
        data = seal(encode(record))
        try:
            self._cut()
            self._torn_at = os.fstat(self._file).st_size
            while data:
                data = data[os.write(self._file, data) :]
            self._torn_at = None
        except OSError as error:
            with suppress(OSError):  # then before the next line
                self._cut()
            raise self._named(error) from error
        self._written += 1

    def _cut(self) -> None:
        """Take away what a failed write left."""
        if self._torn_at is not None:
            os.ftruncate(self._file, self._torn_at)
            self._torn_at = None

    def _named(self, error: OSError) -> OSError:
        return OSError(error.errno, error.strerror, str(self._path)) if error.errno else error

    async def settle(self) -> None:
        """Return once everything written so far is on the disk."""
        mine = self._written
        while self._synced < mine:
            async with self._lock:
                if self._synced < mine:
                    upto = self._written
                    try:
                        await asyncio.to_thread(os.fsync, self._file)
                    except OSError as error:
                        raise self._named(error) from error
                    self._synced = upto

    def close(self) -> None:
        """A write after this fails; it can never reach a file that got the same number since."""
        file, self._file = self._file, -1
        os.close(file)


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
