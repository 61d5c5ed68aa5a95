"""Replies as the official MMMU and MMMU-Pro programs write them: rows that hold their questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sketchmark.parts import Sample
from sketchmark.tasks.mmmu.data import groups_of, target_of
from sketchmark.tasks.mmmu.subjects import subject_of

_CHOICE = "multiple-choice"


def sample_of(row: Mapping[str, Any]) -> Sample | None:
    """The question that a row holds; None where what is true of it is not there."""
    options = _options(row)
    if "id" not in row or "answer" not in row or options is None:
        return None
    target = target_of({"options": options, "answer": row["answer"]})
    subject = str(row.get("subject") or subject_of(str(row["id"])))
    return Sample(id=str(row["id"]), target=target, groups=groups_of(subject, row))


def _options(row: Mapping[str, Any]) -> Any:
    """None where they are not in the row. An open question says what it is and has nothing else."""
    if "options" in row:
        return row["options"] or []
    if "index2ans" in row:
        lettered: Mapping[str, str] = row["index2ans"] or {}
        return [lettered[letter] for letter in sorted(lettered)]
    return [] if row.get("question_type", _CHOICE) != _CHOICE else None
