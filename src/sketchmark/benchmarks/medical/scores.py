"""The scorers of the medical datasets, strict or as published, the judge of open answers, and the totals.

The judge's prompt is exactly MedEvalKit's (docs/benchmarks/medical.md, "The LLM judge"). In it 0 means correct and 1
incorrect. The judge is any Sketchmark model, with its caching and rate limits.

Totals have their published keys (docs/benchmarks/medical.md, "Totals"). `strict` has one verdict per sample and one
denominator per table. Comments mark the accidents of the `code-` scorings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from sketchmark.answers import Parsed, plain, tagged
from sketchmark.answers.choices import read_choice, read_choices
from sketchmark.answers.phrases import closed_is_right, open_scores, read_answer
from sketchmark.answers.yes_no import read_yes_no
from sketchmark.benchmarks import Graded, Scoring, Table, share, table
from sketchmark.benchmarks.medical.medevalkit import (
    METRICS,
    Code,
    VqaSet,
    chosen,
    fork_records,
    grade_vqa,
    judge_choice,
    judge_yes_no,
    prepared,
    yes_or_no,
)
from sketchmark.benchmarks.medical.radiology import has_words, report_scores, report_totals
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


def choice_totals(items: Sequence[Graded], groupings: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Compute the totals of a multiple-choice dataset. `groupings`: key of a table -> the group it is split by."""
    totals: dict[str, Any] = {"total metrics": _counted(items)}
    for key, by in (groupings or {}).items():
        names = dict.fromkeys(item.groups[by] for item in items)
        totals[key] = {name: _counted([item for item in items if item.groups[by] == name]) for name in names}
    return totals | _oddities(items)


def radrestruct_totals(items: Sequence[Graded]) -> dict[str, Any]:
    """Compute the totals of Rad-ReStruct. As upstream, `multiple_choice` includes the six fixed_choice samples."""
    single = [item for item in items if item.groups["answer_type"] == "single_choice"]
    multiple = [item for item in items if item.groups["answer_type"] != "single_choice"]
    return {
        "total metrics": _counted(items),
        "single_choice": _counted(single),
        "multiple_choice": _counted(multiple),
        **_oddities(items),
    }


def vqa_totals(
    items: Sequence[Graded], dataset: VqaSet, scoring: Scoring = "strict", *, with_judge: bool = False
) -> dict[str, Any]:
    """Compute the totals of VQA_RAD, PATH_VQA and SLAKE: all, open (with metrics) and closed samples."""
    if scoring == "paper" and not with_judge:
        raise BadInput("scoring `paper` judges open answers with a model", "give --judge, or use --scoring strict")
    opened = [item for item in items if not item.closed]
    closed = [item for item in items if item.closed]
    open_right, close_right = _rights(opened, closed, dataset, scoring, with_judge)
    open_table: Table = {"total": len(opened), "right": open_right}
    for name in METRICS:
        open_table[name] = sum(item.metrics[name] for item in opened) / len(opened) if opened else 0.0
    open_table["acc"] = share(open_right, len(opened))
    if scoring.startswith("code-") and opened:
        # both codes divide by the number of open samples a second time
        # (docs/benchmarks/medical.md, "Open accuracy divided twice")
        open_table["acc"] /= len(opened)
    return {
        "total metrics": table(open_right + close_right, len(items)),
        "open": open_table,
        "close": table(close_right, len(closed)),
        **_oddities(items),
    }


def _rights(
    opened: Sequence[Graded], closed: Sequence[Graded], dataset: VqaSet, scoring: Scoring, with_judge: bool
) -> tuple[int, int]:
    by_rule = sum(item.right for item in closed)
    if not with_judge:
        return sum(item.right for item in opened), by_rule
    if scoring == "code-fork":
        return _fork_judged(opened), _fork_judged(closed) if dataset == "slake" else by_rule
    by_judge = sum(item.judged is True for item in opened)
    if scoring == "code-upstream" and dataset == "slake":
        # the main branch adds the judge's verdicts on closed samples to the rule's: accuracy can exceed 1
        # (docs/benchmarks/medical.md, "Closed answers counted twice")
        return by_judge, by_rule + sum(item.judged is True for item in closed)
    if scoring == "code-upstream" and dataset == "path_vqa":
        return by_judge, 0  # docs/benchmarks/medical.md, "Closed answers zeroed"
    return by_judge, by_rule


def _fork_judged(items: Sequence[Graded]) -> int:
    """Count as the fork does, by rule without a verdict (docs/benchmarks/medical.md, "The LLM judge")."""
    return sum(item.right if item.judged is None else item.judged for item in items)


def _counted(items: Sequence[Graded]) -> Table:
    return table(sum(item.right for item in items), len(items))


def _oddities(items: Sequence[Graded]) -> Table:
    """Count unparsed and stopped samples, if there are any."""
    counts = {"unparsed": sum(item.unparsed for item in items), "stopped": sum(item.stopped for item in items)}
    return {name: count for name, count in counts.items() if count}


GROUPINGS = {
    "medxpertqa": {"question type metrics": "question_type", "task type metrics": "medical_task"},
    "omnimedvqa": {"question type metrics": "question_type", "modality type metrics": "modality_type"},
}

Row = Mapping[str, Any]


def totals(rows: Sequence[Row], scoring: str, *, dataset: str) -> dict[str, Any]:
    """Compute the tables under the keys of MedEvalKit's metrics.json."""
    how = checked_scoring(scoring)
    scored = [row for row in rows if row["scored"]]
    items = [_graded(row) for row in (_last_records(scored) if how == "code-fork" else scored)]
    if dataset in VQA_SETS:
        with_judge = any(row["notes"].get("with_judge") for row in scored)
        return vqa_totals(items, dataset, how, with_judge=with_judge)  # type: ignore[arg-type]
    if dataset == "radrestruct":
        return radrestruct_totals(items)
    return choice_totals(items, GROUPINGS.get(dataset))


def reports(rows: Sequence[Row], scoring: str) -> dict[str, Any]:
    """Compute BLEU, ROUGE, METEOR and CIDEr of all reports. No row has CIDEr: it depends on all reports."""
    how = checked_scoring(scoring)
    scored = [row for row in rows if row["scored"]]
    references = [row["notes"]["reference"] for row in scored]
    found = report_totals(references, [row["notes"]["reply"] for row in scored], how)
    return {"total metrics": found, "cider": found["cider"]}


def _graded(row: Row) -> Graded:
    known = row["notes"]["graded"]
    return Graded(
        right=known["right"],
        closed=known["closed"],
        judged=known["judged"],
        stopped=known["stopped"],
        metrics={name: value for name, value in _values(row).items() if name in METRICS and value is not None},
        unparsed="unparsed" in row["flags"],
        groups={name: str(value) for name, value in row["groups"].items()},
    )


def settle(rows: Sequence[Row], scoring: str) -> dict[str, dict[str, float | None]]:
    """Return the values of samples as the fork scores them: by the last record with the same key."""
    if scoring != "code-fork":
        return {}
    filed = [row for row in rows if row["notes"].get("item", {}).get("key")]
    return {row["sample"]: _values(last) for row, last in zip(filed, _last_records(filed), strict=True)}


def _last_records(rows: Sequence[Row]) -> list[Row]:
    return fork_records([row["notes"]["item"]["key"] for row in rows], rows)


def _values(row: Row) -> dict[str, float | None]:
    """Return the sample's own values, even if `settle` has replaced those of the row."""
    values: dict[str, float | None] = row["notes"].get("item", row).get("values", row["values"])
    return values
