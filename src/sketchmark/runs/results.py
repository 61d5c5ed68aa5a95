"""results.json: means with intervals, failures counted, and the drawing gain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sketchmark.runs.store import RunFolder
from sketchmark.stats import interval, paired_difference
from sketchmark.task import Task


def summarise(rows: Iterable[Mapping[str, Any]], task: Task | None, seed: int = 0) -> dict[str, Any]:
    """The summary of one cell. `n` counts scored episodes; whatever was not scored stands under failures."""
    slim = [_slim(row) for row in rows]
    failures: Counter[str] = Counter()
    usage: Counter[str] = Counter()
    for row in slim:
        failures.update(flag for flag in row["flags"] if flag != "left_out")
        usage.update(row["usage"])
    scored = [row for row in slim if row["scored"]]
    summary: dict[str, Any] = {
        "n": len(scored),
        "episodes": len(slim),
        "metrics": _metrics(scored, seed),
        "failures": dict(sorted(failures.items())),
        "left_out": sum("left_out" in row["flags"] for row in slim),
        "calls_left_out": sum(row["calls_left_out"] for row in slim),
        "usage": dict(usage),
    }
    by: dict[str, Any] = {}
    for key in task.breakdown if task else ():
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in scored:
            if key in row["groups"]:
                groups.setdefault(str(row["groups"][key]), []).append(row)
        by[key] = {
            name: {"n": len(group), "metrics": _metrics(group, seed)} for name, group in sorted(groups.items())
        }
    if by:
        summary["by"] = by
    return summary


def drawing_gains(folder: RunFolder, cells: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """visual_cot minus direct (and text_cot minus direct) on the same samples, for each task's headline score."""
    gains = []
    for name, cell in cells.items():
        base = f"{cell['task']}.direct"
        if cell["mode"] == "direct" or base not in cells or not cell.get("headline"):
            continue
        metric = str(cell["headline"])
        before, after = _values(folder, base, metric), _values(folder, name, metric)
        shared = [sample for sample in before if sample in after]
        if not shared:
            continue
        clusters = [before[sample][1] for sample in shared]
        difference = paired_difference(
            [before[s][0] for s in shared],
            [after[s][0] for s in shared],
            clusters if len(set(clusters)) < len(clusters) else None,
        )
        gains.append(
            {
                "task": cell["task"],
                "mode": cell["mode"],
                "canvas": cell["canvas"],
                "metric": metric,
                "gain": difference.mean,
                "ci95": [difference.low, difference.high],
                "p": difference.p,
                "helped": difference.helped,
                "hurt": difference.hurt,
                "same": difference.same,
                "n": difference.n,
            }
        )
    return gains


def _values(folder: RunFolder, cell: str, metric: str) -> dict[str, tuple[float, str]]:
    """sample -> (value, cluster)"""
    return {
        row["sample"]: (float(row["values"][metric]), str(row["groups"].get("cluster", row["sample"])))
        for row in folder.scores(cell)
        if row["scored"] and row["values"].get(metric) is not None
    }


def _metrics(rows: Sequence[Mapping[str, Any]], seed: int) -> dict[str, Any]:
    names = dict.fromkeys(name for row in rows for name in row["values"])
    metrics = {}
    for name in names:
        having = [row for row in rows if row["values"].get(name) is not None]
        if not having:
            continue
        clusters = [row["groups"].get("cluster", row["sample"]) for row in having]
        shared = len(set(clusters)) < len(clusters)
        found = interval([row["values"][name] for row in having], clusters if shared else None, seed=seed)
        metrics[name] = {"mean": found.mean, "ci95": [found.low, found.high], "n": found.n, "method": found.method}
    return metrics


def _slim(row: Mapping[str, Any]) -> dict[str, Any]:
    """Notes can be long; a summary of a million rows must not hold them."""
    kept = {key: row[key] for key in ("sample", "scored", "values", "flags", "groups", "usage")}
    return {**kept, "calls_left_out": row.get("calls_left_out", 0)}
