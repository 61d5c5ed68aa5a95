"""Scoring of one episode as a row of scores, also by `ra-al`, the scoring that every task has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import UNSET, structs

from sketchmark.answers.extractor import Opinion, can_be_asked, opinion, same_answer
from sketchmark.answers.judge import judged
from sketchmark.engines import allowed, settled_within
from sketchmark.episode import EXTRACTED, Episode, Grading, Scorer, Scores, rules_of
from sketchmark.episode.model import Model, Usage
from sketchmark.errors import BadInput, BadPicture, CallFailed, ExtractorFailed, RunConflict, SketchmarkError
from sketchmark.files.jsonl import line_of
from sketchmark.folder import SCORES, RunFolder, without_score
from sketchmark.folder.columns import Rows
from sketchmark.folder.format import Score, ScoreRow
from sketchmark.models.wrappers import CountedModel
from sketchmark.progress import Calls
from sketchmark.tasks import RA_AL, Task

MEANING = {
    "ra": "RA: the drawing follows what was asked, judged 1 to 5",
    "drawing_right": "the drawing is right, as read",
    "ra_judge_wrong": "the judge's RA is wrong by that",
    "al": "AL: the answer follows the drawing, judged 1 to 5",
    "answer_as_drawn": "the answer is what is drawn, as read",
    "al_judge_wrong": "the judge's AL is wrong by that",
}
"""Descriptions of the scores of `ra-al`, in display order."""


def scorers_of(task: Task, scoring: str) -> list[Scorer]:
    """Return the scorers of a scoring: the task's own, or for `ra-al` the judge and the task's image reader."""
    if scoring != RA_AL:
        return task.scorers
    reader = task.drawn
    return [*([reader] if reader else []), partial(judged, task=task.name, read=reader)]


def drawn_cells(folder: RunFolder, tasks: Mapping[str, Task], *, with_judge: bool) -> dict[str, Task]:
    """Return the cells with drawings that a judge or an image reader can score; refused if there are none."""
    drawn = {
        name: task
        for name, task in tasks.items()
        if any(turn.act == "draw" for line in folder.episodes(name) for turn in line.turns)
    }
    if not drawn:
        raise BadInput(f"nothing was drawn in {folder.path}: {RA_AL} looks at drawings", "run with --mode visual_cot")
    seen = {name: task for name, task in drawn.items() if with_judge or task.drawn}
    if not seen:
        raise BadInput(f"only a judge can score the drawings of {', '.join(drawn)}", "add --judge MODEL")
    return seen


_LONGEST_NOTE = 300
CHECK = "extractor_check"
"""Note of a row: the extractor's quote of a reply that strict parses."""


NO_VERDICT = frozenset({"judge_failed", "extractor_failed", "scorer_failed", "unreadable"})
"""Flags of an episode that could not be scored. A note of the same name in its row gives the reason, and the next
scoring tries again."""


def counted(grading: Grading, calls: Calls) -> Grading:
    """Count the calls of the judge and the extractor."""
    judge, extractor = grading.judge, grading.extractor
    return replace(
        grading,
        judge=CountedModel(judge, calls.judge) if judge else None,
        extractor=CountedModel(extractor, calls.extractor) if extractor else None,
    )


def to_score(
    folder: RunFolder, tasks: Mapping[str, Task], grading: Grading, beside: Sequence[str]
) -> dict[str, Task]:
    """Return the cells in which the score of an episode is missing or not valid, by the grading or one `beside`."""
    ways = [("", grading), *((name, replace(grading, scoring=name)) for name in beside)]
    return {cell: task for cell, task in tasks.items() if not all(all_valid(folder, cell, *way) for way in ways)}


def all_valid(folder: RunFolder, cell: str, suffix: str, grading: Grading) -> bool:
    """Check by columns that the newest attempt of every episode has a valid score, as it mostly has. By `extracted`
    the rows do not say it all: some are checked."""
    if grading.scoring == EXTRACTED:
        return False
    rows, episodes = folder.scored(cell, suffix, limited=False), folder.attempts(cell, limited=False)
    if without_score(episodes, rows):
        return False
    return bool(valid_rows(rows, grading).all())


