"""Asking a judge: one question, one verdict, or none. Shared by every scorer that lets a model read or look.

    verdict = await ask(grading.judge, [prompt, picture], Options(max_new_tokens=512), _read)

A judge that cannot be reached, was not shown everything, or says nothing that can be read, has given no verdict:
`JudgeFailed`, never a wrong answer. The row then counts as `judge_failed` and the next start asks again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sketchmark.errors import CallFailed, JudgeFailed
from sketchmark.models.base import Model, Options
from sketchmark.parts import Content, of
from sketchmark.scoring.thinking import without_thinking

T = TypeVar("T")

_MOST_TRIES = 100
"""Braces at which an object may begin. A reply of nothing but braces must not take hours."""

_LABELS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


@dataclass(frozen=True)
class Judged(Generic[T]):
    """What was read, and the words it was read from."""

    verdict: T
    reply: str


async def ask(judge: Model, parts: Sequence[Content], options: Options, read: Callable[[str], T | None]) -> Judged[T]:
    """One question. `read` gives the verdict in a reply, or None where there is none: such a reply leaves the cache,
    so that asking again asks.

    Raises JudgeFailed, and CallFailed as it is where no further question would fare better (a refused key).
    """
    context = of(*parts)
    try:
        reply = await judge.say(context, options)
    except CallFailed as error:
        if error.stops_run:
            raise
        raise JudgeFailed(f"{judge.name} gave no verdict ({error.kind}): {error}") from error
    if reply.left_out:
        raise JudgeFailed(f"{judge.name} was not shown everything: {'; '.join(reply.left_out)}")
    verdict = read(reply.text)
    if verdict is None:
        judge.forget(context, options)
        cut = " (cut off)" if reply.finish == "length" else ""
        raise JudgeFailed(f"{judge.name} gave no verdict in{cut}: {reply.text!r}")
    return Judged(verdict, reply.text)


def first_json_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in a reply: outside its thinking, in a code block or between words. Braces that begin no
    object (LaTeX, a quoted template) are passed over."""
    said = without_thinking(text)
    start = -1
    for _ in range(_MOST_TRIES):
        start = said.find("{", start + 1)
        if start < 0:
            return None
        try:
            found, _ = json.JSONDecoder().raw_decode(said, start)
        except (ValueError, RecursionError):
            continue
        return dict(found)
    return None


def label(value: object) -> bool | None:
    """A yes or no of a verdict: 0 or 1, true or false, also as a text. Anything else is none."""
    return _LABELS.get(str(value).strip().lower())
