"""VOILA by judge, inside ordinary runs: `sketchmark run --tasks voila --judge MODEL`.

`voila_judge_step{1,2,3}_{number,subject,action,overall}` beside the rule's scores, under the published scoring,
`official`, in their place as `voila_step{1,2,3}_*`; `voila_step4_judge_*` for the drawing. Where one verdict of a
question cannot be had, none of these is given: the row counts as `judge_failed`, and the next start asks again (what
the judge did say comes from the cache).
"""

from __future__ import annotations

import asyncio
import re

from sketchmark.episode import Episode
from sketchmark.errors import CallFailed
from sketchmark.parts import Sample
from sketchmark.scores import Grading, Scores
from sketchmark.tasks.voila.judge import (
    Inquiry,
    Step,
    StepVerdict,
    Truth,
    ask,
    drawing_prompt,
    forgive_any,
    inquire,
    nothing_right,
)
from sketchmark.worlds.voila import Scene


async def score(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    judge = grading.judge
    if judge is None:
        return Scores({})
    truth = Truth(sample.target["combined"], sample.target["relations"], Scene(*sample.target["answer"]))
    inquiries = _inquiries(sample, episode, truth)

    async def verdict(step: Step, inquiry: Inquiry | None) -> tuple[Step, StepVerdict]:
        return step, await ask(judge, inquiry) if inquiry else nothing_right(step)

    asked = [asyncio.ensure_future(verdict(step, inquiry)) for step, inquiry in inquiries.items()]
    await asyncio.wait(asked)  # all of them, whatever becomes of one: what is answered is paid for, and kept
    verdicts = dict(one.result() for one in asked)
    problems = [f"step {step}: {found.problem}" for step, found in verdicts.items() if found.failed]
    if problems:
        raise CallFailed("judge_failed", f"{judge.name} gave no verdict ({'; '.join(problems)})")
    if 4 in verdicts:
        verdicts[4] = forgive_any(verdicts[4], truth.answer)
    values: dict[str, float | None] = {
        f"{_name(step, grading.scoring)}_{key}": value
        for step, found in verdicts.items()
        for key, value in found.scores().items()
    }
    return Scores(values)


def _name(step: Step, scoring: str) -> str:
    if step == 4:
        return "voila_step4_judge"
    return f"voila_step{step}" if scoring == "official" else f"voila_judge_step{step}"


def _inquiries(sample: Sample, episode: Episode, truth: Truth) -> dict[Step, Inquiry | None]:
    """What there is to judge; None where the answer is empty or missing and nobody needs to be asked."""
    question, distraction = question_number(sample.id), sample.fields["variant"] == "wd"
    stepwise = episode.settings.get("mode") != "direct"
    says = [*episode.says, "", "", ""]
    inquiries: dict[Step, Inquiry | None] = {}
    if stepwise:
        inquiries[1] = inquire(1, question, truth, says[0], distraction)
        inquiries[2] = inquire(2, question, truth, says[1], distraction)
    inquiries[3] = inquire(3, question, truth, says[2 if stepwise else 0], distraction)
    if episode.draw_attempts:
        drawn = episode.drawings[-1] if episode.drawings else None
        inquiries[4] = Inquiry(4, question, drawing_prompt(truth), drawn) if drawn else None
    return inquiries


def question_number(sample_id: str) -> int:
    """The number a sample's id ends in: the schema asks the judge to repeat it."""
    found = re.search(r"\d{1,15}$", sample_id)
    return int(found[0]) if found else 0
