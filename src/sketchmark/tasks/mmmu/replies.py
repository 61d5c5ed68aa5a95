"""Replies as the official MMMU and MMMU-Pro programs write them: rows that hold their questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sketchmark.parts import Sample
from sketchmark.tasks.mmmu.data import groups_of, target_of
from sketchmark.tasks.mmmu.subjects import subject_of


def sample_of(row: Mapping[str, Any]) -> Sample | None:
    """The question that a row holds; None where what is true of it is not there."""
    if "id" not in row or "answer" not in row or not ("options" in row or "index2ans" in row):
        return None
    options = row.get("options")
    if options is None:
        lettered: Mapping[str, str] = row.get("index2ans") or {}
        options = [lettered[letter] for letter in sorted(lettered)]
    target = target_of({"options": options, "answer": row["answer"]})
    subject = str(row.get("subject") or subject_of(str(row["id"])))
    return Sample(id=str(row["id"]), target=target, groups=groups_of(subject, row))
