"""Scores of VOILA by a judge: the published prompts and schemas to the letter, and a parser of verdicts that never
guesses.

The facts: docs/benchmarks/voila.md, "The judge's requests". The published scorer re-uses the previous question's
verdict when one is empty, and failed requests silently leave its denominator. Here an incomplete verdict is not a
verdict: it is not scored, it is counted, and the next invocation asks again. Step 4 has no published judge: its
prompt is ours, and its scores have separate names.

In ordinary runs (`sketchmark run --tasks voila --judge MODEL`) the scores are
`voila_judge_step{1,2,3}_{number,subject,action,overall}`, in addition to the rules' scores. Under the published
scoring, `official`, they replace those as `voila_step{1,2,3}_*`. `voila_step4_judge_*` scores the drawing. If one
verdict of a question is missing, none of these is given: the row counts as `judge_failed`, and the next invocation
asks again (finished verdicts come from the cache).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard, get_args

from sketchmark.benchmarks.voila.rules import PROPERTIES
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.model import Model, Options
from sketchmark.episode.sample import Context, Sample, of
from sketchmark.errors import CallFailed
from sketchmark.media import Picture
from sketchmark.tasks.files import BLIND
from sketchmark.worlds.voila.scenes import ANY, Scene

Step = Literal[1, 2, 3, 4]
STEPS: tuple[Step, ...] = get_args(Step)
_FIELDS = ("number", "subject_type", "action")
_IMAGES = ("image_1", "image_2", "image_3")
_SCHEMA_NAMES = {1: "ImageTextMatching", 2: "IdentifyChanges", 3: "FindingLastImage", 4: "DrawnImage"}

STEP_1_TEMPERATURE = 0.1
API_TEMPERATURE = 1.0
"""Steps 2 and 3 are published without a temperature, which at OpenAI means 1."""

_MATCHING = (
    "Give me the score by comparing the provided texts to the ground truth text for each image focusing on subject "
    'numbers, subject types, and actions. Comparing similar subject types, such as "mice" versus "hamsters," or '
    'variations in number, such as "man" versus "men," is acceptable as a correct answer. However, differences in '
    'age or gender, such as "woman" versus "senior woman," are not acceptable as a correct answer. If the answer '
    "is correct, assign 1 point for each property score, otherwise give 0. "
)
_CHANGES = (
    "Give me the score by comparing the provided texts to the ground truth text to determine if the model correctly "
    "identifies the unchanged and changed properties between Image 1 and Image 2. The properties to compare are the "
    "number of subjects, the subject type, and the actions. If the answer is correct, assign 1 point for each "
    "property, otherwise give 0. "
)
_LAST_IMAGE = (
    "Give me the score by comparing the provided texts to the ground truth text to determine if the model correctly "
    "identifies the properties of subject numbers, subject types, and actions in order. "
)
_ANY_IS_A_VALUE = (
    'If ground truth text contains the value "any" for a property, it only counts as correct if the provided text '
    "also has 'any' for that property. Otherwise, the answer is incorrect. "
)
_POINTS = "If the answer is correct, assign 1 point for each property, otherwise give 0. "
_ENDING = "Write the output as JSON object for each image without explanation."
_DRAWING = """The picture should show: {truth}
Give 1 point for each property that the picture shows, otherwise give 0.
number: exactly this many subjects can be counted in the picture.
subject_type: all of them are of this type; age and gender must fit.
action: all of them are doing this.
A property whose value is "any" is fulfilled by every picture.
Write the output as JSON object without explanation."""


@dataclass(frozen=True)
class Truth:
    """The ground truth of a question, as worded in its CSV row."""

    combined: str
    relations: str
    answer: Scene


def formatted(answer: Scene) -> str:
    """Return the ground truth of steps 3 and 4 as the judge gets it."""
    return f"number = {answer.number_word} subject = {answer.subject_word} action = {answer.action_word}"


def prompt(step: Literal[1, 2, 3], truth: Truth, said: str, distraction: bool) -> str:
    if step == 1:
        return _lines(_MATCHING, 8, truth.combined, said)
    if step == 2:
        return _lines(_CHANGES, 8, truth.relations, said)
    rule, indent = (_ANY_IS_A_VALUE, 20) if distraction else ("", 32)
    return _lines(_LAST_IMAGE + rule + _POINTS, indent, " " + formatted(truth.answer), said)


def _lines(task: str, indent: int, truth: str, said: str) -> str:
    lines = (task, f"Ground truth texts:{truth}", f"Texts to compare: {said}", _ENDING)
    return ("\n" + " " * indent).join(lines)


def drawing_prompt(truth: Truth) -> str:
    return _DRAWING.format(truth=formatted(truth.answer))


def response_format(step: Step, question: int) -> dict[str, Any]:
    marks = {name: {"type": "integer"} for name in _FIELDS}
    fields = {image: _object(marks) for image in _IMAGES} if step == 1 else marks
    schema = _object({"question": {"type": "integer", "const": question}, **fields})
    named = {"name": _SCHEMA_NAMES[step], "schema": schema, "strict": True}
    return {"type": "json_schema", "json_schema": named}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


@dataclass(frozen=True)
class Inquiry:
    """One question to the judge."""

    step: Step
    question: int
    text: str
    picture: Picture | None = None

    def context(self) -> Context:
        return of(self.picture, self.text) if self.picture else of(self.text)

    def options(self) -> Options:
        temperature = STEP_1_TEMPERATURE if self.step == 1 else API_TEMPERATURE
        return Options(temperature=temperature, extra={"response_format": response_format(self.step, self.question)})

    def body(self, model: str) -> dict[str, Any]:
        """The request as published: a temperature in step 1 only, no system message."""
        content: str | list[dict[str, Any]] = self.text
        if self.picture:
            image = {"type": "image_url", "image_url": {"url": self.picture.shown().data_url}}
            content = [image, {"type": "text", "text": self.text}]
        temperature = {"temperature": STEP_1_TEMPERATURE} if self.step == 1 else {}
        return {
            "model": model,
            **temperature,
            "response_format": response_format(self.step, self.question),
            "messages": [{"role": "user", "content": content}],
        }


def inquire(step: Literal[1, 2, 3], question: int, truth: Truth, said: str, distraction: bool) -> Inquiry | None:
    """Return None for an answer without words: it is wrong, and no call is needed."""
    return Inquiry(step, question, prompt(step, truth, said, distraction)) if said.strip() else None


Marks = tuple[tuple[int, int, int], ...]
"""0 or 1 for number, subject and action: per image in step 1, once in the other steps."""


@dataclass(frozen=True)
class StepVerdict:
    """Marks, or what kept the judge from giving them."""

    marks: Marks
    problem: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.problem)

    def scores(self) -> dict[str, float]:
        """Per property and overall. Overall asks for all three of the same picture, never of all pictures."""
        n = len(self.marks)
        shares = {name: sum(marks[i] for marks in self.marks) / n for i, name in enumerate(PROPERTIES)}
        return {**shares, "overall": sum(all(marks) for marks in self.marks) / n}


def nothing_right(step: Step) -> StepVerdict:
    """Verdict on an empty or missing answer: no call is needed."""
    return StepVerdict(((0, 0, 0),) * (len(_IMAGES) if step == 1 else 1))


def no_verdict(problem: str) -> StepVerdict:
    return StepVerdict((), problem)


def read_verdict(step: Step, question: int, text: str) -> StepVerdict:
    """Only the integers 0 and 1 in the asked form, for the asked question, are a verdict."""
    try:
        value = json.loads(_unfenced(text))
    except (ValueError, RecursionError):
        return no_verdict("not JSON" if text.strip() else "empty")
    if not isinstance(value, dict) or not _is_int(value.get("question")) or value["question"] != question:
        return no_verdict("not about this question")
    marks = [_marks(value.get(image)) for image in _IMAGES] if step == 1 else [_marks(value)]
    whole = tuple(mark for mark in marks if mark is not None)
    return StepVerdict(whole) if len(whole) == len(marks) else no_verdict("not 0 or 1")


def _unfenced(text: str) -> str:
    """Judges that cannot be held to a schema like to put their JSON into a code block."""
    bare = text.strip()
    fenced = len(bare) >= 6 and bare.startswith("```") and bare.endswith("```")
    return bare[3:-3].removeprefix("json").strip() if fenced else text


def _marks(value: object) -> tuple[int, int, int] | None:
    if not isinstance(value, dict):
        return None
    number, subject, action = (value.get(name) for name in _FIELDS)
    if _is_mark(number) and _is_mark(subject) and _is_mark(action):
        return number, subject, action
    return None


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_mark(value: object) -> TypeGuard[int]:
    return _is_int(value) and value in (0, 1)


def forgive_any(verdict: StepVerdict, answer: Scene) -> StepVerdict:
    """No drawing can be wrong where the answer is `any` (our choice, as the built-in reader has it)."""
    if verdict.failed:
        return verdict
    words = (answer.number_word, answer.subject_word, answer.action_word)
    (number, subject, action), = verdict.marks  # fmt: skip
    given = zip((number, subject, action), words, strict=True)
    number, subject, action = (1 if word == ANY else mark for mark, word in given)
    return StepVerdict(((number, subject, action),))


async def ask(judge: Model, inquiry: Inquiry) -> StepVerdict:
    """Return a live verdict, or why there is none. Raise CallFailed if the next question would fail the same way."""
    context, options = inquiry.context(), inquiry.options()
    try:
        reply = await judge.say(context, options)
    except CallFailed as error:
        if error.stops_run:
            raise
        return no_verdict(error.kind)
    if reply.finish == "stop":
        verdict = read_verdict(inquiry.step, inquiry.question, reply.text)
    else:
        verdict = no_verdict("truncated" if reply.finish == "length" else reply.finish)
    if verdict.failed:
        judge.forget(context, options)
    return verdict


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
    """Return the request to the judge; None if the answer is empty or missing, so that no call is needed."""
    question, distraction = question_number(sample.id), sample.fields["variant"] == "wd"
    stepwise = episode.settings.get("mode") not in ("direct", BLIND)
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
