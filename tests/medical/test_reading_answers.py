"""Where in a reply its answer stands, and what the strict readers of yes, no and open answers make of it."""

from __future__ import annotations

import pytest
from pytest import approx

from sketchmark.scoring.final_answer import UNREAD, Parsed, Zone, announced, final_zone, plain
from sketchmark.scoring.open_answers import closed_is_right, open_scores, read_answer, same_answer
from sketchmark.scoring.yesno import read_yes_no


@pytest.mark.parametrize(
    ("response", "text", "mark"),
    [
        ("  left ", "left", "reply"),
        ("<answer>a</answer> and <ANSWER> b </ANSWER>", "b", "answer tag"),
        ("<answer>a\nb", "a\nb", "answer tag"),
        ("\\boxed{c} <answer>a</answer>", "a", "answer tag"),
        ("<answer></answer> \\boxed{c}", "", "answer tag"),
        ("\\boxed{a} then \\fbox{b} end", "b", "boxed"),
        ("\\boxed {a}", "a", "boxed"),
        ("\\boxed{\\frac{1}{2}} cm}", "\\frac{1}{2}", "boxed"),
        ("\\boxed{a {b", "a {b", "boxed"),
        ("\\boxed left lung", "left", "boxed"),
        ("\\boxed", "", "boxed"),
        ("\\boxed{\\text{\\textbf{B}}}", "B", "boxed"),
        ("$\\mathrm{B}$", "B", "reply"),
        ("$x$ costs $5 or $6", "x costs $5 or $6", "reply"),
        ("<think>a</think>b", "b", "reply"),
        ("<THINKING>a</THINKING> b <think>c", "b", "reply"),
        ("so\na</think>b</THINK>c", "c", "reply"),
        ("<think><answer>a</answer></think><answer>b</answer>", "b", "answer tag"),
        ("<think>a\n\nb</think>\nc", "c", "reply"),
        ("c\n<think>a\nb</think>", "c", "reply"),
        ("Ｂ", "B", "reply"),
    ],
)
def test_the_most_explicit_part_of_a_reply_counts_and_the_last_of_two(response: str, text: str, mark: str) -> None:
    assert final_zone(response) == Zone(text, mark)


@pytest.mark.parametrize("response", [None, 5, {"error": "timeout"}, ["B"]])
def test_a_reply_that_is_not_text_says_nothing(response: object) -> None:
    assert final_zone(response) == Zone("", "reply")


@pytest.mark.parametrize(
    ("text", "tail"),
    [
        ("The answer is left", "left"),
        ("My answer was: left", "left"),
        ("answer would be left", "left"),
        ("**Answer:** left", "left"),
        ("ANSWER = left", "left"),
        ("Answer → left", "left"),
        ("answer - left", "left"),
        ("答案是左", "左"),
        ("答案: 左", "左"),
        ("answer: a. Answer: b", "b"),
        ("answers are many", None),
        ("an answer-based choice", None),
        ("the answer left", None),
    ],
)
def test_what_is_announced_last_counts(text: str, tail: str | None) -> None:
    assert announced(text) == tail


def test_texts_are_compared_without_case_spacing_and_marks_around_them() -> None:
    assert plain("  **Lung\n Cancer.** ") == "lung cancer"
    assert plain("“左”。") == "左"
    assert plain("x-ray, (ct) scan") == "x-ray, (ct) scan"
    assert plain("...") == ""
    assert same_answer("Lung cancer", "lung  cancer.") and not same_answer("lung", "lungs")


@pytest.mark.parametrize(
    ("response", "value", "how"),
    [
        ("Yes, it is", True, "first word"),
        ("nope", False, "first word"),
        ("'False'", False, "first word"),
        ("Correct.", True, "first word"),
        ("incorrect", False, "first word"),
        ("有", True, "first word"),
        ("没有", False, "first word"),
        ("无", False, "first word"),
        ("不对", False, "first word"),
        ("No, it is thin: yes or no was the question", False, "first word"),
        ("是。是否清楚", True, "first word"),
        ("Yes? The answer is no", False, "announced"),
        ("No? The answer is yes", True, "announced"),
        ("No. The answer is unclear", False, "first word"),
        ("<answer>No</answer>", False, "answer tag"),
        ("\\boxed{yes}", True, "boxed"),
        ("I would say yes", True, "only word"),
        ("There is NO sign, no", False, "only word"),
    ],
)
def test_yes_and_no_and_where_they_were_read(response: str, value: bool, how: str) -> None:
    assert read_yes_no(response) == Parsed(value, how)


@pytest.mark.parametrize(
    "response",
    [
        "yes or no",
        "No/Yes",
        "The answer is yes and no",
        "是或否",
        "有没有",
        "I say yes, he says no",
        "",
        "maybe",
        "truth",
        "结果有",
    ],
)
def test_neither_or_both_is_unread(response: str) -> None:
    assert read_yes_no(response) == UNREAD


@pytest.mark.parametrize(
    ("response", "value", "how"),
    [
        ("left lung", "left lung", "reply"),
        ("Answer: left lung", "left lung", "announced"),
        ("It is dark.\nFinal answer: left lung ", "left lung", "announced"),
        ("Answer: left\nas one can see", "left\nas one can see", "announced"),
        ("so the answer is hidden here", "so the answer is hidden here", "reply"),
        ("The answer: left\nbecause it is dark", "The answer: left\nbecause it is dark", "reply"),
        ("Answer:", "Answer:", "reply"),
        ("<answer>left</answer>", "left", "answer tag"),
        ("<answer>Answer: left</answer>", "left", "announced"),
        ("\\boxed{left}", "left", "boxed"),
        ("答案是左", "左", "announced"),
    ],
)
def test_an_open_answer_is_all_of_a_reply_or_what_it_announces_at_its_edges(
    response: str, value: str, how: str
) -> None:
    assert read_answer(response) == Parsed(value, how)


def test_a_reply_without_words_has_no_answer() -> None:
    for response in ("", " .!", None, "<answer></answer>"):
        assert read_answer(response) == UNREAD
        assert closed_is_right("left", response) == UNREAD
    assert closed_is_right("left", "<answer>Left</answer>") == Parsed(True, "answer tag")
    assert closed_is_right("left", "right") == Parsed(False, "reply")


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