def valid_rows(rows: Rows, grading: Grading) -> npt.NDArray[np.bool_]:
    """Return which rows are valid: this depends on what they were scored by and on their flags."""
    kinds = rows.arrays["kind"].astype(np.int64) * (len(rows.lists["flags"]) + 1) + rows.arrays["flag"]
    _, first, inverse = np.unique(kinds, return_index=True, return_inverse=True)
    return np.array([is_valid(rows.at(int(place)), grading) for place in first], bool)[inverse.reshape(-1)]


def is_valid(row: Score, grading: Grading) -> bool:
    if row.scoring != grading.scoring or NO_VERDICT & set(row.flags):
        return False
    if grading.scoring == EXTRACTED and grading.extractor and row.extractor != grading.extractor.name:
        return False
    return grading.judge is None or row.judge == grading.judge.name


async def grade(task: Task, episode: Episode, index: int, grading: Grading) -> ScoreRow:
    """Score an episode, as one line of scores/*.jsonl.

    A model failure is scored as it is. A failure of the network or the provider says nothing about the model: its row
    has no scores and counts as a failure. So does a judge without a verdict: other scorers' scores are kept, and the
    next invocation asks it again. After an error in a scorer its score of this answer is unknown, so the cell
    shows no score until the scorer is fixed (`sketchmark.results.summary.withheld`). By `extracted`, a reply that
    strict leaves unparsed is scored by the extractor's quote (`sketchmark.answers.extractor`).

    Raises CallFailed if further calls to the judge would fail the same way (a refused key), and RunConflict if a
    scorer's data are not those of the run.
    """
    sample, failure = episode.sample, episode.failure
    scored = failure is None or failure.blames_model
    scores, broken = await _ask_scorers(task, episode, grading) if scored else (Scores({}), [])
    if scores.unparsed and not failure and not broken:
        scores, broken = await _extracted(task, episode, grading, scores)
    animated = _animated(episode)
    flags = [*_flags(episode), *[ANIMATED] * bool(animated), *broken]
    if "extractor" in scores.notes and not scores.unparsed and not broken:
        flags.append("extracted")
    if scores.unparsed and not failure:
        flags.append("unparsed")
    usage, paid = usage_of(episode), paid_by(episode)
    return ScoreRow(
        index=index,
        sample=sample.id,
        fingerprint=sample.fingerprint(),
        groups=dict(sample.groups),
        scored=scored and (bool(scores.values) or not broken),
        values=dict(scores.values),
        notes=dict(scores.notes) | ({ANIMATED: animated} if animated else {}),
        flags=sorted(set(flags)),
        calls_left_out=sum(bool(turn.reply and turn.reply.left_out) for turn in episode.turns),
        scoring=grading.scoring,
        judge=grading.judge.name if grading.judge else None,
        usage=usage,
        paid=paid if paid != usage else UNSET,
        extractor=grading.extractor.name if grading.extractor and grading.scoring == EXTRACTED else UNSET,
        started=round(episode.started, 3),
        seconds=round(episode.seconds, 4),
        repeat=episode.repeat or UNSET,
        branch=episode.branch or UNSET,
    )


def sealed(row: ScoreRow) -> bytes:
    """Return the line of a row, without its usage if that is too large for a reader: scores do not depend on it."""
    try:
        return line_of(row, SCORES)
    except BadInput:
        return line_of(structs.replace(row, usage={}), SCORES)


async def _ask_scorers(task: Task, episode: Episode, grading: Grading) -> tuple[Scores, list[str]]:
    """Return the scores, and which of `judge_failed` and `scorer_failed` occurred; notes give the reason."""
    values: dict[str, float | None] = {}
    notes: dict[str, Any] = {}
    unparsed = False
    broken: list[str] = []
    rules = rules_of(grading.scoring)
    by_rules = grading if rules == grading.scoring else replace(grading, scoring=rules)
    try:
        for scorer in scorers_of(task, grading.scoring):
            try:
                given = episode.sample, episode, by_rules
                scores = await settled_within(allowed(scorer), scorer, *given, waits=grading.judge is not None)
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
            raise ValueError(f"no score {due!r}, the task's headline (None if it does not apply)")
    except (CallFailed, RunConflict):
        raise
    except Exception as error:  # a scorer's bug must not end a run that has cost money
        return Scores({}, {"scorer_failed": one_line(error)}), ["scorer_failed"]
    return Scores(values, notes, unparsed), broken


