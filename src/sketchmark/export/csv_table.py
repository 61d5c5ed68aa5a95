"""One CSV file with every episode of a run: sample, answer, scores, flags and usage, for spreadsheets and R."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sketchmark.export import episodes
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.records import said
from sketchmark.results.summary import withheld

_FIRST = ("cell", "task", "mode", "canvas", "sample", "repeat", "answer", "failure", "flags", "scored", "seconds")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write(run: RunView, out: Path) -> list[Path]:
    """Write `episodes.csv`, one line per episode in the order of the samples; scores that are withheld stay empty."""
    columns = dict.fromkeys(_FIRST)
    for cell in run.cells.values():
        for row in cell.rows.values():
            columns |= dict.fromkeys(f"score.{name}" for name in row.values)
            columns |= dict.fromkeys(f"group.{name}" for name in row.groups)
            columns |= dict.fromkeys(f"usage.{name}" for name in row.usage)
    path = out / "episodes.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(columns), lineterminator="\n")
        writer.writeheader()
        for cell in run.cells.values():
            writer.writerows(_rows(cell))
    return [path]


def _rows(cell: CellView) -> Iterator[dict[str, Any]]:
    shown = not withheld(cell.rows.values())
    for line, score in episodes(cell):
        row: dict[str, Any] = {
            "cell": cell.name,
            "task": cell.task,
            "mode": cell.mode,
            "canvas": cell.canvas,
            "sample": line.sample.id,
            "repeat": line.repeat,
            "answer": next(reversed(said(line)), ""),
            "failure": line.failure.kind if line.failure else "",
            "flags": " ".join(score.flags) if score else "",
            "scored": bool(score and score.scored),
            "seconds": line.seconds,
        }
        if score:
            row |= {f"score.{name}": score.value(name) if shown else None for name in score.values}
            row |= {f"group.{name}": value for name, value in score.groups.items()}
            row |= {f"usage.{name}": value for name, value in score.usage.items()}
        yield {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    """Quote a text that a spreadsheet would run as a formula; a reply may be any text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
