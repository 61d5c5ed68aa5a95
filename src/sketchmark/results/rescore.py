"""Scores of existing episodes, without the model: missing ones are filled in, or all are made again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import UNSET, structs

from sketchmark.answers.extractor import CHECKED
from sketchmark.engines import play_all
from sketchmark.episode import EXTRACTED, Failure, Grading, check_extractor, rules_of
from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files import write_atomic
from sketchmark.files.jsonl import LineWriter, count_lines, encode, plain, seal
from sketchmark.folder import NUMBERS, SCORES, RunFolder
from sketchmark.folder.format import EpisodeLine, ScoreRow
from sketchmark.folder.records import newest, unpack_episode
from sketchmark.progress import NOBODY, Watcher
from sketchmark.results import (
    CHECK,
    NO_VERDICT,
    all_valid,
    checked,
    drawn_cells,
    grade,
    is_valid,
    one_line,
    write_row,
)
from sketchmark.tasks import RA_AL, Task

_UNFINISHED = ".unfinished"
"""Suffix of a score file that is not complete yet."""

_AT_ONCE = 16
"""Calls to a judge at the same time; a judge is as slow as any model."""

_LONGEST = 300
"""Characters of a failure's message that are shown."""


async def fill_scores(
    folder: RunFolder,
    tasks: Mapping[str, Task],
    grading: Grading,
    beside: Sequence[str] = (),
    watcher: Watcher = NOBODY,
) -> None:
    """Score the episodes without a valid score: written just before the process died, run again, scored by another
    scoring or without this judge, or with a failed judge or scorer. Each further scoring (`beside`) has a separate
    file."""
    _clear_leftovers(folder)
    for cell, task in tasks.items():
        for suffix in ("", *beside):
            how = replace(grading, scoring=suffix) if suffix else grading
            if all_valid(folder, cell, suffix, how):
                continue
            rows = newest(NUMBERS.all(folder.scores_file(cell, suffix))).values()
            valid = {(row.key, row.started) for row in rows if is_valid(row, how)}
            played = [(line.key, line.started) for line in folder.episodes(cell)]
            path = folder.scores_file(cell, suffix)
            if not valid.issuperset(played):
                new = await _scored(folder, cell, suffix, task, how, watcher, valid.intersection(played))
                new.replace(path)
            await _check_extractor(folder, cell, path, task, how)


async def rescore(
    folder: RunFolder, tasks: Mapping[str, Task], scorings: list[str], grading: Grading, watcher: Watcher = NOBODY
) -> None:
    """Score all episodes again. The first scoring gives the run's scores; the others, and always `ra-al`, are kept
    next to it. The old scores are replaced once all new ones are complete."""
    own = [name for name in scorings if name != RA_AL]
    check_extractor(own, given=grading.extractor is not None)
    for task in tasks.values():
        for scoring in own:
            task.check_scoring(scoring, with_judge=grading.judge is not None)
    wanted = [(cell, name, "" if name == own[0] else name) for cell in tasks for name in own]
    if RA_AL in scorings:
        wanted += [(cell, RA_AL, RA_AL) for cell in drawn_cells(folder, tasks, with_judge=grading.judge is not None)]
    _clear_leftovers(folder)
    made = {}
    for cell, scoring, suffix in wanted:
        how = replace(grading, scoring=scoring)
        new = await _scored(folder, cell, suffix, tasks[cell], how, watcher)
        await _check_extractor(folder, cell, new, tasks[cell], how)
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
    valid: AbstractSet[tuple[str, float]] = frozenset(),
) -> Path:
    """Write a complete score file next to the one it will replace, from which valid rows are copied."""
    path = folder.scores_file(cell, suffix)
    new = path.with_name(f".{path.name}{_UNFINISHED}")
    new.unlink(missing_ok=True)
    label = f"{cell} {grading.scoring}"
    total = count_lines(folder.episodes_file(cell)) if watcher.looks_on else None
    watcher.begin(label, total, len(valid))
    with closing(LineWriter(new, SCORES)) as writer:

        async def one(line: EpisodeLine) -> ScoreRow:
            try:
                episode = unpack_episode(line, folder.pictures)
            except SketchmarkError as error:  # a lost or broken image costs only its row
                row = _unreadable(line, error, grading)
            else:
                row = await grade(task, episode, line.index, grading)
            write_row(writer, row)
            return row

        if valid:
            for row in newest(SCORES.all(path)).values():
                if (row.key, row.started) in valid:
                    writer.write(row)
        wanted = (line for line in folder.episodes(cell) if (line.key, line.started) not in valid)
        async for row in play_all(wanted, one, _AT_ONCE):
            watcher.played(label, bool({*NO_VERDICT, "unreadable"} & set(row.flags)))
        await writer.settle()
    watcher.end(label)
    return new


