"""Parsing that rows of the corpus cannot express: long replies, refusals, slots, and scores of open answers."""

from __future__ import annotations

from typing import Any

import pytest
from pytest import approx

from sketchmark.answers import plain
from sketchmark.answers.choices import read_choice
from sketchmark.answers.cleanup import FIRST_SLOT, Said, said
from sketchmark.answers.phrases import open_scores, same_answer
from sketchmark.answers.vocabulary import number
from sketchmark.errors import BadInput

CHAMBERS = ["Left atrium", "Right atrium", "Left ventricle", "Right ventricle"]


@pytest.mark.parametrize("mark", ["*", "( ", "\\boxed{", "{", "<answer>", "<think>", '"answer": "'])
def test_a_reply_of_marks_only_is_unparsed(mark: str) -> None:
    assert read_choice(mark * 100_000, CHAMBERS).value is None


def test_the_beginning_and_the_end_of_a_long_reply_are_parsed() -> None:
    middle = "The wall is thin. " * 100_000
    assert read_choice(f"{middle}\nAnswer: B", CHAMBERS).value == "B"
    assert read_choice(f"B\n\n{middle}", CHAMBERS).value == "B"
    assert read_choice(f"{middle}\nAnswer: B\n{middle}", CHAMBERS).value is None


@pytest.mark.parametrize("count", [0, 27])
def test_a_choice_without_options_or_with_too_many_is_refused(count: int) -> None:
    with pytest.raises(BadInput, match=f"has {count} options"):
        read_choice("A", [f"finding {place}" for place in range(count)])


@pytest.mark.parametrize(
    ("response", "text", "slots"),
    [
        ("  left ", "left", ()),
        ("$\\mathrm{B}$", "B", ()),
        ("**left** `lung`", "left lung", ()),
        ("2 * 3 and 2*3", "2 * 3 and 2*3", ()),
        ("$x$ costs $5 or $6", "x costs $5 or $6", ()),
        ("$12$", "12", ()),
        ("\\(B\\) \\[C\\]", "B C", ()),
        ("<think>a</think>b", "b", ()),
        ("<THINKING>a</THINKING> b <think>c", "b", ()),
        ("so\na</think>b</THINK>c", "c", ()),
        ("<reasoning>a</reasoning>b", "b", ()),
        ("◁think▷a◁/think▷b", "b", ()),
        ("<|begin_of_thought|>a<|end_of_thought|>b", "b", ()),
        ("<think>a\n\nb</think>\nc", "c", ()),
        ("c\n<think>a\nb</think>", "c", ()),
        ("Ｂ", "B", ()),
        ("\ue000\U000f0000B", "B", ()),
        ("so \\boxed{\\frac{1}{2}} cm", "so @ cm", ("\\frac{1}{2}",)),
        ("\\boxed {a}", "@", ("a",)),
        ("\\boxed{a {b", "@", ("a {b",)),
        ("\\boxed left lung", "@ lung", ("left",)),
        ("\\boxed{\\text{\\textbf{B}}}", "@", ("B",)),
        ("<answer>a\nb", "@", ("a\nb",)),
        ("<answer>\\boxed{a}</answer>", "@", ("a",)),
        ("\\boxed{a} then \\fbox{b} end", "@ then @ end", ("a", "b")),
        ('{"answer": "a", "why": "b"}', "@", ("a",)),
        ("<think><answer>a</answer></think><answer>b</answer>", "@", ("b",)),
    ],
)
def test_thinking_and_wrapping_go_and_marked_answers_become_slots(
    response: str, text: str, slots: tuple[str, ...]
) -> None:
    heard = said(response)
    shown = "".join("@" if ord(sign) >= FIRST_SLOT else sign for sign in heard.text)
    assert (shown, heard.slots) == (text, slots)


@pytest.mark.parametrize("response", [None, 5, {"error": "timeout"}, ["B"]])
def test_a_reply_that_is_not_text_says_nothing(response: object) -> None:
    assert said(response) == Said("", ())


