"""The numbers of a run as they stand now, from the index: a run that is still going has no results.json yet."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

from sketchmark.runs.index import CellIndex, Row, RunIndex
from sketchmark.runs.results import summarise
from sketchmark.stats import interval, paired_difference

MOST_GROUPS = 24
_made: WeakKeyDictionary[CellIndex, tuple[int, dict[str, Any]]] = WeakKeyDictionary()


def of_cell(cell: CellIndex) -> dict[str, Any]:
    """Means with intervals, failures and usage; made anew only when lines were added."""
    known = _made.get(cell)
    if known is None or known[0] != cell.version:
        summary = summarise(cell.rows.values(), None)
        summary |= {
            "cell": cell.name,
            "task": cell.task,
            "mode": cell.mode,
            "canvas": cell.canvas,
            "headline": cell.headline,
            "played": len(cell.episodes),
            "seconds": sum(row["seconds"] for row in cell.rows.values()) / max(1, len(cell.rows)),
        }
        known = (cell.version, summary)
        _made[cell] = known
    return known[1]


def of_run(run: RunIndex) -> dict[str, Any]:
    """A row of the list of runs."""
    return {
        "run": run.key,
        "model": run.model,
        "started": run.about.get("started", ""),
        "state": run.state(time.time()),
        "version": run.version,
        "episodes": sum(len(cell.episodes) for cell in run.cells.values()),
        "cells": [of_cell(cell) for cell in run.cells.values()],
        "gains": gains(run),
    }


def gains(run: RunIndex) -> list[dict[str, Any]]:
    """Each mode that is not direct against direct, on the samples that both have scored."""
    found = []
    for cell in run.cells.values():
        base = run.baseline(cell)
        if base is not None and cell.mode != "direct":
            found.append({"task": cell.task, "mode": cell.mode, "canvas": cell.canvas, **paired(base, cell)})
    return [gain for gain in found if gain["n"]]


def paired(before: CellIndex, after: CellIndex) -> dict[str, Any]:
    """The difference of two cells' headline scores on the samples they share."""
    shared = [s for s in before.rows if before.value(s) is not None and after.value(s) is not None]
    clusters = [before.rows[sample]["groups"].get("cluster", sample) for sample in shared]
    found = paired_difference(
        [before.value(sample) or 0.0 for sample in shared],
        [after.value(sample) or 0.0 for sample in shared],
        clusters if len(set(clusters)) < len(clusters) else None,
    )
    return {
        "gain": found.mean,
        "ci95": [found.low, found.high],
        "p": found.p,
        "helped": found.helped,
        "hurt": found.hurt,
        "same": found.same,
        "n": found.n,
        "metric": after.headline,
    }


def curves(run: RunIndex) -> list[dict[str, Any]]:
    """How each task's headline score depends on how its samples are filed: numbers are difficulties (a line),
    words are categories (bars)."""
    found = []
    for task in dict.fromkeys(cell.task for cell in run.cells.values()):
        cells = [c for c in run.cells.values() if c.task == task and c.headline and c.canvas == "own"]
        for key in _filed_keys(cells):
            points = [_points(cell, key) for cell in cells]
            lines = [{"mode": c.mode, "canvas": c.canvas, "points": p} for c, p in zip(cells, points, strict=True)]
            values = [point["value"] for line in points for point in line]
            numeric = all(isinstance(value, (int, float)) for value in values)
            if 1 < len(set(map(str, values))) <= MOST_GROUPS:
                found.append({"task": task, "key": key, "numeric": numeric, "lines": lines})
    return found


def _filed_keys(cells: Iterable[CellIndex]) -> list[str]:
    keys: dict[str, None] = {}
    for cell in cells:
        declared = cell.about.get("breakdown")
        first: Row = next(iter(cell.rows.values()), {})
        keys |= dict.fromkeys(str(key) for key in declared or first.get("groups", ()) if key != "cluster")
    return list(keys)


def _points(cell: CellIndex, key: str) -> list[dict[str, Any]]:
    groups: dict[Any, list[float]] = {}
    for sample, row in cell.rows.items():
        value, group = cell.value(sample), row["groups"].get(key)
        if value is not None and isinstance(group, (str, int, float)):
            groups.setdefault(group, []).append(value)
    if len(groups) > MOST_GROUPS:
        return []
    points = []
    for group in sorted(groups, key=lambda g: (isinstance(g, str), g if not isinstance(g, str) else 0, str(g))):
        points.append({"value": group, **_mean(groups[group])})
    return points


def drawing_and_answer(cell: CellIndex) -> dict[str, Any] | None:
    """How often the answer is right when all that was drawn is right, and when it is not; None: nobody can tell."""
    table: dict[str, list[float]] = {"right": [], "wrong": []}
    for sample, row in cell.rows.items():
        value = cell.value(sample)
        if value is not None and row["drawing"] is not None:
            table["right" if row["drawing"] else "wrong"].append(value)
    if not any(table.values()):
        return None
    return {
        "task": cell.task,
        "canvas": cell.canvas,
        **{kind: {**_mean(values), "right": sum(v >= 1 for v in values)} for kind, values in table.items()},
    }


def _mean(values: list[float]) -> dict[str, Any]:
    found = interval(values)
    return {"mean": found.mean, "ci95": [found.low, found.high], "n": found.n}
