"""Each medical set's own tables, from the rows of a run (docs/benchmarks/medical.md, "Totals")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sketchmark.scoring.graded import Graded
from sketchmark.tasks.medical.medevalkit.open_end import METRICS
from sketchmark.tasks.medical.medevalkit.replies import fork_records
from sketchmark.tasks.medical.radiology_metrics import report_totals
from sketchmark.tasks.medical.scoring import VQA_SETS, checked_scoring
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
    items = [_graded(row) for row in (_last_records(scored) if how == "code-fork" else scored)]
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
        metrics={name: value for name, value in _values(row).items() if name in METRICS and value is not None},
        unparsed="unparsed" in row["flags"],
        groups={name: str(value) for name, value in row["groups"].items()},
    )


def settle(rows: Sequence[Row], scoring: str) -> dict[str, dict[str, float | None]]:
    """The fork scores an item by the record that it files last under the same key."""
    if scoring != "code-fork":
        return {}
    filed = [row for row in rows if row["notes"].get("item", {}).get("key")]
    return {row["sample"]: _values(last) for row, last in zip(filed, _last_records(filed), strict=True)}


def _last_records(rows: Sequence[Row]) -> list[Row]:
    return fork_records([row["notes"]["item"]["key"] for row in rows], rows)


def _values(row: Row) -> dict[str, float | None]:
    """What the item is worth by itself, also where `settle` has given the row another's values."""
    values: dict[str, float | None] = row["notes"].get("item", row).get("values", row["values"])
    return values
