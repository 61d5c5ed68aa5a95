"""The LLM judge of open medical answers: MedEvalKit's text, letter for letter
(docs/benchmarks/medical.md, "The LLM judge").

Mind the sense of it: 0 means correct, 1 means incorrect. The judge is any Sketchmark model; caching and rate limits
are the model's own.
"""

from __future__ import annotations

from dataclasses import dataclass

from sketchmark.models.base import Model, Options
from sketchmark.parts import of
from sketchmark.scoring.marked import tagged

_TEMPLATE = """
Your task is to determine whether the user's answer is correct based on the provided questions and standard answers \
(for example, if the user expresses a similar meaning to the standard answer, or another interpretation of the \
standard answer, it is considered correct.)

The question is: {question}

The standard answer: {gold}

The user's answer: {response}

Please strictly follow the following format for output(0 represents correct, 1 represents incorrect):
<think>{{your concise think step}}</think>
<judge>{{0/1}}</judge>

for example:
<think>The standard answer is right, and the user's answer is right frontal lobe, they express the same meaning, \
so it is correct.</think>
<judge>0</judge>
    \
"""

JUDGE_OPTIONS = Options(max_new_tokens=4096, temperature=0.0)


@dataclass(frozen=True)
class Verdict:
    """A judge's word on one answer. `correct` is None when it gave none that can be read."""

    correct: bool | None
    reply: str


def judge_prompt(question: str, gold: str, response: str) -> str:
    return _TEMPLATE.format(question=question, gold=gold, response=response)


def read_verdict(reply: str) -> Verdict:
    """`0` is correct and `1` incorrect. Anything else is no verdict; MedEvalKit counts it as incorrect."""
    return Verdict({"0": True, "1": False}.get(tagged(reply, "judge")), reply)


async def judge_open(model: Model, question: str, gold: str, response: str) -> Verdict:
    """One question to the judge. An answer without words is not sent: it is wrong."""
    if not response.strip():
        return Verdict(False, "")
    asked = of(judge_prompt(question, gold, response))
    verdict = read_verdict((await model.say(asked, JUDGE_OPTIONS)).text)
    if verdict.correct is None:
        model.forget(asked, JUDGE_OPTIONS)
    return verdict
