"""Question files of other tools, unchanged: VLMEvalKit's TSV, separate options, semicolons, Excel, Hugging Face."""

from __future__ import annotations

import base64
import csv
import json
from pathlib import Path

import pytest

import sketchmark
from sketchmark import Sample
from sketchmark.benchmarks.questions import rows
from sketchmark.benchmarks.questions.samples import QuestionFile
from tests.benchmarks.questions.files import picture
from tests.command_line import sketchmark as say


def in_base64(path: Path, size: int = 20) -> str:
    return base64.b64encode(picture(path, size=(size, size)).read_bytes()).decode()


def samples(path: Path) -> list[Sample]:
    file = QuestionFile(path, (path.parent,))
    return [file.sample(number, row, {}) for number, row in rows(path) if isinstance(row, dict)]


def vlmevalkit(folder: Path) -> Path:
    """Write a TSV file as VLMEvalKit's MMBench has it, with an image that two rows share."""
    first, second = in_base64(folder / "a.png"), in_base64(folder / "b.png", 30)
    head = ["index", "question", "hint", "A", "B", "C", "D", "answer", "category", "image", "source", "l2-category"]
    lines = [
        [241, "Which colour?", "Look at the middle.", "red", "blue", "", "", "B", "colour", first, "x", "y"],
        [252, "Which shape?", "", "circle", "square", "line", "dot", "A", "shape", "241", "x", "y"],
        [253, "Which is larger?", "", "left", "right", "", "", "A", "size", json.dumps([first, second]), "x", "y"],
    ]
    path = folder / "MMBench_DEV.tsv"
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter="\t").writerows([head, *lines])
    return path


def test_a_file_of_vlmevalkit_runs_unchanged(tmp_path: Path) -> None:
    path = vlmevalkit(tmp_path)
    colour, shape, larger = samples(path)
    assert colour.fields["question"] == "Hint: Look at the middle.\nWhich colour?"
    assert colour.fields["options"] == "A. red\nB. blue\n" and colour.target["answer"] == "B"
    assert shape.pictures["visuals"][0].identity == colour.pictures["visuals"][0].identity  # type: ignore[index]
    assert len(larger.pictures["visuals"]) == 2 and larger.groups["category"] == "size"  # type: ignore[arg-type]
    run = sketchmark.run("player/random", str(path), mode="direct,visual_cot", output_path=tmp_path / "run")
    assert run.results.tasks["MMBench_DEV.direct"].n == 3
    told = say("check", str(path)).stdout
    assert "3 questions, all in order" in told and "    A, B, C, D: the options, A to Z in their order" in told
    assert "    hint: a hint, shown before the question" in told and "not used: source, l2-category" in told


def test_image_paths_are_used_where_there_is_no_image_and_lists_may_be_python(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        picture(tmp_path / name)
    (tmp_path / "q.tsv").write_text(
        "index\tquestion\tA\tB\tanswer\timage_path\n1\twhich?\tx\ty\tB\t['a.png', 'b.png']\n"
    )
    (one,) = samples(tmp_path / "q.tsv")
    assert len(one.pictures["visuals"]) == 2 and one.target["answer"] == "B"  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "separator"), [("q.csv", ";"), ("q.csv", "\t"), ("q.tsv", ","), ("q.csv", ",")])
def test_the_separator_is_found_in_the_header(tmp_path: Path, name: str, separator: str) -> None:
    lines = [["question", "option_1", "option_2", "answer"], ["which, of two?", "x", "y", "y"]]
    with (tmp_path / name).open("w", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(lines)
    (one,) = samples(tmp_path / name)
    assert one.fields["question"] == "which, of two?" and one.target["answer"] == "B"


def test_a_workbook_of_excel_is_read(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in (["question", "answer", "category"], ["How many?", 7, "count"], [None, None, None]):
        book.active.append(line)
    book.save(tmp_path / "q.xlsx")
    (one,) = samples(tmp_path / "q.xlsx")
    assert one.target == {"type": "number", "answer": "7"} and one.groups["category"] == "count"
    (tmp_path / "bad.xlsx").write_bytes(b"no workbook")
    refused = say("check", "bad.xlsx", cwd=tmp_path)
    assert refused.returncode == 2 and "cannot be read as a workbook" in refused.stderr


def test_rows_with_image_features_and_other_types_are_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    image = {"bytes": picture(tmp_path / "a.png").read_bytes(), "path": "gone.png"}
    row = {"question": "Which?", "image": [image] * 2, "options": ["x", "y"], "answer": "A"}
    named = {**row, "question_type": "multi-choice-question"}
    open_ended = {**row, "options": [], "answer": "cat", "question_type": "open-ended"}
    parquet.write_table(pyarrow.Table.from_pylist([named, open_ended]), tmp_path / "q.parquet")
    choice, phrase = samples(tmp_path / "q.parquet")
    assert choice.target["type"] == "choice" and len(choice.pictures["visuals"]) == 2  # type: ignore[arg-type]
    assert phrase.target == {"type": "exact", "answer": "cat"}


def test_a_long_file_name_is_not_taken_for_an_image(tmp_path: Path) -> None:
    name = "a" * 200
    picture(tmp_path / f"{name}.png")
    (tmp_path / "q.jsonl").write_text(json.dumps({"question": "a?", "answer": "x", "image": f"{name}.png"}))
    assert len(samples(tmp_path / "q.jsonl")[0].pictures["visuals"]) == 1  # type: ignore[arg-type]
