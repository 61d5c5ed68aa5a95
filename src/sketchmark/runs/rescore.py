"""Scores from episodes on disk, without the model: fill in what is missing, or make them all anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from msgspec import UNSET

from sketchmark.engines.local import play_all
from sketchmark.errors import SketchmarkError
from sketchmark.files.atomic import write_json
from sketchmark.files.lines import LineWriter, count_lines
from sketchmark.runs.alignment import drawn_cells
from sketchmark.runs.baselines import baselines
from sketchmark.runs.failed import failed, first_of_each_kind
from sketchmark.runs.format import CellAbout, EpisodeLine, ScoreNumbers, ScoreRow
from sketchmark.runs.gains import gains
from sketchmark.runs.grading import grade
from sketchmark.runs.progress import NOBODY, Watcher
from sketchmark.runs.readings import of_cell
from sketchmark.runs.record import unpack_episode
from sketchmark.runs.results import NO_VERDICT, summarise, summed_up
from sketchmark.runs.results_format import BenchmarkTotal, CellSummary, Results
from sketchmark.runs.rows import newest
from sketchmark.runs.settling import settle_file
from sketchmark.runs.shards import part_in_words
from sketchmark.runs.store import NUMBERS, SCORES, RunFolder
from sketchmark.runs.totals import totals
from sketchmark.scores import Grading
from sketchmark.task import RA_AL, Task

_UNFINISHED = ".unfinished"
"""How the name of a file of scores ends that is not whole yet."""

_AT_ONCE = 16
"""A judge answers as slowly as any model: verdicts are asked for side by side."""


async def fill_scores(
    folder: RunFolder,
    tasks: Mapping[str, Task],
    grading: Grading,
    beside: Sequence[str] = (),
    watcher: Watcher = NOBODY,
) -> None:
    """Score what has no score of this kind yet: episodes that were written just before the process died, that were
    redone, that were scored by other rules or without this judge, or whose judge or scorer failed. The same episodes
    by other rules (`beside`) have a file of their own each."""
    _clear_leftovers(folder)
    for cell, task in tasks.items():
        for suffix in ("", *beside):
            how = replace(grading, scoring=suffix) if suffix else grading
            rows = newest(NUMBERS.all(folder.scores_file(cell, suffix))).values()
            standing = {(row.key, row.started) for row in rows if _stands(row, how)}
            played = [(line.key, line.started) for line in folder.episodes(cell)]
            if not standing.issuperset(played):
                new = await _scored(folder, cell, suffix, task, how, watcher, standing.intersection(played))
                new.replace(folder.scores_file(cell, suffix))


def _stands(row: ScoreNumbers, grading: Grading) -> bool:
    if row.scoring != grading.scoring or NO_VERDICT & set(row.flags):
        return False
    return grading.judge is None or row.judge == grading.judge.name


async def rescore(
    folder: RunFolder,
    tasks: Mapping[str, Task],
    scorings: list[str],
    grading: Grading,
    watcher: Watcher = NOBODY,
) -> None:
    """Score everything anew. The first scoring becomes the run's own; the others stand beside it, and `ra-al` always
    does. The old scores stay until all new ones are there."""
    own = [name for name in scorings if name != RA_AL]
    for task in tasks.values():
        for scoring in own:
            task.check_scoring(scoring, with_judge=grading.judge is not None)
    wanted = [(cell, name, "" if name == own[0] else name) for cell in tasks for name in own]
    if RA_AL in scorings:
        wanted += [(cell, RA_AL, RA_AL) for cell in drawn_cells(folder, tasks, with_judge=grading.judge is not None)]
    _clear_leftovers(folder)
    made = {}
    for cell, scoring, suffix in wanted:
        new = await _scored(folder, cell, suffix, tasks[cell], replace(grading, scoring=scoring), watcher)
        made[new] = folder.scores_file(cell, suffix)
    for new, path in made.items():
        new.replace(path)


async def _scored(
    folder: RunFolder,
    cell: str,
    suffix: str,
    task: Task,
    grading: Grading,
    watcher: Watcher,
    standing: AbstractSet[tuple[str, float]] = frozenset(),
) -> Path:
    """A whole file of scores, beside the one that it is to replace; rows that stand are taken over from that one."""
    path = folder.scores_file(cell, suffix)
    new = path.with_name(f".{path.name}{_UNFINISHED}")
    new.unlink(missing_ok=True)
    label = f"{cell} {grading.scoring}"
    total = count_lines(folder.episodes_file(cell)) if watcher.looks_on else None
    watcher.begin(label, total, len(standing))
    with closing(LineWriter(new)) as writer:

        async def one(line: EpisodeLine) -> ScoreRow:
            try:
                episode = unpack_episode(line, folder.pictures)
            except SketchmarkError as error:  # a picture that is lost or broken costs its row, not all the others
                row = _unreadable(line, error, grading)
            else:
                row = await grade(task, episode, line.index, grading)
            writer.write(row)
            return row

        if standing:
            for row in newest(SCORES.all(path)).values():
                if (row.key, row.started) in standing:
                    writer.write(row)
        wanted = (line for line in folder.episodes(cell) if (line.key, line.started) not in standing)
        async for row in play_all(wanted, one, _AT_ONCE):
            watcher.played(label, bool({*NO_VERDICT, "unreadable"} & set(row.flags)))
        await writer.settle()
    watcher.end(label)
    return new


def _unreadable(line: EpisodeLine, error: SketchmarkError, grading: Grading) -> ScoreRow:
    return ScoreRow(
        index=line.index,
        sample=line.sample.id,
        fingerprint=line.sample.fingerprint,
        groups=line.sample.groups,
        scored=False,
        values={},
        notes={"unreadable": str(error)},
        flags=["unreadable"],
        scoring=grading.scoring,
        started=line.started,
        seconds=line.seconds,
        repeat=line.repeat or UNSET,
        branch=line.branch or UNSET,
    )


def _clear_leftovers(folder: RunFolder) -> None:
    """Of a scoring that was killed."""
    for path in (folder.path / "scores").glob(f".*{_UNFINISHED}"):
        path.unlink()


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
    before = results_before(folder)
    results: dict[str, CellSummary] = {}
    for name, cell in about.cells.items():
        if name in tasks:
            own, *others = _scorings(folder, name, scorings or ["strict"], before)
            summary = _summary(folder, name, "", tasks[name], seed, own)
            summary.scorings = {other: _summary(folder, name, other, tasks[name], seed, other) for other in others}
            summary.baselines = baselines(folder, name, tasks[name], cell.mode, own)
            summary.published = tasks[name].published(cell.mode) if cell.canvas == "own" else []
            for other, beside in summary.scorings.items():
                if summary.metrics and beside.metrics and other != RA_AL:
                    beside.against = of_cell(folder, name, other, cell.headline)
                    beside.against.replies = []
        elif before is None:  # nothing is known of it but its scores
            rows = folder.scored(name)
            summary = summarise(rows.values(), None, seed)
            summary.scoring = next((row.scoring for row in rows.values()), "")
        elif name in before.tasks:
            results[name] = before.tasks[name]
            continue
        else:
            continue
        summary.task, summary.mode, summary.canvas = cell.task, cell.mode, cell.canvas
        summary.draw_with, summary.steps, summary.headline = cell.draw_with, cell.steps, cell.headline
        results[name] = summary
    present = {name: cell for name, cell in about.cells.items() if name in results}
    found = Results(
        model=about.model.name,
        tasks=results,
        gains=gains(present, folder.scored),
        totals=_totals(
            folder, tasks, present, [name for name in scorings or () if name != RA_AL] or ["strict"], before
        ),
        warnings=(before.warnings if before else []) if warnings is None else list(warnings),
        part=part_in_words(about, {name: cell.episodes for name, cell in results.items()}),
    )
    write_json(folder.results_file, found)


def _totals(
    folder: RunFolder,
    tasks: Mapping[str, Task],
    cells: Mapping[str, CellAbout],
    scorings: Sequence[str],
    before: Results | None,
) -> list[BenchmarkTotal]:
    """Those of the benchmarks that this command's tasks belong to, made anew, and those that stand there already."""
    found = totals(tasks.values(), cells, folder.scored, [name for name in scorings if name != RA_AL] or ["strict"])
    made = {total.benchmark for total in found}
    return found + [total for total in (before.totals if before else []) if total.benchmark not in made]


