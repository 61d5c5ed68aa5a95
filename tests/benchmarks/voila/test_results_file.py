from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sketchmark.benchmarks.voila.results_file import pair
from sketchmark.errors import BadInput
from tests.benchmarks.voila.making import element, questions, right_answers, write_answers
from tests.tabled import tabled


def written(folder: Path, elements: Any) -> Path:
    path = folder / "results.json"
    path.write_text(json.dumps(elements))
    return path


def test_answers_are_joined_to_rows_by_number_whatever_their_order(tmp_path: Path) -> None:
    table = questions(tmp_path)
    answers = right_answers(table)
    shuffled = [element(i, answers[i]) for i in (5, 13, 0, 1, 2, 3, 4, 12, 11, 10, 9, 8, 7, 6)]
    paired = pair(written(tmp_path, shuffled), table)
    assert [list(item.answers.says) for item in paired.items] == answers
    assert (paired.missing, paired.surplus) == ([], [])


def test_missing_and_surplus_are_named_and_nothing_is_cut_off(tmp_path: Path) -> None:
    table = questions(tmp_path)
    answers = right_answers(table)
    elements = [element(i, answers[i]) for i in range(14) if i not in (3, 8)] + [element(14, ["", "", ""])]
    paired = pair(written(tmp_path, elements), table)
    assert len(paired.items) == 14
    assert (paired.missing, paired.surplus) == ([3, 8], [14])
    assert paired.items[3].answers.says == ("", "", "")


def test_the_published_scripts_form_is_read_too(tmp_path: Path) -> None:
    """`row_index` alone, as the script writes, and a list of texts, as its scorer expects."""
    table = questions(tmp_path)
    row = {f"query{i}": {"row_index": 2, "query": "?", "generated_text": text} for i, text in enumerate("abc")}
    listed = {f"query{i}": {"question": 3, "generated_text": [text, "x"]} for i, text in enumerate("abc")}
    paired = pair(written(tmp_path, [row, listed]), table)
    assert paired.items[2].answers.says == paired.items[3].answers.says == ("a", "b", "c")


def test_an_answer_that_is_no_text_is_empty(tmp_path: Path) -> None:
    one = element(0, ["a", "b", "c"])
    one["query1"]["generated_text"] = None
    one["query2"]["generated_text"] = []
    assert pair(written(tmp_path, [one]), questions(tmp_path)).items[0].answers.says == ("a", "", "")


def _mixed() -> dict[str, Any]:
    return {**element(0, ["a", "b", "c"]), "query1": element(1, ["a", "b", "c"])["query1"]}


@tabled
def test_what_is_no_results_file_is_refused_in_one_line(tmp_path: Path, elements: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        pair(written(tmp_path, elements), questions(tmp_path))


def test_a_picture_outside_the_folder_of_the_results_is_refused(tmp_path: Path) -> None:
    one = {**element(0, ["a", "b", "c"]), "query3": {"picture": "../../etc/passwd"}}
    with pytest.raises(BadInput, match="outside the folder"):
        pair(written(tmp_path, [one]), questions(tmp_path))


def test_a_broken_row_of_the_csv_is_named(tmp_path: Path) -> None:
    table = questions(tmp_path)
    table.write_text(table.read_text().replace("walking", "wandering"))
    with pytest.raises(BadInput, match=r"row \d+: '.*wandering.*' is not a scene"):
        pair(write_answers(tmp_path / "results.json", []), table)
