"""The scorers of the medical datasets, strict or as published, and the judge of open answers.

The judge's prompt is exactly MedEvalKit's (docs/benchmarks/medical.md, "The LLM judge"). In it 0 means correct and 1
incorrect. The judge is any Sketchmark model, with its caching and rate limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from sketchmark.answers.choices import read_choice, read_choices
from sketchmark.answers.phrases import closed_is_right, open_scores, read_answer
from sketchmark.answers.reply import Parsed, plain, tagged
from sketchmark.answers.yes_no import read_yes_no
from sketchmark.benchmarks import Graded, Scoring
from sketchmark.benchmarks.medical.medevalkit import (
    Code,
    VqaSet,
    chosen,
    grade_vqa,
    judge_choice,
    judge_yes_no,
    prepared,
    yes_or_no,
)
from sketchmark.benchmarks.medical.radiology import has_words, report_scores
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.model import Model, Options
from sketchmark.episode.sample import Sample, of
from sketchmark.errors import BadInput, CallFailed, UnknownName

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
class Judgement:
    """A judge's verdict on one answer. `correct` is None without a verdict."""

    correct: bool | None
    reply: str


def judge_prompt(question: str, gold: str, response: str) -> str:
    return _TEMPLATE.format(question=question, gold=gold, response=response)


def read_verdict(reply: str) -> Judgement:
    """Parse a verdict: `0` is correct and `1` incorrect. MedEvalKit counts anything else as incorrect."""
    return Judgement({"0": True, "1": False}.get(tagged(reply, "judge")), reply)


async def judge_open(model: Model, question: str, gold: str, response: str) -> Judgement:
    """Ask the judge about one answer. An answer without words is wrong and not sent."""
    if not response.strip():
        return Judgement(False, "")
    asked = of(judge_prompt(question, gold, response))
    verdict = read_verdict((await model.say(asked, JUDGE_OPTIONS)).text)
    if verdict.correct is None:
        model.forget(asked, JUDGE_OPTIONS)
    return verdict


VQA_SETS = get_args(VqaSet)
_TAGS_FIRST = ("medxpertqa", "omnimedvqa")
"""Datasets whose run loop removes the answer tags before the judge sees the reply
(docs/benchmarks/medical.md, "Finding the answer in a reply")."""

_YES_NO_WORDS = ("yes", "no", "是", "否", "不是")


def checked_scoring(name: str) -> Scoring:
    """Check a scoring's name. `official`, the common name of a published program, is MedEvalKit's main branch."""
    known: dict[str, Scoring] = {scoring: scoring for scoring in get_args(Scoring)} | {"official": "code-upstream"}
    if name not in known:
        raise UnknownName(f"no scoring {name!r}", f"there are: {', '.join(known)}")
    return known[name]


async def score(sample: Sample, episode: Episode, grading: Grading, *, dataset: str) -> Scores:
    """Score one episode. With a judge, open answers are judged (in SLAKE under a `code-` scoring, all answers).

    A judge without a verdict is a failure, not a wrong answer; the published codes have other rules.
    """
    scoring, target, reply = checked_scoring(grading.scoring), sample.target, episode.answer
    graded = grade(dataset, target, sample.groups, reply, scoring)
    judged: bool | None = None
    asks = not graded.closed or (dataset == "slake" and scoring.startswith("code-"))
    with_judge = grading.judge is not None and dataset in VQA_SETS
    if grading.judge is not None and with_judge and asks:
        gold, sent = _for_judge(dataset, target["gold"], reply, scoring)
        verdict = await judge_open(grading.judge, str(target["asked"]), gold, sent)
        judged = verdict.correct
        if judged is None and not scoring.startswith("code-"):
            raise CallFailed("judge_failed", f"no verdict in: {verdict.reply[:200]}")
    if scoring == "paper" and dataset in VQA_SETS and not with_judge:
        raise BadInput("scoring `paper` judges open answers with a model", "give --judge, or use --scoring strict")
    correct = graded.right
    if with_judge and not graded.closed:
        correct = graded.right if judged is None and scoring == "code-fork" else judged is True
    notes: dict[str, Any] = {
        "graded": {"right": graded.right, "closed": graded.closed, "judged": judged, "stopped": graded.stopped},
        "with_judge": with_judge,
        "answer": graded.answer,
        "gold": target["gold"],
        "reply": reply,
    }
    values: dict[str, float | None] = {"correct": float(correct), **graded.metrics}
    if scoring == "code-fork":  # for docs/benchmarks/medical.md, "Shared replies"
        notes["item"] = {"key": target.get("key"), "values": values}
    return Scores(values, notes, unparsed=graded.unparsed)


