"""The same questions as JSONL, CSV and parquet are the same samples."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sketchmark.benchmarks.questions import task_name
from sketchmark.errors import BadInput
from sketchmark.folder import is_cell_name
from sketchmark.media import Picture
from tests.benchmarks.questions.files import jsonl, picture, samples, table
from tests.tabled import rows, tabled

pyarrow = pytest.importorskip("pyarrow")

ROWS: list[dict[str, Any]] = rows(__file__, "samples")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    picture(tmp_path / "p/1.png")
    picture(tmp_path / "p/2.png", "blue")
    return tmp_path


def parquet(path: Path, rows: list[dict[str, object]]) -> Path:
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def test_the_three_forms_hold_the_same_samples(folder: Path) -> None:
    names = list(dict.fromkeys(name for row in ROWS for name in row))
    found = [
        samples(jsonl(folder / "q.jsonl", *ROWS)),
        samples(table(folder / "q.csv", ROWS)),
        samples(parquet(folder / "q.parquet", [{name: row.get(name) for name in names} for row in ROWS])),
    ]
    assert [[sample.fingerprint() for sample in one] for one in found[1:]] == [
        [sample.fingerprint() for sample in found[0]]
    ] * 2
    first, second, third = found[0]
    assert first.fields["options"] == "A. red\nB. blue\n" and first.target["answer"] == "B"
    assert len(first.pictures["visuals"]) == 2  # type: ignore[arg-type]
    assert second.target == {"type": "number", "answer": "7", "tolerance": 0.5}
    assert second.groups["category"] == "sum"
    assert third.target["answer"] == ["Ada", "Ada Lovelace"] and third.groups == {"cluster": "k"}
    assert third.fields["generation_prompt"] == "Draw her." and third.fields["variant"] == "own"


def test_a_table_may_separate_by_bars_or_tabs(folder: Path) -> None:
    (folder / "q.tsv").write_text(
        "Question\tImage Path\tChoices\tAnswer\nWhich?\tp/1.png | p/2.png\tred | dark, blue\tB\n", "utf-8"
    )
    (sample,) = samples(folder / "q.tsv")
    assert sample.id == "row-1"
    assert sample.target == {"type": "choice", "answer": "B", "options": ["red", "dark, blue"]}
    assert len(sample.pictures["visuals"]) == 2  # type: ignore[arg-type]


def test_lines_that_a_spreadsheet_leaves_empty_are_no_questions(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("id,question,answer\na,Who?,Ada\n,,\nb,When?,1843\n, ,\n,,\n", "utf-8")
    assert [sample.id for sample in samples(tmp_path / "q.csv")] == ["a", "b"]


@pytest.mark.parametrize("name", ["X.TSV", "my file ü.CSV", "q.JSONL", "q.Parquet"])
def test_an_ending_in_capitals_is_the_same_ending(tmp_path: Path, name: str) -> None:
    row: dict[str, object] = {"question": "Who?", "answer": "Ada"}
    if name.endswith("Parquet"):
        parquet(tmp_path / name, [row])
    elif name.endswith("JSONL"):
        jsonl(tmp_path / name, row)
    else:
        between = "\t" if name.endswith("TSV") else ","
        (tmp_path / name).write_text(f"question{between}answer\nWho?{between}Ada\n", "utf-8")
    (sample,) = samples(tmp_path / name)
    assert sample.target["answer"] == "Ada"


def test_files_without_a_latin_letter_in_their_names_are_tasks_of_their_own() -> None:
    names = [task_name(Path(name)) for name in ("数据.tsv", "问题.tsv", "数据.csv", "größe 2.csv")]
    assert names[0] == names[2] != names[1] and names[3] == "gr_e_2"
    assert all(is_cell_name(f"{name}.direct") for name in names)


def test_a_row_with_more_cells_than_columns_is_broken(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("question,answer\nWho, then?,Ada\n", "utf-8")
    with pytest.raises(BadInput, match="row 1: more cells than there are columns"):
        samples(tmp_path / "q.csv")


def test_a_file_that_is_a_link_to_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/q.jsonl").symlink_to(jsonl(tmp_path / "q.jsonl", *ROWS[2:]))
    with pytest.raises(BadInput, match="name the file itself"):
        samples(tmp_path / "mine/q.jsonl")


def test_pictures_in_a_parquet_file_are_taken_as_they_are(folder: Path) -> None:
    red, blue = (folder / "p/1.png").read_bytes(), (folder / "p/2.png").read_bytes()
    rows: list[dict[str, object]] = [
        {"question": "What?", "image": {"bytes": red, "path": "no/such.png"}, "answer": "red"},
        {"question": "And this?", "image": {"bytes": None, "path": "p/2.png"}, "answer": "blue"},
    ]
    found = [sample.pictures["visuals"] for sample in samples(parquet(folder / "q.parquet", rows))]
    assert found == [[Picture.from_bytes(red)], [Picture.from_bytes(blue)]]
    plain = parquet(folder / "plain.parquet", [{"question": "What?", "images": [red, blue], "answer": "x"}])
    (sample,) = samples(plain)
    assert sample.pictures["visuals"] == [Picture.from_bytes(red), Picture.from_bytes(blue)]


def test_questions_about_one_picture_are_one_cluster_unless_the_file_says_otherwise(folder: Path) -> None:
    rows = [{"question": f"{n}?", "image": f"p/{1 + n // 2}.png", "answer": "x"} for n in range(3)]
    a, b, c = (sample.groups["cluster"] for sample in samples(jsonl(folder / "q.jsonl", *rows)))
    assert a == b != c


@tabled
def test_a_file_that_cannot_be_read_at_all_is_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    import sketchmark

    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=said):
        sketchmark.run("player/random", str(tmp_path / name), output_path=tmp_path / "out")


_COUNTED = """
import resource, sys
from sketchmark.catalog import Catalog
count = sum(1 for _ in Catalog().task(sys.argv[1]).samples())
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_a_long_file_is_never_held_in_memory(tmp_path: Path) -> None:
    """100,000 rows of a kilobyte each are looked at, then given out; only their ids are kept."""
    filler, most = "why " * 250, {}
    for wanted in (1_000, 100_000):
        with (tmp_path / "long.jsonl").open("w", encoding="utf-8") as file:
            for number in range(wanted):
                file.write(
                    json.dumps({"id": number, "question": filler, "options": ["a", "b"], "answer": "b"}) + "\n"
                )
        arguments = [sys.executable, "-c", _COUNTED, str(tmp_path / "long.jsonl")]
        count, kilobytes = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.split()
        assert int(count) == wanted
        most[wanted] = int(kilobytes)
    assert (tmp_path / "long.jsonl").stat().st_size > 100_000_000
    assert most[100_000] - most[1_000] < 35_000
