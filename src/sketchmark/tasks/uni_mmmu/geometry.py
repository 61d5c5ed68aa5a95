"""Uni-MMMU geometry, scored by a judge: the written solution, and the auxiliary lines where they were drawn.

The original asks Qwen3-32B about the text and Qwen2.5-VL-72B about the overlay; here the judge is any model, and the
questions to it are ours. Without a judge nothing is scored, and the note says so: comparing answers as texts is what
the public port does, and it takes "The final answer is 3.5" for 3.
"""

from __future__ import annotations

import re
from typing import Any

from sketchmark.episode import Episode
from sketchmark.errors import CallFailed
from sketchmark.models.base import Model, Options
from sketchmark.parts import Content, Picture, Sample, of
from sketchmark.task import Grading, Scores

_VERDICT = re.compile(r"VERDICT:\s*\**(CORRECT|INCORRECT)\b")
_LAST_LINE = "End with one line: VERDICT: CORRECT or VERDICT: INCORRECT"
_OPTIONS = Options(max_new_tokens=1024)

_TEXT = """You grade a solution of a geometry problem.

Problem:
{question}

Reference:
{reference}

Solution to grade:
{solution}

It is correct if its final result agrees with the reference, or, where something is to be proved, if it proves it \
without a gap. Notation and wording do not matter. A solution without a result is incorrect.
{last_line}"""

_LINES = """You grade auxiliary lines that were added to a geometry diagram. The first picture is the diagram, \
{what_follows}.

Problem:
{question}
{lines}
The drawing is correct if all the auxiliary lines are there, in the right places, and the original diagram is \
unchanged.
{last_line}"""


async def judged(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`geometry_text_acc`, and `geometry_overlay_acc` for episodes that were asked to draw. A judge that gives no
    verdict is never read as giving one: the row counts as `judge_failed`."""
    names = ["geometry_text_acc", *(["geometry_overlay_acc"] if episode.draw_attempts else [])]
    if grading.judge is None:
        return Scores(dict.fromkeys(names), {"unscored": "geometry is scored by a judge: add --judge MODEL"})
    values: dict[str, float | None] = dict.fromkeys(names, 0.0)
    notes: dict[str, Any] = {"expected": sample.target["answer"]}
    if episode.answer.strip():
        values[names[0]] = await _verdict(grading.judge, [_about_text(sample, episode)], names[0], notes)
    if episode.drawings:
        values[names[1]] = await _verdict(grading.judge, _about_lines(sample, episode), names[1], notes)
    return Scores(values, notes)


def _about_text(sample: Sample, episode: Episode) -> str:
    return _TEXT.format(
        question=sample.fields["question"],
        reference=sample.target["answer"],
        solution=episode.answer,
        last_line=_LAST_LINE,
    )


def _about_lines(sample: Sample, episode: Episode) -> list[Content]:
    truth = sample.frames() if sample.frames else []
    follows = "the second shows the right lines, the third is to be graded" if truth else "the second is to be graded"
    lines = sample.fields.get("lines", "")
    diagram = sample.pictures["image"]
    assert isinstance(diagram, Picture)
    question = _LINES.format(
        what_follows=follows,
        question=sample.fields["question"],
        lines=f"\nAuxiliary lines:\n{lines}\n" if lines else "",
        last_line=_LAST_LINE,
    )
    return [diagram, *truth[:1], episode.drawings[-1], question]


async def _verdict(judge: Model, asked: list[Content], name: str, notes: dict[str, Any]) -> float:
    reply = await judge.say(of(*asked), _OPTIONS)
    found = _VERDICT.findall(reply.text)
    if not found:
        judge.forget(of(*asked), _OPTIONS)
        raise CallFailed("judge_failed", f"{name}: no verdict in: {reply.text}")
    notes[f"{name}_judge"] = reply.text
    return float(found[-1] == "CORRECT")