async def _extracted(task: Task, episode: Episode, grading: Grading, strict: Scores) -> tuple[Scores, list[str]]:
    """Return the scores of an unparsed reply by the extractor's quote, or strict's scores if no quote is usable."""
    if grading.extractor is None or grading.scoring != EXTRACTED or not can_be_asked(episode):
        return strict, []
    try:
        found = await _opinion(task, episode, grading, grading.extractor)
    except ExtractorFailed as error:
        return Scores({}, {**strict.notes, "extractor_failed": one_line(error)}, unparsed=True), ["extractor_failed"]
    kept = found.scores or strict
    return Scores(kept.values, {**kept.notes, "extractor": found.note()}, kept.unparsed), []


async def checked(task: Task, episode: Episode, grading: Grading, extractor: Model) -> dict[str, Any]:
    """Ask the extractor about a reply that strict parses; the note says if both parse the same answer."""
    try:
        found = await _opinion(task, episode, grading, extractor, in_place=False)
    except ExtractorFailed as error:
        return {"failed": one_line(error)}
    if found.scores is None:
        return found.note()
    strict, _ = await _ask_scorers(task, episode, grading)
    return {**found.note(), "agrees": same_answer(strict, found.scores)}


async def _opinion(
    task: Task, episode: Episode, grading: Grading, extractor: Model, *, in_place: bool = True
) -> Opinion:  # fmt: skip
    async def score(other: Episode) -> Scores:
        scores, broken = await _ask_scorers(task, other, grading)
        return replace(scores, unparsed=True) if broken else scores

    return await opinion(extractor, episode, score, in_place=in_place)


def _number(name: str, value: Any) -> float | None:
    """Convert a score (NumPy, Decimal, a bool) to a plain number. Texts, NaN and infinity are refused: a cell's mean
    would not be a number."""
    if value is None:
        return None
    number = math.nan if isinstance(value, str | bytes) else float(value)
    if not math.isfinite(number):
        raise ValueError(f"the score {name!r} is {value!r}, not a number")
    return number


def one_line(error: Exception) -> str:
    """Return an error as a note, with its class unless it is one of ours."""
    text = str(error) if isinstance(error, SketchmarkError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:_LONGEST_NOTE]


def _flags(episode: Episode) -> list[str]:
    """Return the kinds of failure in an episode."""
    flags = [episode.failure.kind] if episode.failure else []
    for turn in episode.turns:
        if turn.reply is None:
            continue
        if turn.reply.left_out:
            flags.append("left_out")
        if turn.reply.finish != "stop":
            flags.append({"length": "truncated"}.get(turn.reply.finish, turn.reply.finish))
    return flags


ANIMATED = "animated"
"""Flag of an episode with an animated drawing, and note with its number."""


def _animated(episode: Episode) -> str:
    """Return a note on the animated drawings, whose first frame is decoded everywhere; empty without one."""
    found = []
    for number, drawing in enumerate(episode.drawings, 1):
        with suppress(BadPicture):
            found += [str(number)] if drawing.is_animated else []
    told = f"animated, so only the first frame is scored, and strict does not accept it: drawing {', '.join(found)}"
    return told if found else ""


def usage_of(episode: Episode) -> dict[str, int]:
    """Sum tokens, images and calls, also of replies from the cache."""
    return _summed(turn.reply.usage for turn in episode.turns if turn.reply)


def paid_by(episode: Episode) -> dict[str, int]:
    """Sum tokens, images and calls of the replies that were paid for when the episode ran."""
    found = (turn.reply.usage for turn in episode.turns if turn.reply and turn.reply.usage.calls)
    return _summed(replace(usage, cached=0) if usage.cached else usage for usage in found)


def _summed(found: Iterable[Usage]) -> dict[str, int]:
    """Sum usage by name; `cached` calls are calls."""
    used = [usage for usage in found if any(vars(usage).values())]
    if not used:
        return {}
    total = dict(vars(sum(used[1:], used[0])))
    total["calls"] += total.pop("cached")
    return {name: count for name, count in total.items() if count or not name.startswith(("uncounted", "drawer_"))}
