"""MMSI-Bench's accuracy, and which letter of a reply it is given."""

from __future__ import annotations

import pytest

from sketchmark.parts import Sample
from sketchmark.scoring.letters import letter
from sketchmark.task import Grading
from sketchmark.tasks.mmsi.scoring import accuracy
from tests.episodes import episode

SAMPLE = Sample("x", target={"answer": "B"})


@pytest.mark.parametrize(("said", "right", "read"), [("``B``", 1.0, "B"), ("It is B.", 1.0, "B"), ("C", 0.0, "C")])
def test_the_letter_is_right_or_wrong(said: str, right: float, read: str) -> None:
    scores = accuracy(SAMPLE, episode("A", said), Grading())
    assert scores.values == {"accuracy": right}
    assert scores.notes == {"answer": read, "expected": "B"}
    assert not scores.unparsed


def test_no_letter_is_wrong_unparsed_and_noted() -> None:
    scores = accuracy(SAMPLE, episode("I cannot tell."), Grading())
    assert (scores.values, scores.unparsed) == ({"accuracy": 0.0}, True)
    assert scores.notes == {"answer": None, "expected": "B", "no_letter": "cannot find answer"}


def test_the_rules_asked_for_read_the_letter() -> None:
    assert accuracy(SAMPLE, episode("b"), Grading("strict")).unparsed
    assert accuracy(SAMPLE, episode("b"), Grading("lenient")).values == {"accuracy": 1.0}


@pytest.mark.parametrize(
    ("response", "found"),
    [
        ("A, or rather B", "A"),
        ("``A`` or ``B``", "A"),
        ("`A` or `B`", "A"),
        ("{A} or {B}", "A"),
        ("`A`, no: ``B``", "B"),
        ("{A}, no: `B`", "B"),
        ("A: {nothing}", None),
        ("AB", None),
        ("D", "D"),
        ("A\tcat or C", "C"),
        ("A 1", "A"),
        ("B is right", None),
        ("B; yes", "B"),
    ],
)
def test_the_first_letter_of_the_narrowest_mark_counts(response: str, found: str | None) -> None:
    assert letter(response) == found
