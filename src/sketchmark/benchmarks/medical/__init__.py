"""The eleven medical datasets of MedEvalKit (https://github.com/alibaba-damo-academy/MedEvalKit): items and prompts.

The prompts are exactly as published (docs/benchmarks/medical.md, "Prompt templates"). There are two protocols:
`upstream` is MedEvalKit's main branch, `indexed` adds the image-index sentence of its fork. `reasoning` asks for the
answer in a box; neither variant asks for a chain of thought.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any, Literal, get_args

from sketchmark.answers import plain
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

_SETS = ("medframeqa", "medxpertqa", "omnimedvqa", "pmc_vqa", "radrestruct", "path_vqa", "slake", "vqa_rad")
ALIASES = {
    **{name: f"sketchmark.benchmarks.medical.sets:{name}" for name in _SETS},
    "reports": "sketchmark.benchmarks.medical.radiology:reports",
    "score": "sketchmark.benchmarks.medical.scores:score",
    "score_report": "sketchmark.benchmarks.medical.scores:score_report",
    "totals": "sketchmark.benchmarks.medical.scores:totals",
    "report_totals": "sketchmark.benchmarks.medical.scores:reports",
    "settle": "sketchmark.benchmarks.medical.scores:settle",
    "submission": "sketchmark.benchmarks.medical.radiology:write",
}
"""Stable names of this code in task files and run folders."""

Protocol = Literal["indexed", "upstream"]
REPORT = (
    "You are a helpful assistant. Please generate a report for the given images, including both findings and "
    "impressions. Return the report in the following format: Findings: {} Impression: {}."
)

_MIMIC_UPSTREAM = f"\n        {REPORT}\n        "
"""Upstream's MIMIC_CXR has another copy of the report prompt, with the indentation of its source file."""


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
    """Build the prompt of one question. `options` are shown as given, because datasets letter them differently."""
    last = instruction(kind, language, reasoning=reasoning)
    if kind == "choice":
        asked, listed = ("Question: ", "Options: ") if language == "en" else ("问题： ", "选项： ")
        prompt = "\n".join([f"\n{asked}{question}", listed, *options, last])
    else:
        prompt = f"{question}\n{last}"
    return add_image_index_to_prompt(prompt, get_image_index_info(images)) if protocol == "indexed" else prompt


def report_prompt(*, images: int, protocol: Protocol = "indexed", mimic: bool = False) -> str:
    """Build the prompt of the report datasets. It has no reasoning variant and no Chinese one."""
    if protocol == "indexed":
        return add_image_index_to_report_prompt(REPORT, get_image_index_info(images))
    return _MIMIC_UPSTREAM if mimic else REPORT


@dataclass(frozen=True)
class Style:
    """Prompt style: MedEvalKit's main branch or its fork's indexed form, plain or with a boxed answer."""

    protocol: Protocol = "indexed"
    reasoning: bool = False

    def __post_init__(self) -> None:
        if self.protocol not in get_args(Protocol):
            raise BadInput(f"no prompt protocol {self.protocol!r}", f"there are: {', '.join(get_args(Protocol))}")


@dataclass(frozen=True)
class Item:
    """One question of a dataset. `shown` are the options as displayed, `options` their texts."""

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
    """Upstream sends the single image of most datasets without a tag, and lists with `<image_1>: ` tags
    (docs/benchmarks/medical.md, "How pictures are announced")."""

    drawn_question: str | None = None
    """Question for the drawing prompt, if the question itself contains its options."""

    def sample(self, style: Style) -> Sample:
        """Build the sample. Questions about the same image are not independent, so it is their cluster."""
        prompt = question_prompt(
            self.kind,
            self.question,
            self.shown,
            images=len(self.pictures),
            language=self.language,
            reasoning=style.reasoning,
            protocol=style.protocol,
        )
        bare = style.protocol == "upstream" and not self.tagged_upstream
        drawn = self.question if self.drawn_question is None else self.drawn_question
        cluster = {"cluster": self.pictures[0].identity[:16]} if self.pictures else {}
        return Sample(
            id=self.id,
            pictures={"image" if bare else "images": list(self.pictures)},
            fields={"prompt": prompt, "question": drawn, "options": "\n".join(self.shown)},
            target={**self.target, "options": list(self.options), "shown": list(self.shown), "asked": self.question},
            groups={**self.groups, **({} if "cluster" in self.groups else cluster)},
        )


def groups_from(row: Mapping[str, Any], *names: str) -> dict[str, str]:
    """Return the fields by which a dataset's tables are split; missing ones are Unknown."""
    return {name: str(row.get(name) or "Unknown") for name in names}


def lettered(options: Sequence[str], between: str) -> list[str]:
    """Put a letter before each option."""
    return [f"{ascii_uppercase[i]}{between}{option}" for i, option in enumerate(options)]


def letter_of(answer: str, options: Sequence[str]) -> str:
    """Return the letter of the option that is the answer: equal text (the last of several, as published), else equal
    without case and punctuation."""
    for same in (lambda option: option == answer, lambda option: plain(option) == plain(answer)):
        found = [letter for letter, option in zip(ascii_uppercase, options, strict=False) if same(option)]
        if found:
            return found[-1]
    raise BadInput(f"answer {answer[:60]!r} is not among the options")
