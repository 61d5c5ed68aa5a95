"""Scores of existing episodes, without the model: missing ones are filled in, or all are made again."""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET, Struct, structs

from sketchmark.answers.extractor import CHECKED
from sketchmark.catalog import Catalog
from sketchmark.engines import play_all
from sketchmark.engines.crew import Crew, JobLost
from sketchmark.engines.processes import ProcessWorker, cores
from sketchmark.episode import EXTRACTED, Failure, Grading, Scores, check_extractor, rules_of
from sketchmark.errors import BadInput, RunConflict, SketchmarkError
from sketchmark.files import write_atomic
from sketchmark.files.jsonl import LineWriter, count_lines, encode, plain, seal
from sketchmark.folder import EPISODES, SCORES, RunFolder
from sketchmark.folder.columns import Array
from sketchmark.folder.format import EpisodeLine, ScoreRow
from sketchmark.folder.records import newest, unpack_episode
from sketchmark.progress import NOBODY, Silent, Watcher
from sketchmark.results import (
    CHECK,
    NO_VERDICT,
    all_valid,
    checked,
    drawn_cells,
    grade,
    one_line,
    sealed,
    valid_rows,
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
            path = folder.scores_file(cell, suffix)
            part = _part(folder, cell, suffix, how)
            if len(part.episodes):
                new = await _scored(folder, cell, suffix, task, how, watcher, part)
                new.replace(path)
            await _check_extractor(folder, cell, path, task, how)


@dataclass(frozen=True)
class _Part:
    """Beginnings of lines: valid rows in the order of samples, and episodes to score in the order of their file."""

    rows: Array
    episodes: Array


def _part(folder: RunFolder, cell: str, suffix: str, grading: Grading) -> _Part:
    rows, episodes = folder.scored(cell, suffix, limited=False), folder.attempts(cell, limited=False)
    mine, theirs = episodes.align(rows)
    same = episodes.arrays["started"][mine] == rows.arrays["started"][theirs]
    kept = same & valid_rows(rows, grading)[theirs]
    lacking = np.ones(len(episodes), bool)
    lacking[mine[kept]] = False
    return _Part(rows.arrays["begin"][np.sort(theirs[kept])], np.sort(episodes.arrays["begin"][lacking]))


class Helpers(Struct):
    """All that other processes need to score a run's episodes: they make its tasks themselves."""

    folder: str
    include: tuple[str, ...] = ()
    trust_code: bool = False
    data: str | None = None


async def rescore(
    folder: RunFolder,
    tasks: Mapping[str, Task],
    scorings: list[str],
    grading: Grading,
    watcher: Watcher = NOBODY,
    helpers: Helpers | None = None,
) -> None:
    """Score all episodes again, with `helpers` on all cores unless a model is called. The first scoring gives the
    run's scores; the others, and always `ra-al`, are kept next to it. The old scores are replaced once all new ones
    are complete."""
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
    counts = {cell: count_lines(folder.episodes_file(cell)) for cell in tasks}
    total = sum(counts[cell] for cell, *_ in wanted)
    asks = grading.judge is not None or grading.extractor is not None
    async with AsyncExitStack() as opened:
        crew: Crew | None = None
        if helpers and not asks and total >= _PAYS and cores() > 1:
            recipe = msgspec.json.encode(helpers)
            crew = await opened.enter_async_context(Crew(lambda: ProcessWorker.start(_ENTRY, recipe), cores(), 1))
        whole = _Whole(watcher, total) if len(wanted) > 1 else watcher
        for cell, scoring, suffix in wanted:
            how = replace(grading, scoring=scoring)
            new = await _scored(folder, cell, suffix, tasks[cell], how, whole, crew=crew)
            await _check_extractor(folder, cell, new, tasks[cell], how)
            made[new] = folder.scores_file(cell, suffix)
    for new, path in made.items():
        new.replace(path)


class _Whole(Silent):
    """A display of each file of scores, and of them all."""

    looks_on = True

    def __init__(self, watcher: Watcher, total: int) -> None:
        self._watcher = watcher
        watcher.begin(_ALL, total, 0)

    def begin(self, cell: str, total: int | None, done: int) -> None:
        self._watcher.begin(cell, total, done)

    def played(self, cell: str, failed: bool) -> None:
        self._watcher.played(cell, failed)
        self._watcher.played(_ALL, failed)

    def end(self, cell: str) -> None:
        self._watcher.end(cell)


_ALL = "all scores"


async def _scored(
    folder: RunFolder,
    cell: str,
    suffix: str,
    task: Task,
    grading: Grading,
    watcher: Watcher,
    part: _Part | None = None,
    crew: Crew | None = None,
) -> Path:
    """Write a complete score file next to the one it will replace. It covers all episodes, or a `part` of
    them, and keeps the rows that are valid."""
    path = folder.scores_file(cell, suffix)
    new = path.with_name(f".{path.name}{_UNFINISHED}")
    new.unlink(missing_ok=True)
    label = f"{cell} {grading.scoring}"
    total = count_lines(folder.episodes_file(cell)) if watcher.looks_on else None
    watcher.begin(label, total, len(part.rows) if part else 0)
    with closing(LineWriter(new)) as writer:

        def write(line: bytes) -> None:
            writer.append(line)
            flags = set(_FLAGS.decode(line).flags)
            watcher.played(label, bool({*NO_VERDICT, "unreadable"} & flags))

        async def one(line: EpisodeLine) -> None:
            write(sealed(await _row(folder, line, task, grading)))

        for row in SCORES.some(path, part.rows) if part else ():
            writer.append(sealed(row))
        if crew:
            begins = np.sort(folder.attempts(cell, limited=False).arrays["begin"]).tolist()
            async for lines in _in_order(crew, cell, grading.scoring, begins):
                for line in lines:
                    write(line)
        else:
            some = EPISODES.some(folder.episodes_file(cell), part.episodes) if part else None
            wanted = some or folder.episodes(cell)
            async for _ in play_all(wanted, one, _AT_ONCE):
                pass
        await writer.settle()
    watcher.end(label)
    return new


class _Flags(Struct):
    flags: list[str] = []


_FLAGS = msgspec.json.Decoder(_Flags)


async def _row(folder: RunFolder, line: EpisodeLine, task: Task, grading: Grading) -> ScoreRow:
    try:
        episode = unpack_episode(line, folder.pictures)
    except SketchmarkError as error:  # a lost or broken image costs only its row
        return _unreadable(line, error, grading)
    return await grade(task, episode, line.index, grading)


_PAYS = 64
"""Episodes from which starting processes pays."""
_CHUNK = 16
"""Episodes of a job."""


class _Job(Struct):
    cell: str
    scoring: str
    begins: list[int]
    """Beginnings of the episodes' lines."""


class _Outcome(Struct):
    lines: list[bytes] = []
    """Score rows, as they are written."""
    conflict: tuple[str, str] | None = None
    """A scorer's data are not those of the run."""
    broken: str = ""


_JOB, _OUTCOME = msgspec.msgpack.Decoder(_Job), msgspec.msgpack.Decoder(_Outcome)


async def _in_order(crew: Crew, cell: str, scoring: str, begins: Sequence[int]) -> AsyncIterator[list[bytes]]:
    """Yield the rows in the order of the episodes, as one process would write them. Few are ahead of the others."""
    chunks = (begins[at : at + _CHUNK] for at in range(0, len(begins), _CHUNK))
    jobs = (msgspec.msgpack.encode(_Job(cell, scoring, list(chunk))) for chunk in chunks)
    ahead: deque[asyncio.Task[bytes]] = deque()
    try:
        while True:
            for job in islice(jobs, 4 * cores() - len(ahead)):
                ahead.append(asyncio.create_task(crew.play(job)))
            if not ahead:
                return
            found = _OUTCOME.decode(await ahead[0])
            ahead.popleft()
            if found.conflict:
                raise RunConflict(*found.conflict)
            if found.broken:
                raise SketchmarkError(f"{cell} could not be scored: {found.broken}", "the old scores are unchanged")
            yield found.lines
    except JobLost as lost:
        raise SketchmarkError(f"{cell} could not be scored: {lost}", "the old scores are unchanged") from lost
    finally:
        for task in ahead:
            task.cancel()
        await asyncio.gather(*ahead, return_exceptions=True)


_ENTRY = f"{__name__}:open_scorer"


async def open_scorer(recipe: bytes) -> Scorer:
    """Open the other process's side."""
    return Scorer(msgspec.json.decode(recipe, type=Helpers))


class Scorer:
    """Scoring in another process: it reads the lines and images of the folder and returns rows."""

    def __init__(self, helpers: Helpers) -> None:
        self._folder = RunFolder(Path(helpers.folder))
        self._catalog = Catalog(tuple(map(Path, helpers.include)), helpers.trust_code)
        self._data = Path(helpers.data) if helpers.data else None
        self._about = self._folder.about()
        self._tasks: dict[str, Task] = {}

    async def play(self, parcel: bytes) -> bytes:
        job = _JOB.decode(parcel)
        try:
            task, how = self._task(job.cell), Grading(job.scoring)
            lines = EPISODES.some(self._folder.episodes_file(job.cell), job.begins)
            done = _Outcome([sealed(await _row(self._folder, line, task, how)) for line in lines])
        except RunConflict as error:
            done = _Outcome(conflict=(str(error.args[0]), error.hint))
        except Exception as error:  # shown where the command runs
            done = _Outcome(broken=one_line(error))
        return msgspec.msgpack.encode(done)

    def _task(self, cell: str) -> Task:
        if cell not in self._tasks:
            about = self._about.cells[cell]
            self._tasks[cell] = self._catalog.played(about.task, about.source, self._data or self._about.data(cell))
        return self._tasks[cell]

    def news(self) -> bytes:
        return b""

    async def close(self) -> None: ...


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
    rows = _combined(rows, task, scoring)
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


def _combined(rows: Sequence[ScoreRow], task: Task, scoring: str) -> Sequence[ScoreRow]:
    """Return the rows with the scores that all repeats of a sample have together (`combine` in the task's YAML), for
    the first answers, the second ones and so on separately."""
    if not task.combine:
        return rows
    by_branch: dict[int, list[ScoreRow]] = {}
    for row in rows:
        by_branch.setdefault(row.branch or 0, []).append(row)
    try:
        rules = rules_of(scoring)
        found = {nth: task.combine([plain(row) for row in same], rules) for nth, same in by_branch.items()}
    except Exception as error:  # the task's code: anything may come
        raise BadInput(f"the repeats of task {task.name!r} could not be combined: {one_line(error)}") from error
    return [_with(row, found[row.branch or 0].get(row.sample)) for row in rows]


def _with(row: ScoreRow, scores: Scores | None) -> ScoreRow:
    if scores is None:
        return row
    return structs.replace(row, values={**row.values, **scores.values}, notes={**row.notes, **scores.notes})


def score_jointly(folder: RunFolder, cell: str, suffix: str, task: Task, scoring: str) -> None:
    """Settle the rows of a cell on disk, so that every reader finds the same numbers. Rows of samples beyond the last
    limit are not changed."""
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