def test_texts_are_compared_without_case_spacing_and_marks_around_them() -> None:
    assert plain("  **Lung\n Cancer.** ") == "lung cancer"
    assert plain("“左”。") == "左"
    assert plain("x-ray, (ct) scan") == "x-ray, (ct) scan"
    assert plain("...") == ""
    assert same_answer("Lung cancer", "lung  cancer.") and not same_answer("lung", "lungs")


def test_open_scores_go_from_the_gold_to_the_answer() -> None:
    scores = open_scores("left lower lobe", "Answer: left lobe")
    assert scores["precision"] == 1.0
    assert scores["recall"] == approx(2 / 3)
    assert scores["f1"] == approx(0.8)
    assert scores["em"] == 0.0
    assert scores["bleu1"] == approx(0.6065, abs=1e-3), "short answers pay for being short"
    assert scores["bleu2"] < scores["bleu1"]
    assert scores["rouge1"] == approx(0.8) and scores["rouge2"] == 0.0 and scores["rougel"] == approx(0.8)
    assert list(scores) == [
        *("em", "bleu1", "bleu2", "bleu3", "bleu4", "rouge1", "rouge2", "rougel"),
        *("precision", "recall", "f1"),
    ]


def test_a_decimal_point_does_not_end_a_sentence_and_no_gold_is_never_matched_by_silence() -> None:
    assert open_scores("3.5 cm wide", "3.5 cm wide")["rouge2"] == approx(1.0)
    assert open_scores("3.5 cm", "5 cm")["rouge1"] == approx(0.5)
    assert open_scores("", "") == dict.fromkeys(open_scores("x", "y"), 0.0)
    assert open_scores("", "left")["rouge1"] == 0.0
    assert open_scores("left lobe", "lobe left")["rouge1"] == approx(1.0)


@pytest.mark.parametrize(
    ("gold", "response", "expected"),
    [
        ("right lobe", "right lobe", {"em": 1, "bleu1": 1, "precision": 1, "recall": 1, "f1": 1}),
        ("right lobe", "the right lobe", {"em": 0, "precision": 2 / 3, "recall": 1, "f1": 0.8, "rouge1": 0.8}),
        ("Lung cancer", "lung cancer.", {"em": 1, "bleu1": 1, "precision": 1, "recall": 1, "f1": 1}),
        ("liver, heart", "liver heart", {"em": 0, "bleu1": 1, "precision": 1, "recall": 1, "f1": 1}),
        ("CT", "computed tomography (ct)", {"em": 0, "precision": 1 / 3, "recall": 1, "f1": 0.5}),
        ("肺", "肺部", {"em": 0, "precision": 0.5, "recall": 1, "bleu1": 0.5}),
        ("x", "", {"em": 0, "bleu1": 0, "rouge1": 0, "rougel": 0, "f1": 0}),
        ("x", ".", {"em": 0, "bleu1": 0, "rouge1": 0, "rougel": 0, "f1": 0}),
        ("x", None, {"em": 0, "f1": 0}),
        ("3.5 cm", "3.5 cm", {"em": 1, "rouge1": 1, "rouge2": 1}),
    ],
)
def test_open_scores_have_their_right_names_and_never_stop(
    gold: str, response: object, expected: dict[str, float]
) -> None:
    scores = open_scores(gold, response)
    assert {name: scores[name] for name in expected} == approx(expected, abs=1e-6)


def test_numbers_are_read_with_their_signs_and_separators() -> None:
    assert number("$1,234.50") == 1234.5
    assert number("50%") == 50
    assert number(".5") == 0.5
    assert number("6 $.") == 6
    assert number("-3/4") == -0.75
    assert number("1/0") is None
    assert number("nan") is None
    assert number("1_0") is None
    assert number("lung") is None


@pytest.mark.parametrize(
    "options",
    [["sand", "snow"], ["B", "A"], ["b.", "(A)"], ["yes", "no"], ["3", "12"], ["", "snow"], {"b": "up", "a": "left"}],
)
def test_a_single_letter_is_parsed_as_with_a_space_behind_it(options: Any) -> None:
    """The shortcut for a letter must not change what the parser finds."""
    for letter in "ABCab1":
        assert read_choice(letter, options) == read_choice(f"{letter} ", options)
