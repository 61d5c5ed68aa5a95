"""Scores of replies that were produced elsewhere: the same scorers, tables and intervals as a run's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from sketchmark.catalog import Catalog
from sketchmark.engines.loop import run_async
from sketchmark.episode import Episode
from sketchmark.errors import BadInput, CallFailed
from sketchmark.files.tables import data_path
from sketchmark.key_values import parse_arguments
from sketchmark.models.cached import default_cache, with_cache
from sketchmark.parts import Sample
from sketchmark.runs.calls import Calls
from sketchmark.runs.format import ScoreRow
from sketchmark.runs.grading import counted, grade
from sketchmark.runs.progress import NOBODY, Watcher, told_of_calls
from sketchmark.runs.readings import held_against
from sketchmark.runs.replies_file import Matched, Row, episodes_of, match, reply_sets
from sketchmark.runs.results import NO_VERDICT, summed_up
from sketchmark.runs.results_format import CellSummary, Results
from sketchmark.runs.settling import settled
from sketchmark.scores import Grading
from sketchmark.task import Task

_AT_ONCE = 16
"""Questions to a judge in flight at the same time."""


def score_files(
    task: str,
    predictions: Path,
    scoring: str = "strict",
    data: Path | None = None,
    task_args: str = "",
    judge: str = "",
    judge_args: str = "",
    looking: Watcher = NOBODY,
) -> Results:
    """Results in the form of results.json, one entry for each set of replies; further scorings stand in it beside
    the first."""
    catalog = Catalog()
    arguments = parse_arguments(task_args)
    tasks = [catalog.task(pick.task, None, arguments) for pick in catalog.pick(task)]
    scorings = [name.strip() for name in scoring.split(",") if name.strip()] or ["strict"]
    for how in scorings:
        tasks[0].check_scoring(how, with_judge=bool(judge))
    judging = with_cache(catalog.model(judge, parse_arguments(judge_args)), default_cache()) if judge else None
    results: dict[str, CellSummary] = {}
    for name, rows in reply_sets(predictions).items():
        matched = _matched(tasks, rows, data)
        (first, own), *others = [
            run_async(_summary(tasks[0], matched, Grading(how, judging), f"{task}.{name}", looking))
            for how in scorings
        ]
        for other, scored in others:
            if first.metrics and other.metrics:
                other.against = held_against(own, scored, first.headline)
        if others:
            first.scorings = {other.scoring: other for other, _ in others}
        results[f"{task}.{name}"] = first
    return Results(model=predictions.name, tasks=results, gains=[])


def _matched(tasks: list[Task], rows: list[Row], data: Path | None) -> Matched:
    """A group's members share their scorer, so their samples are scored as one set.

    Replies that hold their questions need no data, wherever SKETCHMARK_DATA points.
    """
    sample_of = tasks[0].replies
    if sample_of and data is None and (found := episodes_of(rows, sample_of)):
        return found
    if any(task.config.get("scorers") != tasks[0].config.get("scorers") for task in tasks):
        raise BadInput("the tasks of this group are scored differently", "score them one by one with --task")

    def samples() -> Iterator[Sample]:
        for task in tasks:
            yield from task.samples(data=data_path(data))

    return match(samples(), rows)


async def _summary(
    task: Task, matched: Matched, grading: Grading, name: str, looking: Watcher
) -> tuple[CellSummary, list[ScoreRow]]:
    calls, label = Calls(), f"{name} {grading.scoring}"
    asked = counted(grading, calls.judge)
    free = asyncio.Semaphore(_AT_ONCE)

    stopped: list[CallFailed] = []

    async def row(index: int, episode: Episode) -> list[ScoreRow]:
        async with free:
            if stopped:
                return []
            try:
                scored = await grade(task, episode, index, asked)
                looking.played(label, bool(NO_VERDICT & set(scored.flags)))
                return [scored]
            except (
                CallFailed
            ) as error:  # the judge cannot go on: what it is being asked is paid for, so it is waited for
                stopped.append(error)
                return []

    looking.begin(label, len(matched.episodes), 0)
    async with told_of_calls(looking, calls):
        found = await asyncio.gather(*(row(index, episode) for index, episode in enumerate(matched.episodes)))
    looking.end(label)
    if stopped:
        raise stopped[0]
    rows = settled([row for one in found for row in one], task, grading.scoring)
    summary = summed_up(rows, lambda: rows, task, grading.scoring)
    summary.headline = task.headline
    summary.cut = None  # a file of replies does not say how they ended
    summary.unanswered, summary.unknown = matched.unanswered, matched.unknown
    return summary, rows
