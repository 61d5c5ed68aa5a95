from __future__ import annotations

from typing import Any

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


def test_the_sentence_counts_the_images() -> None:
    assert get_image_index_info(0) == ""
    assert get_image_index_info(1) == "The index of the given image is 1.\n"
    assert get_image_index_info(2) == "The indices of the given images are 1, 2.\n"
    assert get_image_index_info(7) == "The indices of the given images are 1, 2, 3, 4, 5, 6, 7.\n"


@tabled
def test_the_sentence_stands_before_the_last_line(prompt: str, images: int, expected: str) -> None:
    assert add_image_index_to_prompt(prompt, get_image_index_info(images)) == expected


BODIES = {"en": "\nQuestion: Q\nOptions: \nOPT1\nOPT2\n", "zh": "\n问题： Q\n选项： \nOPT1\nOPT2\n"}


@tabled
def test_upstream_prompts_are_exactly_as_published(kind: Kind, language: Language, plain: str, boxed: str) -> None:
    options = ["OPT1", "OPT2"] if kind == "choice" else []
    asked: dict[str, Any] = {"images": 2, "language": language, "protocol": "upstream"}
    for reasoning, instruction in ((False, plain), (True, boxed)):
        made = question_prompt(kind, "Q", options, reasoning=reasoning, **asked)
        assert made == (BODIES[language] if options else "Q\n") + instruction


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
