"""Run a plan: play what is missing, write it down, score it, sum it up."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from sketchmark.engines.local import play_all
from sketchmark.engines.order import longest_first
from sketchmark.episode import Episode
from sketchmark.errors import CallFailed, RunStopped, SketchmarkError
from sketchmark.files.lines import LineWriter
from sketchmark.models.base import Model
from sketchmark.request import Request
from sketchmark.runs.aggregate import aggregate
from sketchmark.runs.calls import Calls
from sketchmark.runs.cost_limit import cut_short
from sketchmark.runs.ending import note_ending
from sketchmark.runs.grading import counted, grade, usage_of
from sketchmark.runs.lock import RunLock
from sketchmark.runs.options import RunOptions
from sketchmark.runs.plan import Cell
from sketchmark.runs.preparing import prepare
from sketchmark.runs.progress import Watcher, told_of_calls
from sketchmark.runs.record import pack_episode
from sketchmark.runs.rescore import fill_scores
from sketchmark.runs.shards import note_totals
from sketchmark.runs.staff import Staff, staff
from sketchmark.runs.stopping import PATIENCE, Stopping
from sketchmark.runs.store import RunFolder
from sketchmark.runs.submissions import write_submissions
from sketchmark.runs.supply import Job, Progress, supply, to_be_played_again
from sketchmark.runs.warnings import played_otherwise, retiring

_LOOK_AHEAD = 32
"""Samples that are made before their turn, to play the longest of them first."""


async def run_plan(
    request: Request, cells: list[Cell], model: Model, path: Path, options: RunOptions, watcher: Watcher
) -> RunFolder:
    """Bring the folder to the state that the request describes, and sum it up. A run that stops early is summed up,
    too, before RunStopped is raised; not where it is the judge who is missing: without him there is no sum."""
    lock, begun = RunLock(path), False
    try:
        retires = await model.retirements()
        folder = prepare(request, cells, model, path, options.fresh, retires)
        begun = True
        stopping = Stopping(options.concurrency)
        scoring = None if options.grading.judge else options.grading.scoring
        how = (request, model, options.concurrency, options.time_limit, scoring)
        calls = Calls(price=options.budget.price, judge_price=options.budget.judge_price)
        if options.grading.judge:
            options = replace(options, grading=counted(options.grading, calls.judge))
        async with staff(options.engine, *how) as players, told_of_calls(watcher, calls, players.tally):
            stopped = await _play(folder, cells, players, options, stopping, watcher, calls)
        if stopping.without_judge:
            raise SketchmarkError(stopped)
        tasks = {cell.name: cell.task for cell in cells}
        async with told_of_calls(watcher, calls):
            await fill_scores(folder, tasks, options.grading, options.scored_beside, watcher)
        scorings = [options.grading.scoring, *options.scored_beside]
        told = (*options.warnings, *retiring(retires), *played_otherwise(folder.about().cells))
        aggregate(folder, tasks, request.seed, scorings, told)
        write_submissions(folder, tasks)
        if stopped:
            raise RunStopped(stopped)
        note_ending(path, at_cost_limit=cut_short(folder, cells, options))
        return folder
    except BaseException as error:
        if begun:  # otherwise the folder is not this run's to write to
            note_ending(path, error)
        raise
    finally:
        lock.release()


class _CellFiles:
    """The files of one cell, open from its first episode to its last, and whoever looks on."""

    def __init__(self, at: Progress, folder: RunFolder, watcher: Watcher) -> None:
        self.at = at
        self._folder, self._watcher = folder, watcher
        self._open: tuple[LineWriter, LineWriter] | None = None
        self._begun = self._over = False

    def begin(self) -> tuple[LineWriter, LineWriter]:
        name = self.at.cell.name
        if not self._begun:
            self._begun = True
            self._watcher.begin(name, self.at.total, self.at.before)
        if self._open is None:
            self._open = (LineWriter(self._folder.episodes_file(name)), LineWriter(self._folder.scores_file(name)))
        return self._open

    def played(self, episode: Episode) -> None:
        self.at.ended += 1
        broke = to_be_played_again(episode.failure, retry_failed=False)
        self.at.finished += not broke
        self._watcher.played(self.at.cell.name, broke)
        if self.at.is_over:
            self.end()

    def end(self) -> None:
        self.close()
        if not self._over:
            self._over = True
            self._watcher.end(self.at.cell.name)

    def close(self) -> None:
        if self._open is not None:
            for file in self._open:
                file.close()
            self._open = None

    @property
    def is_begun(self) -> bool:
        return self._begun


async def _play(
    folder: RunFolder,
    cells: list[Cell],
    players: Staff,
    options: RunOptions,
    stopping: Stopping,
    watcher: Watcher,
    calls: Calls,
) -> str:
    """Play what is missing, all cells in one row; returns why it stopped before the end, if it did."""
    files = {cell.name: _CellFiles(Progress(cell), folder, watcher) for cell in cells}
    stopped_at: Progress | None = None

    async def one(job: Job) -> tuple[Progress, Episode]:
        nonlocal stopped_at
        cell = job.at.cell
        episodes, scores = files[cell.name].begin()
        played = await players.play(job)
        episode = played.episode
        episodes.write(pack_episode(episode, job.index, folder.pictures.save))
        await episodes.settle()
        try:
            scores.write(played.row or await grade(cell.task, episode, job.index, options.grading))
        except CallFailed as error:  # a judge whom no further call would reach: the episode waits for its scores
            stopping.judge_refused(error)
            stopped_at = stopped_at or job.at
        return job.at, episode

    def enough() -> bool:
        return options.budget.used_up or bool(stopping.why)

    rows = [file.at for file in files.values()]
    jobs = (job and players.ready(job) for job in supply(folder, rows, options.retry_failed, enough))
    ordered = longest_first(jobs, lambda job: job.length, min(_LOOK_AHEAD, players.at_once - 1))
    patience = asyncio.timeout(None)
    try:
        async with (
            patience,
            aclosing(play_all(takewhile(lambda job: not enough(), ordered), one, players.at_once)) as played,
        ):
            async for at, episode in played:
                options.budget.charge(usage_of(episode))
                stopping.ended(episode, worked_before=at.before > 0)
                if stopping.why:
                    stopped_at = stopped_at or at
                files[at.cell.name].played(episode)
                if episode.failure and episode.failure.blames_model:
                    calls.own_failures[episode.failure.kind] += 1
                if stopping.why and patience.when() is None:
                    patience.reschedule(asyncio.get_running_loop().time() + PATIENCE)
            stopping.over()
            if stopping.why:
                stopped_at = stopped_at or at
    except TimeoutError:
        if not patience.expired():
            raise
    finally:
        for file in files.values():
            file.close()
    for file in files.values():
        if not file.is_begun and not enough():  # there was nothing to play
            file.begin()
        if file.is_begun:
            file.end()
    note_totals(folder, {at.cell.name: at.samples for at in rows if at.samples is not None})
    if stopped_at is None:
        return ""
    return stopping.told(stopped_at.cell.name, stopped_at.before + stopped_at.finished, stopped_at.total)
