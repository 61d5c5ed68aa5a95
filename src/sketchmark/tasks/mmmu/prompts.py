"""The prompts of MMMU and MMMU-Pro, letter for letter (docs/benchmarks/mmmu.md, "Prompts of MMMU").

Three protocols of MMMU: `official` is the benchmark's own LLaVA configuration, `upstream` MedEvalKit's, `indexed`
that of MedEvalKit's fork, with the image-index sentence after the options.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Literal

from sketchmark.tasks.image_index import get_image_index_info
from sketchmark.tasks.instructions import instruction

Protocol = Literal["indexed", "upstream", "official"]
ProSetting = Literal["standard", "vision"]
ProMode = Literal["direct", "cot"]

_PLACEHOLDER = re.compile(r"<image (\d{1,4})>")

_LAST_LINE = (
    "The last line of your response should be of the following format: 'Answer: $LETTER' (without quotes) "
    "where LETTER is one of options."
)
_DIRECT = "Answer with the option letter from the given choices directly."
_STEPS = "Think step by step before answering."

PRO_INSTRUCTIONS: dict[tuple[ProMode, ProSetting], str] = {
    ("cot", "standard"): f"Answer the preceding multiple choice question. {_LAST_LINE} {_STEPS}",
    ("cot", "vision"): (
        f"Write out the multiple-choice question in the image and then solve it. {_LAST_LINE} {_STEPS}"
    ),
    ("direct", "standard"): _DIRECT,
    ("direct", "vision"): f"{_DIRECT} {_LAST_LINE}",
}


def mmmu_prompt(
    question: str,
    options: Sequence[str],
    *,
    images: int,
    reasoning: bool = False,
    protocol: Protocol = "indexed",
) -> str:
    """The prompt of one MMMU question; no options means an open question.

    `<image 1>` placeholders stay in the text as they are, in all three protocols. The official form has no
    reasoning variant; asking for one gives MedEvalKit's instruction in the official layout.
    """
    last = instruction("choice" if options else "closed", reasoning=reasoning)
    lettered = [f"({ascii_uppercase[i]}) {text}" for i, text in enumerate(options)]
    if protocol == "indexed":
        listed = f"Options: {' '.join(lettered)}\n" if lettered else ""
        return f"### Question:\n{question}\n{listed}{get_image_index_info(images)}{last}"
    listed = "".join(f"{line}\n" for line in lettered)
    if protocol == "official":
        return f"{question}\n{listed}\n{last}" if listed else f"{question}\n{last}"
    indent = "\n        "
    return f"\n{question}\n\n{listed}\n{indent}{last}" if listed else f"\n{question}\n{indent}{last}"


def pro_prompt(
    question: str, options: Sequence[str], *, setting: ProSetting = "standard", mode: ProMode = "direct"
) -> str:
    """The prompt of one MMMU-Pro question. In the vision setting question and options are in the picture alone."""
    last = PRO_INSTRUCTIONS[mode, setting]
    if setting == "vision":
        return last
    return _PLACEHOLDER.sub("<image>", "\n".join([_pro_body(question, options), last]))


def pro_image_order(question: str, options: Sequence[str]) -> list[int]:
    """The numbers of the pictures in the order they are to be sent: that of their placeholders in the text.

    MMMU-Pro shuffled the options after the pictures were numbered, so the order is often not 1, 2, 3. A placeholder
    that comes twice sends its picture twice, so that the n-th `<image>` is always the n-th picture.
    """
    return [int(number) for number in _PLACEHOLDER.findall(_pro_body(question, options))]


def _pro_body(question: str, options: Sequence[str]) -> str:
    return "\n".join([question, *(f"{ascii_uppercase[i]}. {text}" for i, text in enumerate(options))])
