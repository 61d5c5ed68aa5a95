"""Records as plain JSON values: what is written to disk and sent to a browser.

What a model, a data set or a plug-in put into a record is written somehow, always: a run that has cost money does not
end because of one odd value. It is written as what it is wherever JSON can say it, else as a text that shows it:
numbers that JSON does not know by their names, lone surrogates as `well_formed` puts them, the rest by its `repr`,
cut.

Append-only JSON lines that survive a kill: a torn last line is noticed, cut off and written again.

Reading a file that someone else is still appending to.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from sketchmark.errors import BadInput

DEEPEST = 100
"""Levels of lists and dicts that are looked into; what is written down goes no deeper."""

_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


def well_formed(value: Any, depth: int = 0) -> Any:
    """The value with texts that can be written as UTF-8, also inside dicts and lists.

    Half a character (a lone surrogate: a reply cut in the middle of an emoji, a file name in another encoding) has no
    UTF-8. It becomes the six characters by which JSON and Python write it, `\\ud83d`: seen by whoever looks, and not
    lost. Two halves that belong together become their character. This is done where texts come in (a sample, a part,
    a reply), so that what is asked, scored and shown is what is written down.
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
"""Characters of a value that JSON cannot say."""

_MOST_BITS = 4096
"""Of a whole number: Python refuses to write much longer ones."""


def plain(value: Any, depth: int = 0) -> Any:
    """Structs and dataclasses become dicts, sets and tuples lists, and numpy's numbers Python's."""
    kind = type(value)
    if kind is str:  # most values of most records are one of these, and every episode has hundreds
        return value if value.isascii() else well_formed(value)
    if kind is dict and depth <= DEEPEST:
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if value is None or isinstance(value, bool):
        return value
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
    if isinstance(value, msgspec.Struct):
        return {name: plain(item, depth + 1) for name, item in _told(value)}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name), depth + 1) for field in fields(value)}
    return _foreign(value, depth)


def _told(record: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    """Names and values, without those that go without saying."""
    brief = record.__struct_config__.omit_defaults
    for name, encoded, default in _fields(type(record)):
        value = getattr(record, name)
        if value is msgspec.UNSET or (brief and type(value) is type(default) and bool(value == default)):
            continue
        yield encoded, value


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, str, Any], ...]:
    """Of each field its name, its name in the file, and its default."""
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
    """Numpy's scalars and arrays by their `tolist`; dates and the like as msgspec writes them."""
    try:
        found = value.tolist() if hasattr(value, "tolist") else msgspec.to_builtins(value)
        return plain(found, depth + 1)
    except Exception:  # whatever a stranger's object does when it is looked at
        return _shown(value)


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # also a RecursionError, and a number too long for Python to write
        text = f"<{type(value).__name__} that cannot be shown>"
    shown: str = well_formed(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
    return shown


def _name(number: float) -> str:
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


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


def count_lines(path: Path) -> int:
    """How many there are, without looking into them."""
    if not path.exists():
        return 0
    with path.open("rb") as file:
        return sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))


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
