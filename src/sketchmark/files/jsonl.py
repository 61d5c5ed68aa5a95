"""Append-only JSON lines that survive a kill, and records as plain JSON values.

Every value that a model, dataset or plug-in puts into a record is written, because a run that has cost money must not
end for one odd value. A value that JSON lacks becomes a text: non-finite numbers by their names, lone surrogates as
`well_formed` writes them, anything else as a shortened `repr`. A torn last line is noticed, removed and written
again.
"""

from __future__ import annotations

import ast
import asyncio
import json
import math
import os
import re
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

import msgspec

from sketchmark.errors import BadInput

DEEPEST = 100
"""Maximum depth of lists and dicts in a record."""

_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


def well_formed(value: Any, depth: int = 0) -> Any:
    """Return the value with texts that can be encoded as UTF-8, also inside dicts and lists.

    A lone surrogate (a reply truncated inside an emoji, a file name in another encoding) has no UTF-8. It becomes the
    six characters by which JSON and Python write it, `\\ud83d`, so it stays visible. Two surrogates that form a pair
    become their character. This happens where texts enter (a sample, a part, a reply), so requests, scores and pages
    all use the text that is written.
    """
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATES.sub(_whole, value)
    if depth > DEEPEST:
        return value
    if isinstance(value, dict):
        return {well_formed(key): well_formed(item, depth + 1) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(well_formed(item, depth + 1) for item in value)
    return value


def _whole(found: re.Match[str]) -> str:
    if len(found[0]) == 2:
        return found[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    return f"\\u{ord(found[0]):04x}"


_LONGEST = 500
"""Maximum characters of a value that JSON lacks."""

_MOST_BITS = 4096
"""Maximum bits of an integer: Python refuses to write much longer ones."""


def plain(value: Any, depth: int = 0) -> Any:
    """Convert structs and dataclasses to dicts, sets and tuples to lists, and NumPy numbers to Python's."""
    kind = type(value)
    if kind is str:  # the most frequent types first: every episode has hundreds of values
        return value if value.isascii() else well_formed(value)
    if kind is dict and depth <= DEEPEST:
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if value is None or kind is bool:
        return value
    if kind is int and value.bit_length() <= _MOST_BITS:
        return value
    if isinstance(value, msgspec.Struct) and depth <= DEEPEST:
        return {name: plain(item, depth + 1) for name, item in _told(value)}
    if isinstance(value, str):
        return well_formed(str(value))
    if isinstance(value, int):
        return int(value) if value.bit_length() <= _MOST_BITS else _shown(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _name(value)
    if depth > DEEPEST:
        return _shown(value)
    if isinstance(value, Mapping):
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item, depth + 1) for item in value), key=str)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name), depth + 1) for field in fields(value)}
    return _foreign(value, depth)


def _told(record: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    """Yield names and values, without default values that are omitted."""
    brief = record.__struct_config__.omit_defaults
    for name, encoded, default in _fields(type(record)):
        value = getattr(record, name)
        if value is msgspec.UNSET or (brief and type(value) is type(default) and bool(value == default)):
            continue
        yield encoded, value


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, str, Any], ...]:
    """Return name, name in the file, and default of each field."""
    return tuple((field.name, field.encode_name, _default(field)) for field in msgspec.structs.fields(kind))


def _default(field: msgspec.structs.FieldInfo) -> Any:
    made = field.default_factory is not msgspec.NODEFAULT
    return field.default_factory() if made else field.default


def _key(key: Any) -> Any:
    if type(key) is str and key.isascii():
        return key
    found = plain(key)
    return found if found is None or isinstance(found, (str, int, float)) else _shown(key)


