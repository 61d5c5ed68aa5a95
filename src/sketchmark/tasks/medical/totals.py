"""Each medical set's own tables, from the rows of a run (docs/benchmarks/medical.md, "Totals")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sketchmark.scoring.graded import Graded
from sketchmark.tasks.medical.medevalkit.open_end import METRICS
from sketchmark.tasks.medical.medevalkit.replies import fork_replies
from sketchmark.tasks.medical.radiology_metrics import report_totals
from sketchmark.tasks.medical.scoring import VQA_SETS, checked_scoring, grade
from sketchmark.tasks.medical.set_totals import choice_totals, radrestruct_totals, vqa_totals

GROUPINGS = {
    "medxpertqa": {"question type metrics": "question_type", "task type metrics": "medical_task"},
    "omnimedvqa": {"question type metrics": "question_type", "modality type metrics": "modality_type"},
}

Row = Mapping[str, Any]


def totals(rows: Sequence[Row], scoring: str, *, dataset: str) -> dict[str, Any]:
    """The tables under the keys that MedEvalKit's metrics.json has."""
    how = checked_scoring(scoring)
    scored = [row for row in rows if row["scored"]]
    items = _mixed_up(dataset, scored) if how == "code-fork" else [_graded(row) for row in scored]
    if dataset in VQA_SETS:
        with_judge = any(row["notes"].get("with_judge") for row in scored)
        return vqa_totals(items, dataset, how, with_judge=with_judge)  # type: ignore[arg-type]
    if dataset == "radrestruct":
        return radrestruct_totals(items)
    return choice_totals(items, GROUPINGS.get(dataset))


def reports(rows: Sequence[Row], scoring: str) -> dict[str, Any]:
    """BLEU, ROUGE, METEOR and CIDEr of a set of reports. CIDEr is of the set, not of a report: no row has it."""
    how = checked_scoring(scoring)
    scored = [row for row in rows if row["scored"]]
    references = [row["notes"]["reference"] for row in scored]
    found = report_totals(references, [row["notes"]["reply"] for row in scored], how)
    return {"total metrics": found, "cider": found["cider"]}


def _graded(row: Row) -> Graded:
    known = row["notes"]["graded"]
    return Graded(
        right=known["right"],
        closed=known["closed"],
        judged=known["judged"],
        stopped=known["stopped"],
        metrics={name: row["values"][name] for name in METRICS if name in row["values"]},
        unparsed="unparsed" in row["flags"],
        groups={name: str(value) for name, value in row["groups"].items()},
    )


def _mixed_up(dataset: str, rows: Sequence[Row]) -> list[Graded]:
    """The fork's items: those stored under one key are all graded on the last one's reply
    (docs/benchmarks/medical.md, "Shared replies")."""
    notes = [row["notes"] for row in rows]
    items = []
    for row, own, shared in zip(rows, notes, fork_replies([n["item"]["key"] for n in notes], notes), strict=True):
        graded = _graded(row)
        if shared["reply"] != own["reply"]:
            again = grade(dataset, own["item"], row["groups"], shared["reply"], "code-fork")
            graded = replace(graded, right=again.right, metrics=again.metrics, judged=shared["graded"]["judged"])
        items.append(graded)
    return items
