"""RA and AL: does the drawing follow what was asked for, and does the answer follow the drawing?

Judged, as UniG2U-Bench asks (docs/published.md, "RA and AL"): a whole number from 1 to 5 each, of any stored episode
with a drawing. No truth is shown to the judge. Beside it stand `drawing_right` and `answer_as_drawn`, shares in 0..1
that a task reads from the pictures itself; where both exist, `ra_judge_wrong` and `al_judge_wrong` tell whether the
judge's words fit what can be read.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from sketchmark.episode import Episode
from sketchmark.errors import JudgeFailed
from sketchmark.models.base import Model, Options
from sketchmark.parts import Content, Sample
from sketchmark.picture import Picture
from sketchmark.scores import Grading, Scorer, Scores
from sketchmark.scoring.judging import Judged, ask, first_json_object
from sketchmark.scoring.thinking import without_thinking
from sketchmark.task_files.yaml_text import load

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
