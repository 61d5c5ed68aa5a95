"""Nothing counts as written before it is on the disk, and nothing torn is ever read."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sketchmark.errors import BadInput
from sketchmark.files.lines import LineReader, LineWriter
from tests.runs.making import write_lines


class Named(msgspec.Struct):
    sample: str


def read_lines(path: Path) -> list[Any]:
    """As they are, and as lines of a kind: both readings see the same lines."""
    found = list(LineReader(dict[str, Any]).all(path))
    assert [line.sample for line in LineReader(Named).all(path)] == [line["sample"] for line in found]
    return found


def _line(number: int) -> dict[str, object]:
    return {"sample": f"s{number}"}


def test_lines_come_back_as_they_were_written_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a/b/lines.jsonl"
    rows: list[dict[str, Any]] = [{"sample": "å", "value": 1.5, "list": [1, None]}, {"sample": "second"}]
    write_lines(path, rows)
    assert read_lines(path) == rows
    assert path.read_bytes() == '{"sample":"å","value":1.5,"list":[1,null]}\n{"sample":"second"}\n'.encode()


def test_a_second_writer_goes_on_behind_the_first(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    write_lines(path, [_line(0)])
    write_lines(path, [_line(1)])
    assert read_lines(path) == [_line(0), _line(1)]


def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    one, two = LineWriter(path), LineWriter(path)
    one.write(_line(0))
    two.write(_line(1))
    one.write(_line(2))
    one.close()
    two.close()
    assert read_lines(path) == [_line(0), _line(1), _line(2)]


def test_a_file_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    assert read_lines(tmp_path / "none.jsonl") == []


def test_a_number_that_json_does_not_know_is_refused_and_nothing_of_it_written(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    writer = LineWriter(path)
    with pytest.raises(ValueError, match="JSON"):
        writer.write({"sample": "s", "value": float("nan")})
    writer.close()
    assert path.read_bytes() == b""


def test_a_torn_last_line_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"sample":"s0"}\n{"sample":"s1"}')
    assert read_lines(path) == [_line(0)]


@pytest.mark.parametrize("torn", [1, 14, 65534, 65535, 65536, 65537, 131071, 131072, 200_000])
def test_a_torn_last_line_of_any_length_is_cut_off_before_the_next_is_written(tmp_path: Path, torn: int) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"sample":"s0"}\n{"sample":"s1"}\n' + b"x" * torn)
    write_lines(path, [_line(2)])
    assert path.read_bytes() == b'{"sample":"s0"}\n{"sample":"s1"}\n{"sample":"s2"}\n'


@pytest.mark.parametrize("torn", [1, 65536, 70_000])
def test_a_file_that_is_one_torn_line_starts_over(tmp_path: Path, torn: int) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"x" * torn)
    write_lines(path, [_line(0)])
    assert path.read_bytes() == b'{"sample":"s0"}\n'


def test_whole_lines_longer_than_a_block_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    long = {"sample": "s0", "text": "x" * 150_000}
    write_lines(path, [long])
    write_lines(path, [_line(1)])
    assert read_lines(path) == [long, _line(1)]


@pytest.mark.parametrize("wrong", [b"nonsense\n", b"[1]\n", b'"sample"\n', b'{"index":1}\n', b"\n"])
def test_a_whole_line_that_is_none_of_a_run_is_named_by_file_and_number(tmp_path: Path, wrong: bytes) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"sample":"s0"}\n' + wrong)
    with pytest.raises(BadInput, match=r"lines\.jsonl, line 2: not .*changed by hand"):
        list(LineReader(Named).all(path))


def test_a_write_that_the_system_cuts_short_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lines.jsonl"
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:3]))
    write_lines(path, [_line(0), _line(1)])
    assert path.read_bytes() == b'{"sample":"s0"}\n{"sample":"s1"}\n'


def test_a_closed_writer_holds_its_file_no_longer(tmp_path: Path) -> None:
    writer = LineWriter(tmp_path / "lines.jsonl")
    writer.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        writer.write(_line(0))


class Disk:
    """Stands in for fsync: each call waits to be let through, and is written down with the bytes it covered."""

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


async def test_settling_waits_until_the_disk_has_what_was_written(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "lines.jsonl"
    writer = LineWriter(path)
    writer.write(_line(0))
    settling = asyncio.create_task(writer.settle())
    await disk.busy()
    await _turns()
    assert not settling.done(), "the disk has not answered yet"
    disk.let(1)
    await settling
    writer.close()
    assert disk.syncs == [(path.stat().st_ino, path.stat().st_size)]
    assert threading.get_ident() not in disk.threads, "calls that are under way must not wait for the disk"


async def test_a_line_written_while_the_disk_is_busy_waits_for_the_next_turn(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "lines.jsonl"
    writer = LineWriter(path)
    writer.write(_line(0))
    first = asyncio.create_task(writer.settle())
    await disk.busy()
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
    assert [size for _, size in disk.syncs] == [path.stat().st_size // 2, path.stat().st_size]


async def test_many_that_wait_share_one_turn_of_the_disk(tmp_path: Path, disk: Disk) -> None:
    writer = LineWriter(tmp_path / "lines.jsonl")
    writer.write(_line(0))
    waiting = [asyncio.create_task(writer.settle())]
    await disk.busy()
    for number in range(1, 10):
        writer.write(_line(number))
        waiting.append(asyncio.create_task(writer.settle()))
        await _turns()
    disk.let(10)
    await asyncio.gather(*waiting)
    writer.close()
    assert len(disk.syncs) == 2, "one for the first line, one for the nine that came meanwhile"


async def test_what_is_on_the_disk_already_is_not_settled_again(tmp_path: Path, disk: Disk) -> None:
    writer = LineWriter(tmp_path / "lines.jsonl")
    disk.let(10)
    await writer.settle()
    assert disk.syncs == []
    writer.write(_line(0))
    await writer.settle()
    await writer.settle()
    assert len(disk.syncs) == 1
    writer.write(_line(1))
    await writer.settle()
    assert len(disk.syncs) == 2
    writer.close()


async def test_a_disk_that_fails_is_an_error_and_the_lines_stay_unsettled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fsync(file: int) -> None:
        asked.append(file)
        if len(asked) == 1:
            raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", fsync)
    writer = LineWriter(tmp_path / "lines.jsonl")
    writer.write(_line(0))
    with pytest.raises(OSError, match="full"):
        await writer.settle()
    await writer.settle()
    writer.close()
    assert len(asked) == 2
