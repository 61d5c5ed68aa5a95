"""Examples obtained by running the original code (docs/benchmarks/medical.md, "Finding the answer in a reply")."""

from __future__ import annotations

import pytest

from sketchmark.answers import boxed, tagged
from sketchmark.benchmarks.medical.medevalkit import (
    box_or_tag,
    judge_choice,
    judge_closed,
    judge_yes_no,
    parse_response,
)
from tests.tabled import tabled


def test_the_last_box_counts_and_a_missing_one_is_the_word_none() -> None:
    boxes = (
        "x",
        "\\boxed{A}",
        "\\boxed{{A}}",
        "\\boxed{A",
        "\\boxed{}",
        "\\boxed{ \\text{A} }",
        "\\boxed{A}\\boxed{B}",
    )
    assert [boxed(text) for text in boxes] == ["None", "A", "{A}", "None", "", "\\text{A}", "B"]


def test_tags_are_joined_and_their_absence_gives_the_whole_text() -> None:
    tags = ("<judge> 0 </judge>", "0", "<judge>0", "<judge>0</judge><judge>1</judge>", None, "")
    assert [tagged(text, "judge") for text in tags] == ["0", "0", "<judge>0", "0 1", "", ""]


@tabled
def test_parse_response_of_the_spec(response: str, parsed: str) -> None:
    assert parse_response(response) == parsed


def credited(options: list[str], response: str) -> str:
    """The gold letter that would have been called right."""
    letters = [letter for letter in "ABCDEFGHIJ"[: len(options)] if judge_choice(options, letter, response)]
    assert len(letters) == 1
    return letters[0]


CHAMBERS = ["A.Left atrium", "B.Right atrium", "C.Left ventricle", "D.Right ventricle"]


@tabled
def test_choice_judge_credits_what_the_original_credits(letter: str, response: str) -> None:
    assert credited(CHAMBERS, response) == letter


def test_a_null_reply_stops_the_original_choice_judge() -> None:
    with pytest.raises(AttributeError):
        judge_choice(CHAMBERS, "A", None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("response", "letter"), [("E", "E"), ("Echocardiogram", "E"), ("F", "A"), ("(E)", "A"), ("E)", "A"), ("", "A")]
)
def test_choice_judge_with_five_options(response: str, letter: str) -> None:
    options = ["A. D-dimer", "B. Troponin", "C. Chest radiograph", "D. CT angiogram", "E. Echocardiogram"]
    assert credited(options, response) == letter


@pytest.mark.parametrize("response", ["B", "B:Focal uptake pattern", "Focal uptake pattern"])
def test_choice_judge_with_options_lettered_by_the_data_set(response: str) -> None:
    options = [" A:Diffuse uptake pattern", " B:Focal uptake pattern", " C:No uptake", " D:Ring uptake"]
    assert credited(options, response) == "B"


@tabled
def test_yes_no_judge_looks_for_substrings(gold: str, right: list[str], wrong: list[str]) -> None:
    assert [reply for reply in right + wrong if judge_yes_no(gold, reply)] == right


@tabled
def test_closed_judge_does_not_strip(gold: str, right: list[str], wrong: list[str]) -> None:
    assert [reply for reply in right + wrong if judge_closed(gold, reply)] == right


@tabled
def test_the_run_loops_take_a_whole_box_else_the_tags_else_all(reply: object, found: str) -> None:
    assert box_or_tag(reply) == found
