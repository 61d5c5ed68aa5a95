"""Scores from episodes on disk, without the model: fill in what is missing, or make them all anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sketchmark.engines.local import play_all
from sketchmark.files.atomic import write_json
from sketchmark.files.lines import LineWriter
from sketchmark.runs.format import EpisodeLine, ScoreNumbers
from sketchmark.runs.gains import gains
from sketchmark.runs.grading import grade
from sketchmark.runs.record import unpack_episode
from sketchmark.runs.results import summed_up
from sketchmark.runs.results_format import CellSummary, Results
from sketchmark.runs.store import RunFolder
from sketchmark.task import Grading, Task

_AT_ONCE = 16
"""A judge answers as slowly as any model: verdicts are asked for side by side."""


async def fill_scores(folder: RunFolder, tasks: Mapping[str, Task], grading: Grading) -> None:
    """Score what has no score of this kind yet: episodes that were written just before the process died, that were
    redone, that were scored by other rules or without this judge, or whose judge or scorer failed."""
    for cell, task in tasks.items():
        scored = {(row.sample, row.started) for row in folder.scored(cell).values() if _stands(row, grading)}
        missing = [line.sample.id for line in folder.episodes(cell) if (line.sample.id, line.started) not in scored]
        if missing:
            await _score(folder, cell, "", task, grading, set(missing))


def _stands(row: ScoreNumbers, grading: Grading) -> bool:
    if row.scoring != grading.scoring or {"judge_failed", "scorer_failed"} & set(row.flags):
        return False
    return grading.judge is None or row.judge == grading.judge.name


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

    async def one(line: EpisodeLine) -> None:
        episode = unpack_episode(line, folder.pictures.load)
        writer.write(await grade(task, episode, line.index, grading))

    wanted = (line for line in folder.episodes(cell) if only is None or line.sample.id in only)
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
    before = folder.results()
    results: dict[str, CellSummary] = {}
    for name, cell in about.cells.items():
        if name not in tasks:
            if name in before.tasks:
                results[name] = before.tasks[name]
            continue
        own, *others = scorings or ["strict"]
        summary = _summary(folder, name, "", tasks[name], seed, own)
        summary.task, summary.mode, summary.canvas = cell.task, cell.mode, cell.canvas
        summary.steps, summary.headline = cell.steps, cell.headline
        summary.scorings = {other: _summary(folder, name, other, tasks[name], seed, other) for other in others}
        results[name] = summary
    present = {name: cell for name, cell in about.cells.items() if name in results}
    found = Results(
        model=about.model.name,
        tasks=results,
        gains=list(gains(present, folder.scored)),
        warnings=before.warnings if warnings is None else list(warnings),
    )
    write_json(folder.results_file, found)


def _summary(folder: RunFolder, cell: str, suffix: str, task: Task, seed: int, scoring: str) -> CellSummary:
    rows = folder.scored(cell, suffix).values()
    return summed_up(rows, lambda: folder.scores(cell, suffix), task, scoring, seed)
