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


def one(folder: Path, row: dict[str, Any] | str, data: Path | None = None, **arguments: str) -> Sample:
    (sample,) = samples(jsonl(folder / "q.jsonl", row), data, **arguments)
    return sample


@pytest.mark.parametrize(
    ("row", "target"),
    [
        ({"options": ["red", "blue"], "answer": "B"}, {"type": "choice", "answer": "B"}),
        ({"options": ["red", "blue"], "answer": "(b)"}, {"type": "choice", "answer": "B"}),
        ({"options": ["red", "blue"], "answer": "Blue."}, {"type": "choice", "answer": "B"}),
        ({"choices": {"A": "red", "B": "blue"}, "label": "blue"}, {"type": "choice", "answer": "B"}),
        ({"options": ["A. red", "B. blue"], "answer": "red"}, {"answer": "A", "options": ["red", "blue"]}),
        ({"options": ["A. red", "B. blue"], "answer": "B. blue"}, {"answer": "B", "options": ["red", "blue"]}),
        ({"options": ["red", "blue"], "answer": "(B) Blue"}, {"answer": "B"}),
        ({"options": "[1, 2, 3]", "answer": 2}, {"answer": "B", "options": ["1", "2", "3"]}),
        (
            {"question": "A. left B. right", "answer": "B"},
            {"answer": "B", "options": {"A": "left", "B": "right"}},
        ),
        (
            {"question": "A. left B. right", "answer": "B. right"},
            {"answer": "B", "options": {"A": "left", "B": "right"}},
        ),
        ({"question": "A. left B. right", "answer": "B. left"}, {"type": "exact", "answer": "B. left"}),
        ({"answer": 3}, {"type": "number", "answer": "3"}),
        ({"answer": "1,200"}, {"type": "number", "answer": "1,200"}),
        ({"answer": 30, "tolerance": "10%"}, {"type": "number", "tolerance": 3.0}),
        ({"answer": True}, {"type": "yes_no", "answer": True}),
        ({"answer": "No"}, {"type": "yes_no", "answer": False}),
        ({"answer": "TRUE"}, {"type": "yes_no", "answer": True}),
        ({"answer": "false", "type": "yes_no"}, {"type": "yes_no", "answer": False}),
        ({"answer": "a cat"}, {"type": "exact", "answer": "a cat"}),
        ({"answer": "a cat", "tolerance": math.nan, "options": None}, {"type": "exact", "answer": "a cat"}),
        ({"answer": "7", "type": "exact"}, {"type": "exact", "answer": "7"}),
        ({"answer": '["a cat", "cat"]'}, {"type": "exact", "answer": ["a cat", "cat"]}),
        ({"answer": '["[3, 4]"]'}, {"type": "exact", "answer": "[3, 4]"}),
        ({"answer": "It falls. | It drops.", "type": "judged"}, {"answer": ["It falls.", "It drops."]}),
        ({"gt": ["a cat", "cat"]}, {"type": "exact", "answer": ["a cat", "cat"]}),
        ({"answer": "It falls.", "type": "judged"}, {"type": "judged", "answer": "It falls."}),
        ({"answer": "B", "prompt": "not used"}, {"type": "exact", "answer": "B"}),
    ],
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
    ("{torn", "not valid JSON"),
    ("[1, 2]", "a list, not an object"),
    ('{"question": "a", "question": "b", "answer": 1}', "'question' appears twice"),
    ({"answer": "x"}, "no question"),
    ({"question": " ", "answer": "x"}, "no question"),
    ({"question": ["a"], "answer": "x"}, "question is a list, not text"),
    ({"question": "a" * 100_001, "answer": "x"}, "question has 100001 characters"),
    ({"question": "a?"}, "no answer"),
    ({"question": "a?", "answer": None}, "no answer"),
    ({"question": "a?", "answer": "..."}, "has no words"),
    ({"question": "a?", "answer": "[]"}, "has no words"),
    ({"question": "a?", "answer": "cat|dog"}, "without blanks around it"),
    ({"question": "a?", "answer": "[3, 4]"}, "can be one or a list"),
    ({"question": "a?", "answer": "[0, 1)"}, "not a JSON list"),
    (
        {"question": "a?", "options": ["A. x", "B. y"], "answer": "B. x"},
        "neither a letter nor the text of its 2 options",
    ),
    ({"question": "a?", "options": ["x", "y"], "answer": "C. y"}, "neither a letter nor the text of its 2 options"),
    ({"question": "a?", "answer": {"x": 1}}, "answer is an object, not text"),
    ({"question": "a?", "options": ["x"], "answer": "x"}, "1 option"),
    ({"question": "a?", "options": "x, y", "answer": "x"}, "separated by ` \\| `"),
    ({"question": "a?", "options": "x|y", "answer": "x"}, "without blanks around it"),
    ({"question": "a?", "options": "['x', 'y'", "answer": "x"}, "not a JSON list"),
    ({"question": "a?", "options": ["x", "x"], "answer": "x"}, "appears twice"),
    ({"question": "a?", "options": ["x", ""], "answer": "x"}, "an option is empty"),
    ({"question": "a?", "options": {"1": "x", "2": "y"}, "answer": "x"}, "by the letters 1, 2"),
    ({"question": "a?", "options": ["x", "y"], "answer": "C"}, "neither a letter nor the text of its 2 options"),
    ({"question": "a?", "options": ["x", "y"], "label": 1}, "option numbers are not accepted"),
    ({"question": "a?", "options": ["x", "y"], "answer": ["A", "B"]}, "answer is a list, not text"),
    ({"question": "a?", "options": ["B", "A", "C"], "answer": "A"}, "can be the options A and B"),
    ({"question": "a?", "answer": "x", "type": "choice"}, "a choice without options"),
    ({"question": "a?", "answer": "x", "type": "spatial"}, "goes into a column `category`"),
    ({"question": "a?", "options": ["x", "y"], "answer": "x", "type": "exact"}, "options, but the type is exact"),
    ({"question": "a?", "answer": "x", "type": "number"}, "'x' is not a number"),
    ({"question": "a?", "answer": "x", "tolerance": 1}, "'x' is not a number"),
    ({"question": "a?", "answer": 1, "tolerance": -1}, "not a number of at least 0"),
    ({"question": "a?", "answer": 1, "tolerance": "near"}, "not a number of at least 0"),
    ({"question": "a?", "answer": "x", "type": "exact", "tolerance": 1}, "a tolerance, but the type is exact"),
    ({"question": "a?", "answer": "maybe", "type": "yes_no"}, "neither yes nor no"),
    ({"question": "a?", "gt": "x", "label": "y"}, "'gt' and 'label' can each be the answer"),
    ({"question": "a?", "Answer": "x", "answer": "y"}, "'Answer' and 'answer' can each be the answer"),
    ({"question": "a?", "anwser": "x"}, "did you mean answer"),
    ({"question": "a?", "A": "x", "C": "y", "answer": "A"}, "seem to hold one option each, with gaps"),
    (
        {"question": "a?", "option_1": "x", "option_3": "y", "answer": "x"},
        "without gaps, or use one column `options`",
    ),
    ({"id": "a" * 201, "question": "a?", "answer": "x"}, "id has 201 characters"),
    ({"id": True, "question": "a?", "answer": "x"}, "id is true or false, not text"),
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
