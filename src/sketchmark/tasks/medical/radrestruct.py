"""Rad-ReStruct (https://arxiv.org/abs/2307.05766): structured questions about an X-ray.

Prompts differ from MedEvalKit's under `indexed`: a question whose options are not yes and no is put as a multiple
choice with lettered options, because a yes/no prompt asks for what is not among them. `upstream` asks as published
(docs/benchmarks/medical.md, "Rad-ReStruct").
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput, DataMissing
from sketchmark.parts import Sample
from sketchmark.tasks.instructions import Kind
from sketchmark.tasks.medical.items import Asked, Style, letter_of, lettered, sample_of
from sketchmark.tasks.medical.medevalkit.replies import fork_key
from sketchmark.tasks.medical.prompts import Protocol
from sketchmark.tasks.published_files import json_list, json_value, open_files
from sketchmark.tasks.question_rows import build_all, checked_options, text

_HOW = (
    "expected: FOLDER/id_to_img_mapping_frontal_reports.json, FOLDER/test_qa_pairs/*.json and FOLDER/imgs/*.png; "
    "then --data FOLDER. Get the questions from MedEvalKit (datas/Radrestruct), the pictures from Open-i"
)


def radrestruct(
    *, seed: int, data: Path | None, protocol: Protocol = "indexed", reasoning: bool = False
) -> Iterator[Sample]:
    style = Style(protocol, reasoning)
    files = open_files(data, ("Radrestruct", "radrestruct", "rad-restruct"), how=_HOW)
    names = files.matching("test_qa_pairs", ".json")
    if not names:
        raise DataMissing(f"no test_qa_pairs/*.json in {files.root}", _HOW)
    mapping = json_value(
        files.read("id_to_img_mapping_frontal_reports.json"), "id_to_img_mapping_frontal_reports.json"
    )

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
        asked = Asked(
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
        )
        return sample_of(asked, style)

    return build_all("radrestruct", rows(), build)
