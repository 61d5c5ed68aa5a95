"""MMSI-Bench's accuracy, and which letter of a reply each scoring is given."""

from __future__ import annotations

import pytest

from sketchmark.benchmarks.mmsi import accuracy
from sketchmark.catalog import Catalog
from sketchmark.episode import Grading
from sketchmark.episode.sample import Sample
from tests.episodes import episode
from tests.mmsi.published import OPTIONS

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


@pytest.mark.parametrize(
    ("said", "strict", "official", "lenient"),
    [
        ("b", "B", None, "B"),
        ("Forward to the left", "B", None, None),
        ("From point A the door is near. The answer is B.", "B", "B", "B"),
        ("I went from A, the door, to the sofa. The answer is B.", "B", "A", "A"),
        ("Compare `image 1` with `image 2`.\n\nAnswer: B", "B", None, None),
        ("e.g. the lamp moved. Answer: B", "B", "B", "E"),
        ("A or B", None, "B", "B"),
        ("E", None, None, "E"),
    ],
)
def test_strict_reads_what_is_meant_and_the_others_what_the_published_programs_read(
    said: str, strict: str | None, official: str | None, lenient: str | None
) -> None:
    read = [
        accuracy(SAMPLE, episode(said), Grading(name)).notes["answer"] for name in ("strict", "official", "lenient")
    ]
    assert read == [strict, official, lenient]


def test_where_the_question_does_not_list_the_right_option_letters_are_read_alone() -> None:
    asked = Sample("x", fields={"question": "Which picture, A or B?"}, target={"answer": "B"})
    assert accuracy(asked, episode("Answer: B"), Grading()).values == {"accuracy": 1.0}
    assert accuracy(asked, episode("North"), Grading()).unparsed


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_the_three_readings_and_strict_is_the_first(task: str) -> None:
    assert list(Catalog().task(task).declared.scorings) == ["strict", "official", "lenient"]
