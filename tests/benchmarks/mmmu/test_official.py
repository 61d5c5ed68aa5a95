"""Examples that were obtained by running the original code (docs/benchmarks/mmmu.md, "Choice parsers")."""

from __future__ import annotations

import math
import random

import pytest

from sketchmark.benchmarks.mmmu.official import (
    find_numbers,
    normalise,
    open_is_right,
    open_is_right_medevalkit,
    parse_choice,
    parse_choice_medevalkit,
    parse_choice_pro,
    parse_open,
)
from tests.tabled import tabled

CHAMBERS = {"A": "Right Atrium", "B": "Left Atrium", "C": "Right Ventricle", "D": "Left Ventricle"}
RANDOM = None
"""Without a source of chance the parsers say None where they would choose at random."""

BOXED_SENTENCE = "The answer is $\\boxed{\\text{B}}$"


@tabled
def test_the_three_parsers_read_what_the_originals_read(
    response: str, medevalkit: str | None, mmmu: str | None, pro: str | None
) -> None:
    assert parse_choice_medevalkit(response, CHAMBERS, None) == medevalkit
    assert parse_choice(response, CHAMBERS, None) == mmmu
    assert parse_choice_pro(response, CHAMBERS, None) == pro


def test_a_null_reply_is_random_for_medevalkit_and_stops_mmmu() -> None:
    assert parse_choice_medevalkit(None, CHAMBERS, None) is RANDOM
    with pytest.raises(AttributeError):
        parse_choice(None, CHAMBERS, None)  # type: ignore[arg-type]


def test_an_error_object_is_an_empty_reply_for_pro() -> None:
    assert parse_choice_pro({"error": "timeout"}, CHAMBERS, None) is RANDOM


def test_pro_with_ten_options() -> None:
    options = {c: f"option number {i}" for i, c in enumerate("ABCDEFGHIJ")}
    replies = ("I think the answer is B", "I think it is C.", "Answer: I", "Answer: J. In conclusion", "AAA")
    assert [parse_choice_pro(reply, options, None) for reply in replies] == list("BCIJA")


@pytest.mark.parametrize(("letters", "drawn"), [("ABCD", "AACBBBAADA"), ("ABCDE", "AACBBBAEAE")])
def test_seed_42_draws_the_official_sequence(letters: str, drawn: str) -> None:
    rng = random.Random(42)
    assert [parse_choice("", dict.fromkeys(letters, "x"), rng) for _ in range(10)] == list(drawn)


def test_the_global_random_state_is_left_alone() -> None:
    state = random.getstate()
    parse_choice("", CHAMBERS, random.Random(42))
    assert random.getstate() == state


@tabled
def test_open_predictions_of_the_spec(response: str, predictions: set[str | float]) -> None:
    assert parse_open(response) == predictions


@tabled
def test_open_verdicts_of_the_spec(gold: str | list[str], response: str, right: bool) -> None:
    assert open_is_right(gold, parse_open(response)) is right


@tabled
def test_number_finder_of_the_spec(text: str, numbers: list[str]) -> None:
    assert find_numbers(text) == numbers


def test_normalising_of_the_spec() -> None:
    assert normalise("50%") == ["50%"]
    assert normalise("$6") == ["$6"]
    assert normalise("1e3") == [1000.0]
    assert normalise("inf") == [math.inf]
    (nan,) = normalise("nan")
    assert isinstance(nan, float) and math.isnan(nan)


@pytest.mark.parametrize(
    ("gold", "response"), [("C", "C"), ("Transformation", "Transformation"), ("2", "2"), ("B", " B"), ("A", "A ")]
)
def test_medevalkit_calls_every_open_validation_item_wrong(gold: str, response: str) -> None:
    assert open_is_right(gold, parse_open(response))
    assert not open_is_right_medevalkit(gold, response)
