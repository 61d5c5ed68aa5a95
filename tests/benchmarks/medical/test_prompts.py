from __future__ import annotations

import pytest

from sketchmark.benchmarks import (
    Kind,
    Language,
    add_image_index_to_prompt,
    add_image_index_to_report_prompt,
    get_image_index_info,
)
from sketchmark.benchmarks.medical import Protocol, question_prompt, report_prompt
from sketchmark.benchmarks.mmmu import PRO_INSTRUCTIONS, ProMode, ProSetting, mmmu_prompt, pro_image_order, pro_prompt
from tests.tabled import tabled

LETTER = "Answer with the option's letter from the given choices directly."
BOXED_LETTER = 'Answer with the option\'s letter from the given choices and put the letter in one "\\boxed{}".'


def test_the_sentence_counts_the_images() -> None:
    assert get_image_index_info(0) == ""
    assert get_image_index_info(1) == "The index of the given image is 1.\n"
    assert get_image_index_info(2) == "The indices of the given images are 1, 2.\n"
    assert get_image_index_info(7) == "The indices of the given images are 1, 2, 3, 4, 5, 6, 7.\n"


@tabled
def test_the_sentence_stands_before_the_last_line(prompt: str, images: int, expected: str) -> None:
    assert add_image_index_to_prompt(prompt, get_image_index_info(images)) == expected


PHRASE = "Answer the question using a single word or phrase."
BOXED_PHRASE = 'Answer the question using a single word or phrase and put the answer in one "\\boxed{}".'
LETTER_ZH = "请直接使用给定选项中的选项字母来回答该问题"
INSTRUCTIONS: dict[tuple[Kind, Language], tuple[str, str]] = {
    ("choice", "en"): (LETTER, BOXED_LETTER),
    ("choice", "zh"): (f"{LETTER_ZH}。", f'{LETTER_ZH},并将答案包裹在"\\boxed{{}}"里'),
    ("judgement", "en"): (
        "Please output 'yes' or 'no'(no extra output).",
        'Please output "yes" or "no" and put the answer in one "\\boxed{}".',
    ),
    ("judgement", "zh"): (
        "请输出'是'或'否'(不要有任何其它输出)。",
        "请输出'是'或'否'，并将答案放在一个'\\boxed{}'中。",
    ),
    ("closed", "en"): (PHRASE, BOXED_PHRASE),
    ("closed", "zh"): (
        "请用一个单词或者短语回答该问题。",
        "请用一个单词或者短语回答该问题，并将答案放在一个'\\boxed{}'中。",
    ),
    ("open", "en"): (
        "Please answer the question concisely.",
        'Please answer the question concisely and put the answer in one "\\boxed{}".',
    ),
    ("open", "zh"): ("请简要回答该问题。", "请简要回答该问题，并将答案放在一个'\\boxed{}'中。"),
}
BODIES = {"en": "\nQuestion: Q\nOptions: \nOPT1\nOPT2\n", "zh": "\n问题： Q\n选项： \nOPT1\nOPT2\n"}


@pytest.mark.parametrize("reasoning", [False, True])
@pytest.mark.parametrize(("kind", "language"), INSTRUCTIONS)
def test_upstream_prompts_are_exactly_as_published(kind: Kind, language: Language, reasoning: bool) -> None:
    options = ["OPT1", "OPT2"] if kind == "choice" else []
    made = question_prompt(kind, "Q", options, images=2, language=language, reasoning=reasoning, protocol="upstream")
    assert made == (BODIES[language] if options else "Q\n") + INSTRUCTIONS[kind, language][reasoning]


def test_the_indexed_protocol_adds_the_english_sentence_to_chinese_questions_too() -> None:
    made = question_prompt("judgement", "这是CT吗？", images=1, language="zh")
    assert made == "这是CT吗？\nThe index of the given image is 1.\n请输出'是'或'否'(不要有任何其它输出)。"


def test_without_images_both_protocols_are_the_same() -> None:
    for kind in ("choice", "open"):
        indexed = question_prompt(kind, "Q", ["A. a"], images=0)
        assert indexed == question_prompt(kind, "Q", ["A. a"], images=0, protocol="upstream")


REPORT = (
    "You are a helpful assistant. Please generate a report for the given images, including both findings and "
    "impressions. Return the report in the following format: Findings: {} Impression: {}."
)
REST = REPORT.removeprefix("You are a helpful assistant. ")


@tabled
def test_report_prompts_carry_the_sentence_after_the_first_one(
    protocol: Protocol, images: int, mimic: bool, expected: str
) -> None:
    assert report_prompt(images=images, protocol=protocol, mimic=mimic) == expected


def test_a_report_prompt_of_one_sentence_gets_the_index_at_its_end() -> None:
    assert add_image_index_to_report_prompt("Write a report.", get_image_index_info(1)) == (
        "Write a report.\nThe index of the given image is 1.\n"
    )


SENTENCE = "The indices of the given images are 1, 2.\n"


@tabled
def test_mmmu_prompts_are_exactly_as_published(
    protocol: Protocol, options: list[str], reasoning: bool, expected: str
) -> None:
    assert mmmu_prompt("See <image 1>?", options, images=2, reasoning=reasoning, protocol=protocol) == expected


LAST = (
    "The last line of your response should be of the following format: 'Answer: $LETTER' (without quotes) where "
    "LETTER is one of options."
)
STEPS = "Think step by step before answering."


@tabled
def test_pro_instructions_are_exactly_as_published(mode: ProMode, setting: ProSetting, expected: str) -> None:
    assert PRO_INSTRUCTIONS[mode, setting] == expected
    if setting == "vision":
        assert pro_prompt("unused", [], setting=setting, mode=mode) == expected


def test_pro_sends_pictures_in_the_order_of_their_placeholders() -> None:
    question, options = "Compare <image 1>.", ["like <image 3>", "like <image 2>"]
    assert pro_prompt(question, options) == (
        "Compare <image>.\nA. like <image>\nB. like <image>\n"
        "Answer with the option letter from the given choices directly."
    )
    assert pro_image_order(question, options) == [1, 3, 2]
