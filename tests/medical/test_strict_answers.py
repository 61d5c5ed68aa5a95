from __future__ import annotations

import pytest
from pytest import approx

from sketchmark.answers.numbers import number
from sketchmark.answers.phrases import closed_is_right, open_scores, read_answer
from sketchmark.answers.yes_no import read_yes_no
from sketchmark.benchmarks.mmmu.scores import open_verdict


@pytest.mark.parametrize(
    ("response", "value"),
    [
        # the replies that tell the published yes/no judge apart, read strictly
        ("Yes.", True),
        ("No", False),
        ("normal", None),
        ("There is nothing", None),
        ("I do not know", None),
        ("The eyes are shown", None),
        ("Yes, it is abnormal", True),
        ("yes and no", None),
        ("", None),
        ("\\boxed{No}", False),
        ("mild", None),
        ("是", True),
        # and elsewhere
        (None, None),
        ({"error": "x"}, None),
        ("否", False),
        ("不是", False),
        ("是否", None),
        ("没有", False),
        ("**Yes**", True),
        ("yes/no", None),
        ("No, there is no pneumothorax. Yes, the heart is large.", None),
        ("The answer is yes.", True),
        ("The heart is not enlarged, so the answer is: No", False),
        ("There is no pneumothorax", None),
        ("<think>yes or no?</think>no", False),
        ("<answer>yes</answer>", True),
        ("<answer>yes</answer><answer>no</answer>", False),
        ("I see yes in one view and no in the other", None),
        ("Northern", None),
        ("yesterday", None),
        ("True", True),
    ],
)
def test_yes_and_no_are_read_as_words(response: object, value: bool | None) -> None:
    assert read_yes_no(response).value is value


@pytest.mark.parametrize(
    ("gold", "response", "right"),
    [
        # the replies that tell the published close-ended judge apart, read strictly
        ("CT", "ct.", True),
        ("CT", " CT", True),
        ("CT", "CT ", True),
        ("CT", "Answer: CT", True),
        ("CT", "It is CT", False),
        ("Yes", "yes", True),
        ("X-Ray", "x-ray", True),
        ("是", "是", True),
        ("是", "是。", True),
        ("No", "No\n", True),
        ("CT", "MRI", False),
        ("CT", "", None),
        ("CT", None, None),
        ("CT", "...", None),
        ("CT", "The picture is dark.\n**Answer:** CT", True),
        ("left lung", "The answer is left lung.", True),
        ("CT", '{"answer": "CT"}', True),
    ],
)
def test_closed_answers_are_compared_without_their_wrapping(gold: str, response: object, right: bool | None) -> None:
    assert closed_is_right(gold, response).value is right


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


def test_an_answer_is_read_from_its_tag_its_box_or_its_label() -> None:
    assert read_answer("<answer>left</answer> <answer>right</answer>").value == "right"
    assert read_answer("it is \\boxed{\\text{left lung}}").value == "left lung"
    assert read_answer("Final answer: left lung.").value == "left lung."
    assert read_answer("left lung").value == "left lung"
    assert read_answer("!?").value is None


@pytest.mark.parametrize(
    ("gold", "response", "right"),
    [
        ("36", "36 watts", True),
        ("30", "36 watts", False),
        ("0.5", "The result is therefore 0.50", True),
        ("exploitation", "This is an example of exploitation", True),
        ("A", "the answer is A", True),
        ("A", "A dog", None),
        (["1/4", "0.25"], "0.25", True),
        ("0.25", "1/4", True),
        ("2.340", "2.34", True),
        ("no", "There is nothing", None),
        ("no", "No, there is not.", True),
        ("no", "Yes and no.", None),
        ("1234.5", "So the total is $1,234.50.", True),
        ("234.5", "So the total is $1,234.50.", False),
        ("5", "Let a=3. Then b=4\nso c = 5", True),
        ("3", "Let a=3. Then b=4\nso c = 5", False),
        ("-2500", "-2.5e3", True),
        ("Transformation", "<answer>transformation</answer>", True),
        ("2", "\\boxed{2}", True),
        ("2", "x = 1 + 1 = 2", True),
        ("12", "1. First we add.\n2. Then 12", True),
        ("36", "Answer: 36\nbecause 6 x 6 is 6 times 6", True),
        ("36", "The answer is approximately 36.0 W.", True),
        ("0.5", ".5", True),
        ("5", ".5", False),
        ("2", "", None),
        ("2", None, None),
    ],
)
def test_mmmu_open_answers_are_right_only_when_answered(
    gold: str | list[str], response: object, right: bool | None
) -> None:
    assert open_verdict(gold, response).value is right


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
