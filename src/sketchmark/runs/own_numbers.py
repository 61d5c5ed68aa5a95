"""Numbers that only a task's own aggregation makes: without an interval, and some of them inside its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sketchmark.runs.results_format import CellSummary


def own_numbers(cell: CellSummary, headline: str) -> dict[str, float]:
    """Beside the headline score what is no count; without one every number, and where there is none at all those of
    the tables."""
    kinds = float if headline in cell.metrics else (int, float)
    found = {
        name: value for name, value in cell.aggregate.items() if isinstance(value, kinds) and name not in cell.metrics
    }
    return found if found or cell.metrics else dict(flat(cell.aggregate))


def flat(tables: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """A data set's tables as `open / acc` -> number."""
    for key, inner in tables.items():
        label = f"{before} / {key}" if before else str(key)
        if isinstance(inner, Mapping):
            yield from flat(inner, label)
        elif isinstance(inner, (int, float)):
            yield label, inner


def why_none(cell: CellSummary) -> str:
    """Instead of a score."""
    return cell.problem or ("its own summary is no number" if cell.aggregate else "nothing scored")
