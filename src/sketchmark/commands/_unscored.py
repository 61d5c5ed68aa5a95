"""What `run`, `score` and `score-file` say of episodes that nobody could score."""

from __future__ import annotations

from collections.abc import Mapping

from sketchmark.comparison.results_tables import labelled
from sketchmark.runs.results import NO_VERDICT
from sketchmark.runs.results_format import CellSummary
from sketchmark.terminal import tell


def tell_unscored(cells: Mapping[str, CellSummary], again: str) -> int:
    """One line for each cell and kind, with the first one's reason, then `again`: what asks for them once more.

    Returns how many things are missing, for the exit code.
    """
    total = problems = 0
    for label, one in labelled(cells):
        for kind in sorted(NO_VERDICT):
            if count := one.failures.get(kind, 0):
                reason = one.reasons.get(kind, "")
                tell(f"sketchmark: {label}: {kind} {count}, the first: {reason}", err=True)
                total += count
        if one.problem:
            problems += 1
            tell(f"sketchmark: {label}: {one.problem}", err=True)
    if total:
        tell(f"sketchmark: {total} episodes could not be scored; {again}", err=True)
    return total + problems
