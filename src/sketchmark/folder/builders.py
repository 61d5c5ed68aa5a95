"""Columns in the making: lines of a growing file become arrays in chunks, and the newest row of each key is kept."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence, ValuesView
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

import msgspec
import numpy as np

from sketchmark.errors import BadInput
from sketchmark.files.jsonl import LineReader, open_regular
from sketchmark.folder.column_file import State, load, store
from sketchmark.folder.columns import (
    PLACE,
    RIGHT,
    UNKNOWN,
    WRONG,
    Array,
    Codes,
    Columns,
    Episodes,
    Lists,
    Places,
    Rows,
    Strings,
    small,
)
from sketchmark.folder.format import Score

Record = TypeVar("Record", bound=Any)
_HUGE = 2**62
_CHUNK = 4_000
"""Records that are held as objects while a file is read."""
Made = TypeVar("Made", bound=Columns[Any])


class Builder(Generic[Record, Made]):
    """Columns in the making: records become arrays in chunks, so that memory does not hold them all."""

    KIND: type[Made]
    TEXTS: tuple[str, ...] = ("sample",)

    def __init__(self, before: Made | None = None) -> None:
        self._parts: list[dict[str, Array]] = []
        self._strings: dict[str, list[Strings]] = {name: [] for name in self.TEXTS}
        self._records: list[Record] = []
        self._begins: list[int] = []
        self.lists: dict[str, Codes] = {}
        if before is not None:
            self._continue(before)

    def codes(self, name: str) -> Codes:
        return self.lists.setdefault(name, Codes())

    def _continue(self, before: Made) -> None:
        arrays = {}
        for name, values in before.arrays.items():
            if name.partition(".")[0] not in self.TEXTS:
                arrays[name] = before.numbers(name) if name.startswith("v.") else values
        self._parts.append(arrays)
        for name in self.TEXTS:
            self._strings[name].append(Strings(before.arrays[f"{name}.lengths"], before.arrays[name]))
        for name, known in before.lists.items():
            if not name.startswith("v."):
                self.lists[name] = Codes(tuple(one) if isinstance(one, list) else one for one in known)

    def add(self, record: Record, begin: int) -> None:
        self._records.append(record)
        self._begins.append(begin)
        if len(self._records) >= _CHUNK:
            self._flush()

    def _flush(self) -> None:
        if not self._records and self._parts:
            return
        arrays = self._arrays(self._records)
        arrays["begin"] = np.array(self._begins, np.int64)
        self._parts.append({name: _small(values) for name, values in arrays.items()})
        for name in self.TEXTS:
            self._strings[name].append(Strings.of([self._text(name, record) for record in self._records]))
        self._records, self._begins = [], []

    def _text(self, name: str, record: Record) -> str:
        raise NotImplementedError

    def _arrays(self, records: Sequence[Record]) -> dict[str, Array]:
        raise NotImplementedError

    def columns(self, *, ordered: bool = True) -> Made:
        """Return the newest row of each key; `ordered`: in the order of the samples. The builder is then empty."""
        self._flush()
        names = dict.fromkeys(name for part in self._parts for name in part)
        sizes = [len(part["index"]) for part in self._parts]
        arrays = {
            name: _small(np.concatenate([_column(name, part, n) for part, n in zip(self._parts, sizes, strict=True)]))
            for name in names
        }
        strings = {name: Strings.joined(parts) for name, parts in self._strings.items()}
        self._parts, self._strings = [], {name: [] for name in self.TEXTS}
        for name, texts in strings.items():
            arrays[name], arrays[f"{name}.lengths"] = texts.data, texts.lengths
        lists: Lists = {
            name: [list(one) if isinstance(one, tuple) else one for one in codes]
            for name, codes in self.lists.items()
        }
        made = self.KIND(arrays, lists)
        if ordered:
            kept = _newest(made)
            if kept is not None:
                for name in list(arrays):
                    if name.partition(".")[0] not in self.TEXTS:
                        arrays[name] = arrays[name][kept]
                for name, texts in strings.items():
                    taken = texts.take(kept)
                    arrays[name], arrays[f"{name}.lengths"] = taken.data, taken.lengths
        else:
            lists["unsorted"] = [True]
        for name in names:
            if name.startswith("v."):
                _code_floats(made, name)
        return self.KIND(arrays, lists)


def _column(name: str, part: dict[str, Array], n: int) -> Array:
    """Take a column out of a part, of which two copies are not needed; a missing one is filled in."""
    if name in part:
        return part.pop(name)
    return np.full(n, np.nan) if name.startswith("v.") else np.full(n, -1 if name.startswith("g.") else 0, np.int8)


def _small(values: Array) -> Array:
    return values if values.dtype.kind == "f" else small(values)


_FEW = 256


def _code_floats(made: Columns[Any], name: str) -> None:
    """Replace a column with few different numbers by codes; equal bits keep equal codes."""
    values = made.arrays[name]
    different, codes = np.unique(values, return_inverse=True, equal_nan=True)
    if len(different) <= _FEW and not np.any(np.isinf(different)) and len(values) > _FEW:
        made.arrays[name] = codes.reshape(-1).astype(np.uint8)
        made.lists[name] = [None if np.isnan(value) else float(value) for value in different]


def _newest(made: Columns[Any]) -> Places | None:
    """Return the numbers of the rows to keep, in order; None to keep all as they are. The last row of a key counts,
    at the place of the first."""
    n = len(made)
    first = np.arange(n)
    keep = np.ones(n, bool)
    found, inverse, counts = np.unique(made.hashes(), return_inverse=True, return_counts=True)
    if len(found) < n:
        newest: dict[str, tuple[int, int]] = {}
        for place in np.flatnonzero(counts[inverse.reshape(-1)] > 1).tolist():
            key = made.key(place)
            begun, last = newest.get(key, (place, -1))
            if last >= 0:
                keep[last] = False
            newest[key] = begun, place
        for begun, last in newest.values():
            first[last] = begun
    made._kept.clear()
    rows = np.flatnonzero(keep)
    order = np.lexsort((first[rows], *(made.arrays[name][rows] for name in reversed(PLACE))))
    kept = rows[order]
    return None if len(kept) == n and np.array_equal(kept, np.arange(n)) else kept


class RowBuilder(Builder[Score, Rows]):
    """Score rows in the making."""

    KIND, TEXTS = Rows, ("sample", "fingerprint")

    def __init__(self, before: Rows | None = None) -> None:
        for_all = ("kinds", "flags", "values", "usage", "paid", "groups")
        super().__init__(before)
        for name in for_all:
            self.codes(name)

    def _text(self, name: str, record: Score) -> str:
        return record.sample if name == "sample" else record.fingerprint

    def _arrays(self, records: Sequence[Score]) -> dict[str, Array]:
        kinds, flags = self.codes("kinds"), self.codes("flags")
        return {
            "index": _whole([row.index for row in records]),
            "repeat": _whole([row.repeat or 0 for row in records]),
            "branch": _whole([row.branch or 0 for row in records]),
            "scored": np.array([row.scored for row in records], np.int8),
            "started": np.array([row.started for row in records], float),
            "seconds": np.array([row.seconds for row in records], float),
            "left_out": _whole([row.calls_left_out for row in records]),
            "kind": np.array([kinds((row.scoring, row.judge, row.extractor or None)) for row in records], np.int64),
            "flag": np.array([flags(tuple(row.flags)) for row in records], np.int64),
            "frames": np.array([_frames(row) for row in records], np.int8),
            "drawn": np.array([_drawn(row) for row in records], np.int8),
            **self._table("values", "v", [tuple(row.values.items()) for row in records], _as_float, np.nan, float),
            **self._table("usage", "u", [tuple(row.usage.items()) for row in records], int, 0, np.int64),
            **self._table(
                "paid",
                "p",
                [None if row.paid is msgspec.UNSET else tuple(row.paid.items()) for row in records],
                int,
                0,
                np.int64,
            ),
            **self._groups([msgspec.json.encode(row.groups) for row in records]),
        }

    def _table(
        self,
        name: str,
        prefix: str,
        given: Sequence[tuple[tuple[str, Any], ...] | None],
        convert: Callable[[Any], Any],
        missing: Any,
        kind: type,
    ) -> dict[str, Array]:
        """Return the columns of dicts: the names of each as a code, and one column per name."""
        codes = Codes()
        each = np.fromiter(map(codes, given), np.int64, len(given))
        different = list(codes)
        shapes = self.codes(name)
        shape = [-1 if one is None else shapes(tuple(key for key, _ in one)) for one in different]
        columns: dict[str, Array] = {}
        for place, one in enumerate(different):
            for key, value in one or ():
                column = columns.get(key)
                if column is None:
                    column = columns[key] = np.full(len(different), missing, kind)
                column[place] = convert(value)
        found = {name: np.array(shape, np.int64)[each] if different else np.zeros(0, np.int64)}
        return found | {f"{prefix}.{key}": column[each] for key, column in columns.items()}

    def _groups(self, given: Sequence[bytes]) -> dict[str, Array]:
        codes = Codes()
        each = np.fromiter(map(codes, given), np.int64, len(given))
        different: list[dict[str, Any]] = [msgspec.json.decode(one) for one in codes]
        shapes = self.codes("groups")
        found = {"groups": np.array([shapes(tuple(one)) for one in different], np.int64)}
        for key in dict.fromkeys(key for one in different for key in one):
            values = self.codes(f"g.{key}")
            found[f"g.{key}"] = np.array(
                [values(msgspec.json.encode(one[key]).decode()) if key in one else -1 for one in different], np.int64
            )
        return {name: column[each] for name, column in found.items()}


def _as_float(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _frames(row: Score) -> int:
    frames = row.notes.get("frames_right")
    return UNKNOWN if not frames else RIGHT if all(frames) else WRONG


def _drawn(row: Score) -> int:
    right = row.drawing_right
    return UNKNOWN if right is None else RIGHT if right else WRONG


class EpisodeBuilder(Builder[Any, Episodes]):
    """Episodes in the making."""

    KIND = Episodes

    def _text(self, name: str, record: Any) -> str:
        text: str = record.sample.id
        return text

    def _arrays(self, records: Sequence[Any]) -> dict[str, Array]:
        return {
            "index": _whole([line.index for line in records]),
            "repeat": _whole([line.repeat for line in records]),
            "branch": _whole([line.branch for line in records]),
            "started": np.array([line.started for line in records], float),
            "failed": np.array([line.failure is not None for line in records], np.int8),
        }


def _whole(values: Sequence[int]) -> Array:
    """Return whole numbers of lines, which are untrusted: those beyond 62 bits as the largest."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return np.array([max(-_HUGE, min(value, _HUGE)) for value in values], np.int64)


