"""Run a plan: play what is missing, write it down, score it, sum it up."""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from sketchmark import __version__
from sketchmark.engines.local import play_all
from sketchmark.episode import Episode
from sketchmark.errors import RunConflict
from sketchmark.files.atomic import write_json
from sketchmark.files.lines import LineWriter
from sketchmark.files.plain import plain
from sketchmark.models.base import Model
from sketchmark.models.secrets import to_write_down
from sketchmark.parts import Sample
from sketchmark.runs.format import FORMAT, ModelAbout, RunAbout
from sketchmark.runs.grading import grade, usage_of
from sketchmark.runs.lock import RunLock
from sketchmark.runs.options import Budget, RunOptions
from sketchmark.runs.plan import Cell, Request
from sketchmark.runs.play import play
from sketchmark.runs.progress import Watcher
from sketchmark.runs.record import pack_episode, picture_names
from sketchmark.runs.rescore import aggregate, fill_scores, score_beside
from sketchmark.runs.store import RunFolder, differences
from sketchmark.runs.submissions import write_submissions


async def run_plan(
    request: Request, cells: list[Cell], model: Model, path: Path, options: RunOptions, watcher: Watcher
) -> RunFolder:
    """Bring the folder to the state that the request describes, and sum it up."""
    lock = RunLock(path)
    model.expect(options.concurrency)
    try:
        folder = _prepare(request, cells, model, path, options.fresh)
        for cell in cells:
            await _run_cell(folder, cell, model, options, watcher)
            if options.budget.used_up:
                break
        tasks = {cell.name: cell.task for cell in cells}
        await fill_scores(folder, tasks, options.grading)
        await score_beside(folder, tasks, options.scored_beside, options.grading)
        scorings = [options.grading.scoring, *options.scored_beside]
        aggregate(folder, tasks, request.seed, scorings, options.warnings)
        write_submissions(folder, tasks)
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
    now = RunAbout(
        format=FORMAT,
        sketchmark=__version__,
        model=ModelAbout(request.model, to_write_down(request.model_args)),
        seed=request.seed,
        started=(about and about.started) or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        machine={"python": platform.python_version(), "system": platform.system()},
        cells={**known, **descriptions},
    )
    write_json(folder.run_file, now)
    return folder


async def _run_cell(folder: RunFolder, cell: Cell, model: Model, options: RunOptions, watcher: Watcher) -> None:
    done = _done(folder, cell, options.retry_failed)
    total = cell.request.limit or cell.task.declared.default_limit
    watcher.begin(cell.name, total, len(done))
    episodes = LineWriter(folder.episodes_file(cell.name))
    scores = LineWriter(folder.scores_file(cell.name))

    async def one(job: tuple[int, Sample, Sample | None]) -> Episode:
        index, sample, donor = job
        episode = await play(model, cell, sample, donor, options.time_limit)
        episodes.write(pack_episode(episode, index, folder.pictures.save))
        await episodes.settle()
        scores.write(await grade(cell.task, episode, index, options.grading))
        return episode

    try:
        jobs = _missing(cell, done, options.budget)
        async for episode in play_all(jobs, one, options.concurrency):
            options.budget.charge(usage_of(episode))
            watcher.played(cell.name, episode.failure is not None)
    finally:
        episodes.close()
        scores.close()
    watcher.end(cell.name)


def _done(folder: RunFolder, cell: Cell, retry_failed: bool) -> dict[str, str]:
    """Samples that need not be played again. An episode whose pictures are not all there does not count."""
    return {
        line.sample.id: line.sample.fingerprint
        for line in folder.episodes(cell.name)
        if not (retry_failed and line.failure) and all(map(folder.pictures.holds, picture_names(line)))
    }


def _missing(cell: Cell, done: dict[str, str], budget: Budget) -> Iterator[tuple[int, Sample, Sample | None]]:
    for index, (sample, donor) in enumerate(cell.pairs()):
        if budget.used_up:
            return
        if sample.id not in done:
            yield index, sample, donor
        elif done[sample.id] != sample.fingerprint():
            raise RunConflict(
                f"sample {sample.id} of {cell.name} is not the one that was played before: the data changed",
                "use another --output_path, or --fresh to start over",
            )
