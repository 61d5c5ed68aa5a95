"""The strict outcome of the multiple-choice replies that the published judges stumble over, and of many more."""

from __future__ import annotations

import pytest

from sketchmark.answers.choices import read_choice, read_choices
from sketchmark.errors import BadInput

CHAMBERS = ["Left atrium", "Right atrium", "Left ventricle", "Right ventricle"]


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        # replies to MedEvalKit's judge
        *((text, "B") for text in ("B", "b", "B.", "B. Right atrium", "The answer is B.", "Answer: B")),
        *((text, "B") for text in ("**Answer:** B", "答案: B", "(B)", "B)", "**B**", "Answer: (B)", "\\boxed{B}")),
        *((text, "B") for text in ("<answer>B</answer>", "final answer is B", "Option B", "The answer is: B")),
        *((text, "B") for text in ("The final answer is: B", "\\boxed{\\text{B}}", "\\boxed B")),
        ("<think>A or B</think>B", "B"),
        ("The correct option is B because the wall is thin", "B"),
        ("<answer>A</answer> <answer>B</answer>", "B"),
        ("B or C", None),
        ("B\n\nBecause the wall is thin.", "B"),
        ("The wall is thin.\n\nB. Right atrium", "B"),
        ("right atrium", "B"),
        ("A chest x-ray shows the right ventricle", "D"),
        ("", None),
        ("None", None),
        ("I don't know", None),
        (None, None),
        ("C: Left ventricle", "C"),
        # the shapes people meet elsewhere
        ({"error": "timeout"}, None),
        ("   \n", None),
        ("`B`", "B"),
        ("[B]", "B"),
        ("Ｂ", "B"),
        ("（B）", "B"),
        ("答案是B。", "B"),
        ("选B", "B"),
        ("The answer is **(B)**.", "B"),
        ("**Final Answer: B**", "B"),
        ("Answer:\nB", "B"),
        ("answer = B", "B"),
        ("The answer is option B", "B"),
        ("The answer is b.", "B"),
        ("the answer is a dilated chamber", None),
        ("The answer is A dilated chamber", None),
        ("The answer is A because the wall is thin", "A"),
        ("The answer is A Left atrium", "A"),
        ("The answer is right atrium.", "B"),
        ("Answer: Left ventricle (C)", "C"),
        ("The answer is A or B", None),
        ("The answer is A and C", None),
        ("The answer is not B", None),
        ("The answer is C, not B", "C"),
        ("A is wrong, B is correct.", "B"),
        ("I choose C.", "C"),
        ("It is C", "C"),
        ("I would go with D", "D"),
        ("B Right atrium", "B"),
        ("The left atrium and the right ventricle are shown", None),
        ("This is the right atrium, not the left atrium", "B"),
        ("A. Left atrium\nB. Right atrium\nC. Left ventricle\nD. Right ventricle", None),
        ("A. Left atrium: too thin\nB. Right atrium: fits\n\nB", "B"),
        ("Let me look at (A) and (C). The answer is (C).", "C"),
        ("I see vitamin D deficiency and hepatitis B infection", None),
        ("The finding is B cell lymphoma", None),
        ("<answer>none of these</answer> I considered (A)", None),
        ("<think>It could be A", None),
        ("reasoning about A</think>C", "C"),
        ("so the chamber is \\boxed{\\textbf{(D)}}.", "D"),
        ("$\\boxed{C}$", "C"),
        ("\\boxed{B", "B"),
        ("\\boxed{Right atrium}", "B"),
        ("E", None),
        ("AB", None),
        ("Answer: A\n\nOn reflection, Answer: C", "C"),
        ("Both", None),
        ("Among the options, (A) is wrong, (B) is wrong, (D) is wrong. So (C).", "C"),
        ("I would rule out A, B and D, leaving C.", "C"),
        ("Answer - C", "C"),
        ("Answer → C", "C"),
        ("应该选择C选项", "C"),
        ('{"answer": "C"}', "C"),
        ("### Answer\nC", "C"),
        ("The answer is D? No wait, the answer is C.", "C"),
        ("C or D, most likely C", None),
        ("In panel B, the arrow is pointing to the right ventricle.", "D"),
        ("an answer-based choice", None),
        ("A: too thin. B: fits. C: too thick. D: no", None),
        ("A) Left atrium B) Right atrium C) Left ventricle D) Right ventricle", None),
        ("It is either B or C. I choose C.", "C"),
        ("### B", "B"),
        ("So A is wrong.", None),
        ("Hence option C is incorrect.", None),
        ("We can say A is not right, so it is D.", "D"),
        ("I think B", "B"),
        ("I think a murmur is heard", None),
        ("I am not sure, but probably D.", "D"),
        ("A patient with B cell lymphoma: answer C", "C"),
    ],
)
def test_a_reply_is_read_as_the_option_it_commits_to(response: object, letter: str | None) -> None:
    assert read_choice(response, CHAMBERS).value == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        # replies to MMMU's parsers: options Right Atrium, Left Atrium, Right Ventricle, Left Ventricle
        *((text, "B") for text in ("B", "(B)", "B.", "B,", "'B'", "Answer: B", "The answer is B.")),
        *(
            (text, "B")
            for text in ("b", "B: Left Atrium", "B) Left Atrium", "**B**", "Left Atrium", "B. Left Atrium")
        ),
        ("", None),
        ("The answer is (B), not (A)", "B"),
        ("A or B", None),
        ("I would pick A but the answer is B here", "B"),
        ("The chamber shown in this image is the left atrium", "B"),
        ("A chest X-ray with the left atrium enlarged", "B"),
        ("\\boxed{B}", "B"),
        ("<answer>B</answer>", "B"),
        ("The answer is $\\boxed{\\text{B}}$", "B"),
        (None, None),
        ("None of the above applies to the DNA shown here", None),
        ("I think it is B. DNA is not visible", "B"),
        ("Answer: B. DNA", "B"),
        ("Let me think.\nAnswer: (B) Because", "B"),
    ],
)
def test_mmmu_replies_are_read_without_guessing(response: object, letter: str | None) -> None:
    options = ["Right Atrium", "Left Atrium", "Right Ventricle", "Left Ventricle"]
    assert read_choice(response, options).value == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("I think the answer is B", "B"),
        ("I think it is C.", "C"),
        ("Answer: I", "I"),
        ("Answer: J. In conclusion", "J"),
        ("AAA", None),
        ("I am not sure", None),
        ("I", "I"),
        ("L", "L"),
        ("(l)", "L"),
        ("M", None),
    ],
)
def test_twelve_options_and_the_pronoun_i(response: str, letter: str | None) -> None:
    assert read_choice(response, [f"finding number {i}" for i in range(12)]).value == letter