def grade(dataset: str, target: Mapping[str, Any], groups: Mapping[str, Any], reply: str, scoring: Scoring) -> Graded:
    """Score one reply by rule."""
    if scoring == "strict":
        return _strict(target, reply)
    code: Code = "fork" if scoring == "code-fork" else "upstream"
    if dataset in VQA_SETS:
        closed = target["kind"] != "open" if dataset == "slake" else None
        return grade_vqa(dataset, str(target["gold"]), reply, code=code, closed=closed)  # type: ignore[arg-type]
    if dataset == "radrestruct":
        return _radrestruct_published(target, groups, reply)
    if dataset in _TAGS_FIRST:
        reply = tagged(reply, "answer")
    right = judge_choice(target["shown"], str(target["gold"]), reply)
    return Graded(right, answer=chosen(target["shown"], reply))


def _strict(target: Mapping[str, Any], reply: str) -> Graded:
    kind, gold, question = target["kind"], target["gold"], str(target.get("asked", ""))
    if kind == "open":
        metrics, said = open_scores(gold, reply), read_answer(reply).value
        return Graded(metrics["em"] == 1.0, False, metrics, unparsed=said is None, answer=said)
    read: Parsed[Any]
    answer: Any
    if kind == "choice":
        read = read_choice(reply, target["options"], question)
        right, answer = read.value == gold, read.value
    elif kind == "choices":
        read = read_choices(reply, target["options"])
        right, answer = read.value == frozenset(gold), sorted(read.value or ())
    elif kind == "yes_no" or plain(gold) in _YES_NO_WORDS:
        read = read_yes_no(reply, question)
        right, answer = read.value is not None and read.value == read_yes_no(gold).value, read.value
    else:
        read = closed_is_right(gold, reply)
        right, answer = read.value is True, read_answer(reply).value
    return Graded(right=right, unparsed=read.value is None, answer=answer)


def _radrestruct_published(target: Mapping[str, Any], groups: Mapping[str, Any], reply: str) -> Graded:
    """Score as published: single choices by the yes/no rule, others by the choice rule; only the first gold counts.

    Options that were shown with letters are judged by letter, because their texts are not equal to them.
    """
    gold, reply = prepared("radrestruct", str(target["first_gold"]), reply)
    if groups["answer_type"] == "single_choice":
        return Graded(judge_yes_no(gold, reply), answer=yes_or_no(reply))
    options, shown = list(target["options"]), list(target["shown"])
    if shown != options:
        gold = shown[options.index(target["first_gold"])].partition(".")[0]
    return Graded(judge_choice(shown, gold, reply), answer=chosen(shown, reply))


def _for_judge(dataset: str, gold: str, reply: str, scoring: Scoring) -> tuple[str, str]:
    """Return gold and answer for the judge: as the published code sends them, or the strictly parsed answer."""
    if scoring == "strict":
        return gold, read_answer(reply).value or ""
    return prepared(dataset, gold, reply)


def score_report(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Score one report. The fork leaves empty reports out of its means, so there they get no score."""
    reference, reply = sample.target["reference"], episode.answer
    spoken, notes = has_words(reply), {"reply": reply, "reference": reference}
    if checked_scoring(grading.scoring) == "code-fork" and not spoken:
        return Scores({}, notes, unparsed=True)
    return Scores(dict(report_scores(reference, reply)), notes, unparsed=not spoken)
