"""Totals of a VOILA results file: marks by the rules, by a live judge or by a judge behind the Batch API,
percentages with intervals per structure, the agreement of rules and judge (in ordinary runs too), and the printed
tables.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sketchmark.benchmarks.voila import rules
from sketchmark.benchmarks.voila.judge import (
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
from sketchmark.benchmarks.voila.results_file import AnsweredQuestion
from sketchmark.benchmarks.voila.rules import PROPERTIES
from sketchmark.engines import play_all
from sketchmark.episode.model import Model
from sketchmark.errors import CallFailed
from sketchmark.models.providers.batch import Connection, Tell, run_job
from sketchmark.models.providers.batch_files import BatchRequest, JobFiles, Result
from sketchmark.stats.intervals import interval
from sketchmark.terminal.tables import Table
from sketchmark.worlds.voila.scenes import Scene

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
        right = rules.right_step3(rules.read_step3(said), item.truth.answer)
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
    """Run the steps' jobs in parallel, as published, in files named by step.

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


def summarise(items: Sequence[AnsweredQuestion], marked: Marked) -> dict[str, Any]:
    """Return percentages by step over the questions with a verdict; those without are counted separately."""
    rules = sorted({item.rule for item in items}, key=lambda rule: (len(rule), rule))
    return {
        "steps": _steps(items, marked),
        "by_rule": {rule: _steps([item for item in items if item.rule == rule], marked) for rule in rules},
        "failed_verdicts": {
            str(step): dict(Counter(verdict.problem for verdict in verdicts.values() if verdict.failed))
            for step, verdicts in marked.items()
        },
    }


def _steps(items: Sequence[AnsweredQuestion], marked: Marked) -> dict[str, Any]:
    return {str(step): _step([verdicts[item.question] for item in items]) for step, verdicts in marked.items()}


def _step(verdicts: Sequence[StepVerdict]) -> dict[str, Any]:
    scores = [verdict.scores() for verdict in verdicts if not verdict.failed]
    found = {name: interval([score[name] for score in scores]) for name in (*PROPERTIES, "overall")}
    return {
        name: {"percent": _percent(at.mean), "ci95": [_percent(at.low), _percent(at.high)], "n": at.n}
        for name, at in found.items()
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def judge_agreement(one: Marked, other: Marked) -> dict[str, Any]:
    """Raw agreement and Cohen's kappa on each mark that both gave; in step 1 a question has three of each.

    Failed verdicts are left out.
    """
    table: dict[str, Any] = {}
    for step, verdicts in one.items():
        both = [
            pair
            for question, verdict in verdicts.items()
            if not verdict.failed and not other[step][question].failed
            for pair in zip(verdict.marks, other[step][question].marks, strict=True)
        ]
        table[str(step)] = {
            **{name: agreed([(a[i], b[i]) for a, b in both]) for i, name in enumerate(PROPERTIES)},
            "overall": agreed([(int(all(a)), int(all(b))) for a, b in both]),
        }
    return table


def agreed(pairs: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Kappa is undefined if both always say the same: chance explains that."""
    n = len(pairs)
    if not n:
        return {"n": 0, "raw": None, "kappa": None}
    raw = sum(a == b for a, b in pairs) / n
    first, second = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    chance = first * second + (1 - first) * (1 - second)
    return {"n": n, "raw": raw, "kappa": (raw - chance) / (1 - chance) if chance < 1 else None}


_NAMES = {2: ("voila_step2", "voila_judge_step2"), 3: ("voila_step3", "voila_judge_step3"),
          4: ("voila_step4_reader", "voila_step4_judge")}  # fmt: skip


def agreement(rows: Sequence[Mapping[str, Any]], scoring: str) -> dict[str, Any]:
    """Empty without a judge. `voila_agreement_step3` is the share of questions with the same overall mark; the rest,
    with kappa, under `agreement`.

    Step 1 is left to `sketchmark voila score`: a row holds shares of three pictures, not the marks of each.
    """
    steps: dict[str, Any] = {}
    for step, (rule, judge) in _NAMES.items():
        scored = [row["values"] for row in rows if row["scored"]]
        found = {}
        for name in (*PROPERTIES, "overall"):
            marks = [(values.get(f"{rule}_{name}"), values.get(f"{judge}_{name}")) for values in scored]
            found[name] = agreed([(int(a), int(b)) for a, b in marks if a is not None and b is not None])
        if found["overall"]["n"]:
            steps[f"step{step}"] = found
    shares = {f"voila_agreement_{step}": found["overall"]["raw"] for step, found in steps.items()}
    return {**shares, "agreement": steps} if steps else {}


_COLUMNS = ("number", "subject", "action", "overall")
_STEPS = {"1": "1 describe", "2": "2 identify", "3": "3 apply", "4": "4 draw"}


def parts(summary: Mapping[str, Any], *, by_rule: bool) -> Iterator[str | Table]:
    """In the order in which they are read: lines, and tables."""
    yield from _unpaired(summary)
    yield f"{summary['questions']} questions; percent right [95% interval]"
    for who, title in (("rule", "by rule"), ("judge", "by judge")):
        if who not in summary:
            continue
        found = summary[who]
        name = f"{title} {found['model']}" if who == "judge" else title
        yield _table(name, found["steps"], _cell)
        yield from _failed(found)
        if by_rule:
            for rule, steps in found["by_rule"].items():
                n = steps["3"]["overall"]["n"]
                yield _table(f"{name}, structure {rule} ({n} questions)", steps, _cell)
    if "agreement" in summary:
        yield _table("rule and judge agree (kappa)", summary["agreement"], _agreed)


def _unpaired(summary: Mapping[str, Any]) -> Iterator[str]:
    how = "counted as 0" if summary["missing_count_as_0"] else "left out"
    for numbers, what in ((summary["missing"], f"rows without an answer, {how}"),
                          (summary["surplus"], "answers without a row, left out")):  # fmt: skip
        if numbers:
            yield f"{len(numbers)} {what}: {_few(numbers)}"
    if summary["unchecked"]:
        yield (
            f"{summary['unchecked']} answers do not say what their questions showed: whether they belong to this CSV "
            "could not be checked"
        )


def _few(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:10])) + (", …" if len(numbers) > 10 else "")


def _table(title: str, steps: Mapping[str, Any], written: Callable[[Mapping[str, Any]], str]) -> Table:
    table = Table(title, ("step", *_COLUMNS), texts=1)
    for step, name in _STEPS.items():
        if step in steps:
            table.add(name, *(written(steps[step][column]) for column in _COLUMNS))
    return table


def _cell(value: Mapping[str, Any]) -> str:
    if value["percent"] is None:
        return "–"
    low, high = value["ci95"]
    return f"{value['percent']:.1f} [{low:.1f}, {high:.1f}]"


def _failed(found: Mapping[str, Any]) -> Iterator[str]:
    for step, problems in found["failed_verdicts"].items():
        if problems:
            n = found["steps"][step]["overall"]["n"]
            why = ", ".join(f"{problem} ({count})" for problem, count in problems.items())
            yield f"  step {step}: {sum(problems.values())} failed verdicts, not counted (n = {n}): {why}"


def _agreed(value: Mapping[str, Any]) -> str:
    if not value["n"]:
        return "-"
    kappa = "-" if value["kappa"] is None else f"{value['kappa']:.2f}"
    return f"{100 * value['raw']:.1f} ({kappa})"
