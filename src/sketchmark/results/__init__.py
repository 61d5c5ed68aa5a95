"""`ra-al`, the scoring that every task has: which cells it applies to, and by whom it is given.

From an episode to a row of scores.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from msgspec import UNSET

from sketchmark.answers.judge import judged
from sketchmark.episode import Episode, Grading, Scorer, Scores
from sketchmark.errors import BadInput, CallFailed, RunConflict, SketchmarkError
from sketchmark.folder import RunFolder
from sketchmark.folder.format import ScoreRow
from sketchmark.models.wrappers import CallCount, CountedModel
from sketchmark.tasks import RA_AL, Task

MEANING = {
    "ra": "RA: the drawing follows what was asked, judged 1 to 5",
    "drawing_right": "the drawing is right, as read",
    "ra_judge_wrong": "the judge's RA is wrong by that",
    "al": "AL: the answer follows the drawing, judged 1 to 5",
    "answer_as_drawn": "the answer is what is drawn, as read",
    "al_judge_wrong": "the judge's AL is wrong by that",
}
"""The scores of `ra-al` in words, in the order in which they are shown."""


def scorers_of(task: Task, scoring: str) -> list[Scorer]:
    """Those who give a scoring: the task's own, or for `ra-al` the judge and whoever can read the drawings."""
    if scoring != RA_AL:
        return task.scorers
    reader = task.drawn
    return [*([reader] if reader else []), partial(judged, task=task.name, read=reader)]


def drawn_cells(folder: RunFolder, tasks: Mapping[str, Task], *, with_judge: bool) -> dict[str, Task]:
    """The cells in which something was drawn and which somebody can look at; refused where there is none."""
    drawn = {name: task for name, task in tasks.items() if _draws(folder, name)}
    if not drawn:
        raise BadInput(f"nothing was drawn in {folder.path}: {RA_AL} looks at drawings", "play --mode visual_cot")
    seen = {name: task for name, task in drawn.items() if with_judge or task.drawn}
    if not seen:
        raise BadInput(f"the drawings of {', '.join(drawn)} can be read by a judge only", "add --judge MODEL")
    return seen


def _draws(folder: RunFolder, cell: str) -> bool:
    return any(turn.act == "draw" for line in folder.episodes(cell) for turn in line.turns)


_LONGEST_NOTE = 300


def counted(grading: Grading, tally: CallCount) -> Grading:
    """With the judge's calls counted."""
    return replace(grading, judge=CountedModel(grading.judge, tally)) if grading.judge else grading


async def grade(task: Task, episode: Episode, index: int, grading: Grading) -> ScoreRow:
    """One line of scores/*.jsonl.

    A failure that is the model's own doing is scored as it stands (it had its chance); a failure of the network or
    the provider says nothing about the model and leaves the row without scores, counted as a failure. A judge that
    gave no verdict is such a failure too: what other scorers found stands, and the next start asks it again. A
    scorer that broke is another matter: what it would have said of this very answer is not known, so its cell shows
    no score until that is mended (`sketchmark.results.summary.withheld`).

    Raises CallFailed where no further call to the judge would fare better (a refused key), and RunConflict where what
    a scorer has to look at is not what was played: no row is to be made of that.
    """
    sample, failure = episode.sample, episode.failure
    scored = failure is None or failure.blames_model
    scores, broken = await _ask_scorers(task, episode, grading) if scored else (Scores({}), [])
    flags = [*_flags(episode), *broken]
    if scores.unparsed and not failure:
        flags.append("unparsed")
    return ScoreRow(
        index=index,
        sample=sample.id,
        fingerprint=sample.fingerprint(),
        groups=dict(sample.groups),
        scored=scored and (bool(scores.values) or not broken),
        values=dict(scores.values),
        notes=dict(scores.notes),
        flags=sorted(set(flags)),
        calls_left_out=sum(bool(turn.reply and turn.reply.left_out) for turn in episode.turns),
        scoring=grading.scoring,
        judge=grading.judge.name if grading.judge else None,
        usage=usage_of(episode),
        started=round(episode.started, 3),
        seconds=round(episode.seconds, 4),
        repeat=episode.repeat or UNSET,
        branch=episode.branch or UNSET,
    )


async def _ask_scorers(task: Task, episode: Episode, grading: Grading) -> tuple[Scores, list[str]]:
    """All that the scorers say, and which of `judge_failed` and `scorer_failed` befell them; the notes say why."""
    values: dict[str, float | None] = {}
    notes: dict[str, Any] = {}
    unparsed = False
    broken: list[str] = []
    try:
        for scorer in scorers_of(task, grading.scoring):
            try:
                found = scorer(episode.sample, episode, grading)
                scores = await found if inspect.isawaitable(found) else found
            except CallFailed as error:
                if error.stops_run:
                    raise
                broken, notes["judge_failed"] = ["judge_failed"], one_line(error)
                continue
            if not isinstance(scores, Scores):
                raise TypeError(f"a scorer returns Scores, not {type(scores).__name__}")
            values |= {name: _number(name, value) for name, value in scores.values.items()}
            notes |= scores.notes
            unparsed = unparsed or scores.unparsed
        due = task.headline if grading.scoring != RA_AL and not task.declared.aggregate else ""
        if due and due not in values and not broken:
            raise ValueError(f"no score {due!r}, the task's headline (None where it does not apply)")
    except (CallFailed, RunConflict):
        raise
    except Exception as error:  # a scorer's bug must not end a run that has cost money
        return Scores({}, {"scorer_failed": one_line(error)}), ["scorer_failed"]
    return Scores(values, notes, unparsed), broken


def _number(name: str, value: Any) -> float | None:
    """A score as a plain number, whoever made it (numpy, Decimal, a bool). A text is none, nor is what has no place
    on a scale: the mean of a cell would be neither."""
    if value is None:
        return None
    number = math.nan if isinstance(value, str | bytes) else float(value)
    if not math.isfinite(number):
        raise ValueError(f"the score {name!r} is {value!r}, not a number")
    return number


def one_line(error: Exception) -> str:
    """An error as a note. Ours speak for themselves; of others the class says more than the message."""
    text = str(error) if isinstance(error, SketchmarkError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:_LONGEST_NOTE]


def _flags(episode: Episode) -> list[str]:
    """What went wrong on the way, beside the score: each kind once per episode."""
    flags = [episode.failure.kind] if episode.failure else []
    for turn in episode.turns:
        if turn.reply is None:
            continue
        if turn.reply.left_out:
            flags.append("left_out")
        if turn.reply.finish != "stop":
            flags.append({"length": "truncated"}.get(turn.reply.finish, turn.reply.finish))
    return flags


def usage_of(episode: Episode) -> dict[str, int]:
    """Tokens, pictures and calls; a call answered by the cache costs nothing and is not counted."""
    total: dict[str, int] = {}
    for turn in episode.turns:
        if turn.reply is None or not turn.reply.usage.calls:
            continue
        for name, count in vars(turn.reply.usage).items():
            total[name] = total.get(name, 0) + int(count)
    return total
