"""Tables that are looked up after a match: every entry is found in each way of writing it."""

from __future__ import annotations

import pytest

from sketchmark.answers.numbers import read_number
from sketchmark.answers.vocabulary import TABLES, in_our_words, key
from sketchmark.answers.yes_no import read_yes_no

TURKISH = str.maketrans("iı", "İI")
ENTRIES = [
    word.replace("_", " ")
    for name in ("idioms", "spaced", "unspaced")
    for words in TABLES[name].values()
    for word in words.split()
]
NUMBERS = [(word, value) for name in ("en", "tr", "de") for value, word in enumerate(TABLES["numbers"][name].split())]


@pytest.mark.parametrize(
    "written",
    [str, str.upper, str.title, str.casefold, lambda word: word.translate(TURKISH)],
    ids=["as it is", "upper", "title", "folded", "turkish"],
)
def test_every_entry_of_a_table_is_replaced_in_any_case(written) -> None:  # type: ignore[no-untyped-def]
    for entry in ENTRIES:
        assert isinstance(in_our_words(f"x {written(entry)} y"), str), entry


def test_a_word_with_a_sharp_s_or_a_dotted_capital_has_its_meaning() -> None:
    assert in_our_words("Ausschließen").split() == ["exclude"]
    assert in_our_words("İlk bakışta").split() == ["at", "first"]


@pytest.mark.parametrize(("word", "value"), NUMBERS)
def test_a_number_word_with_a_turkish_capital_does_not_stop_the_parser(word: str, value: int) -> None:
    assert read_number(word.upper().translate(TURKISH)).value in (None, value)


@pytest.mark.parametrize("word", ["sıx", "SİX", "ſix", "bıllıon", "Six bİllİon"])
def test_a_sign_that_matches_an_english_letter_is_looked_up_as_that_letter(word: str) -> None:
    assert key(word) == word.lower().replace("ı", "i").replace("ſ", "s").replace("i̇", "i")
    assert read_number(word).value in (None, 6.0, 6e9)


@pytest.mark.parametrize(
    ("reply", "question", "expected"),
    [
        ("He is carrying a bag over his shoulder.", "Is the man carrying a bag?", True),
        ("He is carrying a bag.", "Is the woman carrying a bag?", None),
        ("Another man stands there. He is carrying a bag.", "Is the man carrying a bag?", None),
        ("The claim is refuted by the figure.", "Is the claim true?", False),
        ("The figure supports the claim.", "Does the figure support the claim?", True),
        ("Yes for the first part, no for the second.", "Is it open? Is it empty?", None),
    ],
)
def test_a_pronoun_or_a_noun_for_the_claim_stands_for_what_was_asked(
    reply: str, question: str, expected: bool | None
) -> None:
    assert read_yes_no(reply, question).value is expected


@pytest.mark.parametrize(
    ("reply", "question", "expected"),
    [
        ("3.75 million tonnes", "How many million tonnes were produced?", 3.75),
        ("In million: 4", "How many million tonnes were produced?", 4.0),
        ("3.75 million tonnes", "How many tonnes were produced?", 3_750_000.0),
        ("The answer is 7. Check: 7 × 2 = 14.", "", 7.0),
        ("12 divided by 4 equals 3.", "", 3.0),
        ("Person 1 sits, person 2 stands.", "How many people are there?", None),
    ],
)
def test_units_of_the_question_terms_and_labels_are_not_the_answer(
    reply: str, question: str, expected: float | None
) -> None:
    assert read_number(reply, question).value == expected
