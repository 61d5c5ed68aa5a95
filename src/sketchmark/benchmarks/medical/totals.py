"""Totals of the medical datasets, under their published keys (docs/benchmarks/medical.md, "Totals").

`strict` has one verdict per sample and one denominator per table. Comments mark the accidents of the `code-`
scorings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sketchmark.benchmarks import Graded, Scoring, Table, share, table
from sketchmark.benchmarks.medical.medevalkit import METRICS, VqaSet, fork_records
from sketchmark.benchmarks.medical.radiology import report_totals
from sketchmark.benchmarks.medical.scores import VQA_SETS, checked_scoring
from sketchmark.errors import BadInput


def choice_totals(items: Sequence[Graded], groupings: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Compute the totals of a multiple-choice dataset. `groupings`: key of a table -> the group it is split by."""
    totals: dict[str, Any] = {"total metrics": _counted(items)}
    for key, by in (groupings or {}).items():
        names = dict.fromkeys(item.groups[by] for item in items)
        totals[key] = {name: _counted([item for item in items if item.groups[by] == name]) for name in names}
    return totals | _oddities(items)


def radrestruct_totals(items: Sequence[Graded]) -> dict[str, Any]:
    """Compute the totals of Rad-ReStruct. As upstream, `multiple_choice` includes the six fixed_choice samples."""
    single = [item for item in items if item.groups["answer_type"] == "single_choice"]
    multiple = [item for item in items if item.groups["answer_type"] != "single_choice"]
    return {
        "total metrics": _counted(items),
        "single_choice": _counted(single),
        "multiple_choice": _counted(multiple),
        **_oddities(items),
    }


def vqa_totals(
    items: Sequence[Graded], dataset: VqaSet, scoring: Scoring = "strict", *, with_judge: bool = False
) -> dict[str, Any]:
    """Compute the totals of VQA_RAD, PATH_VQA and SLAKE: all, open (with metrics) and closed samples."""
    if scoring == "paper" and not with_judge:
        raise BadInput("scoring `paper` judges open answers with a model", "give --judge, or use --scoring strict")
    opened = [item for item in items if not item.closed]
    closed = [item for item in items if item.closed]
    open_right, close_right = _rights(opened, closed, dataset, scoring, with_judge)
    open_table: Table = {"total": len(opened), "right": open_right}
    for name in METRICS:
        open_table[name] = sum(item.metrics[name] for item in opened) / len(opened) if opened else 0.0
    open_table["acc"] = share(open_right, len(opened))
    if scoring.startswith("code-") and opened:
        # both codes divide by the number of open samples a second time
        # (docs/benchmarks/medical.md, "Open accuracy divided twice")
        open_table["acc"] /= len(opened)
    return {
        "total metrics": table(open_right + close_right, len(items)),
        "open": open_table,
        "close": table(close_right, len(closed)),
        **_oddities(items),
    }


def _rights(
    opened: Sequence[Graded], closed: Sequence[Graded], dataset: VqaSet, scoring: Scoring, with_judge: bool
) -> tuple[int, int]:
    by_rule = sum(item.right for item in closed)
    if not with_judge:
        return sum(item.right for item in opened), by_rule
    if scoring == "code-fork":
        return _fork_judged(opened), _fork_judged(closed) if dataset == "slake" else by_rule
    by_judge = sum(item.judged is True for item in opened)
    if scoring == "code-upstream" and dataset == "slake":
        # the main branch adds the judge's verdicts on closed samples to the rule's: accuracy can exceed 1
        # (docs/benchmarks/medical.md, "Closed answers counted twice")
        return by_judge, by_rule + sum(item.judged is True for item in closed)
    if scoring == "code-upstream" and dataset == "path_vqa":
        return by_judge, 0  # docs/benchmarks/medical.md, "Closed answers zeroed"
    return by_judge, by_rule


def _fork_judged(items: Sequence[Graded]) -> int:
    """Count as the fork does, by rule without a verdict (docs/benchmarks/medical.md, "The LLM judge")."""
    return sum(item.right if item.judged is None else item.judged for item in items)


def _counted(items: Sequence[Graded]) -> Table:
    return table(sum(item.right for item in items), len(items))


def _oddities(items: Sequence[Graded]) -> Table:
    """Count unparsed and stopped samples, if there are any."""
    counts = {"unparsed": sum(item.unparsed for item in items), "stopped": sum(item.stopped for item in items)}
    return {name: count for name, count in counts.items() if count}


GROUPINGS = {
    "medxpertqa": {"question type metrics": "question_type", "task type metrics": "medical_task"},
    "omnimedvqa": {"question type metrics": "question_type", "modality type metrics": "modality_type"},
}

Row = Mapping[str, Any]


def totals(rows: Sequence[Row], scoring: str, *, dataset: str) -> dict[str, Any]:
    """Compute the tables under the keys of MedEvalKit's metrics.json."""
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
    """Compute BLEU, ROUGE, METEOR and CIDEr of all reports. No row has CIDEr: it depends on all reports."""
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
    """Return the values of samples as the fork scores them: by the last record with the same key."""
    if scoring != "code-fork":
        return {}
    filed = [row for row in rows if row["notes"].get("item", {}).get("key")]
    return {row["sample"]: _values(last) for row, last in zip(filed, _last_records(filed), strict=True)}


def _last_records(rows: Sequence[Row]) -> list[Row]:
    return fork_records([row["notes"]["item"]["key"] for row in rows], rows)


def _values(row: Row) -> dict[str, float | None]:
    """Return the sample's own values, even if `settle` has replaced those of the row."""
    values: dict[str, float | None] = row["notes"].get("item", row).get("values", row["values"])
    return values