async def _check_extractor(folder: RunFolder, cell: str, path: Path, task: Task, grading: Grading) -> None:
    """Ask the extractor about some replies that strict parses, and note in their rows if both parse the same."""
    extractor = grading.extractor
    if grading.scoring != EXTRACTED or extractor is None:
        return
    rows = newest(SCORES.all(path))
    missing = {row.key: row for row in to_check(rows.values()) if "failed" in row.notes.get(CHECK, {"failed": ""})}
    lines = (line for line in folder.episodes(cell) if line.key in missing and line.started == rows[line.key].started)

    async def one(line: EpisodeLine) -> None:
        try:
            episode = unpack_episode(line, folder.pictures)
        except SketchmarkError as error:
            note: dict[str, Any] = {"failed": one_line(error)}
        else:
            note = await checked(task, episode, grading, extractor)
        rows[line.key].notes[CHECK] = note

    if missing:
        async for _ in play_all(lines, one, _AT_ONCE):
            pass
        write_atomic(path, b"".join(seal(encode(row)) for row in rows.values()))


def to_check(rows: Iterable[ScoreRow]) -> list[ScoreRow]:
    """Choose the replies to check the extractor on: up to `CHECKED` of those that strict parses, at random by a
    digest of their key, so that every invocation chooses the same ones."""
    known = [row for row in rows if "answer" in row.notes and set(row.flags) <= {"left_out", "truncated"}]
    return sorted(known, key=lambda row: hashlib.sha256(row.key.encode()).digest())[:CHECKED]


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
    """Remove the files of a scoring that was killed."""
    for path in (folder.path / "scores").glob(f".*{_UNFINISHED}"):
        path.unlink()


def settled(rows: Sequence[ScoreRow], task: Task, scoring: str) -> list[ScoreRow]:
    """Return the rows with the values that the task computes over all of them (`settle` in its YAML). A task decides
    over one row per sample, so each repeat and branch is settled separately."""
    if not task.settle:
        return list(rows)
    together: dict[tuple[int, ...], list[ScoreRow]] = {(0, 0): []}
    for row in rows:
        together.setdefault(row.place[1:], []).append(row)
    try:
        rules = rules_of(scoring)
        values = {nth: task.settle([plain(row) for row in same], rules) for nth, same in together.items()}
        return [structs.replace(row, values=dict(values[row.place[1:]].get(row.sample, row.values))) for row in rows]
    except Exception as error:  # the task's code: anything may come
        raise BadInput(f"the rows of task {task.name!r} could not be settled: {one_line(error)}") from error


def score_jointly(folder: RunFolder, cell: str, suffix: str, task: Task, scoring: str) -> None:
    """Settle the rows of a cell on disk, so that every reader finds the same numbers. Rows of samples beyond the last
    limit are not changed."""
    if not task.settle:
        return
    path = folder.scores_file(cell, suffix)
    before = newest(SCORES.all(path))
    after = before | {row.key: row for row in settled(list(folder.scores(cell, suffix)), task, scoring)}
    if after != before:
        write_atomic(path, b"".join(seal(encode(row)) for row in after.values()))


def first_of_each_kind(failures: dict[str, Failure]) -> dict[str, str]:
    """Return, for each kind, the first sample that failed so and its message."""
    reasons: dict[str, str] = {}
    for sample, failure in failures.items():
        reasons.setdefault(failure.kind, f"{sample}: {' '.join(failure.message.split())[:_LONGEST]}")
    return reasons
