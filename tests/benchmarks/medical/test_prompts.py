from __future__ import annotations

from pathlib import Path
from typing import Any

from sketchmark import Context, Model, Options, Reply
from sketchmark.benchmarks import (
    Kind,
    Language,
    add_image_index_to_prompt,
    add_image_index_to_report_prompt,
    get_image_index_info,
)
from sketchmark.benchmarks.medical import Protocol, question_prompt, report_prompt
from sketchmark.benchmarks.medical.scores import judge_open, judge_prompt, read_verdict
from sketchmark.benchmarks.mmmu import PRO_INSTRUCTIONS, ProMode, ProSetting, mmmu_prompt, pro_image_order, pro_prompt
from sketchmark.models.cache import with_cache
from tests.tabled import rows, tabled


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


@tabled
def test_report_prompts_carry_the_sentence_after_the_first_one(
    protocol: Protocol, images: int, mimic: bool, expected: str
) -> None:
    assert report_prompt(images=images, protocol=protocol, mimic=mimic) == expected


def test_a_report_prompt_of_one_sentence_gets_the_index_at_its_end() -> None:
    assert add_image_index_to_report_prompt("Write a report.", get_image_index_info(1)) == (
        "Write a report.\nThe index of the given image is 1.\n"
    )


@tabled
def test_mmmu_prompts_are_exactly_as_published(
    protocol: Protocol, options: list[str], reasoning: bool, expected: str
) -> None:
    assert mmmu_prompt("See <image 1>?", options, images=2, reasoning=reasoning, protocol=protocol) == expected


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


(TEXT,) = rows(__file__, "published_text")


class Strict(Model):
    """Calls an answer correct when it equals the standard answer in the text it is shown."""

    name = "strict"

    def __init__(self) -> None:
        self.seen: list[tuple[str, Options]] = []

    async def say(self, context: Context, options: Options) -> Reply:
        (text,) = context.texts
        self.seen.append((text, options))
        gold = text.partition("The standard answer: ")[2].partition("\n")[0]
        given = text.partition("The user's answer: ")[2].partition("\n")[0]
        return Reply(f"<think>.</think>\n<judge>{int(gold != given)}</judge>")


def test_the_judge_text_is_exactly_as_published() -> None:
    assert judge_prompt("Q", "A", "R") == TEXT


def test_braces_in_an_answer_stay_as_they_are() -> None:
    assert "The user's answer: {R}\n" in judge_prompt("{Q}", "A", "{R}")


@tabled
def test_zero_means_correct(reply: str, correct: bool | None) -> None:
    assert read_verdict(reply).correct is correct


async def test_any_model_can_judge() -> None:
    judge = Strict()
    assert (await judge_open(judge, "where?", "left lung", "left lung")).correct is True
    assert (await judge_open(judge, "where?", "left lung", "right lung")).correct is False
    text, options = judge.seen[0]
    assert text == judge_prompt("where?", "left lung", "left lung")
    assert (options.temperature, options.max_new_tokens) == (0.0, 4096)


async def test_an_answer_without_words_is_wrong_and_not_sent() -> None:
    judge = Strict()
    assert (await judge_open(judge, "where?", "left lung", "  ")).correct is False
    assert judge.seen == []


async def test_what_is_no_verdict_is_not_kept_and_what_is_one_is(tmp_path: Path) -> None:
    class Waking(Strict):
        async def say(self, context: Context, options: Options) -> Reply:
            reply = await super().say(context, options)
            return Reply("Hm?") if len(self.seen) == 1 else reply

    judge = Waking()
    cached = with_cache(judge, tmp_path)
    found = [(await judge_open(cached, "where?", "left", "left")).correct for _ in range(3)]
    assert found == [None, True, True] and len(judge.seen) == 2
