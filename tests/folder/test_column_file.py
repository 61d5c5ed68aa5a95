"""Columns of a run's lines, and the index that keeps them: it counts only if it was made from these lines."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from sketchmark.comparison import compare
from sketchmark.files import write_json
from sketchmark.files.jsonl import encode, seal
from sketchmark.folder import NUMBERS, SCORES, RunFolder
from sketchmark.folder.builders import RowBuilder, Source
from sketchmark.folder.column_file import place_of
from sketchmark.folder.columns import Rows
from sketchmark.folder.format import Score
from sketchmark.folder.index import RunView
from sketchmark.folder.records import newest
from sketchmark.report import page
from sketchmark.testing import played

CELL = "maze.visual_cot"


@pytest.fixture
def run(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """Return a copy of a run, with an index for any number of lines."""
    base = tmp_path_factory.getbasetemp()
    made = played(base, "player/sketcher", "maze", mode="direct,visual_cot", canvas="own,blank", limit=12)
    shutil.copytree(made.path, tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    write_json(folder.run_file, msgspec.structs.replace(folder.about(), limits={}))
    monkeypatch.setattr("sketchmark.folder.builders.WORTH", 1)
    return folder


def lines(folder: RunFolder) -> list[Score]:
    """Return the rows as the lines have them, without columns."""
    return list(newest(NUMBERS.all(folder.scores_file(CELL))).values())


def told(rows: Rows | list[Score]) -> list[tuple[object, ...]]:
    """Return what statistics use of rows."""
    return [
        (
            *(row.key, row.fingerprint, row.groups, row.scored, [row.value(name) for name in row.values], row.flags),
            *(row.usage, row.spent, row.scoring, row.judge, row.started, row.seconds, row.drawing_right, row.place),
        )
        for row in (rows if isinstance(rows, list) else rows.values())
    ]


def source(folder: RunFolder) -> Source[Score, Rows]:
    return Source(folder.scores_file(CELL), NUMBERS, RowBuilder, None)


def indexes() -> list[Path]:
    return sorted((Path(os.environ["XDG_CACHE_HOME"]) / "sketchmark" / "index").glob("*"))


def stored(folder: RunFolder) -> Path:
    """Make the index of the score file and return it."""
    found = source(folder)
    found.refresh()
    place = place_of(found.path, Rows, None)
    assert place.exists()
    return place


def rewrite(folder: RunFolder, change: Callable[[dict[str, object]], None], *, keep_time: bool = True) -> None:
    """Change the third line in place, with the same length and time."""
    path, before = folder.scores_file(CELL), folder.scores_file(CELL).stat()
    rows = path.read_bytes().splitlines(keepends=True)
    row = msgspec.json.decode(rows[2])
    row.pop("crc")
    change(row)
    rows[2] = seal(encode(row))
    with path.open("r+b") as file:
        file.write(b"".join(rows))
    if keep_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_columns_hold_what_the_lines_hold_with_and_without_an_index(run: RunFolder) -> None:
    expected = told(lines(run))
    assert told(run.scored(CELL)) == expected  # makes the index
    assert indexes()
    assert told(run.scored(CELL)) == expected  # uses it
    assert list(run.scored(CELL)) == [row.key for row in lines(run)]


def test_an_index_that_fits_is_used(run: RunFolder) -> None:
    place = stored(run)
    data = place.read_bytes()
    begin = 19 + 12 + int.from_bytes(data[19:27], "little")
    header = msgspec.json.decode(data[31:begin])
    header["lists"]["flags"] = [["planted"] for _ in header["lists"]["flags"]]
    head = msgspec.json.encode(header)
    head += b" " * (-(31 + len(head)) % 8)
    place.write_bytes(
        data[:19] + len(head).to_bytes(8, "little") + zlib.crc32(head).to_bytes(4, "little") + head + data[begin:]
    )
    assert run.scored(CELL).flag_counts() == {"planted": 12}, "otherwise no test here shows anything"


def test_numbers_are_the_same_to_the_last_digit(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def everything() -> list[str]:
        compared = compare(run.path, power=0.1)
        return [compared.details(), repr(compared.rows), repr(compared.canvases), page(RunView.whole(run))]

    monkeypatch.setattr("sketchmark.folder.builders.WORTH", 10**9)
    direct = everything()
    assert not indexes()
    monkeypatch.setattr("sketchmark.folder.builders.WORTH", 1)
    assert everything() == direct
    assert len(indexes()) == 6
    assert everything() == direct


def _flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def _hostile(data: bytes) -> Iterator[bytes]:
    """Yield indexes with right checksums that no lines make."""
    begin = 19 + 12 + int.from_bytes(data[19:27], "little")
    whole, body = msgspec.json.decode(data[31:begin]), data[begin:]
    for name, value in (
        ("rows", 10**12),
        ("rows", -1),
        ("arrays", {"index": ["|O", 12]}),
        ("arrays", {"index": ["<i8", 10**15]}),
        ("arrays", {"index": ["|i1", -5]}),
        ("arrays", {}),
        ("lists", {"kinds": [], "flags": []}),
        ("lists", {}),
        ("state", [whole["state"][0], 10**15, *whole["state"][2:]]),
        ("state", [[1, 2, 3], *whole["state"][1:3], 0]),
        ("kind", "Episodes"),
    ):
        head = msgspec.json.encode({**whole, name: value})
        yield (data[:19] + len(head).to_bytes(8, "little") + zlib.crc32(head).to_bytes(4, "little") + head + body)


def test_a_damaged_or_hostile_index_is_made_again(run: RunFolder) -> None:
    place, expected = stored(run), told(lines(run))
    good = place.read_bytes()
    bad = [b"", good[:7], good[:40], good[: len(good) // 2], good[:-1], good + b"more", b"\0" * len(good)]
    bad += [_flipped(good, at) for at in (3, 20, 29, 60, len(good) - 3)]
    bad += [good[:19] + (2**63).to_bytes(8, "little") + good[27:], *_hostile(good)]
    for number, data in enumerate(bad):
        place.write_bytes(data)
        assert told(run.scored(CELL)) == expected, number
        assert place.read_bytes() == good, f"{number} was not made again"


def test_a_link_or_a_folder_in_place_of_the_index_is_not_followed(run: RunFolder, tmp_path: Path) -> None:
    place, expected = stored(run), told(lines(run))
    elsewhere = tmp_path / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    assert told(run.scored(CELL)) == expected and elsewhere.read_bytes() == before
    place.unlink()
    place.mkdir()
    assert told(run.scored(CELL)) == expected


def test_the_index_of_another_folder_is_not_used(run: RunFolder, tmp_path: Path) -> None:
    shutil.copytree(run.path, tmp_path / "other")
    other = RunFolder(tmp_path / "other")
    rewrite(other, lambda row: row.update(fingerprint=str(row["fingerprint"])[::-1]))
    theirs = stored(other)
    shutil.copy(theirs, stored(run))
    assert told(run.scored(CELL)) == told(lines(run)) != told(lines(other))


def test_a_line_changed_in_place_with_its_old_time_is_noticed(run: RunFolder) -> None:
    stored(run)
    before = told(lines(run))
    rewrite(run, lambda row: row.update(fingerprint=str(row["fingerprint"])[::-1]))
    assert told(run.scored(CELL)) == told(lines(run)) != before


def test_lines_that_were_added_or_removed_are_noticed(run: RunFolder) -> None:
    stored(run)
    path = run.scores_file(CELL)
    rows = list(SCORES.all(path))
    whole = path.read_bytes()
    again = msgspec.structs.replace(rows[4], flags=["unparsed"], values={"new": 0.25}, groups={"kind": [1, None]})
    later = msgspec.structs.replace(rows[0], sample="later", index=99, repeat=2, usage={"tokens_in": 2**52})
    path.write_bytes(whole + seal(encode(again)) + seal(encode(later)) + b'{"torn')
    assert told(run.scored(CELL)) == told(lines(run))
    assert list(run.scored(CELL))[-1] == "later (repeat 2)"
    path.write_bytes(whole[: len(whole) // 2])
    assert told(run.scored(CELL)) == told(lines(run))
    path.unlink()
    assert len(run.scored(CELL)) == 0


def test_another_limit_needs_another_index(run: RunFolder) -> None:
    stored(run)
    limited = Source(run.scores_file(CELL), NUMBERS, RowBuilder, 5).refresh().columns
    assert list(limited) == [row.key for row in lines(run)][:5]
    assert len(run.scored(CELL)) == 12


def test_a_live_run_is_followed_and_a_replaced_file_read_again(run: RunFolder) -> None:
    path = run.scores_file(CELL)
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:5]))
    following, other = source(run).refresh(), source(run).refresh()
    assert following.version == 5
    with path.open("ab") as file:
        file.write(b"".join(whole[5:]))
    assert following.refresh().version == 12
    assert told(following.columns) == told(other.refresh().columns) == told(lines(run))
    path.write_bytes(whole[0])
    assert len(following.refresh().columns) == 1
    path.unlink()
    path.write_bytes(b"".join(whole[1:3]))
    assert told(following.refresh().columns) == told(lines(run))


def test_a_file_left_by_a_killed_writer_is_not_read(run: RunFolder) -> None:
    place = stored(run)
    half = place.read_bytes()[:300]
    place.unlink()
    left = place.with_name(f".{place.name}.999999.1")
    left.write_bytes(half)
    assert told(run.scored(CELL)) == told(lines(run))
    assert place.exists()


def test_without_a_place_for_the_index_the_lines_are_read(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(path for path in run.path.rglob("*"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(run.run_file))
    for _ in range(2):
        assert told(run.scored(CELL)) == told(lines(run))
    assert sorted(path for path in run.path.rglob("*")) == before


def test_a_damaged_line_is_refused_by_its_number_and_leaves_no_index(run: RunFolder) -> None:
    path = run.scores_file(CELL)
    path.write_bytes(path.read_bytes().replace(b'"scored":true', b'"scored":trux', 1))
    with pytest.raises(Exception, match=r"line 1: not what was written"):
        run.scored(CELL)
    assert not indexes()