def _foreign(value: Any, depth: int) -> Any:
    """Convert NumPy scalars and arrays by `tolist`, dates and the like by msgspec."""
    try:
        found = value.tolist() if hasattr(value, "tolist") else msgspec.to_builtins(value)
        return plain(found, depth + 1)
    except Exception:  # an unknown object may raise anything
        return _shown(value)


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # also a RecursionError, or an integer too long to write
        text = f"<{type(value).__name__} that cannot be shown>"
    shown: str = well_formed(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
    return shown


def _name(number: float) -> str:
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


Record = TypeVar("Record")


_CRC = b',"crc":"'
_SEAL_LENGTH = len(_CRC + b'01234567"}\n')
HINT = "it was damaged, or changed by hand: sketchmark repair RUN"


def python_literal(text: str) -> Any:
    """Parse a Python literal; nothing runs. Anything else is a ValueError, whichever of its errors Python raises."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"not a Python literal: {text[:60]!r}") from error


@cache
def _decoder(kind: type[msgspec.Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def _directly(record: msgspec.Struct) -> bytes | None:
    """Encode a record without `plain`, in a fifth of its time. None if it would not be read back as it is: it holds a
    value that JSON lacks, or may be too deep."""
    try:
        line = msgspec.json.encode(record)
        shallow = line.count(b"{") + line.count(b"[") <= DEEPEST
        return line + b"\n" if shallow and _decoder(type(record)).decode(line) == record else None
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None


def encode(record: Any) -> bytes:
    """Encode a record as a line of compact JSON."""
    return (_directly(record) if isinstance(record, msgspec.Struct) else None) or _slowly(record)


def line_of(record: Any, reader: LineReader[Any]) -> bytes:
    """Return a sealed line that the reader of its file accepts, else raise BadInput."""
    if isinstance(record, reader.kind) and (line := _directly(record)):
        return seal(line)
    line = seal(_slowly(record))
    reader.one(line, "it could not be read again")
    return line


def _slowly(record: Any) -> bytes:
    values = plain(record)
    try:
        return msgspec.json.encode(values) + b"\n"
    except (TypeError, OverflowError):  # a key that is not a text, or a number of more than 64 bits
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def seal(line: bytes) -> bytes:
    """Append a checksum as the last key. The line stays JSON, and damage is noticed even if the result is JSON."""
    body = line.rstrip(b"\n")[:-1]
    return b'%s%s%08x"}\n' % (body, _CRC, zlib.crc32(body))


def is_sealed(line: bytes) -> bool:
    return line[-_SEAL_LENGTH:].startswith(_CRC)


def is_intact(line: bytes) -> bool:
    """Return whether a line is as it was written. Lines without a checksum (from another program) are accepted."""
    body, end = memoryview(line)[:-_SEAL_LENGTH], line[-_SEAL_LENGTH:]
    return not end.startswith(_CRC) or end == b'%s%08x"}\n' % (_CRC, zlib.crc32(body))


class LineReader(Generic[Record]):
    """A reader of lines of one type. Unknown keys are ignored, and the order of keys has no meaning."""

    def __init__(self, kind: type[Record], called: str = "a line of a run") -> None:
        self.kind = kind
        self._decoder = msgspec.json.Decoder(kind)
        self._called = called

    def one(self, line: bytes, where: str) -> Record:
        """Return the record of a line. `where` names it for the error."""
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

    def some(self, path: Path, begins: Iterable[int]) -> Iterator[Record]:
        """Yield the records of the lines that begin at these bytes. The file is opened for the first of them."""
        file: BinaryIO | None = None
        try:
            for begin in begins:
                file = file or open_regular(path)
                file.seek(begin)
                yield self.one(file.readline(), f"{path}, byte {begin}")
        finally:
            if file:
                file.close()


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading, whatever it has become since its path was checked: never wait, never read a pipe.

    Opening a pipe waits for a writer, and a thread that waits cannot be ended. So the file is opened without waiting
    and checked afterwards.
    """
    file = os.open(path, os.O_RDONLY | _NEVER_WAIT)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise BadInput(f"{path} is not a regular file", "it is not read; remove it")
    return os.fdopen(file, "rb")


_NEVER_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
"""Windows has neither pipes nor links under such names, and no such flags."""


def read_regular(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read()


def whole_lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (`FILE, line 3`, its bytes). A last line without a newline is skipped: its process died."""
    if not path.exists():
        return
    with open_regular(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            yield f"{path}, line {number}", line


def count_lines(path: Path) -> int:
    """Count lines without parsing them."""
    if not path.exists():
        return 0
    with open_regular(path) as file:
        return sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))


class LineWriter:
    """A writer that appends whole lines and syncs them in groups: many episodes share one fsync.

    A failed write (a full disk) leaves no part of its line. The next write starts at the beginning of a line. A
    record that the `reader` of the file would refuse is refused (BadInput) before it is written: one such line would
    make the whole file unreadable.
    """

    def __init__(self, path: Path, reader: LineReader[Any] | None = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _cut_torn_line(path)
        self._path, self._reader = path, reader
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NEVER_WAIT, 0o644)
        self._torn_at: int | None = None
        self._written = 0
        self._synced = 0
        self._lock = asyncio.Lock()

    def write(self, record: Any) -> None:
        self.append(line_of(record, self._reader) if self._reader else seal(encode(record)))

    def append(self, data: bytes) -> None:
        """Write a line that was sealed and checked."""
        left = data
        try:
            self._cut()
            while left:
                left = left[os.write(self._file, left) :]
        except BaseException as error:  # an interrupt may come between two pieces
            with suppress(OSError):  # tried again before the next line
                if self._torn_at is None:
                    self._torn_at = os.fstat(self._file).st_size - (len(data) - len(left))
                self._cut()
            if isinstance(error, OSError):
                raise self._named(error) from error
            raise
        self._written += 1

    def _cut(self) -> None:
        """Remove what a failed write left."""
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
        """Close the file. A later write fails and cannot reach another file with the same descriptor."""
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


class Tail:
    """A reader of a growing file that gives each whole line once, with its byte offset.

    A file that was replaced or truncated (a new scoring, `--fresh`) is read again from its beginning, and
    `generation` increases, so that callers drop what they kept of the old file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.generation = 0
        self._read = 0
        self._lines = 0
        self._inode = 0

    @property
    def where(self) -> str:
        """The name of the last line given, for an error."""
        return f"{self.path}, line {self._lines}"

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        try:
            file = open_regular(self.path)
        except FileNotFoundError:
            if self._read:
                self._restart(0)
            return
        except OSError as error:  # a reader must not take it for an empty file
            raise BadInput(f"cannot read {self.path}: {error.strerror or error}") from error
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
    with open_regular(path) as file:
        file.seek(begin)
        return file.readline()
