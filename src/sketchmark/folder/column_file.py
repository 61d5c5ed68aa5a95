"""The index of a file of lines: its columns, stored between commands.

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
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import msgspec
import numpy as np

from sketchmark.files import replacing
from sketchmark.files.jsonl import open_regular
from sketchmark.folder.columns import Array, Columns
from sketchmark.models.cache import default_cache

Made = TypeVar("Made", bound=Columns[Any])
_MAGIC = b"sketchmark index 2\n"
_ALIGNED = 8
"""Columns begin at a multiple of this, as the processor needs them."""


def _padding(values: Array) -> bytes:
    return bytes(-values.nbytes % _ALIGNED)


class State(NamedTuple):
    """State of a file, and how far it was read."""

    stamp: tuple[int, int, int] = (0, 0, 0)
    """Inode, time of change and time of the last change of state."""
    read: int = 0
    """Bytes."""
    lines: int = 0
    crc: int = 0
    """Checksum of these bytes."""


class _Header(msgspec.Struct):
    """Description of an index: the state of the file that it was made from, and its columns."""

    kind: str
    source: str
    state: State
    limit: int | None
    rows: int
    arrays: dict[str, tuple[str, int]]
    """Column → its type and number of items."""
    lists: dict[str, list[Any]]
    body: int
    """Checksum of the columns."""


_HEADER = msgspec.json.Decoder(_Header)


def place_of(path: Path, kind: type[Columns[Any]], limit: int | None) -> Path:
    """Return the index of a file's lines up to a limit."""
    named = os.fsencode(path.resolve()) + f"\0{limit}".encode()
    name = hashlib.sha256(named).hexdigest()[:32]
    return default_cache() / "index" / f"{name}.{kind.__name__.lower()}"


def store(path: Path, columns: Columns[Any], state: State, limit: int | None) -> None:
    """Write an index. It appears complete or not at all."""
    crc = 0
    for values in columns.arrays.values():
        crc = zlib.crc32(_padding(values), zlib.crc32(values.data, crc))
    header = _Header(
        type(columns).__name__,
        str(path.resolve()),
        state,
        limit,
        len(columns),
        {name: (values.dtype.str, len(values)) for name, values in columns.arrays.items()},
        columns.lists,
        crc,
    )
    head = msgspec.json.encode(header)
    head += b" " * (-(len(_MAGIC) + 12 + len(head)) % _ALIGNED)
    place = place_of(path, type(columns), limit)
    place.parent.mkdir(parents=True, exist_ok=True)
    with replacing(place, durable=False) as file:
        file.write(_MAGIC + len(head).to_bytes(8, "little") + zlib.crc32(head).to_bytes(4, "little") + head)
        for values in columns.arrays.values():
            file.write(values.data)
            file.write(_padding(values))
    _tidy(place.parent)


def load(path: Path, empty: Made, limit: int | None, now: State, source: BinaryIO) -> tuple[Made, State] | None:
    """Return the columns of the index and how far they go, if it was made from what the file holds `now`."""
    try:
        kind = type(empty)
        header, arrays, let_go = _read_index(place_of(path, kind, limit))
        columns, then = kind(arrays, header.lists), header.state
        _check(columns, empty, header.rows)
        let_go()
        if header.kind != kind.__name__ or header.limit != limit or then.read > now.read:
            return None
        as_then = then.stamp == now.stamp and then.read == now.read
        if not as_then and (not then.read or _crc(source, then.read) != then.crc):
            return None
    except Exception:  # a damaged or hostile index may cause any error, and the lines have it all
        return None
    return columns, then


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