WORTH = 1_000_000
"""Bytes of a file from which an index is stored: fewer are read faster than a user notices."""


class Source(Generic[Record, Made]):
    """The lines of a growing file as columns. `refresh` takes in new lines; the first one uses the index."""

    def __init__(
        self, path: Path, reader: LineReader[Record], builder: type[Builder[Record, Made]], limit: int | None
    ) -> None:
        self.path, self._reader, self._builder, self._limit = path, reader, builder, limit
        self.columns: Made = builder().columns()
        self.version = 0
        """Increases with every change."""
        self._state = State()
        self._end = b""

    @property
    def is_small(self) -> bool:
        """Whether no index was stored."""
        return self._state.read < WORTH

    def refresh(self) -> Source[Record, Made]:
        try:
            file = open_regular(self.path)
        except FileNotFoundError:
            if self._state.read:
                self._restart()
            return self
        except OSError as error:  # a reader must not take it for an empty file
            raise BadInput(f"cannot read {self.path}: {error.strerror or error}") from error
        with file:
            found, before = os.fstat(file.fileno()), self._state
            now = State((found.st_ino, found.st_mtime_ns, found.st_ctime_ns), found.st_size)
            if now[:2] == before[:2]:
                return self
            if not before.read and now.read >= WORTH and (stored := self._stored(now, file)):
                self.columns, self._state = stored
                self.version += self._state.lines
                self._end = _end(file, self._state.read)
                if self._state.read == now.read:
                    self._state = self._state._replace(stamp=now.stamp)
                    return self
            elif before.read and (
                now.stamp[0] != before.stamp[0] or now.read < before.read or _end(file, before.read) != self._end
            ):
                self._restart()
            self._take(file, now.stamp)
        return self

    def _stored(self, now: State, file: BinaryIO) -> tuple[Made, State] | None:
        return load(self.path, self._builder().columns(), self._limit, now, file)

    def _restart(self) -> None:
        self.columns = self._builder().columns()
        self.version += 1
        self._state = State()

    def _take(self, file: BinaryIO, stamp: tuple[int, int, int]) -> None:
        """Read the lines beyond those that are known. A damaged one is refused, and none of them is kept."""
        before = self._state
        _, read, lines, crc = before
        builder = self._builder(self.columns if read else None)
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
        if lines > before.lines:
            self.columns = builder.columns()
            self.version += lines - before.lines
        self._state = State(stamp, read, lines, crc)
        self._end = _end(file, read)
        if not before.lines and read >= WORTH:
            with suppress(OSError):  # no place for an index: the next command reads the lines again
                store(self.path, self.columns, self._state, self._limit)
                if stored := self._stored(self._state, file):  # as pages of the index, which the system may take back
                    self.columns = stored[0]


def _end(file: BinaryIO, read: int) -> bytes:
    """Return the last bytes of what was read, with the checksum of a line: another file may get the same inode."""
    file.seek(max(0, read - 64))
    return file.read(min(64, read))


def as_rows(rows: Iterable[Score] | Mapping[str, Score] | Rows) -> Rows:
    """Return rows as columns: as they are if they are columns already, else in the given order."""
    if isinstance(rows, ValuesView):
        mapping = getattr(rows, "_mapping", None)
        rows = mapping if isinstance(mapping, Rows) else rows
    if isinstance(rows, Rows):
        return rows
    builder = RowBuilder()
    for row in rows.values() if isinstance(rows, Mapping) else rows:
        builder.add(row, -1)
    found = builder.columns(ordered=False)
    if isinstance(rows, Mapping):
        found.kept("keys", lambda: list(rows))
    return found
