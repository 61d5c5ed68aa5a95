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

CHAMBERS = {"A": "Right Atrium", "B": "Left Atrium", "C": "Right Ventricle", "D": "Left Ventricle"}
RANDOM = None
"""Without a source of chance the parsers say None where they would choose at random."""

BOXED_SENTENCE = "The answer is $\\boxed{\\text{B}}$"


@pytest.mark.parametrize(
    ("response", "medevalkit", "mmmu", "pro"),
    [
        *((text, "B", "B", "B") for text in ("B", "(B)", "B.", "B,", "'B'", "Answer: B", "The answer is B.")),
        *((text, *[RANDOM] * 3) for text in ("b", "B: Left Atrium", "B) Left Atrium", "**B**", "Left Atrium", "")),
        ("B. Left Atrium", RANDOM, RANDOM, "B"),
        ("The answer is (B), not (A)", "A", "A", "A"),
        ("A or B", "B", "B", "B"),
        ("I would pick A but the answer is B here", "B", "B", "B"),
        ("The chamber shown in this image is the left atrium", "B", "B", "B"),
        ("A chest X-ray with the left atrium enlarged", "A", "A", "A"),
        ("\\boxed{B}", "B", RANDOM, RANDOM),
        ("<answer>B</answer>", "B", RANDOM, RANDOM),
        (BOXED_SENTENCE, RANDOM, RANDOM, RANDOM),
        ("None of the above applies to the DNA shown here", RANDOM, RANDOM, "A"),
        ("I think it is B. DNA is not visible", RANDOM, RANDOM, "A"),
        ("Answer: B. DNA", RANDOM, RANDOM, "A"),
        ("Let me think.\nAnswer: (B) Because", "B", "B", "B"),
    ],
)
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


@pytest.mark.parametrize(
    ("response", "predictions"),
    [
        ("36 watts", {"36 watts", 36.0}),
        ("The answer is 36", {36.0}),
        ("x = 3.14159", {3.14}),
        ("So the total is $1,234.50.", {"$1,234.50", 1234.0, 234.5}),
        ("1,000", {1000.0, 0.0}),
        ("Let a=3. Then b=4\nso c = 5", {5.0}),
        ("-2.5e3", {-2500.0, -2.0, 3.0}),
        ("The final answer is 12.345", {12.35}),
        ("3/4", {"3/4", 3.0, 4.0}),
        ("A", {" a", "a "}),
        ("12,3", {123.0, 3.0}),
    ],
)
def test_open_predictions_of_the_spec(response: str, predictions: set[str | float]) -> None:
    assert parse_open(response) == predictions


@pytest.mark.parametrize(
    ("gold", "response", "right"),
    [
        ("36", "36 watts", True),
        ("30", "36 watts", False),
        ("0.5", "The result is therefore 0.50", True),
        ("exploitation", "This is an example of exploitation", True),
        ("A", "the answer is A", True),
        (["1/4", "0.25"], "0.25", True),
        ("2.340", "2.34", True),
        ("no", "There is nothing", True),
        ("nan", "nan", False),
    ],
)
def test_open_verdicts_of_the_spec(gold: str | list[str], response: str, right: bool) -> None:
    assert open_is_right(gold, parse_open(response)) is right


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,234 and 5.6", ["1,234", "234", "5.6"]),
        ("2e5", ["2e5", "5"]),
        ("1.5e-3", ["1.5e-3", "1", "-3"]),
        ("10,20", ["20"]),
        ("3.0.1", ["3.0", ".1"]),
    ],
)
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
