"""The published questions to the judges, and two readings of what they reply.

`strict`: the first JSON object outside the thinking; a label is 0 or 1 as it is written; anything else is no verdict,
and the judge is asked again by the next start. `official`: the published program's, accidents included
(docs/benchmarks/uni-mmmu.md, "Accidents of the official evaluator"): the object is looked for from the first brace
on, also in a thought, and a reply without one is a verdict of 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from sketchmark.models.base import Options
from sketchmark.parts import Content
from sketchmark.scores import Grading, Scores
from sketchmark.scoring.judging import Judged, ask, first_json_object, label

OFFICIAL = "official"
T = TypeVar("T")
_PROMPTS = Path(__file__).with_name("judge_prompts")

Labels = tuple[bool, ...]
Truth = Callable[[Any], bool]
"""When the published program takes a label for 1."""


@cache
def published(name: str) -> str:
    """To the byte: blanks and newlines at either end belong to the string."""
    return (_PROMPTS / f"{name}.txt").read_bytes().decode("utf-8")


def unscored(*names: str) -> Scores:
    return Scores(dict.fromkeys(names), {"unscored": "this score is a judge's verdict: add --judge MODEL"})


def no_truth(what: str, *names: str) -> Scores:
    return Scores(dict.fromkeys(names), {"no_truth": f"the data has no {what}"})


async def labels(
    grading: Grading, parts: Sequence[Content], tokens: int, fields: Sequence[str], truth: Truth
) -> Judged[Labels]:
    """0 or 1 for each of the fields that the judge is asked to fill in."""

    def strict(reply: str) -> Labels | None:
        found = first_json_object(reply) or {}
        read = [label(found.get(name)) for name in fields]
        known = tuple(one for one in read if one is not None)
        return known if len(known) == len(read) else None

    def official(reply: str) -> Labels:
        found = object_from_the_first_brace(reply)
        return tuple(truth(found.get(name)) for name in fields)

    return await asked(grading, parts, tokens, strict, official)


async def asked(
    grading: Grading,
    parts: Sequence[Content],
    tokens: int,
    strict: Callable[[str], T | None],
    official: Callable[[str], T | None],
) -> Judged[T]:
    assert grading.judge is not None
    read = official if grading.scoring == OFFICIAL else strict
    return await ask(grading.judge, parts, Options(max_new_tokens=tokens), read)


def object_from_the_first_brace(reply: str) -> dict[str, Any]:
    """The text from the first brace to the one that closes it, as JSON; empty where that is none."""
    start = reply.find("{")
    depth, quoted, escaped = 0, False, False
    for at in range(start, len(reply)) if start >= 0 else ():
        character = reply[at]
        if quoted:
            quoted, escaped = escaped or character != '"', character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in "{}":
            depth += 1 if character == "{" else -1
            if depth == 0:
                try:
                    return dict(json.loads(reply[start : at + 1]))
                except (ValueError, RecursionError):
                    return {}
    return {}


def whole_number_one(value: Any) -> bool:
    """Geometry's labels: what Python's `int` makes 1 of."""
    try:
        return int(value) == 1
    except (TypeError, ValueError, OverflowError):
        return False
