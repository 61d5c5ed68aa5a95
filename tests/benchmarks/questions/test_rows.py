"""Rows of question files: accepted forms, and messages for refused ones."""

from __future__ import annotations

import math
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Sample
from sketchmark.errors import BadInput
from tests.benchmarks.questions.files import jsonl, picture, samples
from tests.tabled import rows


def one(folder: Path, row: dict[str, Any] | str, data: Path | None = None, **arguments: str) -> Sample:
    (sample,) = samples(jsonl(folder / "q.jsonl", row), data, **arguments)
    return sample


@pytest.mark.parametrize(
    ("row", "target"),
    [*rows(__file__, "types"), ({"answer": "a cat", "tolerance": math.nan, "options": None}, {"type": "exact"})],
)
def test_the_type_follows_from_what_a_row_holds(tmp_path: Path, row: dict[str, Any], target: dict[str, Any]) -> None:
    found = one(tmp_path, {"question": "What?", **row}).target
    assert {name: found[name] for name in target} == target


def test_type_and_tolerance_for_the_whole_file_leave_rows_alone_that_say_otherwise(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"question": "a?", "answer": "x"},
        {"question": "b?", "answer": 7},
        {"question": "c?", "answer": "p", "options": ["p", "q"]},
        {"question": "d?", "answer": "y", "type": "exact"},
    ]
    path = jsonl(tmp_path / "q.jsonl", *rows)
    assert [sample.target["type"] for sample in samples(path, type="judged")] == ["judged"] * 2 + ["choice", "exact"]
    assert samples(path, tolerance="0.5")[1].target["tolerance"] == 0.5


BROKEN: list[tuple[dict[str, Any] | str, str]] = [
    *rows(__file__, "broken"),
    ({"question": "a" * 100_001, "answer": "x"}, "question has 100001 characters"),
    ({"question": "a?", "answer": "x", "images": ["in.png"] * 101}, "at most 100"),
]
BAD_IMAGES: dict[str, list[object]] = {
    "there is no picture 'none.png' in": ["none.png"],
    "not a picture": ["q.jsonl"],
    "broken png picture": ["torn.png"],
    "neither a path nor bytes": [7],
    "is an address, and nothing": ["https://example.org/a.png", "data:image/png;base64,AAAA"],
    "leads out of": ["file:///etc/passwd", "/etc/passwd", "../out.png", "link.png"],
    "there is no picture 'pipe.png'": ["pipe.png"],
    "there cannot be a picture": ["a\0b.png", "a" * 300],
    "over the limit": ["wide.png"],
}
BROKEN += [
    ({"question": "a?", "answer": "x", "image": image}, said) for said in BAD_IMAGES for image in BAD_IMAGES[said]
]


def _wide(png: bytes) -> bytes:
    """The same file, whose header says that it is 9000 pixels wide and high."""
    header = b"IHDR" + struct.pack(">II", 9000, 9000) + png[24:29]
    return png[:12] + header + struct.pack(">I", zlib.crc32(header)) + png[33:]


@pytest.mark.parametrize(("row", "said"), BROKEN)
def test_a_broken_row_is_refused_by_number_and_in_words(tmp_path: Path, row: dict[str, Any] | str, said: str) -> None:
    folder = tmp_path / "mine"
    picture(folder / "in.png")
    picture(tmp_path / "out.png")
    (folder / "wide.png").write_bytes(_wide((folder / "in.png").read_bytes()))
    (folder / "torn.png").write_bytes((folder / "in.png").read_bytes()[:20])
    (folder / "link.png").symlink_to(tmp_path / "out.png")
    os.mkfifo(folder / "pipe.png")
    fine = {"id": "fine", "question": "What?", "answer": "x", "pictures": "in.png"}
    path = jsonl(folder / "q.jsonl", fine, row)
    with pytest.raises(BadInput, match=rf"q\.jsonl: 1 of 2 rows are broken: row 2.*{said}.*sketchmark check"):
        samples(path)
    assert len(samples(jsonl(path, fine))) == 1


def test_a_picture_that_is_too_large_a_file_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "huge.png").open("wb") as file:
        file.truncate(50_000_001)
    with pytest.raises(BadInput, match="more than 50000000 bytes"):
        one(tmp_path, {"question": "a?", "answer": "x", "image": "huge.png"})


def test_two_rows_of_one_id_are_refused(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "q.jsonl", *({"id": "a", "question": f"{n}?", "answer": "x"} for n in range(2)))
    with pytest.raises(BadInput, match=r"row 2 \(a\): the id 'a' is already used by row 1"):
        samples(path)


def test_pictures_may_lie_under_data_or_be_named_by_a_local_address(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "mine", tmp_path / "elsewhere"
    picture(elsewhere / "a.png")
    inside = picture(folder / "b c.png")
    row = {"question": "a?", "answer": "x", "pictures": ["a.png", inside.as_uri(), str(elsewhere / "a.png")]}
    assert len(one(folder, row, elsewhere).pictures["visuals"]) == 3  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"no picture 'a\.png' in .*mine"):
        one(folder, row)
    with pytest.raises(BadInput, match="does not exist"):
        one(folder, row, tmp_path / "nowhere")


def test_a_link_that_stays_inside_is_followed(tmp_path: Path) -> None:
    picture(tmp_path / "real/a.png")
    (tmp_path / "link.png").symlink_to(tmp_path / "real/a.png")
    assert one(tmp_path, {"question": "a?", "answer": "x", "image": "link.png"}).pictures["visuals"]
