"""Run a plan: play what is missing, write it down, score it, sum it up."""

from __future__ import annotations

import asyncio
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, closing
from pathlib import Path

from sketchmark import __version__
from sketchmark.engines.local import play_all
from sketchmark.episode import Episode, Failure
from sketchmark.errors import CallFailed, RunConflict, RunStopped, SketchmarkError
from sketchmark.files.atomic import write_json
from sketchmark.files.lines import LineWriter
from sketchmark.files.plain import plain
from sketchmark.models.base import Model
from sketchmark.models.secrets import to_write_down
from sketchmark.parts import Sample
from sketchmark.runs.format import FORMAT, ModelAbout, RunAbout
from sketchmark.runs.grading import grade, usage_of
from sketchmark.runs.lock import RunLock
from sketchmark.runs.options import RunOptions
from sketchmark.runs.plan import Cell, Request
from sketchmark.runs.play import play
from sketchmark.runs.progress import Watcher
from sketchmark.runs.recognising import PlayedSamples
from sketchmark.runs.record import pack_episode, picture_names
from sketchmark.runs.rescore import aggregate, fill_scores
from sketchmark.runs.stopping import PATIENCE, Stopping
from sketchmark.runs.store import RunFolder, differences
from sketchmark.runs.submissions import write_submissions

Job = tuple[int, Sample, Sample | None]
"""A sample's number in its task, the sample, and who lends it drawings."""


async def run_plan(
    request: Request, cells: list[Cell], model: Model, path: Path, options: RunOptions, watcher: Watcher
) -> RunFolder:
    """Bring the folder to the state that the request describes, and sum it up. A run that stops early is summed up,
    too, before RunStopped is raised; not where it is the judge who is missing: without him there is no sum."""
    lock = RunLock(path)
    model.expect(options.concurrency)
    try:
        folder = _prepare(request, cells, model, path, options.fresh)
        stopping = Stopping(options.concurrency)
        stopped = ""
        for cell in cells:
            finished, total = await _run_cell(folder, cell, model, options, stopping, watcher)
            if stopping.why:
                stopped = stopping.told(cell.name, finished, total)
            if stopped or options.budget.used_up:
                break
        if stopping.without_judge:
            raise SketchmarkError(stopped)
        tasks = {cell.name: cell.task for cell in cells}
        await fill_scores(folder, tasks, options.grading, options.scored_beside)
        scorings = [options.grading.scoring, *options.scored_beside]
        aggregate(folder, tasks, request.seed, scorings, options.warnings)
        write_submissions(folder, tasks)
        if stopped:
            raise RunStopped(stopped)
        return folder
    finally:
        lock.release()


def _prepare(request: Request, cells: list[Cell], model: Model, path: Path, fresh: bool) -> RunFolder:
    folder = RunFolder(path)
    if fresh and folder.run_file.exists():  # never another folder's: ~/pictures is somebody's
        for name in ("episodes", "scores", "pictures"):
            shutil.rmtree(path / name, ignore_errors=True)
        for name in ("run.json", "results.json", "report.html"):
            (path / name).unlink(missing_ok=True)
    descriptions = {cell.name: cell.describe(model) for cell in cells}
    about = folder.about() if folder.run_file.exists() else None
    known = about.cells if about else {}
    for name, description in descriptions.items():
        changed = differences(plain(known[name]), plain(description)) if name in known else []
        if changed:
            raise RunConflict(
                f"{path} holds {name} played differently; changed: {'; '.join(changed[:3])}"
                + (f" and {len(changed) - 3} more" if len(changed) > 3 else ""),
                "use another --output_path, or --fresh to start over",
            )
    limits = {name: limit for name, limit in (about.limits if about else {}).items() if name not in descriptions}
    if request.limit is not None:
        limits |= dict.fromkeys(descriptions, request.limit)
    now = RunAbout(
        format=FORMAT,
        sketchmark=__version__,
        model=ModelAbout(request.model, to_write_down(request.model_args)),
        seed=request.seed,
        started=(about and about.started) or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        machine={"python": platform.python_version(), "system": platform.system()},
        cells={**known, **descriptions},
        limits=limits,
    )
    write_json(folder.run_file, now)
    return folder


