"""The subtasks that need a judge: BabyVision, Geometry3K and AuxSolidMath. Any model that reads can be the judge.

The questions to the judge are the published ones, in the task files. A judge that gives no verdict fails and is asked
again; the published programs count that as a wrong answer. Without a judge nothing is scored.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sketchmark.episode import Episode
from sketchmark.models.base import Options
from sketchmark.parts import Sample
from sketchmark.scores import Grading, Scores
from sketchmark.scoring.choices import read_choice
from sketchmark.scoring.judging import ask, first_json_object, label
from sketchmark.scoring.open_answers import read_answer
from sketchmark.tasks.same_meaning import filled, question_to_judge, verdict
from sketchmark.tasks.unig2u import published

_LONGEST = 50_000
"""Characters of a solution that a judge is shown: its last ones."""

_CUT = "...[truncated]...\n"
_UNSCORED = {"unscored": "these answers are scored by a judge: add --judge MODEL"}


async def babyvision(sample: Sample, episode: Episode, grading: Grading, *, judge: str) -> Scores:
    """Options go by letter. Of other answers those that are equal but for blanks need no judge."""
    if grading.judge is None:
        return Scores({"accuracy": None}, _UNSCORED)
    truth, options = str(sample.target["answer"]), sample.target.get("options")
    strict = grading.scoring == "strict"
    answer: str | None
    if strict:
        answer = read_choice(episode.answer, options).value if options else read_answer(episode.answer).value
    else:
        answer = published.extracted(episode.answer, "A-D" if options else "")
    notes: dict[str, Any] = {"answer": answer or None, "expected": truth}
    if not answer:
        return Scores({"accuracy": 0.0}, notes, unparsed=True)
    if _squeezed(answer) == _squeezed(truth) or (options and len(answer) == 1):
        return Scores({"accuracy": float(_squeezed(answer) == _squeezed(truth))}, notes)
    question = question_to_judge(judge, sample.fields["question"], truth, answer)
    judged = await ask(grading.judge, [question], Options(max_new_tokens=512 if strict else 16), verdict)
    return Scores({"accuracy": float(judged.verdict)}, {**notes, "judge": judged.reply})


def _squeezed(text: str) -> str:
    return "".join(text.split()).casefold()


async def solution(
    sample: Sample, episode: Episode, grading: Grading, *, score: str, says: str, system: str, user: str
) -> Scores:
    """A whole solution, judged: `says` is the entry of the judge's JSON object that decides."""
    if grading.judge is None:
        return Scores({score: None}, _UNSCORED)
    reply = episode.answer
    if not reply.strip():
        return Scores({score: 0.0}, {"answer": None}, unparsed=True)
    if grading.scoring == "strict":
        system = system.replace("\f", "\\f")  # published with a form feed for the `\f` of `\frac`
    question = filled(
        user,
        problem=sample.fields.get("problem", ""),
        question=sample.fields.get("question", ""),
        gt_auxiliary=sample.target.get("lines", ""),
        gt_answer=sample.target["answer"],
        result_text=reply if len(reply) <= _LONGEST else _CUT + reply[-_LONGEST:],
    )
    read = partial(_entry, says)
    judged = await ask(grading.judge, [system, question], Options(max_new_tokens=512), read)
    return Scores({score: float(judged.verdict)}, {"expected": sample.target["answer"], "judge": judged.reply})


def _entry(name: str, reply: str) -> bool | None:
    found = first_json_object(reply)
    return label(found.get(name)) if found else None
