"""VQA-RAD, PathVQA and SLAKE: closed and open questions about one picture.

What they are: docs/benchmarks/medical.md, "Visual question answering sets".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.files.tables import rows, ways
from sketchmark.parts import Sample
from sketchmark.tasks.instructions import Kind, Language
from sketchmark.tasks.medical.items import Asked, Style, groups_from, sample_of
from sketchmark.tasks.medical.medevalkit.replies import fork_key
from sketchmark.tasks.medical.prompts import Protocol
from sketchmark.tasks.published_files import folder_of, json_list, open_files, table_picture
from sketchmark.tasks.question_rows import build_all, text


def vqa_rad(
    *,
    seed: int,
    data: Path | None,
    protocol: Protocol = "indexed",
    reasoning: bool = False,
    limit: int | None = None,
) -> Iterator[Sample]:
    """https://doi.org/10.1038/sdata.2018.251."""
    return _yes_no_or_open("vqa_rad", "flaviagiammarino/vqa-rad", data, Style(protocol, reasoning), limit)


def path_vqa(
    *,
    seed: int,
    data: Path | None,
    protocol: Protocol = "indexed",
    reasoning: bool = False,
    limit: int | None = None,
) -> Iterator[Sample]:
    """https://arxiv.org/abs/2003.10286."""
    return _yes_no_or_open("path_vqa", "flaviagiammarino/path-vqa", data, Style(protocol, reasoning), limit)


def _yes_no_or_open(name: str, repo: str, data: Path | None, style: Style, limit: int | None) -> Iterator[Sample]:
    root = folder_of(data, (name.upper(), name, repo.partition("/")[2]))

    def build(number: int, row: dict[str, Any]) -> Sample:
        question, answer = text(row, "question"), text(row, "answer")
        closed = answer.strip().lower() in ("yes", "no")
        kind: Kind = "judgement" if closed else "open"
        if style.protocol == "upstream" and closed:
            # the main branch looks at the answer unstripped, in PathVQA also as it is written
            # (docs/benchmarks/medical.md, "Closed or open, unstripped")
            seen = answer if name == "path_vqa" else answer.lower()
            kind = "judgement" if seen in ("yes", "no") else "open"
        asked = Asked(
            id=f"{name}-{number:06d}",
            kind=kind,
            question=question,
            pictures=[table_picture(row["image"], root)],
            target={"kind": "yes_no" if closed else "open", "gold": answer, "key": fork_key(question, answer)},
            groups={"answer_type": "closed" if closed else "open"},
        )
        return sample_of(asked, style)

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
    """https://arxiv.org/abs/2102.09542: English and Chinese together, as published; `language=en` or `zh` for one."""
    if language not in ("all", "en", "zh"):
        raise BadInput(f"SLAKE has no language {language!r}", "there are: all, en, zh")
    style = Style(protocol, reasoning)
    files = open_files(
        data,
        ("SLAKE", "Slake", "slake"),
        repo="BoKelvin/SLAKE",
        patterns=["test.json", "imgs.zip"],
        limit=limit,
    )

    def build(number: int, row: dict[str, Any]) -> Sample | None:
        if language not in ("all", row.get("q_lang")):
            return None
        question, answer, name = text(row, "question"), text(row, "answer"), text(row, "img_name")
        spoken: Language = "zh" if row["q_lang"] == "zh" else "en"
        closed = row["answer_type"] != "OPEN"
        asked = Asked(
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
        )
        return sample_of(asked, style)

    return build_all("slake", json_list(files.table("test.json", ways("BoKelvin/SLAKE")), "test.json"), build)
