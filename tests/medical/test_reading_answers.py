"""Where in a reply its answer stands, and what the strict readers of yes, no and open answers make of it."""

from __future__ import annotations

import pytest
from pytest import approx

from sketchmark.answers.phrases import closed_is_right, open_scores, read_answer, same_answer
from sketchmark.answers.reply import FIRST_SLOT, UNREAD, Parsed, Said, plain, said
from sketchmark.answers.yes_no import read_yes_no


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
        ('{"answer": "a", "why": "b"}', '{\n@\n, "why": "b"}', ("a",)),
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


@pytest.mark.parametrize(
    ("response", "value", "how"),
    [
        ("Yes, it is", True, "reply"),
        ("Yes it is", True, "concluded"),
        ("nope", False, "reply"),
        ("'False'", False, "reply"),
        ("Correct.", True, "reply"),
        ("incorrect", False, "reply"),
        ("有", True, "reply"),
        ("没有", False, "reply"),
        ("无", False, "reply"),
        ("不对", False, "reply"),
        ("是。是否清楚", True, "reply"),
        ("Yes? The answer is no", False, "announced"),
        ("No? The answer is yes", True, "announced"),
        ("No. The answer is unclear", False, "reply"),
        ("<answer>No</answer>", False, "marked"),
        ("\\boxed{yes}", True, "marked"),
        ("I would say yes", True, "announced"),
        ("The border is sharp, so yes", True, "concluded"),
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
        ("The answer is left.", "left.", "announced"),
        ("Half of it is \\boxed{left}.\nAnswer: right", "right", "announced"),
        ('{"answer": "left"}', "left", "marked"),
        ("Answer:", "Answer:", "reply"),
        ("<answer>left</answer>", "left", "marked"),
        ("<answer>Answer: left</answer>", "left", "announced"),
        ("\\boxed{left}", "left", "marked"),
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
    assert closed_is_right("left", "<answer>Left</answer>") == Parsed(True, "marked")
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
