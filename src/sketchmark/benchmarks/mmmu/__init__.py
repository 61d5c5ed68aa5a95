"""MMMU (https://arxiv.org/abs/2311.16502) and MMMU-Pro (https://arxiv.org/abs/2409.02813): prompts, subjects, data.

The prompts are as published (docs/benchmarks/mmmu.md, "Prompts of MMMU"). MMMU has three protocols: `official` is the
benchmark's LLaVA configuration, `upstream` MedEvalKit's, and `indexed` that of MedEvalKit's fork, with the
image-index sentence after the options. The data come from the hub or a copy of it (docs/benchmarks/mmmu.md, "Rows of
MMMU"). Every image of a question is an input. The published scripts pass only the first, so their numbers are not
comparable on questions with several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

from sketchmark.benchmarks import build_all, checked_letter, checked_options, get_image_index_info, instruction, text
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput
from sketchmark.files.archives import folder_of, literal, table_picture
from sketchmark.files.tables import rows
from sketchmark.media import Picture

ALIASES = {
    "questions": "sketchmark.benchmarks.mmmu:mmmu",
    "pro_questions": "sketchmark.benchmarks.mmmu:mmmu_pro",
    "sample_of": "sketchmark.benchmarks.mmmu.scores:sample_of",
    "score": "sketchmark.benchmarks.mmmu.scores:score",
    "totals": "sketchmark.benchmarks.mmmu.scores:totals",
    "submission": "sketchmark.benchmarks.mmmu.scores:write",
}
"""Stable names of this code in task files and run folders."""

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
    question: str, options: Sequence[str], *, images: int, reasoning: bool = False, protocol: Protocol = "indexed"
) -> str:
    """Build the prompt of one MMMU question; no options means an open question.

    `<image 1>` placeholders stay in the text in all protocols. The official form has no reasoning variant: with
    `reasoning` it has MedEvalKit's instruction in the official layout.
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
    """Build the prompt of one MMMU-Pro question. In the vision setting, question and options are in the image."""
    last = PRO_INSTRUCTIONS[mode, setting]
    if setting == "vision":
        return last
    return _PLACEHOLDER.sub("<image>", "\n".join([_pro_body(question, options), last]))


def pro_image_order(question: str, options: Sequence[str]) -> list[int]:
    """Return the numbers of the images in the order of their placeholders in the text.

    MMMU-Pro shuffled the options after numbering the images, so the order is often not 1, 2, 3. A repeated one
    sends its image again, so that the n-th `<image>` is always the n-th image.
    """
    return [int(number) for number in _PLACEHOLDER.findall(_pro_body(question, options))]


def _pro_body(question: str, options: Sequence[str]) -> str:
    return "\n".join([question, *(f"{ascii_uppercase[i]}. {text}" for i, text in enumerate(options))])


DOMAINS: dict[str, tuple[str, ...]] = {
    "Art and Design": ("Art", "Art_Theory", "Design", "Music"),
    "Business": ("Accounting", "Economics", "Finance", "Manage", "Marketing"),
    "Science": ("Biology", "Chemistry", "Geography", "Math", "Physics"),
    "Health and Medicine": (
        "Basic_Medical_Science",
        "Clinical_Medicine",
        "Diagnostics_and_Laboratory_Medicine",
        "Pharmacy",
        "Public_Health",
    ),
    "Humanities and Social Science": ("History", "Literature", "Sociology", "Psychology"),
    "Tech and Engineering": (
        "Agriculture",
        "Architecture_and_Engineering",
        "Computer_Science",
        "Electronics",
        "Energy_and_Power",
        "Materials",
        "Mechanical_Engineering",
    ),
}

MEDICAL = DOMAINS["Health and Medicine"]
SUBJECTS = tuple(subject for subjects in DOMAINS.values() for subject in subjects)


def subject_of(item_id: str) -> str:
    """Parse `Basic_Medical_Science` from `validation_Basic_Medical_Science_10`; empty for another form."""
    name = item_id.partition("_")[2].rpartition("_")[0]
    return name if name in SUBJECTS else ""


WITHHELD = "?"
_MOST_IMAGES = 7
_PRO_CONFIGS = ("standard (10 options)", "standard (4 options)", "vision")


def mmmu(
    *,
    seed: int,
    data: Path | None,
    split: str = "validation",
    subjects: str = "all",
    protocol: Protocol = "indexed",
    reasoning: bool = False,
    limit: int | None = None,
) -> Iterator[Sample]:
    """Yield the questions of MMMU. `subjects`: all, a domain's name, or subjects joined by `+`."""
    if split not in ("dev", "validation", "test"):
        raise BadInput(f"MMMU has no split {split!r}", "there are: dev, validation, test")
    if protocol not in ("indexed", "upstream", "official"):
        raise BadInput(f"no prompt protocol {protocol!r}", "there are: indexed, upstream, official")
    root = folder_of(data, ("MMMU", "mmmu"))

    def build(_: int, found: tuple[str, dict[str, Any]]) -> Sample:
        subject, row = found
        question, target = text(row, "question"), target_of(row)
        pictures = _images(row, root)
        images = [pictures[number] for number in sorted(pictures)]
        return Sample(
            id=text(row, "id"),
            pictures={"images": images},
            fields={
                "prompt": mmmu_prompt(
                    question, target["options"], images=len(images), reasoning=reasoning, protocol=protocol
                ),
                "question": question,
                "options": "\n".join(f"({letter}) {option}" for letter, option in lettering(target).items()),
            },
            target=target,
            groups=groups_of(subject, row),
        )

    return build_all("mmmu", _subject_rows(root, chosen_subjects(subjects), split, limit), build)


