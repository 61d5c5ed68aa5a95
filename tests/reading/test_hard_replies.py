"""Hard replies, one by one: what the one strict reader has to read, and what it must leave."""

from __future__ import annotations

import pytest

from sketchmark.answers.choices import read_choice
from sketchmark.answers.yes_no import read_yes_no
from sketchmark.benchmarks.mmmu.scores import open_verdict

CHAMBERS = ["Left atrium", "Right atrium", "Left ventricle", "Right ventricle"]
TEN = dict.fromkeys("ABCDEFGHIJ", "")
"""Ten options whose words are not known."""


@pytest.mark.parametrize(
    "reply",
    [
        *(
            "`B`",
            "**B**",
            "(B)",
            "B.",
            "B: North",
            "B because the wall is thin",
            "b",
            "Answer: B",
            "The answer is (B).",
        ),
        *("Final answer – B", "Option B", "答案是B", "\\boxed{B}", "\\boxed{\\text{B}}", "$B$", "\\(B\\)", "\\[B\\]"),
        *("\\( \\text{B} \\)", "Answer: $B", "<answer>B</answer>", '{"answer": "B"}'),
        "So (E) is a misprint. It should read (0.5). Answer: \\( B \\)",
        "\\boxed{C}\n\nThat was the radius. Answer: B",
        "<THINK>The answer is C.</THINK>B",
        "I choose B, not A or C.",
        "First, (A) is ruled out: e.g. the angle. I'd then drop (C), i.e. the one on the left, and (D). Answer: B",
        "Vitamin D and hepatitis C aside, and with group A in mind, the answer is B.",
        "The figure shows $A = \\pi r^2$ with $C = 2\\pi r$. Hence the answer is **B**.",
        "We have P(A) = 0.3 and P(C) = 0.7. So the answer is B.",
        "Let's see. A is too thin. C is too thick. D has no wall at all. B it is.",
        "I'm sorry for the confusion. The answer is B.",
        "I would say that, of all the options, B is the most likely.",
        "The answer is B. I'm not a doctor, so please ask one.",
        "My answer: B. If the image were mirrored, I would choose C.",
        "B\n\n(I also considered A and C, but they do not fit.)",
        "Looking at the four options, the one which describes the picture correctly is B.",
        "Between A and B, B is the better answer.",
        "B fits better than C.",
        "To sum up: B",
        "In conclusion, B.",
        "答案選B",
        "Réponse finale : B",
        "I would choose the second option, B.",
        "**Correct option: B**. The others fail: A has no wall, C is closed, D is too small.",
    ],
)
def test_what_a_careful_person_reads_as_b(reply: str) -> None:
    assert read_choice(reply, TEN).value == "B"
    assert read_choice(reply, ["w", "x", "y", "z"]).value == "B"


@pytest.mark.parametrize("letter", "ABCDEFGHIJ")
@pytest.mark.parametrize(
    "reply", ["@", "(@)", "Answer: @", "The answer is @.", "\\boxed{@}", "I choose @", "~", "Option @"]
)
def test_letters_up_to_j_are_read_where_there_are_that_many(reply: str, letter: str) -> None:
    meant = reply.replace("@", letter).replace("~", letter.lower())
    assert read_choice(meant, TEN).value == letter
    assert read_choice(meant, ["w", "x", "y", "z"]).value == (letter if letter in "ABCD" else None)


