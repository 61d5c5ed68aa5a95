"""Why episodes failed, read without their transcripts.

Scores from episodes on disk, without the model: fill in what is missing, or make them all anew.

Rows whose score the other rows decide too (`settle` in a task's YAML), told once all of them are there.

They are replaced on disk, so that tables, comparisons, the report and the viewer all find the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from msgspec import UNSET, structs

from sketchmark.engines import play_all
from sketchmark.episode import Failure, Grading
from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files import write_atomic
from sketchmark.files.jsonl import LineReader, LineWriter, count_lines, encode, plain, seal
from sketchmark.folder import NUMBERS, SCORES, Opening, RunFolder
from sketchmark.folder.format import EpisodeLine, ScoreNumbers, ScoreRow
from sketchmark.folder.records import newest, unpack_episode
from sketchmark.progress import NOBODY, Watcher
from sketchmark.results import drawn_cells, grade, one_line
from sketchmark.results.summary import NO_VERDICT
from sketchmark.tasks import RA_AL, Task

_LONGEST = 300


class _Ending(Opening):
    failure: Failure | None = None


_ENDINGS = LineReader(_Ending, "an episode line")


def failed(folder: RunFolder, cell: str) -> dict[str, Failure]:
    """Sample → why its last try failed; of the samples that were asked for."""
    found: dict[str, Failure] = {}
    limit = folder.limit(cell)
    for line in _ENDINGS.all(folder.episodes_file(cell)):
        found.pop(line.key, None)
        if line.failure and (limit is None or line.index < limit):
            found[line.key] = line.failure
    return found


def first_of_each_kind(failures: dict[str, Failure]) -> dict[str, str]:
    """Kind → the first sample that failed so, and what was said."""
    reasons: dict[str, str] = {}
    for sample, failure in failures.items():
        reasons.setdefault(failure.kind, f"{sample}: {' '.join(failure.message.split())[:_LONGEST]}")
    return reasons


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


def settled(rows: Sequence[ScoreRow], task: Task, scoring: str) -> list[ScoreRow]:
    if not task.settle:
        return list(rows)
    try:
        values = {nth: task.settle([plain(row) for row in same], scoring) for nth, same in _by_repeat(rows).items()}
        return [structs.replace(row, values=dict(values[row.place[1:]].get(row.sample, row.values))) for row in rows]
    except Exception as error:  # the task's code: anything may come
        raise BadInput(f"the rows of task {task.name!r} could not be settled: {one_line(error)}") from error


def _by_repeat(rows: Sequence[ScoreRow]) -> dict[tuple[int, ...], list[ScoreRow]]:
    """A task decides over one row per sample, so each repeat and branch is decided by itself."""
    found: dict[tuple[int, ...], list[ScoreRow]] = {(0, 0): []}
    for row in rows:
        found.setdefault(row.place[1:], []).append(row)
    return found


def score_jointly(folder: RunFolder, cell: str, suffix: str, task: Task, scoring: str) -> None:
    """Rows of samples beyond the last limit stay as they are."""
    if not task.settle:
        return
    path = folder.scores_file(cell, suffix)
    before = newest(SCORES.all(path))
    after = before | {row.key: row for row in settled(list(folder.scores(cell, suffix)), task, scoring)}
    if after != before:
        write_atomic(path, b"".join(seal(encode(row)) for row in after.values()))