def _subject_rows(
    root: Path | None, subjects: Sequence[str], split: str, limit: int | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield rows with their subject. In a single file of any subjects, the subject is in the ids."""
    if root is not None and root.is_file():
        found = False
        for row in rows(root, hub="MMMU/MMMU", split=split):
            if (subject := subject_of(str(row.get("id")))) in subjects:
                found = True
                yield subject, row
        if not found:
            raise BadInput(f"{root} has no question of {', '.join(subjects[:3])}…", "ids are like validation_Math_1")
        return
    tables = (
        (subject, rows(root, hub="MMMU/MMMU", config=subject, split=split, limit=limit)) for subject in subjects
    )
    for subject, table in (
        tables if limit is not None else list(tables)
    ):  # open all first, to report missing data early
        for row in table:
            if subject_of(str(row.get("id"))) in ("", subject):
                yield subject, row


def mmmu_pro(
    *,
    seed: int,
    data: Path | None,
    config: str = "standard (10 options)",
    style: ProMode = "direct",
    limit: int | None = None,
) -> Iterator[Sample]:
    """Yield the questions of MMMU-Pro. `config` is the name on the hub; `style` the instruction: direct or cot."""
    if config not in _PRO_CONFIGS:
        raise BadInput(f"MMMU-Pro has no set {config!r}", f"there are: {', '.join(_PRO_CONFIGS)}")
    if style not in ("direct", "cot"):
        raise BadInput(f"no prompt style {style!r}", "there are: direct, cot")
    root = folder_of(data, ("MMMU_Pro", "mmmu_pro"))
    vision = config == "vision"

    def build(_: int, row: dict[str, Any]) -> Sample:
        target = target_of(row)
        question = "" if vision else text(row, "question")
        if vision:
            images = [table_picture(row["image"], root)]
        else:
            found = _images(row, root)
            order = pro_image_order(question, target["options"]) or sorted(found)
            missing = [number for number in order if number not in found]
            if missing:
                raise BadInput(f"no image_{missing[0]}, which the text refers to")
            images = [found[number] for number in order]
        return Sample(
            id=text(row, "id"),
            pictures={"images": images},
            fields={
                "prompt": pro_prompt(
                    question, target["options"], setting="vision" if vision else "standard", mode=style
                ),
                "question": question,
                "options": "\n".join(f"{letter}. {option}" for letter, option in lettering(target).items()),
            },
            target=target,
            groups=groups_of(str(row.get("subject") or ""), row),
        )

    return build_all("mmmu_pro", rows(root, hub="MMMU/MMMU_Pro", config=config, limit=limit), build)


def chosen_subjects(names: str) -> tuple[str, ...]:
    if names == "all":
        return SUBJECTS
    if names in DOMAINS:
        return DOMAINS[names]
    chosen = tuple(name.strip() for name in names.split("+"))
    unknown = [name for name in chosen if name not in SUBJECTS]
    if unknown:
        raise BadInput(f"MMMU has no subject {unknown[0]!r}", f"there are: {', '.join(SUBJECTS)}")
    return chosen


def target_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ground truth of a row. `gold` is None if the benchmark withholds the answer.

    The options of one row of MMMU-Pro are a list in a list, and its gold is not a letter of them
    (docs/benchmarks/mmmu.md, "A list in a list").
    """
    listed = literal(row.get("options") or "[]")
    if not isinstance(listed, (list, tuple)):
        raise BadInput("options are not a list")
    answer = row.get("answer")
    withheld = answer in (None, "", WITHHELD)
    if not listed:
        return {"kind": "open", "options": [], "gold": None if withheld else _open_gold(answer)}
    options, gold = checked_options(listed), str(answer).strip().upper()
    if not withheld and all(isinstance(option, str) for option in listed):
        gold = checked_letter(answer, options)
    return {"kind": "choice", "options": options, "gold": None if withheld else gold}


def has_gold(target: Mapping[str, Any]) -> bool:
    """Return whether the ground truth is known and, for a choice, is a letter of the options."""
    return target["gold"] is not None and (target["kind"] == "open" or target["gold"] in lettering(target))


def lettering(target: Mapping[str, Any]) -> dict[str, str]:
    """Return the options by letter."""
    return dict(zip(ascii_uppercase, target["options"], strict=False))


def _open_gold(answer: Any) -> str | list[str]:
    """Parse the gold of an open question. Three validation rows have several, as a Python list."""
    if isinstance(answer, str) and answer.startswith("["):
        answer = literal(answer)
    return [str(one) for one in answer] if isinstance(answer, (list, tuple)) else str(answer)


def _images(row: Mapping[str, Any], root: Path | None) -> dict[int, Picture]:
    """Return the images by their number in the text."""
    return {
        number: table_picture(row[f"image_{number}"], root)
        for number in range(1, _MOST_IMAGES + 1)
        if row.get(f"image_{number}") is not None
    }


def groups_of(subject: str, row: Mapping[str, Any]) -> dict[str, str]:
    domain = next((domain for domain, members in DOMAINS.items() if subject in members), "Unknown")
    return {
        "subject": subject or "Unknown",
        "domain": domain,
        "difficulty": str(row.get("topic_difficulty") or "Unknown"),
    }
