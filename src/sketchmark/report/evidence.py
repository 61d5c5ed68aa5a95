"""What `sketchmark compare` finds within one run, as the report shows it: the same numbers in both places."""

from __future__ import annotations

from typing import Any

from sketchmark.compare import Comparison, compare
from sketchmark.errors import BadInput
from sketchmark.runs.store import RunFolder
from sketchmark.stats import Interval


def compared(folder: RunFolder) -> Comparison:
    """Nothing to compare (one mode, or nothing scored yet) is no error in a report."""
    try:
        return compare([folder.path], anyway=True)
    except BadInput:
        return Comparison((), (), ())


def gains_of(found: Comparison) -> list[dict[str, Any]]:
    return [
        {
            "task": row.task,
            "label": row.label,
            "mode": row.after.mode,
            "over": row.before.mode,
            "gain": row.difference.mean,
            "ci95": [row.difference.low, row.difference.high],
            "p": row.p_holm,
            "helped": row.difference.helped,
            "hurt": row.difference.hurt,
            "same": row.difference.same,
            "n": row.difference.n,
        }
        for row in found.rows
    ]


def point_of(score: Interval) -> dict[str, Any]:
    return {"mean": score.mean, "ci95": [score.low, score.high], "n": score.n}
