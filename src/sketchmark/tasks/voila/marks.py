"""Who gives the marks for a results file: the rules, a judge who is asked live, or a judge behind the Batch API."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sketchmark.engines.local import play_all
from sketchmark.errors import CallFailed
from sketchmark.models.base import Model
from sketchmark.models.batch import BatchRequest, Connection, JobFiles, Result, run_job
from sketchmark.models.batch.job import Tell
from sketchmark.tasks.voila import rules
from sketchmark.tasks.voila.judge import (
    Inquiry,
    Step,
    StepVerdict,
    ask,
    drawing_prompt,
    forgive_any,
    inquire,
    no_verdict,
    nothing_right,
    read_verdict,
)
from sketchmark.tasks.voila.results_file import AnsweredQuestion
from sketchmark.worlds.voila import Scene
from sketchmark.worlds.voila.statement import read_statement

Marked = dict[Step, dict[int, StepVerdict]]
"""Verdicts by step and question."""


def steps_of(items: Sequence[AnsweredQuestion]) -> list[Step]:
    return [1, 2, 3, 4] if any(item.answers.draws for item in items) else [1, 2, 3]


def by_rule(items: Sequence[AnsweredQuestion]) -> Marked:
    return {step: {item.question: _rule(step, item) for item in items} for step in steps_of(items)}


def _rule(step: Step, item: AnsweredQuestion) -> StepVerdict:
    if step == 4:
        return _read_drawing(item)
    said = item.answers.says[step - 1]
    if not said.strip():
        return nothing_right(step)
    if step == 1:
        read = rules.read_step1(said)
        return StepVerdict(tuple(_compare(said, true) for said, true in zip(read, item.scenes, strict=True)))
    if step == 2:
        right = rules.right_step2(rules.read_step2(said), item.scenes[0], item.scenes[1])
    else:
        right = rules.right_step3(read_statement(said), item.truth.answer)
    number, subject, action = (int(right[name]) for name in rules.PROPERTIES)
    return StepVerdict(((number, subject, action),))


def _read_drawing(item: AnsweredQuestion) -> StepVerdict:
    from sketchmark.worlds.voila import reader

    picture = item.answers.picture()
    drawn = reader.read(picture) if picture else None
    return (
        forgive_any(StepVerdict((_compare(drawn, item.truth.answer),)), item.truth.answer)
        if drawn
        else nothing_right(4)
    )


def _compare(said: Scene, true: Scene) -> tuple[int, int, int]:
    return int(said.number == true.number), int(said.subject == true.subject), int(said.action == true.action)


def _inquiry(step: Step, item: AnsweredQuestion, distraction: bool) -> Inquiry | None:
    if step == 4:
        picture = item.answers.picture()
        return Inquiry(4, item.question, drawing_prompt(item.truth), picture) if picture else None
    return inquire(step, item.question, item.truth, item.answers.says[step - 1], distraction)


async def by_judge(
    judge: Model,
    items: Sequence[AnsweredQuestion],
    distraction: bool,
    concurrency: int,
    given: Callable[[bool], None] = lambda failed: None,
) -> Marked:
    """`given` hears of every verdict, and whether it failed. Raises CallFailed where the judge cannot go on; verdicts
    that are under way are waited for, and kept by its cache: they are paid for."""
    marked: Marked = {step: {} for step in steps_of(items)}
    stopped: list[CallFailed] = []

    async def one(job: tuple[Step, AnsweredQuestion]) -> tuple[Step, AnsweredQuestion, StepVerdict] | None:
        step, item = job
        inquiry = await asyncio.to_thread(_inquiry, step, item, distraction)
        try:
            return step, item, await ask(judge, inquiry) if inquiry else nothing_right(step)
        except CallFailed as error:
            stopped.append(error)
            return None

    jobs: Iterator[tuple[Step, AnsweredQuestion]] = ((step, item) for step in marked for item in items)
    left = itertools.takewhile(lambda _: not stopped, jobs)
    async for found in play_all(left, one, concurrency):
        if found:
            step, item, verdict = found
            given(verdict.failed)
            marked[step][item.question] = _settled(step, item, verdict)
    if stopped:
        raise stopped[0]
    return marked


async def by_batch(
    connection: Connection, items: Sequence[AnsweredQuestion], distraction: bool, sent: Path, output: Path, tell: Tell
) -> Marked:
    """The steps' jobs run beside each other, as published, in files named by step.

    One that ends badly does not end the wait for the others: what they bring is paid for too. What ended several (a
    refused key) is said once.
    """

    async def one(step: Step) -> tuple[Step, dict[int, StepVerdict]]:
        files = JobFiles.named(
            sent.with_name(f"{sent.name}_step{step}"), output.with_name(f"{output.name}_step{step}")
        )
        asked = {item.question: inquiry for item in items if (inquiry := _inquiry(step, item, distraction))}
        requests = [BatchRequest(custom_id(n), inquiry.body(connection.model)) for n, inquiry in asked.items()]
        numbers = {custom_id(n): n for n in asked}

        def read(name: str, result: Result) -> StepVerdict:
            return no_verdict(result.problem) if result.problem else read_verdict(step, numbers[name], result.text)

        results = await run_job(connection, requests, files, tell, lambda name, result: not read(name, result).failed)
        given = {numbers[name]: read(name, result) for name, result in results.items()}
        verdicts = {}
        for item in items:
            verdict = given.get(item.question) or nothing_right(step)
            verdicts[item.question] = _settled(step, item, verdict)
        return step, verdicts

    ends = await asyncio.gather(*(one(step) for step in steps_of(items)), return_exceptions=True)
    problems = [end for end in ends if isinstance(end, BaseException)]
    for words in list(dict.fromkeys(map(str, problems)))[1:]:
        tell(words)
    if problems:
        raise problems[0]
    return dict(end for end in ends if not isinstance(end, BaseException))


def custom_id(question: int) -> str:
    return f"question{question}"


def _settled(step: Step, item: AnsweredQuestion, verdict: StepVerdict) -> StepVerdict:
    return forgive_any(verdict, item.truth.answer) if step == 4 and item.answers.drawing else verdict
