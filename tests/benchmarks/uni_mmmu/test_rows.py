"""Rows from files, folders and the hub's layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from sketchmark.benchmarks.uni_mmmu.puzzles import jigsaws, label_of
from sketchmark.errors import BadInput, DataMissing
from sketchmark.files.tables import as_picture, inside, rows
from sketchmark.worlds.maze import board as maze
from tests.benchmarks.uni_mmmu import published
from tests.tabled import tabled


@tabled
def test_text_files_give_rows(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    assert list(rows(tmp_path / name, hub="o/n")) == [{"a": "1", "b": "é"}, {"a": "2", "b": ""}]


def test_a_line_separator_inside_a_text_does_not_end_a_row(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"a": "one\u2028two\x85three"}\r\n{"a": "four"}\n', "utf-8")
    assert [row["a"] for row in rows(tmp_path / "x.jsonl", hub="o/n")] == ["one\u2028two\x85three", "four"]


def test_a_cell_may_be_longer_than_pythons_limit(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n" + "x" * 200_000 + "\n")
    assert [len(row["a"]) for row in rows(tmp_path / "x.csv", hub="o/n")] == [200_000]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", b"{}"),
        ("x.json", b"[1]"),
        ("x.json", b"\xff\xfe"),
        ("x.json", b"[" * 100_000),
        ("x.jsonl", b"{"),
        ("x.csv", b"a,b\n\xff,1\n"),
        ("x.parquet", b"no"),
        ("data.tar", b""),
    ],
)
def test_a_file_that_holds_no_rows_is_named(tmp_path: Path, name: str, text: bytes) -> None:
    (tmp_path / name).write_bytes(text)
    with pytest.raises(BadInput, match=name):
        list(rows(tmp_path / name, hub="o/n"))


def test_of_several_copies_of_a_file_one_is_read(tmp_path: Path) -> None:
    for folder in ("a/deep", "b"):
        published.write_parquet(tmp_path / folder / "x.parquet", [{"folder": folder}])
    assert list(rows(tmp_path, hub="o/n", files="somewhere/x.parquet")) == [{"folder": "b"}]


def test_a_path_that_was_named_and_is_not_there_is_an_error_and_not_a_download(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match="gone does not exist"):
        rows(tmp_path / "gone", hub="o/n")


def test_a_path_in_a_row_is_followed_only_inside_its_folder(tmp_path: Path) -> None:
    picture = maze.render(published.MAZES[0])
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "in.png").write_bytes(picture.data)
    (tmp_path / "out.png").write_bytes(picture.data)
    assert as_picture({"bytes": None, "path": "in.png"}, "row 0", tmp_path / "data") == picture
    for name in ("../out.png", str(tmp_path / "out.png")):
        with pytest.raises(BadInput, match=r"row 0: the path .* leads out of"):
            as_picture(name, "row 0", tmp_path / "data")
    with pytest.raises(BadInput, match="no picture, but a str"):
        as_picture("in.png", "row 0")
    assert inside(tmp_path, "data/in.png", "row 0").is_file()


def test_a_text_nested_deeper_than_python_reads_is_an_error_that_names_its_row(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="row 7: the label"):
        label_of("[" * 10_000, "row 7")
    (tmp_path / "metadata.json").write_text("[" * 10_000)
    with pytest.raises(BadInput, match=r"metadata\.json cannot be read"):
        list(jigsaws(seed=0, data=tmp_path, origin={}))
