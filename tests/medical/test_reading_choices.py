"""By which rule a reply is read as an option: the most explicit one that applies decides, and it is told."""

from __future__ import annotations

import pytest

from sketchmark.errors import BadInput
from sketchmark.scoring.choices import read_choice, read_choices
from sketchmark.scoring.final_answer import UNREAD, Parsed

CHAMBERS = ["Left atrium", "Right atrium", "Left ventricle", "Right ventricle"]
SIDES = ["left", "right", "bilateral", "left and right"]


@pytest.mark.parametrize(
    ("response", "letter", "how"),
    [
        ("b", "B", "letter"),
        ("(B)", "B", "letter"),
        ("Answer: b", "B", "announced letter"),
        ("right atrium.", "B", "option text"),
        ("Right atrium\nbecause the wall is thin", "B", "option text"),
        ("The answer is right atrium", "B", "announced option text"),
        ("The answer is C, although A or B was close", "C", "announced letter"),
        ("The answer is B, option B", "B", "announced letter"),
        ("The answer is B because it is thin", "B", "announced letter"),
        ("The answer is c, the ventricle", "C", "announced letter"),
        ("The answer is c ; yes", "C", "announced letter"),
        ("The answer is option c", "C", "announced letter"),
        ("The answer is Letter D, I think", "D", "announced letter"),
        ("The answer is B Right atrium of the heart", "B", "announced letter"),
        ("The answer is C left out", "C", "announced letter"),
        ("The answer is A left atrium here", "A", "announced letter"),
        ("The answer is right atrium, since it fits", "B", "announced letter"),
        ("The answer is A. No: the answer is D, I think", "D", "announced letter"),
        ("D is the correct one", "D", "letter called right"),
        ("I see: D is best", "D", "letter called right"),
        ("The answer is thin, so C.", "C", "concluding letter"),
        ("Therefore, D", "D", "concluding letter"),
        ("so it is D", "D", "concluding letter"),
        ("A. one\nB. two\n\n(c).", "C", "leading letter"),
        ("It is thin.\nC: fits", "C", "leading letter"),
        ("**C** fits", "C", "leading letter"),
        ("C) fits", "C", "leading letter"),
        ("B Right atrium is seen", "B", "leading letter"),
        ("B: yes. C: no. D: no.", "B", "leading letter"),
        ("A: yes. B: no. It ends", "A", "leading letter"),
        ("B. no\nB. yes", "B", "leading letter"),
        ("So I would say (D)", "D", "letter in parentheses"),
        ("I see ( A ), (A) and (A)", "A", "letter in parentheses"),
        ("I think it must be D in the end", "D", "letter after a cue"),
        ("It may be A or B. I choose D.", "D", "letter after a cue"),
        ("The Left Ventricle is shown", "C", "option text mentioned"),
        ("the left ventricle, yes, the left ventricle", "C", "option text mentioned"),
        ("I see: B Right atrium there", "B", "option text mentioned"),
    ],
)
def test_the_most_explicit_rule_that_applies_decides(response: str, letter: str, how: str) -> None:
    assert read_choice(response, CHAMBERS) == Parsed(letter, how)


@pytest.mark.parametrize(
    "response",
    [
        "The answer is B or C.",
        "The answer is option B or option C",
        "The answer is b because it fits",
        "The answer is a bit unclear",
        "The answer is right atriums",
        "A is the right one. B is the right one.",
        "A or B\nsays the text",
        "It says:\n A or B",
        "B. one\nC. two",
        "A: yes. B: no. C: no. It ends",
        "B right atriums are seen",
        "A right heart",
        "I think (A) or (B)",
        "I choose B or C",
        "Perhaps A or B, but I see the left atrium",
        "<answer>nothing</answer>",
        "I choose c",
        "vitamin D levels",
        "left ventricles",
        "the left ventricle or the right ventricle",
    ],
)
def test_a_reply_that_commits_to_none_or_to_two_is_unread(response: str) -> None:
    assert read_choice(response, CHAMBERS) == UNREAD


def test_a_letter_said_twice_is_one() -> None:
    assert read_choice("B, B\nas I said", CHAMBERS) == Parsed("B", "leading letter")
    assert read_choice("Perhaps B or B", CHAMBERS) == Parsed("B", "letter after a cue")


