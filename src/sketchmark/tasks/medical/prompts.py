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
from sketchmark.tasks.instructions import Kind, Language, instruction

Protocol = Literal["indexed", "upstream"]
REPORT = (
    "You are a helpful assistant. Please generate a report for the given images, including both findings and "
    "impressions. Return the report in the following format: Findings: {} Impression: {}."
)

_MIMIC_UPSTREAM = f"\n        {REPORT}\n        "
"""MIMIC_CXR carries its own copy of the report prompt upstream, with the source file's indentation."""


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
