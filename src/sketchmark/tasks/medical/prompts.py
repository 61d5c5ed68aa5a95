"""The prompts of the medical data sets, letter for letter (docs/benchmarks/medical.md, "Prompt templates").

Two protocols: `upstream` is MedEvalKit's main branch; `indexed` adds the image-index sentence of its fork.
"reasoning" asks for the answer in a box; neither variant asks for a chain of thought.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sketchmark.tasks.image_index import (
    add_image_index_to_prompt,
    add_image_index_to_report_prompt,
    get_image_index_info,
)

Protocol = Literal["indexed", "upstream"]
Language = Literal["en", "zh"]
Kind = Literal["choice", "judgement", "closed", "open"]

_PLAIN: dict[tuple[Kind, Language], str] = {
    ("choice", "en"): "Answer with the option's letter from the given choices directly.",
    ("choice", "zh"): "请直接使用给定选项中的选项字母来回答该问题。",
    ("judgement", "en"): "Please output 'yes' or 'no'(no extra output).",
    ("judgement", "zh"): "请输出'是'或'否'(不要有任何其它输出)。",
    ("closed", "en"): "Answer the question using a single word or phrase.",
    ("closed", "zh"): "请用一个单词或者短语回答该问题。",
    ("open", "en"): "Please answer the question concisely.",
    ("open", "zh"): "请简要回答该问题。",
}

_BOXED: dict[tuple[Kind, Language], str] = {
    ("choice", "en"): (
        'Answer with the option\'s letter from the given choices and put the letter in one "\\boxed{}".'
    ),
    ("choice", "zh"): '请直接使用给定选项中的选项字母来回答该问题,并将答案包裹在"\\boxed{}"里',
    ("judgement", "en"): 'Please output "yes" or "no" and put the answer in one "\\boxed{}".',
    ("judgement", "zh"): "请输出'是'或'否'，并将答案放在一个'\\boxed{}'中。",
    ("closed", "en"): ('Answer the question using a single word or phrase and put the answer in one "\\boxed{}".'),
    ("closed", "zh"): "请用一个单词或者短语回答该问题，并将答案放在一个'\\boxed{}'中。",
    ("open", "en"): 'Please answer the question concisely and put the answer in one "\\boxed{}".',
    ("open", "zh"): "请简要回答该问题，并将答案放在一个'\\boxed{}'中。",
}

REPORT = (
    "You are a helpful assistant. Please generate a report for the given images, including both findings and "
    "impressions. Return the report in the following format: Findings: {} Impression: {}."
)

_MIMIC_UPSTREAM = f"\n        {REPORT}\n        "
"""MIMIC_CXR carries its own copy of the report prompt upstream, with the source file's indentation."""


def instruction(kind: Kind, language: Language = "en", *, reasoning: bool = False) -> str:
    """The last line of a prompt: what form the answer is to have."""
    return (_BOXED if reasoning else _PLAIN)[kind, language]


def question_prompt(
    kind: Kind,
    question: str,
    options: Sequence[str] = (),
    *,
    images: int,
    language: Language = "en",
    reasoning: bool = False,
    protocol: Protocol = "indexed",
) -> str:
    """The prompt of one question. `options` are shown as given: data sets differ in how they letter them."""
    last = instruction(kind, language, reasoning=reasoning)
    if kind == "choice":
        asked, listed = ("Question: ", "Options: ") if language == "en" else ("问题： ", "选项： ")
        prompt = "\n".join([f"\n{asked}{question}", listed, *options, last])
    else:
        prompt = f"{question}\n{last}"
    return add_image_index_to_prompt(prompt, get_image_index_info(images)) if protocol == "indexed" else prompt


def report_prompt(*, images: int, protocol: Protocol = "indexed", mimic: bool = False) -> str:
    """The prompt of the report data sets. It has no reasoning variant and no Chinese one."""
    if protocol == "indexed":
        return add_image_index_to_report_prompt(REPORT, get_image_index_info(images))
    return _MIMIC_UPSTREAM if mimic else REPORT