def _scorings(folder: RunFolder, cell: str, asked: Sequence[str], before: Results | None) -> list[str]:
    """The cell's own scoring and those beside it. Who asked for `ra-al` alone keeps the others; and once it is there,
    which costs a judge's time, it stays."""
    kept = [name for name in asked if name != RA_AL]
    if not kept:
        own = next((row.scoring for row in folder.scored(cell).values()), "") or "strict"
        beside = before.tasks[cell].scorings if before and cell in before.tasks else {}
        kept = [own, *(name for name in beside if name != RA_AL)]
    return [*kept, *([RA_AL] if folder.scores_file(cell, RA_AL).exists() else [])]


def results_before(folder: RunFolder) -> Results | None:
    """What results.json holds; None where it cannot be read: it is made of the scores and can be made again."""
    try:
        return folder.results()
    except SketchmarkError:
        return None


def _summary(folder: RunFolder, cell: str, suffix: str, task: Task, seed: int, scoring: str) -> CellSummary:
    if scoring != RA_AL:
        settle_file(folder, cell, suffix, task, scoring)
    rows = folder.scored(cell, suffix).values()
    summary = summed_up(rows, lambda: folder.scores(cell, suffix), task, scoring, seed)
    if not suffix and summary.failures.keys() - NO_VERDICT - {"truncated", "unparsed"}:
        summary.reasons = {**first_of_each_kind(failed(folder, cell)), **summary.reasons}
    return summary
