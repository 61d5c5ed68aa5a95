"""MMSI-Bench's accuracy and its published parsers. More replies are in tests/answers/corpus."""

from __future__ import annotations

import pytest

from sketchmark import Sample
from sketchmark.benchmarks.mmsi import accuracy, letter
from sketchmark.catalog import Catalog
from sketchmark.episode import Grading
from tests.benchmarks.mmsi.published import OPTIONS
from tests.episodes import episode
from tests.tabled import tabled

SAMPLE = Sample("x", fields={"question": f"Where to?\n{OPTIONS}"}, target={"answer": "B"})
TASKS = ["mmsi_attribute_appr", "mmsi_attribute_meas", "mmsi_motion_obj", "mmsi_motion_cam", "mmsi_msr", "mmsi_bench"]


@pytest.mark.parametrize("scoring", ["strict", "official", "lenient"])
@pytest.mark.parametrize(("said", "right", "read"), [("``B``", 1.0, "B"), ("It is B.", 1.0, "B"), ("C", 0.0, "C")])
def test_the_letter_is_right_or_wrong(said: str, right: float, read: str, scoring: str) -> None:
    scores = accuracy(SAMPLE, episode("A", said), Grading(scoring))
    assert scores.values == {"accuracy": right}
    assert scores.notes == {"answer": read, "expected": "B"}
    assert not scores.unparsed


@pytest.mark.parametrize("scoring", ["strict", "official", "lenient"])
def test_no_letter_is_wrong_unparsed_and_noted(scoring: str) -> None:
    scores = accuracy(SAMPLE, episode("I cannot tell."), Grading(scoring))
    assert (scores.values, scores.unparsed) == ({"accuracy": 0.0}, True)
    assert scores.notes == {"answer": None, "expected": "B", "no_letter": "cannot find answer"}


def test_where_the_question_does_not_list_the_right_option_letters_are_read_alone() -> None:
    asked = Sample("x", fields={"question": "Which picture, A or B?"}, target={"answer": "B"})
    assert accuracy(asked, episode("Answer: B"), Grading()).values == {"accuracy": 1.0}
    assert accuracy(asked, episode("North"), Grading()).unparsed


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_the_three_readings_and_strict_is_the_first(task: str) -> None:
    assert list(Catalog().task(task).declared.scorings) == ["strict", "official", "lenient"]


@tabled
def test_official_reads_the_first_letter_of_the_narrowest_mark(found: str | None, responses: list[str]) -> None:
    assert {letter(response, "official") for response in responses} == {found}


@pytest.mark.parametrize(
    ("response", "found"), [("E", "E"), ("b", "B"), ("``f``", "F"), ("e.g. C", "E"), ("G", None)]
)
def test_lenient_reads_a_to_f_in_either_case_with_its_known_fault(response: str, found: str | None) -> None:
    assert letter(response, "lenient") == found
