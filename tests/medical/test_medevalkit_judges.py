"""Examples obtained by running the original code (docs/benchmarks/medical.md, "Finding the answer in a reply")."""

from __future__ import annotations

import pytest

from sketchmark.answers.reply import boxed, tagged
from sketchmark.benchmarks.medical.medevalkit import (
    box_or_tag,
    judge_choice,
    judge_closed,
    judge_yes_no,
    parse_response,
)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("x", "None"),
        ("\\boxed{A}", "A"),
        ("\\boxed{{A}}", "{A}"),
        ("\\boxed{A", "None"),
        ("\\boxed{}", ""),
        ("\\boxed{ \\text{A} }", "\\text{A}"),
        ("\\boxed{A}\\boxed{B}", "B"),
    ],
)
def test_the_last_box_counts_and_a_missing_one_is_the_word_none(text: str, content: str) -> None:
    assert boxed(text) == content


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("<judge> 0 </judge>", "0"),
        ("0", "0"),
        ("<judge>0", "<judge>0"),
        ("<judge>0</judge><judge>1</judge>", "0 1"),
        (None, ""),
        ("", ""),
    ],
)
def test_tags_are_joined_and_their_absence_gives_the_whole_text(text: str | None, content: str) -> None:
    assert tagged(text, "judge") == content


@pytest.mark.parametrize(
    ("response", "parsed"),
    [
        ("\\boxed{B}", "b"),
        ("boxed", "None"),
        ("<answer>A</answer><answer>B</answer>", "a b"),
        ("The final answer is: B", ": b"),
        ("answer: a answer: b", " b"),
        ("**Answer:** Yes", " yes"),
        ("Final answer: 3", " 3"),
        ("no pattern", "no pattern"),
        ("<answer>unterminated", "<answer>unterminated"),
        ("\\boxed{A} then \\boxed{B}", "b"),
    ],
)
def test_parse_response_of_the_spec(response: str, parsed: str) -> None:
    assert parse_response(response) == parsed


def credited(options: list[str], response: str) -> str:
    """The gold letter that would have been called right."""
    letters = [letter for letter in "ABCDEFGHIJ"[: len(options)] if judge_choice(options, letter, response)]
    assert len(letters) == 1
    return letters[0]


CHAMBERS = ["A.Left atrium", "B.Right atrium", "C.Left ventricle", "D.Right ventricle"]


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("B.", "B"),
        ("B. Right atrium", "B"),
        ("The answer is B.", "B"),
        ("Answer: B", "B"),
        ("**Answer:** B", "B"),
        ("答案: B", "B"),
        ("(B)", "B"),
        ("B)", "B"),
        ("**B**", "B"),
        ("Answer: (B)", "B"),
        ("\\boxed{B}", "B"),
        ("<answer>B</answer>", "B"),
        ("final answer is B", "B"),
        ("Option B", "A"),
        ("The answer is: B", "A"),
        ("The final answer is: B", "A"),
        ("\\boxed{\\text{B}}", "D"),
        ("\\boxed B", "A"),
        ("<think>A or B</think>B", "A"),
        ("The correct option is B because the wall is thin", "A"),
        ("<answer>A</answer> <answer>B</answer>", "A"),
        ("B or C", "B"),
        ("B\n\nBecause the wall is thin.", "B"),
        ("The wall is thin.\n\nB. Right atrium", "B"),
        ("right atrium", "B"),
        ("A chest x-ray shows the right ventricle", "D"),
        ("", "A"),
        ("None", "A"),
        ("I don't know", "D"),
        ("C: Left ventricle", "C"),
    ],
)
def test_choice_judge_credits_what_the_original_credits(response: str, letter: str) -> None:
    assert credited(CHAMBERS, response) == letter


def test_a_null_reply_stops_the_original_choice_judge() -> None:
    with pytest.raises(AttributeError):
        judge_choice(CHAMBERS, "A", None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("response", "letter"),
    [("E", "E"), ("Echocardiogram", "E"), ("F", "A"), ("(E)", "A"), ("E)", "A"), ("", "A")],
)
def test_choice_judge_with_five_options(response: str, letter: str) -> None:
    options = ["A. D-dimer", "B. Troponin", "C. Chest radiograph", "D. CT angiogram", "E. Echocardiogram"]
    assert credited(options, response) == letter


@pytest.mark.parametrize("response", ["B", "B:Focal uptake pattern", "Focal uptake pattern"])
def test_choice_judge_with_options_lettered_by_the_data_set(response: str) -> None:
    options = [" A:Diffuse uptake pattern", " B:Focal uptake pattern", " C:No uptake", " D:Ring uptake"]
    assert credited(options, response) == "B"


@pytest.mark.parametrize(
    ("gold", "response", "right"),
    [
        ("yes", "Yes.", True),
        ("no", "No", True),
        ("no", "normal", True),
        ("no", "There is nothing", True),
        ("no", "I do not know", True),
        ("yes", "The eyes are shown", True),
        ("yes", "Yes, it is abnormal", False),
        ("yes", "yes and no", False),
        ("yes", "", False),
        ("no", "\\boxed{No}", True),
        ("mild", "mild", False),
        ("no selection", "no selection", True),
        ("yes", "是", False),
    ],
)
def test_yes_no_judge_looks_for_substrings(gold: str, response: str, right: bool) -> None:
    assert judge_yes_no(gold, response) is right


@pytest.mark.parametrize(
    ("gold", "response", "right"),
    [
        ("CT", "ct.", True),
        ("CT", " CT", False),
        ("CT", "CT ", False),
        ("CT", "Answer: CT", False),
        ("CT", "It is CT", False),
        ("Yes", "yes", True),
        ("X-Ray", "x-ray", True),
        ("是", "是", True),
        ("是", "是。", False),
        ("No", "No\n", True),
    ],
)
def test_closed_judge_does_not_strip(gold: str, response: str, right: bool) -> None:
    assert judge_closed(gold, response) is right


def test_the_run_loop_hands_on_the_box_else_the_tag_else_everything() -> None:
    assert box_or_tag("so \\boxed{Yes}") == "Yes"
    assert box_or_tag("<answer>Yes</answer>") == "Yes"
    assert box_or_tag("Yes.") == "Yes."
    assert box_or_tag(None) == ""
    assert box_or_tag({"error": "x"}) == ""
