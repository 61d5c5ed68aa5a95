"""From an episode to a row of scores."""

from __future__ import annotations

import inspect
from typing import Any

from sketchmark.episode import Episode
from sketchmark.task import Grading, Scores, Task


async def grade(task: Task, episode: Episode, index: int, grading: Grading) -> dict[str, Any]:
    """One line of scores/*.jsonl.

    A failure that is the model's own doing is scored as it stands (it had its chance); a failure of the network or
    the provider says nothing about the model and leaves the row without scores, counted as a failure.
    """
    sample, failure = episode.sample, episode.failure
    values: dict[str, float | None] = {}
    notes: dict[str, Any] = {}
    flags = _flags(episode)
    if failure is None or failure.blames_model:
        for scorer in task.scorers:
            scores = scorer(sample, episode, grading)
            if inspect.isawaitable(scores):
                scores = await scores
            assert isinstance(scores, Scores)
            values |= scores.values
            notes |= scores.notes
            if scores.unparsed and not failure:
                flags.append("unparsed")
    return {
        "index": index,
        "sample": sample.id,
        "fingerprint": sample.fingerprint(),
        "filed": dict(sample.filed),
        "scored": failure is None or failure.blames_model,
        "values": values,
        "notes": notes,
        "flags": sorted(set(flags)),
        "usage": usage_of(episode),
        "started": round(episode.started, 3),
        "seconds": round(episode.seconds, 4),
    }


def _flags(episode: Episode) -> list[str]:
    """What went wrong on the way, beside the score: each kind once an episode."""
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
            total[name] = total.get(name, 0) + count
    return total
