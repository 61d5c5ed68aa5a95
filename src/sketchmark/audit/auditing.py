"""From a run folder to what its cells say together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sketchmark.audit import measuring
from sketchmark.audit.contrasts import GAIN, Contrast, contrasts
from sketchmark.audit.findings import Audit, CellScore, Finding, TaskAudit
from sketchmark.audit.measuring import Look
from sketchmark.audit.places import PlayedTask, played_tasks
from sketchmark.errors import BadInput
from sketchmark.runs.gains import Pairs, Rows, pair
from sketchmark.runs.rows import ScoredSample
from sketchmark.stats import Difference, Interval, holm, interval
from sketchmark.stats.sequence import MISSES, Sequence, sequence

MARGIN = 0.1
"""Ten points: what is nearer to zero for certain is called no difference."""

FOLLOWS = "follows_corrupt"
"""The score of worlds (tasks/worlds/following.py): does the answer follow the corrupt drawing?"""


@dataclass(frozen=True)
class _Compared:
    task: PlayedTask
    contrast: Contrast
    pairs: Pairs
    difference: Difference


def audit(run: Path | str, margin: float = MARGIN) -> Audit:
    """Every task of the run that was played with drawings and with something to hold them against."""
    if not 0 < margin < 1:
        raise BadInput(f"a margin of {margin:g} is no difference of scores", "give one between 0 and 1, such as 0.1")
    tasks, notes = played_tasks(run)
    compared = [
        _Compared(task, contrast, pairs, pairs.difference())
        for task in tasks
        for contrast in contrasts()
        if {contrast.before, contrast.after} <= task.rows.keys()
        if (pairs := pair(task.rows[contrast.before], task.rows[contrast.after], task.metric)).pairs
    ]
    corrected = holm([one.difference.p for one in compared])
    look = Look(margin, len(compared))
    findings = [
        (one.task, measuring.difference(one.contrast, one.pairs, one.difference, p, look))
        for one, p in zip(compared, corrected, strict=True)
    ]
    gains = {one.task.name: one.pairs for one in compared if one.contrast.name == GAIN}
    found = tuple(
        TaskAudit(
            task.name,
            task.metric,
            task.scoring,
            tuple(CellScore(place, _score(rows, task.metric)) for place, rows in task.rows.items()),
            (*(finding for of, finding in findings if of is task), *_shares(task, look)),
            gain_sequence(gains[task.name], len(tasks)) if task.name in gains else None,
        )
        for task in tasks
    )
    return Audit(str(run), tasks[0].model, margin, found, tuple(notes))


def gain_sequence(pairs: Pairs, tasks: int) -> Sequence | None:
    """The drawing gain's confidence sequence. All tasks together may miss the truth as often as one. Samples that
    share a source are not independent: the first of each counts. None where the score is not from 0 to 1."""
    first = {one.cluster: one.after - one.before for one in reversed(pairs.pairs)}
    if any(not -1 <= difference <= 1 for difference in first.values()):
        return None
    return sequence(list(first.values()), MISSES / tasks)


def _score(rows: Rows, metric: str) -> Interval:
    scored = [(row, value) for row in rows.values() if (value := row.value(metric)) is not None]
    return interval([value for _, value in scored], [row.cluster for row, _ in scored])


def _shares(task: PlayedTask, look: Look) -> list[Finding]:
    def wrong(row: ScoredSample) -> float | None:
        value = row.value(task.metric)
        return None if value is None else 1 - value

    def drawn_wrongly(row: ScoredSample) -> float | None:
        return None if row.drawing_right is None else float(not row.drawing_right)

    found = (
        measuring.share(
            "lost by reading", "oracle, not right",
            "Lost by reading: {share} is not right although it saw the true pictures.",
            task.rows.get("oracle", {}), wrong, look,
        ),
        measuring.share(
            "drawn wrongly", "drawn wrongly",
            "Drawn wrongly: in {share} of {n} episodes not all drawings are right.",
            task.rows.get("own", {}), drawn_wrongly, look,
        ),
        measuring.share(
            "follows corrupt", "follows corrupt",
            "It follows a corrupt drawing in {share} of {n} cases.",
            task.rows.get("corrupt", {}), lambda row: row.value(FOLLOWS), look,
        ),
    )  # fmt: skip
    return [one for one in found if one]
