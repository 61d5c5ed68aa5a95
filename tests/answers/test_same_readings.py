"""Parsers that were rewritten to run in one pass find what the published patterns find, in any text."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from sketchmark.answers import choices
from sketchmark.answers import choices as listed
from sketchmark.answers.candidates import Words
from sketchmark.answers.cleanup import Said
from sketchmark.answers.decision import Reader
from sketchmark.benchmarks.medical import sets as choice_sets
from sketchmark.benchmarks.mmmu import official
from sketchmark.benchmarks.mmsi import category_of
from sketchmark.benchmarks.voila import judge
from sketchmark.worlds import moves as tagged


def _texts(*pieces: str, count: int = 10_000) -> Iterator[str]:
    """Texts of the pieces that a pattern is about, in any order: nearly all of them are near misses."""
    rng = random.Random(20)
    for _ in range(count):
        yield "".join(rng.choices(pieces, k=rng.randint(0, 14)))


def _patterns(tag: str, opening: str, closing: str) -> re.Pattern[str]:
    return re.compile(rf"<{tag}>\s*({opening}.*?{closing})\s*</{tag}>", re.DOTALL | re.IGNORECASE)


@pytest.mark.parametrize(
    ("ends", "pattern"),
    [
        (tagged._MOVES, _patterns("ANSWER_JSON", r"\[", r"\]")),
        (tagged._CHOICE_TAG, _patterns("FINAL_ANSWER_JSON", r"\{", r"\}")),
        (tagged._CHOICE_LENIENT, _patterns(r"FINAL_ANSWER[_\s]+JSON", r"\{", r"\}")),
        (tagged._ANY_LIST, re.compile(r"(\[.*?\])", re.DOTALL)),
    ],
    ids=["moves", "choice", "lenient choice", "any list"],
)
def test_tagged_answers_are_found_where_the_lazy_patterns_find_them(
    ends: tagged.Ends, pattern: re.Pattern[str]
) -> None:
    tags = ["<ANSWER_JSON>", "<ANSWER_JSON>[", "]</answer_json>", "<FINAL_ANSWER JSON>{", "}</FINAL_ANSWER_ JSON>"]
    tags += ["<FINAL_ANSWER_JSON>", "<FINAL_ANSWER_JSON>\n{", "} </FINAL_ANSWER_JSON>", "</FINAL_ANSWER_JSON>"]
    found = 0
    for text in _texts(*tags, "[", "]", "{", "}", '"up"', " ", "\n"):
        wanted = pattern.findall(text)
        assert list(tagged._between(text, ends)) == wanted
        found += bool(wanted)
    assert found > 100, "what is compared is not always nothing"


_COMMA = re.compile(r"-?\b\d{1,3}(?:,\d{3})+\b")
_SCIENTIFIC = re.compile(r"-?\d+(?:\.\d+)?[eE][+-]?\d+")
_PLAIN = re.compile(r"-?(?:\d+\.\d+|\.\d+|\d+\b)(?![eE][+-]?\d+)(?![,\d])")


def test_numbers_are_found_where_mmmus_patterns_find_them() -> None:
    for text in _texts("1", "23", "456", ".", ",", "-", "+", "e", "E", "e5", "x", " ", "_", "٣", "²"):
        wanted = [*_COMMA.findall(text), *_SCIENTIFIC.findall(text), *_PLAIN.findall(text)]
        assert official.find_numbers(text) == wanted, text


def test_prefixes_and_listed_options_are_cut_where_they_were() -> None:
    for text in _texts("A", "D", ":", " ", "\t", "x", "Answer Choices:", "\n", "(A) one"):
        assert choice_sets._PREFIX.sub("", text, count=1) == re.sub(r"\s*[A-D]\s*:\s*", "", text, count=1)
        assert choice_sets._LISTED_OPTIONS.sub("", text) == re.sub(r"(?s)\s*Answer Choices:.*\Z", "", text)


def test_a_category_is_spelt_as_it_was() -> None:
    for name in _texts("a", " ", "\n", "-", "–", "\u2212", "Cam.", "\u00a0"):
        assert category_of(name) == re.sub(r"\s*[-\u2010-\u2015\u2212]\s*", "–", name.strip()), name


def test_a_code_block_is_opened_as_it_was() -> None:
    for text in _texts("```", "`", "json", " ", "\n", "{}", "x"):
        match = re.fullmatch(r"\s*```(?:json)?\s*(.*?)\s*```\s*", text, re.DOTALL)
        assert judge._unfenced(text) == (match[1] if match else text)


def _options_by_trying_all(question: str) -> list[tuple[str, str]]:
    marks = list(listed._MARK.finditer(question))
    found: list[tuple[str, str]] = []
    for start in (place for place, mark in enumerate(marks) if mark[1] == "A"):
        chain = [marks[start]]
        for mark in marks[start + 1 :]:
            if ord(mark[1]) == ord(chain[-1][1]) + 1:
                chain.append(mark)
        ends = [mark.start() for mark in chain[1:]] + [len(question)]
        if len(chain) >= len(found):
            pairs = zip(chain, ends, strict=True)
            found = [(mark[1], listed._trimmed(question[mark.end() : end])) for mark, end in pairs]
    return found if len(found) > 1 else []


def test_options_are_the_longest_list_and_of_equal_ones_the_last() -> None:
    for text in _texts("A. ", "A: one ", "\nA: ", "B: two, ", "\nB. x", " C) ", " (C) y", "D: ", "point A: ", "z"):
        assert listed.options_of(text) == _options_by_trying_all(text), text


_OPTIONS = [
    "sand",
    "sand dunes",
    "A",
    "b",
    "c.",
    "12",
    "12.5",
    "no",
    "沙",
    "沙 dunes",
    "x-ray",
    "«sand»",
    "D",
    "ß",
    "I",
]


def test_a_reply_that_is_a_letter_is_read_as_the_whole_reader_reads_it() -> None:
    rng = random.Random(5)
    names_another = 0
    for _ in range(500):
        known = choices.lettered(rng.choices(_OPTIONS, k=rng.randint(1, 9)))
        reader = Reader("".join(known), Words(known))
        for letter in "ABCDEFGHIJab":
            assert reader.read(Said(letter, ())) == reader._read(letter, ()), (letter, known)
            names_another += letter.casefold() in reader.words.named
    assert names_another > 100


def test_options_words_are_looked_for_only_where_they_can_stand_and_found_all_the_same() -> None:
    rng = random.Random(6)
    pieces = [*_OPTIONS, "SAND", "Dunes", "desert", "12", "5", ".", ",", " ", "  ", "\n", "(", ")", "是", "x"]
    marked = 0
    for text in _texts(*pieces, count=2_000):
        words = Words(choices.lettered(rng.choices(_OPTIONS, k=4)))
        wanted = words._pattern.sub(words._mark, text) if words.order else text
        assert words.marked(text) == wanted
        marked += wanted != text
    assert marked > 400
