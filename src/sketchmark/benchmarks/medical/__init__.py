"""The eleven medical data sets of MedEvalKit (https://github.com/alibaba-damo-academy/MedEvalKit).

The prompts of the medical data sets, letter for letter (docs/benchmarks/medical.md, "Prompt templates").

Two protocols: `upstream` is MedEvalKit's main branch; `indexed` adds the image-index sentence of its fork.
"reasoning" asks for the answer in a box; neither variant asks for a chain of thought.

From the rows of a medical data set to samples: what every set's loader shares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any, Literal

from sketchmark.answers.reply import plain
from sketchmark.benchmarks import (
    Kind,
    Language,
    add_image_index_to_prompt,
    add_image_index_to_report_prompt,
    get_image_index_info,
    instruction,
)
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput
from sketchmark.media import Picture

ALIASES = {
    "medframeqa": "sketchmark.benchmarks.medical.sets:medframeqa",
    "medxpertqa": "sketchmark.benchmarks.medical.sets:medxpertqa",
    "omnimedvqa": "sketchmark.benchmarks.medical.sets:omnimedvqa",
    "pmc_vqa": "sketchmark.benchmarks.medical.sets:pmc_vqa",
    "radrestruct": "sketchmark.benchmarks.medical.sets:radrestruct",
    "path_vqa": "sketchmark.benchmarks.medical.sets:path_vqa",
    "slake": "sketchmark.benchmarks.medical.sets:slake",
    "vqa_rad": "sketchmark.benchmarks.medical.sets:vqa_rad",
    "reports": "sketchmark.benchmarks.medical.radiology:reports",
    "score": "sketchmark.benchmarks.medical.scores:score",
    "score_report": "sketchmark.benchmarks.medical.scores:score_report",
    "totals": "sketchmark.benchmarks.medical.totals:totals",
    "report_totals": "sketchmark.benchmarks.medical.totals:reports",
    "settle": "sketchmark.benchmarks.medical.totals:settle",
    "submission": "sketchmark.benchmarks.medical.radiology:write",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""


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


PROTOCOLS = ("indexed", "upstream")


@dataclass(frozen=True)
class Style:
    """How questions are put: MedEvalKit's main branch or its fork's indexed form, plain or with a boxed answer."""

    protocol: Protocol = "indexed"
    reasoning: bool = False

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise BadInput(f"no prompt protocol {self.protocol!r}", f"there are: {', '.join(PROTOCOLS)}")


@dataclass(frozen=True)
class Item:
    """One question as a data set has it. `shown` are the options as displayed, `options` their bare texts."""

    id: str
    kind: Kind
    question: str
    pictures: Sequence[Picture]
    target: Mapping[str, Any]
    options: Sequence[str] = ()
    shown: Sequence[str] = ()
    language: Language = "en"
    groups: Mapping[str, str] = field(default_factory=dict)
    tagged_upstream: bool = False
    """Upstream hands most sets' single picture over bare; a few sets' lists get an `<image_1>: ` tag
    (docs/benchmarks/medical.md, "How pictures are announced")."""

    drawn_question: str | None = None
    """What a drawing prompt may quote when the question itself holds its options."""


def sample_of(asked: Item, style: Style) -> Sample:
    prompt = question_prompt(
        asked.kind,
        asked.question,
        asked.shown,
        images=len(asked.pictures),
        language=asked.language,
        reasoning=style.reasoning,
        protocol=style.protocol,
    )
    bare = style.protocol == "upstream" and not asked.tagged_upstream
    return Sample(
        id=asked.id,
        pictures={"image" if bare else "images": list(asked.pictures)},
        fields={
            "prompt": prompt,
            "question": asked.question if asked.drawn_question is None else asked.drawn_question,
            "options": "\n".join(asked.shown),
        },
        target={**asked.target, "options": list(asked.options), "shown": list(asked.shown), "asked": asked.question},
        groups={**asked.groups, **_cluster(asked)},
    )


def _cluster(asked: Item) -> dict[str, str]:
    """Questions about the same picture are not independent: their intervals are clustered by it."""
    if "cluster" in asked.groups or not asked.pictures:
        return {}
    return {"cluster": asked.pictures[0].identity[:16]}


def groups_from(row: Mapping[str, Any], *names: str) -> dict[str, str]:
    """The fields a set's tables are split by; what a row lacks is Unknown."""
    return {name: str(row.get(name) or "Unknown") for name in names}


def lettered(options: Sequence[str], between: str) -> list[str]:
    return [f"{ascii_uppercase[i]}{between}{option}" for i, option in enumerate(options)]


def letter_of(answer: str, options: Sequence[str]) -> str:
    """The letter of the option that is the answer: equal text (the last if several, as published), else equal but
    for case and punctuation."""
    for same in (lambda option: option == answer, lambda option: plain(option) == plain(answer)):
        found = [letter for letter, option in zip(ascii_uppercase, options, strict=False) if same(option)]
        if found:
            return found[-1]
    raise BadInput(f"answer {answer[:60]!r} is not among the options")
