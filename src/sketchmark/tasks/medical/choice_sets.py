"""MedFrameQA, MedXpertQA, PMC-VQA and OmniMedVQA (docs/benchmarks/medical.md, "Multiple-choice sets")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput, DataMissing
from sketchmark.files.tables import rows, ways
from sketchmark.parts import Sample
from sketchmark.tasks.medical.items import Asked, Style, groups_from, letter_of, lettered, sample_of
from sketchmark.tasks.medical.medevalkit.replies import fork_key
from sketchmark.tasks.medical.prompts import Protocol
from sketchmark.tasks.published_files import (
    Files,
    csv_rows,
    find_root,
    folder_of,
    json_list,
    json_value,
    literal,
    table_picture,
    text_lines,
)
from sketchmark.tasks.question_rows import build_all, checked_letter, checked_options, text

_PREFIX = re.compile(r"(?<!\s)\s*[A-D]\s*:\s*")
_LISTED_OPTIONS = re.compile(r"(?<!\s)\s*Answer Choices:.*\Z", re.DOTALL)


def medframeqa(
    *, seed: int, data: Path | None, protocol: Protocol = "indexed", reasoning: bool = False
) -> Iterator[Sample]:
    """https://arxiv.org/abs/2505.16964: 2 to 5 frames of a video, all of them inputs."""
    style = Style(protocol, reasoning)
    root = folder_of(data, ("MedFrameQA", "medframeqa"))

    def build(number: int, row: dict[str, Any]) -> Sample:
        options = checked_options(literal(row["options"]))
        gold = checked_letter(row["correct_answer"], options)
        pictures = [table_picture(row[f"image_{i}"], root) for i in range(1, 6) if row.get(f"image_{i}") is not None]
        if not pictures:
            raise BadInput("no image")
        question = text(row, "question")
        cluster = {"cluster": str(row["video_id"])} if row.get("video_id") else {}
        asked = Asked(
            id=f"medframeqa-{number:06d}",
            kind="choice",
            question=question,
            pictures=pictures,
            options=options,
            shown=lettered(options, "."),
            target={"kind": "choice", "gold": gold, "key": fork_key(question, gold)},
            groups={**groups_from(row, "system", "organ", "modality"), "frames": str(len(pictures)), **cluster},
            tagged_upstream=True,
        )
        return sample_of(asked, style)

    return build_all("medframeqa", rows(root, hub="SuhaoYu1020/MedFrameQA"), build)


def medxpertqa(
    *,
    seed: int,
    data: Path | None,
    subset: str,
    split: str = "test",
    protocol: Protocol = "indexed",
    reasoning: bool = False,
) -> Iterator[Sample]:
    """https://arxiv.org/abs/2501.18362: `MM` with pictures and 5 options, `Text` with 10 and none."""
    if subset not in ("MM", "Text"):
        raise BadInput(f"MedXpertQA has no subset {subset!r}", "there are: MM, Text")
    style = Style(protocol, reasoning)
    root = find_root(
        data,
        ("MedXpertQA", "medxpertqa"),
        repo="TsinghuaC3I/MedXpertQA",
        patterns=[f"{subset}/*.jsonl", *(["images.zip"] if subset == "MM" else [])],
    )
    files = Files(root)

    name = f"{subset}/{split}.jsonl"

    def build(number: int, line: str) -> Sample:
        row = json_value(line, name)
        lettering = literal(row["options"])
        options = checked_options([lettering[letter] for letter in sorted(lettering)])
        gold = checked_letter(row["label"], options)
        question = text(row, "question")
        names = row.get("images") or []
        asked = Asked(
            id=text(row, "id"),
            kind="choice",
            question=question,
            pictures=[files.picture(f"images/{name}", str(name)) for name in names] if subset == "MM" else [],
            options=options,
            shown=lettered(options, ". "),
            target={"kind": "choice", "gold": gold, "key": fork_key(question, gold, row["id"])},
            groups=groups_from(row, "question_type", "medical_task", "body_system"),
            tagged_upstream=True,
            drawn_question=_LISTED_OPTIONS.sub("", question),
        )
        return sample_of(asked, style)

    return build_all("medxpertqa", text_lines(files.table(name, ways("TsinghuaC3I/MedXpertQA"))), build)


def pmc_vqa(
    *, seed: int, data: Path | None, protocol: Protocol = "indexed", reasoning: bool = False
) -> Iterator[Sample]:
    """https://arxiv.org/abs/2305.10415, version 2 (`test_2.csv`). Options are shown as the cells have them.

    The records of the fork have no question, so it cannot take one for another: each is filed by itself.
    """
    style = Style(protocol, reasoning)
    root = find_root(
        data, ("PMC_VQA", "PMC-VQA", "pmc_vqa"), repo="RadGenome/PMC-VQA", patterns=["test_2.csv", "images_2.zip"]
    )
    files = Files(root)

    def build(number: int, row: list[str]) -> Sample:
        if len(row) != 10:
            raise BadInput(f"{len(row)} columns instead of 10: is this version 1's file?")
        _, figure, _, question, *choices, answer, _ = row
        options = [_PREFIX.sub("", choice, count=1).strip() for choice in choices]
        gold = checked_letter(answer, options)
        asked = Asked(
            id=f"pmc_vqa-{number:06d}",
            kind="choice",
            question=text({"Question": question}, "Question"),
            pictures=[files.picture(f"figures/{figure}", f"images/{figure}", figure)],
            options=options,
            shown=choices,
            target={"kind": "choice", "gold": gold, "key": fork_key(question, answer, number)},
        )
        return sample_of(asked, style)

    return build_all("pmc_vqa", csv_rows(files.table("test_2.csv", ways("RadGenome/PMC-VQA", "images_2.zip"))), build)


def omnimedvqa(
    *, seed: int, data: Path | None, protocol: Protocol = "indexed", reasoning: bool = False
) -> Iterator[Sample]:
    """https://arxiv.org/abs/2402.09181, the open-access part: 42 data sets, 2 to 4 options."""
    style = Style(protocol, reasoning)
    root = find_root(
        data, ("OmniMedVQA", "omnimedvqa"), repo="foreverbeliever/OmniMedVQA", patterns=["OmniMedVQA.zip"]
    )
    files = Files(root)
    names = files.matching("QA_information/Open-access", ".json")
    if not names:
        raise DataMissing(
            f"no QA_information/Open-access/*.json in {root} or its archives",
            ways("foreverbeliever/OmniMedVQA", "OmniMedVQA.zip"),
        )

    def build(number: int, row: dict[str, Any]) -> Sample:
        options = [str(row[f"option_{c}"]) for c in "ABCD" if row.get(f"option_{c}") not in (None, "")]
        checked_options(options)
        answer, question = text(row, "gt_answer"), text(row, "question")
        gold = letter_of(answer, options)
        groups = groups_from({**row, "modality_type": row.get("modality_type") or row.get("modality")}, *_OMNI_GROUPS)
        asked = Asked(
            id=f"omnimedvqa-{number:06d}",
            kind="choice",
            question=question,
            pictures=[files.picture(text(row, "image_path"))],
            options=options,
            shown=lettered(options, ". "),
            target={"kind": "choice", "gold": gold, "key": fork_key(question, gold)},
            groups=groups,
        )
        return sample_of(asked, style)

    return build_all("omnimedvqa", chain.from_iterable(json_list(files.read(name), name) for name in names), build)


_OMNI_GROUPS = ("question_type", "modality_type", "dataset")
"""One row of `Chest CT Scan.json` says `modality` for `modality_type`."""
