"""Asking a judge: one question, one verdict, or none. Shared by every scorer that lets a model read or look.

    verdict = await ask(grading.judge, [prompt, picture], Options(max_new_tokens=512), _read)

A judge that cannot be reached, was not shown everything, or says nothing that can be read, has given no verdict:
`JudgeFailed`, never a wrong answer. The row then counts as `judge_failed` and the next start asks again.

RA and AL: does the drawing follow what was asked for, and does the answer follow the drawing?

Judged, as UniG2U-Bench asks (docs/published.md, "RA and AL"): a whole number from 1 to 5 each, of any stored episode
with a drawing. No truth is shown to the judge. Beside it stand `drawing_right` and `answer_as_drawn`, shares in 0..1
that a task reads from the pictures itself; where both exist, `ra_judge_wrong` and `al_judge_wrong` tell whether the
judge's words fit what can be read.

The judge that BabyVision, PhyX and questions of your own share: does an answer mean the same as the truth? True
or False, in one word.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from sketchmark.answers.reply import without_thinking
from sketchmark.episode import Episode, Grading, Scorer, Scores
from sketchmark.episode.model import Model, Options
from sketchmark.episode.sample import Content, Sample, of
from sketchmark.errors import CallFailed, JudgeFailed
from sketchmark.files.yaml import load
from sketchmark.media import Picture

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


Measure = Literal["ra", "al"]
FIELDS: dict[Measure, str] = {"ra": "reasoning_visual_score", "al": "answer_visual_score"}
READ: dict[Measure, str] = {"ra": "drawing_right", "al": "answer_as_drawn"}
"""What a reader finds of the same, without a judge."""

_OPTIONS = Options(max_new_tokens=3000)
_TRIES = 3
_PLACE = re.compile(r"\{(task|question|generation_prompt|answer)\}")
GOOD, GOOD_FROM = 4, 0.8
POOR, POOR_TO = 2, 0.5
"""The scale's own words: 4 is "mostly (80-90%)", 2 is "barely (30-50%)"."""


async def judged(
    sample: Sample, episode: Episode, grading: Grading, *, task: str, read: Scorer | None = None
) -> Scores:
    """`ra` and `al`; None where nothing was drawn, or (al) nothing answered. Without a judge, nothing.

    Raises JudgeFailed where the judge gives no verdict in three tries.
    """
    if grading.judge is None:
        return Scores({})
    values: dict[str, float | None] = {"ra": None, "al": None}
    notes: dict[str, Any] = {}
    for measure in FIELDS if episode.drawings else ():
        if measure == "al" and not episode.answer.strip():
            continue
        found = await _asked(grading.judge, measure, question_parts(measure, task, episode))
        values[measure], notes[f"{measure}_judge"] = found.verdict, found.reply
    if read is not None:
        seen = read(sample, episode, grading)
        shown = (await seen if inspect.isawaitable(seen) else seen).values
        for measure, name in READ.items():
            values[f"{measure}_judge_wrong"] = _wrong(values[measure], shown.get(name))
    return Scores(values, notes)


async def _asked(judge: Model, measure: Measure, parts: list[Content]) -> Judged[float]:
    for left in range(_TRIES - 1, -1, -1):
        try:
            return await ask(judge, parts, _OPTIONS, lambda reply: read_score(reply, FIELDS[measure]))
        except JudgeFailed:
            if not left:
                raise
    raise AssertionError  # the last try returns or raises


def question_parts(measure: Measure, task: str, episode: Episode) -> list[Content]:
    """One message: the text, the original pictures, all drawings."""
    prompts = _prompts()
    fills = {
        "task": task,
        "question": _question(episode),
        "generation_prompt": _instructions(episode),
        "answer": episode.answer,
    }
    text = _PLACE.sub(lambda place: fills[place[1]], prompts[measure]["prompt"])
    category = _category(task, prompts["categories"])
    if category:
        text += "\n" + prompts[measure]["criteria"][category]
    shown = [part.content for turn in episode.turns if turn.act == "show" for part in turn.added]
    return [text, *(content for content in shown if isinstance(content, Picture)), *episode.drawings]


def _question(episode: Episode) -> str:
    """What was asked for in words: the texts that were shown, and what came with the call for the last answer."""
    shown = [part.text for turn in episode.turns if turn.act == "show" for part in turn.added if part.text]
    asked = [turn.suffix for turn in episode.turns if turn.act == "say" and turn.reply and turn.suffix]
    return "\n".join([*shown, *asked[-1:]])


def _instructions(episode: Episode) -> str:
    """What each drawing was to show: its prompt, and before it what the model said it would draw, if it said so."""
    found, plan = [], ""
    for turn in episode.turns:
        if turn.act == "say" and turn.reply:
            plan = turn.reply.text
        elif turn.act == "draw":
            found.append("\n".join(filter(None, (plan, turn.suffix))))
            plan = ""
    return "\n\n".join(found)


def read_score(reply: str, field: str) -> float | None:
    """The field of the JSON object, else the first number from 1 to 5 that stands where the score is due."""
    given = (first_json_object(reply) or {}).get(field)
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return float(given) if 1 <= given <= 5 else None
    said = without_thinking(reply)
    for due in (rf'"{field}"\s?:\s?', rf"{field}\s?:\s?", r"\bScore\s?:\s?"):
        if found := re.search(rf"{due}([1-5])(?!\.?\d)", said):
            return float(found[1])
    return None


def _wrong(score: float | None, share: float | None) -> float | None:
    """Whether the judge calls good what is not, or poor what is not; None where one of the two says nothing, and at
    3, which claims little."""
    if score is None or share is None or POOR < score < GOOD:
        return None
    return float(share < GOOD_FROM if score >= GOOD else share > POOR_TO)


@cache
def _prompts() -> Mapping[str, Any]:
    return load(Path(__file__).with_name("ra_al.yaml"))


def _category(task: str, categories: Mapping[str, str]) -> str:
    """By the longest beginning that fits; none for a task that nobody has filed: it gets no criteria."""
    name = task.lower().removeprefix("unig2u_")
    fitting = [start for start in categories if name.startswith(start)]
    return categories[max(fitting, key=len)] if fitting else ""


_WORD = re.compile(r"\b(true|false)\b", re.IGNORECASE)


def filled(template: str, **values: str) -> str:
    """`{name}` for each of the values, put in once: what a reply or a row holds is never read as a template."""
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), template)


def question_to_judge(template: str, question: str, truth: str, answer: str) -> str:
    return filled(template, question=question, groundtruth=truth, modeloutput=answer)


def verdict(reply: str) -> bool | None:
    """Published: `true` anywhere is right and all else is wrong. Here both words or neither are no verdict."""
    words = {word.lower() for word in _WORD.findall(without_thinking(reply))}
    return words == {"true"} if len(words) == 1 else None