@pytest.mark.parametrize(("response", "letter"), [("E", "E"), ("Echocardiogram", "E"), ("F", None), ("(E)", "E")])
def test_five_options_of_the_spec(response: str, letter: str | None) -> None:
    options = ["D-dimer", "Troponin", "Chest radiograph", "CT angiogram", "Echocardiogram"]
    assert read_choice(response, options).value == letter
    assert read_choice("D-dimer", options).value == "A"


@pytest.mark.parametrize(("response", "letter"), [("A", "A"), ("the only one", "A"), ("B", None), ("", None)])
def test_an_item_of_one_option(response: str, letter: str | None) -> None:
    assert read_choice(response, ["The only one"]).value == letter


def test_an_option_that_is_part_of_another_is_not_a_second_mention() -> None:
    options = ["Pneumonia", "Bacterial pneumonia", "Pleural effusion"]
    assert read_choice("This image is typical for bacterial pneumonia in adults", options).value == "B"
    assert read_choice("Pneumonia", options).value == "A"


def test_short_options_are_read_only_where_an_answer_is_due() -> None:
    assert read_choice("There is no doubt about the size", ["yes", "no"]).value is None
    assert read_choice("No", ["yes", "no"]).value == "B"
    assert read_choice("The answer is no.", ["yes", "no"]).value == "B"


def test_options_with_the_same_text_cannot_be_named_by_it() -> None:
    assert read_choice("mass", ["mass", "mass"]).value is None
    assert read_choice("A", ["mass", "mass"]).value == "A"


def test_a_species_name_is_not_a_letter() -> None:
    options = ["Staphylococcus", "E. coli", "Pseudomonas", "Proteus", "Klebsiella"]
    assert read_choice("E. coli", options).value == "B"
    assert read_choice("The answer is E. coli.", options).value == "B"


def test_a_reply_of_nothing_but_marks_is_read_in_no_time() -> None:
    for mark in ("*", "( ", "\\boxed{", "{", "<answer>", "<think>", '"answer": "'):
        assert read_choice(mark * 100_000, CHAMBERS).value is None


def test_of_a_long_reply_the_beginning_and_the_end_are_read() -> None:
    middle = "The wall is thin. " * 100_000
    assert read_choice(f"{middle}\nAnswer: B", CHAMBERS).value == "B"
    assert read_choice(f"B\n\n{middle}", CHAMBERS).value == "B"
    assert read_choice(f"{middle}\nAnswer: B\n{middle}", CHAMBERS).value is None


def test_how_a_reply_was_read_is_told() -> None:
    for reply, how in (
        ("<answer>B</answer>", "marked"),
        ("\\boxed{B}", "marked"),
        ("Answer: B", "announced"),
        ("I choose B.", "announced"),
        ("It is thin, so B.", "concluded"),
        ("B is correct.", "concluded"),
        ("right atrium", "reply"),
        ("B because it is thin", "reply"),
        ("no idea", "unparsed"),
    ):
        assert read_choice(reply, CHAMBERS).how == how


def test_an_item_without_options_is_refused() -> None:
    with pytest.raises(BadInput):
        read_choice("A", [])


@pytest.mark.parametrize(
    ("response", "letters"),
    [
        ("A, C", "AC"),
        ("A and C", "AC"),
        ("(A), (C)", "AC"),
        ("left, right", "AB"),
        ("Left and bilateral", "AC"),
        ("A. left\nC. bilateral", "AC"),
        ("Answer: A, B", "AB"),
        ("\\boxed{A, C}", "AC"),
        ("B", "B"),
        ("The answer is C.", "C"),
        ("", None),
        ("no idea", None),
    ],
)
def test_several_answers_are_read_as_a_set(response: str, letters: str | None) -> None:
    read = read_choices(response, ["left", "right", "bilateral"])
    assert read.value == (frozenset(letters) if letters else None)
