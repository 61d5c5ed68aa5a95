"""Parquet files: rows are read as they are, and a file that would unpack to gigabytes is refused by its footer."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from sketchmark.errors import BadInput
from sketchmark.files import tables
from sketchmark.files.tables import file_rows


def written(path: Path, column: Any, **how: Any) -> Path:
    pq.write_table(pa.table({"question": column}), path, **{"compression": "zstd", **how})
    return path


def shared(value: Any, count: int) -> Any:
    """A value that is stored once and repeated."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array([value]))


def in_a_list(values: Any) -> Any:
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)


BOMBS: dict[str, Any] = {
    "one long text": lambda: shared("x" * 2**27, 16),
    "a long list of numbers": lambda: in_a_list(pa.array(np.zeros(10**7, np.int64))),
    "nothing but rows": lambda: pa.nulls(10**7, pa.string()),
    "a list of one text": lambda: in_a_list(shared("x" * 10**6, 2000)),
    "rows of one text": lambda: shared("x" * 60_000_000, 16),
    "a list of objects": lambda: in_a_list(pa.StructArray.from_arrays([shared(b"x" * 10**6, 2000)], ["bytes"])),
}
READING = """
import sys
from pathlib import Path
from sketchmark.files.tables import file_rows
try:
    print(len(list(file_rows(Path(sys.argv[1])))))
except Exception as error:
    print(error)
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads its peak memory in /proc")
@pytest.mark.parametrize("kind", BOMBS)
def test_a_small_file_that_unpacks_to_a_large_one_is_refused_before_that(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path / "bomb.parquet", BOMBS[kind]())
    assert path.stat().st_size < 30_000
    done = subprocess.run([sys.executable, "-c", READING, str(path)], capture_output=True, text=True, check=True)
    told, kilobytes = done.stdout.splitlines()
    assert "bomb.parquet is not read: " in told and "unpacks to gigabytes" in told
    assert int(kilobytes) < 400_000


PHOTO = os.urandom(300_000)


@pytest.mark.parametrize(
    "rows",
    [
        ["a", None, "ä" * 1000] * 100,
        [["A", "B"], None, [], ["C", None]] * 5000,
        [{"bytes": PHOTO, "path": "a.png"}, {"bytes": None, "path": None}] * 20,
        [[{"bytes": PHOTO, "path": "a.png"}] * 3, []] * 10,
        ["the same long instruction, again and again " * 100] * 5000,
        [PHOTO * 20] * 3,
        list(range(5000)),
        [dt.datetime(2026, 1, 2), None],
    ],
)
def test_rows_come_back_as_they_were_written(tmp_path: Path, rows: list[Any]) -> None:
    path = written(tmp_path / "rows.parquet", pa.array(rows), row_group_size=1500)
    assert [row["question"] for row in file_rows(path)] == rows
    with path.open("rb") as file:
        assert sum(1 for _ in tables._parquet(file)) == len(rows)


@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.duration("ms"), pa.timestamp("ms", "UTC")])
def test_a_time_that_python_does_not_have_is_one_line(tmp_path: Path, kind: Any) -> None:
    path = written(tmp_path / "late.parquet", pa.array([2**60], kind))
    with pytest.raises(BadInput, match=r"late\.parquet cannot be read as parquet: ") as told:
        list(file_rows(path))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("cut", [0, 3, 40, -9, -1])
def test_a_file_that_is_cut_or_no_parquet_is_one_line(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path / "cut.parquet", ["a"] * 9)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(BadInput, match=r"cut\.parquet cannot be read as parquet: "):
        list(file_rows(path))
