"""The totals of the medical data sets, under the keys their own reports use, in every scoring mode.

`strict` has one verdict per item and one denominator per table. The accidents of the `code-` modes are the functions
that cite docs/benchmarks/medical.md.

Each medical set's own tables, from the rows of a run (docs/benchmarks/medical.md, "Totals").
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
    """Totals of a multiple-choice set. `groupings` maps a table's key to the group it is split by:
    `{"question type metrics": "question_type"}`."""
    totals: dict[str, Any] = {"total metrics": _counted(items)}
    for key, by in (groupings or {}).items():
        names = dict.fromkeys(item.groups[by] for item in items)
        totals[key] = {name: _counted([item for item in items if item.groups[by] == name]) for name in names}
    return totals | _oddities(items)


def radrestruct_totals(items: Sequence[Graded]) -> dict[str, Any]:
    """`multiple_choice` also holds the six fixed_choice items, as upstream."""
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
    """Totals of VQA_RAD, PATH_VQA and SLAKE: all items, the open ones with their metrics, the closed ones."""
    if scoring == "paper" and not with_judge:
        raise BadInput("scoring `paper` judges open answers with a model", "give --judge, or use --scoring strict")
    opened = [item for item in items if not item.closed]
    closed = [item for item in items if item.closed]
    open_right, close_right = _rights(opened, closed, dataset, scoring, with_judge)
    open_table: Table = {"total": len(opened), "right": open_right}
    for name in METRICS:
        open_table[name] = sum(item.metrics[name] for item in opened) / len(opened) if opened else 0.0
    open_table["acc"] = share(open_right, len(opened))
    if scoring in ("code-upstream", "code-fork"):
        open_table["acc"] = _divided_again(open_table["acc"], len(opened))
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
        return by_judge, _slake_closed_twice(closed)
    if scoring == "code-upstream" and dataset == "path_vqa":
        return by_judge, _path_vqa_closed_forgotten()
    return by_judge, by_rule


def _fork_judged(items: Sequence[Graded]) -> int:
    """The fork falls back to the rule where there is no verdict (docs/benchmarks/medical.md, "The LLM judge")."""
    return sum(item.right if item.judged is None else item.judged for item in items)


def _slake_closed_twice(closed: Sequence[Graded]) -> int:
    """SLAKE on the main branch adds the judge's verdicts on closed items to the rule's: accuracy passes 1
    (docs/benchmarks/medical.md, "Closed answers counted twice")."""
    return sum(item.right for item in closed) + sum(item.judged is True for item in closed)


def _path_vqa_closed_forgotten() -> int:
    """PATH_VQA on the main branch zeroes the closed items when a judge is used
    (docs/benchmarks/medical.md, "Closed answers zeroed")."""
    return 0


def _divided_again(accuracy: float, opened: int) -> float:
    """Both codes divide the open accuracy by the number of open items a second time
    (docs/benchmarks/medical.md, "Open accuracy divided twice")."""
    return accuracy / opened if opened else 0.0


def _counted(items: Sequence[Graded]) -> Table:
    return table(sum(item.right for item in items), len(items))


def _oddities(items: Sequence[Graded]) -> Table:
    """Counts that belong beside every score: shown only when there are any."""
    counts = {
        "unparsed": sum(item.unparsed for item in items),
        "stopped": sum(item.stopped for item in items),
    }
    return {name: count for name, count in counts.items() if count}


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
