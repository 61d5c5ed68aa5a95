"""JSON lines: nothing counts as written before it is on disk, and a truncated line is never read."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import threading
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from sketchmark.errors import BadInput
from sketchmark.files.jsonl import LineReader, LineWriter, Tail, encode, is_intact, seal, whole_lines
from tests.runs.making import write_lines


class Named(msgspec.Struct):
    sample: str


def read_lines(path: Path) -> list[Any]:
    """As they are, and as lines of a kind: both readings see the same lines."""
    found = list(LineReader(dict[str, Any]).all(path))
    for line in found:
        line.pop("crc", None)
    assert [line.sample for line in LineReader(Named).all(path)] == [line["sample"] for line in found]
    return found


def _line(number: int) -> dict[str, object]:
    return {"sample": f"s{number}"}


def sealed(record: Any) -> bytes:
    return seal(encode(record))


def test_lines_come_back_as_written_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a/b/lines.jsonl"
    rows: list[dict[str, Any]] = [{"sample": "å", "value": 1.5, "list": [1, None]}, {"sample": "second"}]
    write_lines(path, rows)
    assert read_lines(path) == rows
    first = '{"sample":"å","value":1.5,"list":[1,null],"crc":"af49f18a"}\n'.encode()
    assert path.read_bytes() == first + b'{"sample":"second","crc":"cc6ac0c3"}\n', "JSON, and the checksum comes last"


def test_several_writers_append_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    assert read_lines(path) == [], "no file, no lines"
    write_lines(path, [_line(0)])
    one, two = LineWriter(path), LineWriter(path)
    one.write(_line(1))
    two.write(_line(2))
    one.write(_line(3))
    one.close()
    two.close()
    assert read_lines(path) == [_line(number) for number in range(4)]


@pytest.mark.parametrize("before", [b"", b'{"sample":"s0"}\n{"sample":"s1"}\n'])
@pytest.mark.parametrize("torn", [1, 14, 65534, 65535, 65536, 65537, 131071, 131072, 200_000])
def test_a_truncated_last_line_is_not_read_and_is_removed_by_the_next_write(
    tmp_path: Path, before: bytes, torn: int
) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(before + b"x" * torn)
    assert read_lines(path) == ([_line(0), _line(1)] if before else []), "lines without a checksum are read"
    write_lines(path, [_line(2)])
    assert path.read_bytes() == before + sealed(_line(2))


def test_a_line_longer_than_a_block_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    long = {"sample": "s0", "text": "x" * 150_000}
    write_lines(path, [long])
    write_lines(path, [_line(1)])
    assert read_lines(path) == [long, _line(1)]


@pytest.mark.parametrize("wrong", [b"nonsense\n", b"[1]\n", b'"sample"\n', b'{"index":1}\n', b"\n"])
def test_a_bad_line_is_named_by_file_and_number(tmp_path: Path, wrong: bytes) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"sample":"s0"}\n' + wrong)
    with pytest.raises(BadInput, match=r"lines\.jsonl, line 2: not .*changed by hand: sketchmark repair RUN"):
        list(LineReader(Named).all(path))


def test_a_partial_write_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lines.jsonl"
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:3]))
    write_lines(path, [_line(0), _line(1)])
    assert path.read_bytes() == sealed(_line(0)) + sealed(_line(1))


def test_a_changed_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    write_lines(path, [_line(0), _line(1)])
    path.write_bytes(path.read_bytes().replace(b"s1", b"s7"))
    lines = LineReader(Named).all(path)
    assert next(lines).sample == "s0"
    with pytest.raises(BadInput, match=r"lines\.jsonl, line 2: not what was written .*sketchmark repair RUN"):
        next(lines)


def test_a_line_that_a_later_one_was_written_into_is_refused(tmp_path: Path) -> None:
    """A disk that was full for a moment leaves half a line with a complete one behind it."""
    half = sealed({"sample": "s0", "text": '{"sample":"s1"'})
    for cut in range(1, len(half) - 1):
        line = half[:cut] + sealed(_line(1))
        assert not is_intact(line), line


@pytest.mark.parametrize("record", [{"sample": "s0"}, {"sample": "å" * 70_000}, {"crc": "01234567"}])
def test_a_sealed_line_is_json_and_a_changed_byte_of_what_it_says_is_noticed(record: dict[str, Any]) -> None:
    line = sealed(record)
    assert is_intact(line) and {**json.loads(line), "crc": 0} == {**record, "crc": 0}
    body = line.rindex(b',"crc":"')
    for place in (0, 1, body // 2, body - 1, len(line) - 4):
        assert not is_intact(line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :]), place


class FullDisk:
    """Replaces os.write and os.ftruncate: accepts `room` bytes, and may refuse to truncate."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room, self.cuts = 1_000_000, True
        self._write, self._truncate = os.write, os.ftruncate
        monkeypatch.setattr(os, "write", self.write)
        monkeypatch.setattr(os, "ftruncate", self.truncate)

    def write(self, file: int, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = self._write(file, data[: self.room])
        self.room -= written
        return written

    def truncate(self, file: int, size: int) -> None:
        if not self.cuts:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self._truncate(file, size)


@pytest.mark.parametrize("room", [0, 1, 20, 31])
def test_a_write_that_fails_half_way_leaves_nothing_and_the_next_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    path = tmp_path / "lines.jsonl"
    writer, disk = LineWriter(path), FullDisk(monkeypatch)
    writer.write(_line(0))
    disk.room = room
    with pytest.raises(OSError, match="No space left") as caught:
        writer.write(_line(1))
    assert caught.value.filename == str(path), "the error names the file"
    assert path.read_bytes() == sealed(_line(0))
    disk.room = 1_000_000
    writer.write(_line(2))
    disk.room, disk.cuts = 5, False
    with pytest.raises(OSError, match="No space left"):
        writer.write(_line(3))
    assert path.read_bytes() == sealed(_line(0)) + sealed(_line(2)) + b'{"sam', "the disk refused to truncate"
    disk.room = 1_000_000
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        writer.write(_line(4))
    disk.cuts = True
    writer.write(_line(5))
    writer.close()
    assert read_lines(path) == [_line(0), _line(2), _line(5)]


def test_an_interrupt_between_two_pieces_of_a_line_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, write = tmp_path / "lines.jsonl", os.write
    writer = LineWriter(path)
    writer.write(_line(0))

    def interrupted(file: int, data: bytes) -> int:
        if len(data) < len(sealed(_line(1))):
            raise KeyboardInterrupt
        return write(file, data[:5])

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(os, "write", interrupted)
        writer.write(_line(1))
    assert path.read_bytes() == sealed(_line(0))
    writer.write(_line(2))
    writer.close()
    assert read_lines(path) == [_line(0), _line(2)]


def test_a_growing_file_names_its_lines_by_number(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    write_lines(path, [_line(0), _line(1)])
    tail = Tail(path)
    assert [tail.where for _ in tail] == [where for where, _ in whole_lines(path)]
    write_lines(path, [_line(2)])
    assert [tail.where for _ in tail] == [f"{path}, line 3"]
    path.unlink()
    write_lines(path, [_line(4)])
    assert [tail.where for _ in tail] == [f"{path}, line 1"]


def test_a_closed_writer_never_reaches_a_file_that_was_opened_since(tmp_path: Path) -> None:
    writer = LineWriter(tmp_path / "lines.jsonl")
    writer.close()
    with (tmp_path / "other").open("wb"), pytest.raises(OSError, match="Bad file descriptor"):
        writer.write(_line(0))
    assert (tmp_path / "other").read_bytes() == b""


class Disk:
    """Replaces fsync: each call waits for `let`, and is recorded with the size of the file."""

    def __init__(self) -> None:
        self.syncs: list[tuple[int, int]] = []
        self.threads: set[int] = set()
        self.entered, self.release = threading.Semaphore(0), threading.Semaphore(0)

    def fsync(self, file: int) -> None:
        about = os.fstat(file)
        self.threads.add(threading.get_ident())
        self.entered.release()
        assert self.release.acquire(timeout=30)
        self.syncs.append((about.st_ino, about.st_size))

    async def busy(self) -> None:
        """Until the next fsync is under way."""
        assert await asyncio.to_thread(self.entered.acquire, True, 30)

    def let(self, syncs: int) -> None:
        for _ in range(syncs):
            self.release.release()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(os, "fsync", disk.fsync)
    return disk


async def _turns() -> None:
    """Let every task that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_settling_waits_for_an_fsync_that_began_after_the_line_was_written(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "lines.jsonl"
    writer = LineWriter(path)
    writer.write(_line(0))
    first = asyncio.create_task(writer.settle())
    await disk.busy()
    await _turns()
    assert not first.done(), "the disk has not replied yet"
    writer.write(_line(1))
    second = asyncio.create_task(writer.settle())
    disk.let(1)
    await first
    await disk.busy()
    await _turns()
    assert not second.done(), "the first fsync began before this line was written"
    disk.let(1)
    await second
    writer.close()
    about = path.stat()
    assert disk.syncs == [(about.st_ino, about.st_size // 2), (about.st_ino, about.st_size)]
    assert threading.get_ident() not in disk.threads, "calls under way must not wait for the disk"


async def test_waiting_lines_share_one_sync_and_synced_lines_need_none(tmp_path: Path, disk: Disk) -> None:
    writer = LineWriter(tmp_path / "lines.jsonl")
    await writer.settle()
    assert disk.syncs == []
    writer.write(_line(0))
    waiting = [asyncio.create_task(writer.settle())]
    await disk.busy()
    for number in range(1, 10):
        writer.write(_line(number))
        waiting.append(asyncio.create_task(writer.settle()))
        await _turns()
    disk.let(10)
    await asyncio.gather(*waiting)
    await writer.settle()
    writer.close()
    assert len(disk.syncs) == 2, "one for the first line, one for the nine that came meanwhile"


async def test_a_failed_fsync_is_an_error_and_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fsync(file: int) -> None:
        asked.append(file)
        if len(asked) == 1:
            raise OSError(errno.ENOSPC, "the disk is full")

    monkeypatch.setattr(os, "fsync", fsync)
    writer = LineWriter(tmp_path / "lines.jsonl")
    writer.write(_line(0))
    with pytest.raises(OSError, match="full") as caught:
        await writer.settle()
    assert caught.value.filename == str(tmp_path / "lines.jsonl")
    await writer.settle()
    writer.close()
    assert len(asked) == 2


@pytest.mark.parametrize("record", [{"sample": 7}, {"sample": None}, {"other": "s1"}, ["s1"], {"sample": "x" * 9}])
def test_a_line_that_its_readers_could_not_read_is_not_written(tmp_path: Path, record: Any) -> None:
    class Short(msgspec.Struct):
        sample: Annotated[str, msgspec.Meta(max_length=8)]

    path = tmp_path / "lines.jsonl"
    writer = LineWriter(path, LineReader(Short))
    writer.write(_line(0))
    with pytest.raises(BadInput, match="it could not be read again"):
        writer.write(record)
    writer.write(_line(1))
    writer.close()
    assert read_lines(path) == [_line(0), _line(1)]