@pytest.mark.parametrize("denied", ["not", "not a", "not the", "no", "than", "without an", "instead of the"])
def test_an_option_that_is_denied_is_not_mentioned(denied: str) -> None:
    assert read_choice(f"it shows {denied} left ventricle", CHAMBERS) == UNREAD
    both = read_choice(f"the right atrium and {denied} left ventricle", CHAMBERS)
    assert both == Parsed("B", "option text mentioned")


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("not B but (D)", "D"),
        ("ruled out B; (D)", "D"),
        ("excluding (B) we get (D)", "D"),
        ("(B) is wrong, (D) fits", "D"),
        ("(B) seems unlikely, (D) fits", "D"),
        ("The answer is c not B", "C"),
    ],
)
def test_a_letter_that_is_ruled_out_is_not_one_of_two(response: str, letter: str) -> None:
    assert read_choice(response, CHAMBERS).value == letter


def test_texts_of_four_letters_are_found_in_a_sentence_and_shorter_ones_are_not() -> None:
    assert read_choice("a cyst is seen", ["cyst", "mass"]).value == "A"
    assert read_choice("a CTA is seen", ["CTA", "mass"]).value is None


def test_of_two_announced_texts_that_begin_alike_the_longer_counts() -> None:
    options = ["Pneumonia", "Pneumonia of the left lung"]
    assert read_choice("The answer is pneumonia of the left lung, as seen", options).value == "B"
    assert read_choice("The answer is pneumonia of the right lung", options).value == "A"
    assert read_choice("the left lung has pneumonia of the left lung", options).value == "B"


def test_an_option_text_is_not_found_inside_a_longer_word() -> None:
    assert read_choice("supermass of it", ["cyst", "mass"]) == UNREAD
    assert read_choice("biomasses", ["cyst", "mass"]) == UNREAD


def test_going_through_two_options_of_two_commits_to_none() -> None:
    assert read_choice("A: yes. B: no.", ["thin", "thick"]) == UNREAD
    assert read_choice("A: yes. Both", ["thin", "thick"]).value == "A"


def test_there_are_one_to_twenty_six_options() -> None:
    many = [f"finding {number}" for number in range(27)]
    assert read_choice("Z", many[:26]).value == "Z"
    for options in ([], many):
        with pytest.raises(BadInput, match=f"has {len(options)} options"):
            read_choice("A", options)


def test_where_the_answer_was_marked_is_told_instead_of_the_rule() -> None:
    assert read_choice("<answer>(B)</answer>", CHAMBERS) == Parsed("B", "answer tag")
    assert read_choice("so \\boxed{right atrium}", CHAMBERS) == Parsed("B", "boxed")
    assert read_choices("<answer>A</answer><answer>B, C</answer>", SIDES) == Parsed(frozenset("BC"), "answer tag")


@pytest.mark.parametrize(
    ("response", "letters", "how"),
    [
        *(
            (f"A{mark}C", "AC", "list")
            for mark in (", ", "; ", "/", " & ", "\n", "、", "，", "；", " and ", "和", "及")
        ),
        ("left; right", "AB", "list"),
        ("A,, C,", "AC", "list"),
        ("a, (C)", "AC", "list"),
        ("A, A", "A", "list"),
        ("C. bilateral", "C", "list"),
        ("I see all. Answer: bilateral, and left", "AC", "list"),
        ("left and right", "D", "option text"),
        ("The answer is left and right.", "D", "option text"),
        ("both the left and right sides", "D", "option texts mentioned"),
        ("the left side and the bilateral one", "AC", "option texts mentioned"),
        ("bilateral, I think", "C", "option texts mentioned"),
        ("So A.", "A", "concluding letter"),
    ],
)
def test_a_set_is_read_from_a_list_or_from_the_texts_it_mentions(response: str, letters: str, how: str) -> None:
    assert read_choices(response, SIDES) == Parsed(frozenset(letters), how)


@pytest.mark.parametrize("response", ["", "neither", "E, F", "none, nothing", "<answer>none</answer>"])
def test_a_set_that_cannot_be_read_is_none(response: str) -> None:
    assert read_choices(response, SIDES) == UNREAD