async def _run_cell(
    folder: RunFolder, cell: Cell, model: Model, options: RunOptions, stopping: Stopping, watcher: Watcher
) -> tuple[int, int | None]:
    """Play what is missing; returns how many samples are finished now, and of how many if that is known."""
    total = cell.request.limit or cell.task.declared.default_limit
    done, failed = _played_before(folder, cell, total, options.retry_failed)
    finished = len(done)
    watcher.begin(cell.name, total, finished)
    with (
        closing(LineWriter(folder.episodes_file(cell.name))) as episodes,
        closing(LineWriter(folder.scores_file(cell.name))) as scores,
    ):

        async def one(job: Job) -> Episode:
            index, sample, donor = job
            episode = await play(model, cell, sample, donor, options.time_limit)
            episodes.write(pack_episode(episode, index, folder.pictures.save))
            await episodes.settle()
            try:
                scores.write(await grade(cell.task, episode, index, options.grading))
            except CallFailed as error:  # a judge whom no further call would reach: the episode waits for its scores
                stopping.judge_refused(error)
            return episode

        jobs = _jobs(
            cell, done, PlayedSamples(folder, cell.name), failed, lambda: options.budget.used_up or bool(stopping.why)
        )
        patience = asyncio.timeout(None)
        try:
            async with patience, aclosing(play_all(jobs, one, options.concurrency)) as played:
                async for episode in played:
                    options.budget.charge(usage_of(episode))
                    stopping.ended(episode)
                    finished += not _to_be_played_again(episode.failure, retry_failed=False)
                    watcher.played(cell.name, episode.failure is not None)
                    if stopping.why and patience.when() is None:
                        patience.reschedule(asyncio.get_running_loop().time() + PATIENCE)
        except TimeoutError:
            if not patience.expired():
                raise
    watcher.end(cell.name)
    return finished, total


def _played_before(
    folder: RunFolder, cell: Cell, total: int | None, retry_failed: bool
) -> tuple[dict[str, str], set[str]]:
    """Samples that are finished, by id with their fingerprints, and those that were tried and are to be played again:
    they failed, or their pictures are not all there."""
    done: dict[str, str] = {}
    again: set[str] = set()
    for line in folder.episodes(cell.name):
        if total is not None and line.index >= total:
            continue
        whole = all(map(folder.pictures.holds, picture_names(line)))
        if whole and not _to_be_played_again(line.failure, retry_failed):
            done[line.sample.id] = line.sample.fingerprint
        else:
            again.add(line.sample.id)
    return done, again


def _to_be_played_again(failure: Failure | None, retry_failed: bool) -> bool:
    """A failure of the network or the provider says nothing about the model: the next start tries again. One of the
    model's own is its answer, and stands until someone asks for another try."""
    return failure is not None and (retry_failed or not failure.blames_model)


def _jobs(
    cell: Cell, done: dict[str, str], played: PlayedSamples, failed: set[str], stop: Callable[[], bool]
) -> Iterator[Job | None]:
    """What is to be played; None for each sample that is not. What failed before comes last: samples that fail every
    time must not keep a run that stops at them from the rest."""
    compared = False
    for again in (False, True) if failed else (False,):
        for index, (draft, donor) in enumerate(cell.pairs()):
            if stop():
                return
            if draft.id not in done:
                wanted = (draft.id in failed) == again
                yield (index, draft.sample, donor.sample if donor else None) if wanted else None
                continue
            # A sample that is made by its id and the cell's settings need not be made to know that it is the same;
            # the first one is, to notice a generator that has changed.
            if not again and (draft.is_made or not compared):
                compared = True
                if done[draft.id] != draft.sample.fingerprint() and not played.holds(draft.sample):
                    raise RunConflict(
                        f"sample {draft.id} of {cell.name} is not the one that was played before: the data changed",
                        "use another --output_path, or --fresh to start over",
                    )
            yield None
