"""Scores from episodes on disk, without the model: fill in what is missing, or make them all anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sketchmark.engines.local import play_all
from sketchmark.files.atomic import write_json
from sketchmark.files.lines import LineWriter
from sketchmark.runs.grading import grade
from sketchmark.runs.record import unpack_episode
from sketchmark.runs.results import drawing_gains, summarise
from sketchmark.runs.store import RunFolder
from sketchmark.task import Grading, Task

_AT_ONCE = 16
"""A judge answers as slowly as any model: verdicts are asked for side by side."""


async def fill_scores(folder: RunFolder, tasks: Mapping[str, Task], grading: Grading) -> None:
    """Score what has no score of this kind yet: episodes that were written just before the process died, that were
    redone, that were scored by other rules or without this judge, or whose judge or scorer failed."""
    for cell, task in tasks.items():
        scored = {(row["sample"], row["started"]) for row in folder.scores(cell) if _stands(row, grading)}
        missing = [
            record["sample"]["id"]
            for record in folder.episodes(cell)
            if (record["sample"]["id"], record["started"]) not in scored
        ]
        if missing:
            await _score(folder, cell, "", task, grading, set(missing))


def _stands(row: Mapping[str, Any], grading: Grading) -> bool:
    if row.get("scoring") != grading.scoring or {"judge_failed", "scorer_failed"} & set(row["flags"]):
        return False
    return grading.judge is None or row.get("judge") == grading.judge.name


async def rescore(folder: RunFolder, tasks: Mapping[str, Task], scorings: list[str], grading: Grading) -> None:
    """Score everything anew. The first scoring becomes the run's own; the others stand beside it."""
    for task in tasks.values():
        for scoring in scorings:
            task.check_scoring(scoring, with_judge=grading.judge is not None)
    for cell, task in tasks.items():
        folder.scores_file(cell).unlink(missing_ok=True)
        await _score(folder, cell, "", task, replace(grading, scoring=scorings[0]))
    await score_beside(folder, tasks, scorings[1:], grading)


async def score_beside(
    folder: RunFolder, tasks: Mapping[str, Task], scorings: Sequence[str], grading: Grading
) -> None:
    """The same episodes by other rules, each in a file of its own."""
    for cell, task in tasks.items():
        for scoring in scorings:
            folder.scores_file(cell, scoring).unlink(missing_ok=True)
            await _score(folder, cell, scoring, task, replace(grading, scoring=scoring))


async def _score(
    folder: RunFolder, cell: str, suffix: str, task: Task, grading: Grading, only: set[str] | None = None
) -> None:
    writer = LineWriter(folder.scores_file(cell, suffix))

    async def one(record: dict[str, Any]) -> None:
        episode = unpack_episode(record, folder.pictures.load)
        writer.write(await grade(task, episode, record["index"], grading))

    wanted = (record for record in folder.episodes(cell) if only is None or record["sample"]["id"] in only)
    try:
        async for _ in play_all(wanted, one, _AT_ONCE):
            pass
        await writer.settle()
    finally:
        writer.close()


def aggregate(
    folder: RunFolder,
    tasks: Mapping[str, Task],
    seed: int,
    scorings: list[str] | None = None,
    warnings: Sequence[str] | None = None,
) -> None:
    """Write results.json for every cell of the run, also those that this command did not play.

    `warnings` is what the checks before the run found; None keeps those that stand there already.
    """
    about = folder.about()
    cells: dict[str, Any] = about["cells"]
    before = folder.results()
    previous = before.get("tasks", {})
    results: dict[str, Any] = {}
    for name, cell in cells.items():
        if name not in tasks:
            if name in previous:
                results[name] = previous[name]
            continue
        head = {key: cell[key] for key in ("task", "mode", "canvas", "steps", "headline")}
        task = tasks[name]
        results[name] = {**head, **_summary(folder, name, "", task, seed, (scorings or ["strict"])[0])}
        for scoring in (scorings or [])[1:]:
            beside = results[name].setdefault("scorings", {})
            beside[scoring] = _summary(folder, name, scoring, task, seed, scoring)
    present = {name: cell for name, cell in cells.items() if name in results}
    summary = {"model": about["model"]["name"], "tasks": results, "gains": drawing_gains(folder, present)}
    found = before.get("warnings", []) if warnings is None else list(warnings)
    if found:
        summary["warnings"] = found
    write_json(folder.path / "results.json", summary)


def _summary(folder: RunFolder, cell: str, suffix: str, task: Task, seed: int, scoring: str) -> dict[str, Any]:
    summary = summarise(folder.scores(cell, suffix), task, seed)
    summary["scoring"] = scoring
    if task.aggregate:
        summary["aggregate"] = dict(task.aggregate(list(folder.scores(cell, suffix)), scoring))
    return summary
