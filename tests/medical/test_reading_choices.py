"""By which rule a reply is read as an option: the most explicit one that applies decides, and it is told."""

from __future__ import annotations

import pytest

from sketchmark.answers.choices import read_choice, read_choices
from sketchmark.answers.reply import UNREAD, Parsed
from sketchmark.errors import BadInput

CHAMBERS = ["Left atrium", "Right atrium", "Left ventricle", "Right ventricle"]
SIDES = ["left", "right", "bilateral", "left and right"]


@pytest.mark.parametrize(
    ("response", "letter", "how"),
    [
        ("b", "B", "reply"),
        ("(B)", "B", "reply"),
        ("Answer: b", "B", "announced"),
        ("right atrium.", "B", "reply"),
        ("Right atrium\nbecause the wall is thin", "B", "reply"),
        ("The answer is right atrium", "B", "announced"),
        ("The answer is C, although A or B was close", "C", "announced"),
        ("The answer is B, option B", "B", "announced"),
        ("The answer is b because it is thin", "B", "announced"),
        ("The answer is c, the ventricle", "C", "announced"),
        ("The answer is c ; yes", "C", "announced"),
        ("The answer is option c", "C", "announced"),
        ("The answer is c not B", "C", "announced"),
        ("The answer is Letter D, I think", "D", "announced"),
        ("The answer is B Right atrium of the heart", "B", "announced"),
        ("The answer is C left out", "C", "announced"),
        ("The answer is A left atrium here", "A", "announced"),
        ("The answer is right atrium, since it fits", "B", "announced"),
        ("The answer is A. No: the answer is D, I think", "D", "announced"),
        ("I choose c", "C", "announced"),
        ("So I would say (D)", "D", "announced"),
        ("It may be A or B. I choose D.", "D", "announced"),
        ("Half is \\boxed{A}. Answer: D", "D", "announced"),
        ("Answer: A at first. In the end \\boxed{D}", "D", "marked"),
        ("D is the correct one", "D", "concluded"),
        ("I see: D is best", "D", "concluded"),
        ("The answer is thin, so C.", "C", "concluded"),
        ("Therefore, D", "D", "concluded"),
        ("so it is D", "D", "concluded"),
        ("I think it must be D in the end", "D", "concluded"),
        ("**C** fits", "C", "concluded"),
        ("C) fits", "C", "concluded"),
        ("A: yes. B: no. C: no.", "A", "concluded"),
        ("A. one\nB. two\n\n(c).", "C", "reply"),
        ("B Right atrium is seen", "B", "reply"),
        ("The Left Ventricle is shown", "C", "reply"),
        ("the left ventricle, yes, the left ventricle", "C", "reply"),
        ("I see: B Right atrium there", "B", "reply"),
    ],
)
def test_the_last_claim_decides_and_without_one_the_reply_as_a_whole(response: str, letter: str, how: str) -> None:
    assert read_choice(response, CHAMBERS) == Parsed(letter, how)


@pytest.mark.parametrize(
    "response",
    [
        "The answer is B or C.",
        "The answer is option B or option C",
        "The answer is a bit unclear",
        "The answer is right atriums",
        "A is the right one. B is the right one.",
        "A or B\nsays the text",
        "It says:\n A or B",
        "B. one\nC. two",
        "I see ( A ), (A) and (A)",
        "It is thin.\nC: fits",
        "B right atriums are seen",
        "A right heart",
        "I think (A) or (B)",
        "I choose B or C",
        "Perhaps A or B, but I see the left atrium",
        "<answer>nothing</answer>",
        "vitamin D levels",
        "left ventricles",
        "the left ventricle or the right ventricle",
    ],
)
def test_a_reply_that_commits_to_none_or_to_two_is_unread(response: str) -> None:
    assert read_choice(response, CHAMBERS) == UNREAD


def test_a_letter_said_twice_is_one() -> None:
    assert read_choice("B, B\nas I said", CHAMBERS) == Parsed("B", "reply")
    assert read_choice("Answer: B. Answer: B.", CHAMBERS) == Parsed("B", "announced")


@pytest.mark.parametrize("denied", ["not", "not a", "not the", "no", "than", "without an", "instead of the"])
def test_an_option_that_is_denied_is_not_mentioned(denied: str) -> None:
    assert read_choice(f"it shows {denied} left ventricle", CHAMBERS) == UNREAD
    both = read_choice(f"the right atrium and {denied} left ventricle", CHAMBERS)
    assert both == Parsed("B", "reply")


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("not B but (D)", "D"),
        ("ruled out B; (D)", "D"),
        ("excluding (B), I choose (D)", "D"),
        ("(B) is wrong, (D) fits", "D"),
        ("(B) seems unlikely, (D) fits", "D"),
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


def test_going_through_all_options_commits_only_to_one_that_is_called_right() -> None:
    assert read_choice("A: thin wall. B: thick wall.", ["x", "y"]) == UNREAD
    assert read_choice("A: yes. B: no.", ["thin", "thick"]).value == "A"
    assert read_choice("A: yes. B: yes.", ["thin", "thick"]) == UNREAD


def test_there_are_one_to_twenty_six_options() -> None:
    many = [f"finding {number}" for number in range(27)]
    assert read_choice("Z", many[:26]).value == "Z"
    for options in ([], many):
        with pytest.raises(BadInput, match=f"has {len(options)} options"):
            read_choice("A", options)


def test_of_two_marked_answers_the_last_counts_and_two_in_one_sentence_do_not() -> None:
    assert read_choice("<answer>(B)</answer>", CHAMBERS) == Parsed("B", "marked")
    assert read_choice("so \\boxed{right atrium}", CHAMBERS) == Parsed("B", "marked")
    assert read_choices("<answer>A</answer><answer>B, C</answer>", SIDES) == Parsed(frozenset("BC"), "marked")
    assert read_choice("\\boxed{A} or \\boxed{B}", CHAMBERS) == UNREAD


def test_options_may_come_by_letter_and_without_words() -> None:
    assert read_choice("Answer: Q", {"P": "", "Q": "", "R": ""}).value == "Q"
    assert read_choice("right", {"L": "left", "R": "right"}).value == "R"


@pytest.mark.parametrize(
    ("response", "letters"),
    [
        *((f"A{mark}C", "AC") for mark in (", ", "; ", "/", " & ", "\n", "、", "，", "；", " and ", "和", "及")),
        ("left; right", "AB"),
        ("A,, C,", "AC"),
        ("a, (C)", "AC"),
        ("A, A", "A"),
        ("C. bilateral", "C"),
        ("I see all. Answer: bilateral, and left", "AC"),
        ("left and right", "D"),
        ("The answer is left and right.", "D"),
        ("both the left and right sides", "D"),
        ("the left side and the bilateral one", "AC"),
        ("bilateral, I think", "C"),
        ("So A.", "A"),
        ("The answer is A, not C.", "A"),
    ],
)
def test_a_set_is_read_from_a_list_or_from_the_words_it_mentions(response: str, letters: str) -> None:
    assert read_choices(response, SIDES).value == frozenset(letters)


@pytest.mark.parametrize("response", ["", "neither", "E, F", "none, nothing", "<answer>none</answer>", "A or C"])
def test_a_set_that_cannot_be_read_is_none(response: str) -> None:
    assert read_choices(response, SIDES) == UNREAD
