"""The parsers of MMMU, MMMU-Pro and MedEvalKit, accidents included (docs/benchmarks/mmmu.md, "Choice parsers").

All three answer an unparsed choice at random, which is worth 1/n per sample. The caller passes a `random.Random`:
`random.Random(42)`, drawn in the order of the samples, gives the official numbers. Without one, a random answer is
None. A null reply stops MMMU and MMMU-Pro, so pass only text to their parsers.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sketchmark.answers import boxed, tagged

Number = float
Prediction = str | Number

_END_MARKS = (",", ".", "!", "?", ";", ":", "'")
_MORE_THAN_WORDS = 5
"""Option texts are searched only in replies of more words than this."""


def parse_choice(response: str, options: Mapping[str, str], rng: random.Random | None) -> str | None:
    """Parse a choice as MMMU does. Letters are case-sensitive, and the article A is option A."""
    return _general_rules(response, options, rng, _letters_between_spaces)


def parse_choice_medevalkit(response: Any, options: Mapping[str, str], rng: random.Random | None) -> str | None:
    """Parse a choice as MedEvalKit does: MMMU's parser on the stripped content of the tag, then of the box.

    A truncated box is the word None. A null reply is an empty one.
    """
    text = tagged(response if isinstance(response, str) else "", "answer")
    if "\\boxed" in text:
        text = boxed(text)
    return parse_choice(text.strip(), options, rng)


def parse_choice_pro(response: Any, options: Mapping[str, str], rng: random.Random | None) -> str | None:
    """Parse a choice as MMMU-Pro does. After the last `Answer:` a letter counts even inside a word
    (docs/benchmarks/mmmu.md, "Letters inside words")."""
    text = response if isinstance(response, str) else ""
    _, announced, tail = text.rpartition("Answer:")
    if announced:
        present = [letter for letter in options if letter in tail]
        if len(present) == 1:
            return present[0]
    return _general_rules(text, options, rng, _letters_before_space_or_dot)


def _letters_between_spaces(text: str, options: Mapping[str, str]) -> list[str]:
    return [letter for letter in options if f" {letter} " in text]


def _letters_before_space_or_dot(text: str, options: Mapping[str, str]) -> list[str]:
    """Find letters without requiring a space before them, so DNA is option A."""
    return [letter for letter in options if f"{letter} " in text] or [
        letter for letter in options if f"{letter}." in text
    ]


def _general_rules(
    response: str,
    options: Mapping[str, str],
    rng: random.Random | None,
    loose_letters: Callable[[str, Mapping[str, str]], list[str]],
) -> str | None:
    for mark in _END_MARKS:
        response = response.strip(mark)
    text = f" {response} "
    if candidates := [letter for letter in options if f"({letter})" in text]:
        return _latest(candidates, lambda letter: text.rfind(f"({letter})"))
    if candidates := loose_letters(text, options):
        # MMMU-Pro finds letters without a leading space yet ranks them with one, so glued ones all rank -1
        return _latest(candidates, lambda letter: text.rfind(f" {letter} "))
    if len(text.split()) > _MORE_THAN_WORDS:
        lowered = text.lower()
        if candidates := [letter for letter, option in options.items() if option.lower() in lowered]:
            return _latest(candidates, lambda letter: lowered.rfind(options[letter].lower()))
    return rng.choice(list(options)) if rng else None


def _latest(candidates: Sequence[str], position: Callable[[str], int]) -> str:
    return max(candidates, key=position)


_COMMA_NUMBER = re.compile(r"-?\b\d{1,3}(?:,\d{3})+\b")
_SCIENTIFIC = re.compile(r"-?(?<!\d)\d++(?:\.\d++)?+[eE][+-]?\d++")
_PLAIN_NUMBER = re.compile(r"-?(?:(?<!\d)\d++\.\d++|\.\d++|(?<!\d)\d++\b)(?![eE][+-]?\d)(?![,\d])")
"""Unlike the published patterns, this one does not try every digit of a long number as a start; it finds the same."""

_INDICATORS = ("could be ", "so ", "is ", "thus ", "therefore ", "final ", "answer ", "result ")


def find_numbers(text: str) -> list[str]:
    """Find comma numbers, then scientific, then plain ones. The kinds overlap: `$1,234.50` also yields 234.50."""
    return [*_COMMA_NUMBER.findall(text), *_SCIENTIFIC.findall(text), *_PLAIN_NUMBER.findall(text)]


def normalise(text: str) -> list[Prediction]:
    """Return a number (commas removed) as a float of two decimals, anything else in lower case.

    A single character becomes two strings with a space on one side, so that containment cannot match inside a word.
    """
    text = text.strip()
    try:
        return [round(float(text.replace(",", "")), 2)]
    except ValueError:
        pass
    lowered = text.lower()
    return [f" {lowered}", f"{lowered} "] if len(lowered) == 1 else [lowered]


def parse_open(response: str) -> set[Prediction]:
    """Return all possible answers in a reply (docs/benchmarks/mmmu.md, "Open answers").

    The text is lowercased before a sentence split that looks for capitals, so only newlines split.
    """
    text = response.strip().strip(".").lower()
    pieces = text.split("\n")
    answers = []
    for index, piece in enumerate(pieces):
        indicators = (*_INDICATORS, "=") if index == len(pieces) - 1 else _INDICATORS
        tails = [piece.rpartition(indicator)[2].strip() for indicator in indicators if indicator in piece]
        shortest = min(filter(None, tails), key=len, default="")
        if shortest and shortest not in _END_MARKS:
            answers.append(shortest)
    answers = answers or [text]
    found = [number for answer in answers for number in find_numbers(answer)]
    return {prediction for answer in (*answers, *found) for prediction in normalise(answer)}


def open_is_right(gold: str | Sequence[str], predictions: set[Prediction]) -> bool:
    """Score predictions: a string is right if it contains a string gold anywhere, as `nothing` contains `no`."""
    golds = [value for answer in ([gold] if isinstance(gold, str) else gold) for value in normalise(answer)]
    texts = [value for value in golds if isinstance(value, str)]
    numbers = [value for value in golds if isinstance(value, float) and not math.isnan(value)]
    return any(
        any(text in prediction for text in texts) if isinstance(prediction, str) else prediction in numbers
        for prediction in predictions
    )


def open_is_right_medevalkit(gold: str | Sequence[str], response: str) -> bool:
    """Score an open answer as MedEvalKit's validation run does: character by character, so that every one is wrong
    (docs/benchmarks/mmmu.md, "Open answers by character")."""
    return open_is_right(gold, set(response))
