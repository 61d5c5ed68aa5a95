"""From an episode to a row of scores."""

from __future__ import annotations

import inspect
from typing import Any

from sketchmark.episode import Episode
from sketchmark.errors import CallFailed
from sketchmark.runs.format import ScoreRow
from sketchmark.task import Grading, Scores, Task


async def grade(task: Task, episode: Episode, index: int, grading: Grading) -> ScoreRow:
    """One line of scores/*.jsonl.

    A failure that is the model's own doing is scored as it stands (it had its chance); a failure of the network or
    the provider says nothing about the model and leaves the row without scores, counted as a failure. So does a
    judge that did not answer, or a scorer that broke: the episode is kept, and `sketchmark score` tries again.
    """
    sample, failure = episode.sample, episode.failure
    scores = Scores({})
    flags = _flags(episode)
    scored = failure is None or failure.blames_model
    if scored:
        try:
            scores = await _ask_scorers(task, episode, grading)
        except CallFailed as error:
            scores, scored = Scores({}, {"judge_failed": str(error)}), False
            flags.append("judge_failed")
        except Exception as error:  # a scorer's bug must not end a run that has cost money
            scores, scored = Scores({}, {"scorer_failed": f"{type(error).__name__}: {error}"}), False
            flags.append("scorer_failed")
    if scores.unparsed and not failure:
        flags.append("unparsed")
    return ScoreRow(
        index=index,
        sample=sample.id,
        fingerprint=sample.fingerprint(),
        groups=dict(sample.groups),
        scored=scored,
        values=dict(scores.values),
        notes=dict(scores.notes),
        flags=sorted(set(flags)),
        calls_left_out=sum(bool(turn.reply and turn.reply.left_out) for turn in episode.turns),
        scoring=grading.scoring,
        judge=grading.judge.name if grading.judge else None,
        usage=usage_of(episode),
        started=round(episode.started, 3),
        seconds=round(episode.seconds, 4),
    )


async def _ask_scorers(task: Task, episode: Episode, grading: Grading) -> Scores:
    values: dict[str, float | None] = {}
    notes: dict[str, Any] = {}
    unparsed = False
    for scorer in task.scorers:
        found = scorer(episode.sample, episode, grading)
        scores = await found if inspect.isawaitable(found) else found
        assert isinstance(scores, Scores)
        values |= scores.values
        notes |= scores.notes
        unparsed = unparsed or scores.unparsed
    return Scores(values, notes, unparsed)


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
