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
from sketchmark.files.lines import LineWriter, count_lines
from sketchmark.runs.alignment import drawn_cells
from sketchmark.runs.format import EpisodeLine, ScoreNumbers, ScoreRow
from sketchmark.runs.grading import grade
from sketchmark.runs.progress import NOBODY, Watcher
from sketchmark.runs.record import unpack_episode
from sketchmark.runs.results import NO_VERDICT
from sketchmark.runs.rows import newest
from sketchmark.runs.store import NUMBERS, SCORES, RunFolder
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