@pytest.mark.parametrize(
    "reply",
    [
        "(A) perfect (C) diminished (D) augmented",
        "I'm sorry, I can't help with that.",
        "I am sorry.",
        "A picture is missing, e.g. the second one.",
        "It may be A or B. I choose B or C",
        "Right atrium.\nRight ventricle.",
        "It cannot be B",
        "Not (B).",
        "B: incorrect",
        "I rule out B",
        "A. Left atrium\nB. Right atrium\nC. Left ventricle\nD. Right ventricle",
        "Answer: E, as none of A to D fits.",
        "Whether A or B is correct depends on the view.",
        "I would need the picture to tell A from B.",
        "The answer is B. Wait, no, that was the other picture.",
        "Both B and C.",
        "Some textbooks give B.",
        "B is more likely than C but I would not commit.",
        "The right atrium might be meant.",
        "The right atrium, the left atrium and the right ventricle are the options.",
        "In older books the answer is B, in newer ones C.",
        "It is B or else C.",
    ],
)
def test_what_a_careful_person_leaves_unread(reply: str) -> None:
    assert read_choice(reply, CHAMBERS).value is None


def test_options_in_words_are_read_with_and_without_their_letters() -> None:
    assert read_choice("I rule out the left atrium. The arrow points to the right atrium.", CHAMBERS).value == "B"
    assert read_choice("The arrow points to the right atrium, not to the left atrium.", CHAMBERS).value == "B"
    assert read_choice("B. Left ventricle", CHAMBERS).value is None, "letter and words disagree"
    assert read_choice("A. Left atrium\nB. Right atrium\nC. Left ventricle\n\nB. Right atrium", CHAMBERS).value == "B"
    both = ["Only I", "Only II", "Both I and II", "Neither I nor II"]
    assert read_choice("Both I and II", both).value == "C"
    assert read_choice("The answer is neither I nor II.", both).value == "D"
    assert read_choice("None of the above", ["red", "blue", "None of the above"]).value == "C"
    assert read_choice("The answer is 12.5", ["12", "12.5", "5"]).value == "B"
    assert read_choice("The answer is 12", ["12", "12.5", "2"]).value == "A"


def test_yes_and_no_are_read_as_options_too() -> None:
    for reply, letter in (
        ("Yes, it is.", "A"),
        ("No, it is not.", "B"),
        ("The answer is no.", "B"),
        ("A", "A"),
        ("Yep", "A"),
    ):
        assert read_choice(reply, ["Yes", "No"]).value == letter
    assert read_choice("True.", ["True", "False"]).value == "A"
    assert read_choice("I have no idea.", ["Yes", "No"]).value is None
    assert read_choice("Yes or no?", ["Yes", "No"]).value is None


@pytest.mark.parametrize(
    "reply",
    [
        "I have no idea.",
        "Sorry, I have no access to the image.",
        "There is no doubt that it is present.",
        "I would not say yes",
        "No: yes is what I see",
        "There is no pneumothorax.",
        "No abnormality is seen.",
    ],
)
def test_no_is_an_answer_only_where_it_answers(reply: str) -> None:
    """What "no pneumothorax" answers depends on the question: is the lung clear, or is there a pneumothorax?"""
    assert read_yes_no(reply).value is None


@pytest.mark.parametrize(
    ("gold", "reply", "right"),
    [
        ("pneumonia", "It is not pneumonia", False),
        ("pneumonia", "Gout, scurvy, pneumonia, mumps, rickets, measles", False),
        ("5", "The answer is not 5, it is 6", False),
        ("6", "The answer is not 5, it is 6", True),
        ("pneumonia", "The patient fears pneumonia.", False),
        ("pneumonia", "Bacterial pneumonia.", False),
        ("0.25", "\\boxed{\\frac{1}{4}}", True),
        ("2500", "The answer is $2.5 \\times 10^3$.", True),
        ("2.5", "The answer is $2.5 \\times 10^3$.", False),
        ("yes", "yes and no", False),
        ("B", "The answer is point B.", None),
        ("B", "The answer is B.", True),
        ("A", "A dog", None),
        ("12", "There are 3 rows of 4, that is 12.", True),
        ("3", "There are 3 rows of 4, that is 12.", False),
    ],
)
def test_an_open_answer_is_credited_only_when_it_is_given(gold: str, reply: str, right: bool | None) -> None:
    assert open_verdict(gold, reply).value is right or (not right and open_verdict(gold, reply).value is None)
