"""Loaders of the medical question datasets.

docs/benchmarks/medical.md describes them: "Multiple-choice sets" for MedFrameQA, MedXpertQA, PMC-VQA and OmniMedVQA,
"Rad-ReStruct", and "Visual question answering sets" for VQA-RAD, PathVQA and SLAKE.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from sketchmark.benchmarks import Kind, Language, build_all, checked_letter, checked_options, text
from sketchmark.benchmarks.medical import Item, Protocol, Style, groups_from, letter_of, lettered
from sketchmark.benchmarks.medical.medevalkit import fork_key
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput, DataMissing
from sketchmark.files.archives import (
    csv_rows,
    folder_of,
    json_list,
    json_value,
    literal,
    open_files,
    table_picture,
    text_lines,
)
from sketchmark.files.tables import rows, ways

_PREFIX = re.compile(r"(?<!\s)\s*[A-D]\s*:\s*")
_LISTED_OPTIONS = re.compile(r"(?<!\s)\s*Answer Choices:.*\Z", re.DOTALL)


def medframeqa(
    *, seed: int, data: Path | None, protocol: Protocol = "indexed", reasoning: bool = False, limit: int | None = None
) -> Iterator[Sample]:
    """Yield MedFrameQA (https://arxiv.org/abs/2505.16964): 2 to 5 frames of a video, all of them inputs."""
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
        return Item(
            id=f"medframeqa-{number:06d}",
            kind="choice",
            question=question,
            pictures=pictures,
            options=options,
            shown=lettered(options, "."),
            target={"kind": "choice", "gold": gold, "key": fork_key(question, gold)},
            groups={**groups_from(row, "system", "organ", "modality"), "frames": str(len(pictures)), **cluster},
            tagged_upstream=True,
        ).sample(style)

    return build_all("medframeqa", rows(root, hub="SuhaoYu1020/MedFrameQA", limit=limit), build)


def medxpertqa(
    *,
    seed: int,
    data: Path | None,
    subset: str,
    split: str = "test",
    protocol: Protocol = "indexed",
    reasoning: bool = False,
    limit: int | None = None,
) -> Iterator[Sample]:
    """Yield MedXpertQA (https://arxiv.org/abs/2501.18362): `MM` has images and 5 options, `Text` 10 options."""
    if subset not in ("MM", "Text"):
        raise BadInput(f"MedXpertQA has no subset {subset!r}", "there are: MM, Text")
    style = Style(protocol, reasoning)
    files = open_files(
        data,
        ("MedXpertQA", "medxpertqa"),
        repo="TsinghuaC3I/MedXpertQA",
        patterns=[f"{subset}/*.jsonl", *(["images.zip"] if subset == "MM" else [])],
        limit=limit,
    )

    name = f"{subset}/{split}.jsonl"

    def build(number: int, line: str) -> Sample:
        row = json_value(line, name)
        lettering = literal(row["options"])
        options = checked_options([lettering[letter] for letter in sorted(lettering)])
        gold = checked_letter(row["label"], options)
        question = text(row, "question")
        names = row.get("images") or []
        return Item(
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
        ).sample(style)

    return build_all("medxpertqa", text_lines(files.table(name, ways("TsinghuaC3I/MedXpertQA"))), build)


def pmc_vqa(
    *, seed: int, data: Path | None, protocol: Protocol = "indexed", reasoning: bool = False, limit: int | None = None
) -> Iterator[Sample]:
    """Yield PMC-VQA (https://arxiv.org/abs/2305.10415), version 2 (`test_2.csv`). Options are shown as in the cells.

    The fork's records have no question, so it cannot confuse them: each has its own key.
    """
    style = Style(protocol, reasoning)
    files = open_files(
        data,
        ("PMC_VQA", "PMC-VQA", "pmc_vqa"),
        repo="RadGenome/PMC-VQA",
        patterns=["test_2.csv", "images_2.zip"],
        limit=limit,
    )

    def build(number: int, row: list[str]) -> Sample:
        if len(row) != 10:
            raise BadInput(f"{len(row)} columns instead of 10: is this version 1's file?")
        _, figure, _, question, *choices, answer, _ = row
        options = [_PREFIX.sub("", choice, count=1).strip() for choice in choices]
        gold = checked_letter(answer, options)
        return Item(
            id=f"pmc_vqa-{number:06d}",
            kind="choice",
            question=text({"Question": question}, "Question"),
            pictures=[files.picture(f"figures/{figure}", f"images/{figure}", figure)],
            options=options,
            shown=choices,
            target={"kind": "choice", "gold": gold, "key": fork_key(question, answer, number)},
        ).sample(style)

    return build_all("pmc_vqa", csv_rows(files.table("test_2.csv", ways("RadGenome/PMC-VQA", "images_2.zip"))), build)


def omnimedvqa(
    *, seed: int, data: Path | None, protocol: Protocol = "indexed", reasoning: bool = False, limit: int | None = None
) -> Iterator[Sample]:
    """Yield the open-access part of OmniMedVQA (https://arxiv.org/abs/2402.09181): 42 datasets, 2 to 4 options."""
    style = Style(protocol, reasoning)
    files = open_files(
        data,
        ("OmniMedVQA", "omnimedvqa"),
        repo="foreverbeliever/OmniMedVQA",
        patterns=["OmniMedVQA.zip"],
        limit=limit,
    )
    names = files.matching("QA_information/Open-access", ".json")
    if not names:
        raise DataMissing(
            f"no QA_information/Open-access/*.json in {files.root} or its archives",
            ways("foreverbeliever/OmniMedVQA", "OmniMedVQA.zip"),
        )

    def build(number: int, row: dict[str, Any]) -> Sample:
        options = [str(row[f"option_{c}"]) for c in "ABCD" if row.get(f"option_{c}") not in (None, "")]
        checked_options(options)
        answer, question = text(row, "gt_answer"), text(row, "question")
        gold = letter_of(answer, options)
        # one row of `Chest CT Scan.json` has `modality` for `modality_type`
        modality = {"modality_type": row.get("modality_type") or row.get("modality")}
        return Item(
            id=f"omnimedvqa-{number:06d}",
            kind="choice",
            question=question,
            pictures=[files.picture(text(row, "image_path"))],
            options=options,
            shown=lettered(options, ". "),
            target={"kind": "choice", "gold": gold, "key": fork_key(question, gold)},
            groups=groups_from({**row, **modality}, "question_type", "modality_type", "dataset"),
        ).sample(style)

    return build_all("omnimedvqa", chain.from_iterable(json_list(files.read(name), name) for name in names), build)


_HOW = (
    "expected: FOLDER/id_to_img_mapping_frontal_reports.json, FOLDER/test_qa_pairs/*.json and FOLDER/imgs/*.png; "
    "then --data FOLDER. Get the questions from MedEvalKit (datas/Radrestruct), the pictures from Open-i"
)


def radrestruct(
    *, seed: int, data: Path | None, protocol: Protocol = "indexed", reasoning: bool = False
) -> Iterator[Sample]:
    """Yield Rad-ReStruct (https://arxiv.org/abs/2307.05766): structured questions about an X-ray.

    `upstream` asks as published. `indexed` differs: a question whose options are not yes and no is a multiple choice,
    because a yes/no prompt would not match its options (docs/benchmarks/medical.md, "Rad-ReStruct").
    """
    style = Style(protocol, reasoning)
    files = open_files(data, ("Radrestruct", "radrestruct", "rad-restruct"), how=_HOW)
    names = files.matching("test_qa_pairs", ".json")
    if not names:
        raise DataMissing(f"no test_qa_pairs/*.json in {files.root}", _HOW)
    file = "id_to_img_mapping_frontal_reports.json"
    mapping = json_value(files.read(file), file)

    def rows() -> Iterator[tuple[str, str, int, Any]]:
        for name in names:
            report = Path(name).stem
            pairs = json_list(files.read(name), name)
            for stem in mapping.get(report, ()):
                for number, pair in enumerate(pairs):
                    yield report, str(stem), number, pair

    def build(_: int, row: tuple[str, str, int, Any]) -> Sample:
        report, stem, number, pair = row
        question, answers, _history, info = pair
        options = checked_options(info["options"])
        golds = [str(answer) for answer in answers]
        if not golds:
            raise BadInput("no answer")
        yes_no = info["answer_type"] == "single_choice" and {o.lower() for o in options} == {"yes", "no"}
        as_published = style.protocol == "upstream"
        kind: Kind = "judgement" if yes_no or (as_published and info["answer_type"] == "single_choice") else "choice"
        target: dict[str, Any] = {"kind": "yes_no", "gold": golds[0]}
        if not yes_no:
            target = {"kind": "choices", "gold": sorted({letter_of(gold, options) for gold in golds})}
        return Item(
            id=f"{report}-{stem}-{number:03d}",
            kind=kind,
            question=text({"question": question}, "question"),
            pictures=[files.picture(f"imgs/{stem}.png")],
            options=options,
            shown=(options if as_published else lettered(options, ". ")) if kind == "choice" else (),
            target={**target, "first_gold": golds[0], "key": fork_key(question, golds[0])},
            groups={
                "answer_type": str(info["answer_type"]),
                "path": str(info.get("path") or "").partition("_")[0] or "Unknown",
                "cluster": report,
            },
        ).sample(style)

    return build_all("radrestruct", rows(), build)


def vqa_rad(
    *, seed: int, data: Path | None, protocol: Protocol = "indexed", reasoning: bool = False, limit: int | None = None
) -> Iterator[Sample]:
    """Yield VQA-RAD (https://doi.org/10.1038/sdata.2018.251)."""
    return _yes_no_or_open("vqa_rad", "flaviagiammarino/vqa-rad", data, Style(protocol, reasoning), limit)


def path_vqa(
    *, seed: int, data: Path | None, protocol: Protocol = "indexed", reasoning: bool = False, limit: int | None = None
) -> Iterator[Sample]:
    """Yield PathVQA (https://arxiv.org/abs/2003.10286)."""
    return _yes_no_or_open("path_vqa", "flaviagiammarino/path-vqa", data, Style(protocol, reasoning), limit)


def _yes_no_or_open(name: str, repo: str, data: Path | None, style: Style, limit: int | None) -> Iterator[Sample]:
    root = folder_of(data, (name.upper(), name, repo.partition("/")[2]))

    def build(number: int, row: dict[str, Any]) -> Sample:
        question, answer = text(row, "question"), text(row, "answer")
        closed = answer.strip().lower() in ("yes", "no")
        kind: Kind = "judgement" if closed else "open"
        if style.protocol == "upstream" and closed:
            # the main branch compares the answer unstripped and, in PathVQA, with its case
            # (docs/benchmarks/medical.md, "Closed or open, unstripped")
            seen = answer if name == "path_vqa" else answer.lower()
            kind = "judgement" if seen in ("yes", "no") else "open"
        return Item(
            id=f"{name}-{number:06d}",
            kind=kind,
            question=question,
            pictures=[table_picture(row["image"], root)],
            target={"kind": "yes_no" if closed else "open", "gold": answer, "key": fork_key(question, answer)},
            groups={"answer_type": "closed" if closed else "open"},
        ).sample(style)

    return build_all(name, rows(root, hub=repo, limit=limit), build)


def slake(
    *,
    seed: int,
    data: Path | None,
    language: str = "all",
    protocol: Protocol = "indexed",
    reasoning: bool = False,
    limit: int | None = None,
) -> Iterator[Sample]:
    """Yield SLAKE (https://arxiv.org/abs/2102.09542): English and Chinese, as published, or one `language`."""
    if language not in ("all", "en", "zh"):
        raise BadInput(f"SLAKE has no language {language!r}", "there are: all, en, zh")
    style = Style(protocol, reasoning)
    files = open_files(
        data, ("SLAKE", "Slake", "slake"), repo="BoKelvin/SLAKE", patterns=["test.json", "imgs.zip"], limit=limit
    )

    def build(number: int, row: dict[str, Any]) -> Sample | None:
        if language not in ("all", row.get("q_lang")):
            return None
        question, answer, name = text(row, "question"), text(row, "answer"), text(row, "img_name")
        spoken: Language = "zh" if row["q_lang"] == "zh" else "en"
        closed = row["answer_type"] != "OPEN"
        return Item(
            id=f"slake-{number:06d}",
            kind="closed" if closed else "open",
            question=question,
            pictures=[files.picture(f"imgs/{name}", name)],
            target={"kind": "closed" if closed else "open", "gold": answer, "key": fork_key(question, answer)},
            language=spoken,
            groups={
                "answer_type": "closed" if closed else "open",
                "language": spoken,
                **groups_from(row, "modality", "location", "content_type"),
            },
        ).sample(style)

    return build_all("slake", json_list(files.table("test.json", ways("BoKelvin/SLAKE")), "test.json"), build)
