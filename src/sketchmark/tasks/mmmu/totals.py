"""MMMU's totals under the keys of the program that made them (docs/benchmarks/mmmu.md, "Totals")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sketchmark.scoring.counting import share, table
from sketchmark.scoring.graded import Graded
from sketchmark.tasks.mmmu.subjects import DOMAINS

_OFFICIAL_DECIMALS = 3


def official_totals(items: Sequence[Graded]) -> dict[str, dict[str, float]]:
    """The official table: `Overall-<Domain>`, its subjects, and `Overall`, all over instances, to three decimals.

    Subjects without items are left out, and so are their domains.
    """
    totals: dict[str, dict[str, float]] = {}
    for domain, subjects in DOMAINS.items():
        of_domain = [item for item in items if item.groups["subject"] in subjects]
        if not of_domain:
            continue
        totals[f"Overall-{domain}"] = _official_row(of_domain)
        for subject in subjects:
            if of_subject := [item for item in of_domain if item.groups["subject"] == subject]:
                totals[subject] = _official_row(of_subject)
    return {**totals, "Overall": _official_row(items)}


def medevalkit_totals(items: Sequence[Graded]) -> dict[str, Any]:
    """MedEvalKit's validation results: one table per subject, and `total`."""
    totals: dict[str, Any] = {}
    for subject in dict.fromkeys(item.groups["subject"] for item in items):
        of_subject = [item for item in items if item.groups["subject"] == subject]
        right, total = sum(item.right for item in of_subject), len(of_subject)
        totals[subject] = {"acc": share(right, total), "right": right, "total": total, "num_example": total}
    return {**totals, "total": table(sum(item.right for item in items), len(items))}


def _official_row(items: Sequence[Graded]) -> dict[str, float]:
    accuracy = share(sum(item.right for item in items), len(items))
    return {"num": len(items), "acc": round(accuracy, _OFFICIAL_DECIMALS)}
