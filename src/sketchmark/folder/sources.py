"""Lines of a growing file as columns, and the index that keeps the columns between commands.

The lines are authoritative. The index is a file in the user's cache folder, never in the run folder: a folder from
someone else cannot bring one along, and a folder that cannot be written needs none. It counts only if it was made
from the bytes that the file has now. Otherwise, or if it is damaged, the columns are made from the lines again.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Generic

import msgspec
import numpy as np

from sketchmark.errors import BadInput
from sketchmark.files import replacing
from sketchmark.files.jsonl import LineReader, open_regular
from sketchmark.folder.builders import Builder, Made, Record
from sketchmark.folder.columns import Array, Columns
from sketchmark.models.cache import default_cache

WORTH = 5_000
"""Lines from which an index is stored: fewer are read faster than a user notices."""
_MAGIC = b"sketchmark index 1\n"
_ALIGNED = 8
"""Columns begin at a multiple of this, as the processor needs them."""


def _padding(values: Array) -> bytes:
    return bytes(-values.nbytes % _ALIGNED)


class _Header(msgspec.Struct):
    """Description of an index: the state of the file that it was made from, and its columns."""

    kind: str
    source: str
    stamp: tuple[int, int, int]
    """Inode, time of change and time of the last change of state."""
    read: int
    """Bytes of the file."""
    lines: int
    crc: int
    """Checksum of these bytes."""
    limit: int | None
    rows: int
    arrays: dict[str, tuple[str, int]]
    """Column → its type and number of items."""
    lists: dict[str, list[Any]]
    body: int
    """Checksum of the columns."""


_HEADER = msgspec.json.Decoder(_Header)


class Source(Generic[Record, Made]):
    """The lines of a growing file as columns. `refresh` takes in new lines; the first one uses the index."""

    def __init__(
        self, path: Path, reader: LineReader[Record], builder: type[Builder[Record, Made]], limit: int | None
    ) -> None:
        self.path, self._reader, self._builder, self._limit = path, reader, builder, limit
        self.columns: Made = builder().columns()
        self.version = 0
        """Increases with every change."""
        self._stamp = (0, 0, 0)
        self._read = self._lines = self._crc = 0
        self._end = b""

    def refresh(self) -> Source[Record, Made]:
        try:
            file = open_regular(self.path)
        except FileNotFoundError:
            if self._read:
                self._restart()
            return self
        except OSError as error:  # a reader must not take it for an empty file
            raise BadInput(f"cannot read {self.path}: {error.strerror or error}") from error
        with file:
            now = _stamp(os.fstat(file.fileno()))
            size = os.fstat(file.fileno()).st_size
            if now == self._stamp and size == self._read:
                return self
            if not self._read and self._load(now, size, file):
                return self
            if self._read and (now[0] != self._stamp[0] or size < self._read or _end(file, self._read) != self._end):
                self._restart()
            self._take(file, now)
        return self

    def _restart(self) -> None:
        self.columns = self._builder().columns()
        self.version += 1
        self._stamp, self._read, self._lines, self._crc = (0, 0, 0), 0, 0, 0

    def _take(self, file: BinaryIO, now: tuple[int, int, int]) -> None:
        """Read the lines beyond those that are known. A damaged one is refused, and none of them is kept."""
        read, lines, crc = self._read, self._lines, self._crc
        builder = self._builder(self.columns if self._read else None)
        file.seek(read)
        one, limit = self._reader.one, self._limit
        for line in file:
            if not line.endswith(b"\n"):
                break
            lines += 1
            record = one(line, f"{self.path}, line {lines}")
            if limit is None or record.index < limit:
                builder.add(record, read)
            read += len(line)
            crc = zlib.crc32(line, crc)
        if lines > self._lines:
            self.columns = builder.columns()
            self.version += lines - self._lines
        whole = self._lines == 0
        self._read, self._lines, self._crc, self._stamp = read, lines, crc, now
        self._end = _end(file, read)
        if whole and lines >= WORTH:
            with suppress(OSError):  # no place for an index: the next command reads the lines again
                self._store()
                self._load(now, read, file)  # as pages of the index, which the system may take back

    def _place(self) -> Path:
        named = os.fsencode(self.path.resolve()) + f"\0{self._limit}".encode()
        name = hashlib.sha256(named).hexdigest()[:32]
        return default_cache() / "index" / f"{name}.{self._builder.KIND.__name__.lower()}"

    def _store(self) -> None:
        columns = self.columns
        crc = 0
        for values in columns.arrays.values():
            crc = zlib.crc32(_padding(values), zlib.crc32(values.data, crc))
        header = _Header(
            self._builder.KIND.__name__,
            str(self.path.resolve()),
            self._stamp,
            self._read,
            self._lines,
            self._crc,
            self._limit,
            len(columns),
            {name: (values.dtype.str, len(values)) for name, values in columns.arrays.items()},
            columns.lists,
            crc,
        )
        head = msgspec.json.encode(header)
        head += b" " * (-(len(_MAGIC) + 12 + len(head)) % _ALIGNED)
        place = self._place()
        place.parent.mkdir(parents=True, exist_ok=True)
        with replacing(place, durable=False) as file:
            file.write(_MAGIC + len(head).to_bytes(8, "little") + zlib.crc32(head).to_bytes(4, "little") + head)
            for values in columns.arrays.values():
                file.write(values.data)
                file.write(_padding(values))
        _tidy(place.parent)

    def _load(self, now: tuple[int, int, int], size: int, source: BinaryIO) -> bool:
        """Take the columns from the index, if it was made from what the file holds. Returns whether all is read."""
        try:
            found = _read_index(self._place())
            header, columns = found[0], self._builder.KIND(found[1], found[0].lists)
            _check(columns, self._builder().columns(), header.rows)
            found[2]()
            if header.kind != self._builder.KIND.__name__ or header.limit != self._limit or header.read > size:
                return False
            as_then = header.stamp == now and header.read == size
            if not as_then and (not header.read or _crc(source, header.read) != header.crc):
                return False
        except Exception:  # a damaged or hostile index may cause any error, and the lines have it all
            return False
        self.columns, self.version = columns, header.lines
        self._read, self._lines, self._crc = header.read, header.lines, header.crc
        self._end = _end(source, header.read)
        self._stamp = now if header.read == size else (now[0], 0, 0)
        return header.read == size


def _stamp(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _end(file: BinaryIO, read: int) -> bytes:
    """Return the last bytes of what was read, with the checksum of a line: another file may get the same inode."""
    file.seek(max(0, read - 64))
    return file.read(min(64, read))


def _crc(file: BinaryIO, length: int) -> int:
    file.seek(0)
    crc, left = 0, length
    while left and (piece := file.read(min(left, 1 << 20))):
        crc, left = zlib.crc32(piece, crc), left - len(piece)
    return crc if not left else -1


def _read_index(place: Path) -> tuple[_Header, dict[str, Array], Callable[[], None]]:
    """Return a stored index, and a function that takes its pages out of memory until they are needed again.
    ValueError if it is not as it was written, or not what an index can be."""
    with open_regular(place) as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise ValueError("another version")
        length, crc = int.from_bytes(file.read(8), "little"), int.from_bytes(file.read(4), "little")
        size = os.fstat(file.fileno()).st_size
        begin = len(_MAGIC) + 12 + length
        if begin > size:
            raise ValueError("truncated")
        head = file.read(length)
        if zlib.crc32(head) != crc:
            raise ValueError("damaged")
        header = _HEADER.decode(head)
        crc = 0
        while piece := file.read(1 << 20):
            crc = zlib.crc32(piece, crc)
        if crc != header.body:
            raise ValueError("damaged")
        mapped: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    arrays: dict[str, Array] = {}
    for name, (kind, count) in header.arrays.items():
        dtype = np.dtype(kind)
        if dtype.kind not in "iuf" or dtype.itemsize > _ALIGNED or count < 0:
            raise ValueError("not a column")
        arrays[name] = np.frombuffer(mapped, dtype, count, begin)  # refuses what is beyond the file
        begin += dtype.itemsize * count + -(dtype.itemsize * count) % _ALIGNED
    if begin != size:
        raise ValueError("more than its columns")
    return header, arrays, lambda: mapped.madvise(mmap.MADV_DONTNEED) if hasattr(mmap, "MADV_DONTNEED") else None


class _RowLists(msgspec.Struct):
    kinds: list[tuple[str, str | None, str | None]]
    flags: list[list[str]]
    values: list[list[str]]
    usage: list[list[str]]
    paid: list[list[str]]
    groups: list[list[str]]


_FLOATS = ("started", "seconds")
_CODED = {"kind": "kinds", "flag": "flags"}
_SHAPES = {"values": "v", "usage": "u", "paid": "p", "groups": "g"}


def _check(columns: Columns[Any], empty: Columns[Any], rows: int) -> None:
    """Refuse columns that no lines make: missing ones, of unequal length, or with codes beyond their lists."""
    arrays, lists = columns.arrays, columns.lists
    if not empty.arrays.keys() <= arrays.keys():
        raise ValueError("a column is missing")
    if empty.lists:
        msgspec.convert(lists, _RowLists)
        names = [f"{prefix}.{name}" for shape, prefix in _SHAPES.items() for each in lists[shape] for name in each]
        if not set(names) <= arrays.keys() or not all(name in lists for name in names if name.startswith("g.")):
            raise ValueError("a column is missing")
    for name, values in arrays.items():
        if name in ("sample", "fingerprint"):
            lengths = arrays[f"{name}.lengths"]
            if values.dtype != np.uint8 or (len(lengths) and int(lengths.min()) < 0):
                raise ValueError("not texts")
            if int(lengths.sum(dtype=np.int64)) != len(values):
                raise ValueError("texts of another length")
            values.tobytes().decode("utf-8", "surrogatepass")
            continue
        known = lists.get(_CODED.get(name, name))
        if len(values) != rows or (values.dtype.kind == "f") != (
            name in _FLOATS or (name.startswith("v.") and known is None)
        ):
            raise ValueError("columns of unequal length or another type")
        if known is not None and len(values):
            least = -1 if name == "paid" or name.startswith("g.") else 0
            if int(values.min()) < least or int(values.max()) >= len(known):
                raise ValueError("a code without a value")
    for name, known in lists.items():
        if name.startswith("v."):
            msgspec.convert(known, list[float | None])
        elif name.startswith("g."):
            for one in known:
                msgspec.json.decode(one)


_MOST = 1000
"""Indexes that are kept."""


def _tidy(folder: Path) -> None:
    """Remove the oldest indexes beyond `_MOST`."""
    found = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)
    for path in found[:-_MOST]:
        path.unlink(missing_ok=True)
