"""From the rows of a medical data set to samples: what every set's loader shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.scoring.final_answer import plain
from sketchmark.tasks.instructions import Kind, Language
from sketchmark.tasks.medical.prompts import Protocol, question_prompt

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
class Asked:
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


def sample_of(asked: Asked, style: Style) -> Sample:
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


def _cluster(asked: Asked) -> dict[str, str]:
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
