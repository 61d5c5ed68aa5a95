"""Rows whose score the other rows decide too (`settle` in a task's YAML), told once all of them are there.

They are replaced on disk, so that tables, comparisons, the report and the viewer all find the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from sketchmark.errors import BadInput
from sketchmark.files.atomic import write_atomic
from sketchmark.files.lines import encode, seal
from sketchmark.files.plain import plain
from sketchmark.runs.format import ScoreRow
from sketchmark.runs.grading import one_line
from sketchmark.runs.rows import newest
from sketchmark.runs.store import SCORES, RunFolder
from sketchmark.task import Task


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


def settle_file(folder: RunFolder, cell: str, suffix: str, task: Task, scoring: str) -> None:
    """Rows of samples beyond the last limit stay as they are."""
    if not task.settle:
        return
    path = folder.scores_file(cell, suffix)
    before = newest(SCORES.all(path))
    after = before | {row.key: row for row in settled(list(folder.scores(cell, suffix)), task, scoring)}
    if after != before:
        write_atomic(path, b"".join(seal(encode(row)) for row in after.values()))
