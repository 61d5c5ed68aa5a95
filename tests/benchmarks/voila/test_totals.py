from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from sketchmark import Context, Options, Reply
from sketchmark.benchmarks.voila.judge import Marks, StepVerdict, no_verdict
from sketchmark.benchmarks.voila.totals import Marked, by_judge, by_rule, judge_agreement, summarise
from sketchmark.errors import CallFailed
from sketchmark.models.cache import with_cache
from tests.benchmarks.voila.making import Judge, items, questions, right_answers


async def test_right_answers_are_right_by_rule_and_by_judge(tmp_path: Path) -> None:
    table = questions(tmp_path, 38, distraction=True)
    all_items = items(tmp_path, right_answers(table), table)
    for marked in (by_rule(all_items), await by_judge(Judge(), all_items, True, 4)):
        steps = summarise(all_items, marked)["steps"]
        assert {step: {name: value["percent"] for name, value in found.items()} for step, found in steps.items()} == {
            step: {"number": 100, "subject": 100, "action": 100, "overall": 100} for step in ("1", "2", "3")
        }


def test_step_1_averages_over_pictures_and_the_others_over_questions(tmp_path: Path) -> None:
    table = questions(tmp_path, 7)
    all_items = items(tmp_path, right_answers(table), table)
    one_picture_off: Marks = ((1, 1, 1), (1, 1, 1), (0, 1, 1))
    marked: Marked = {
        1: {i: StepVerdict(one_picture_off if i < 3 else ((1, 1, 1),) * 3) for i in range(7)},
        2: {i: StepVerdict(((1, int(i > 0), 1),)) for i in range(7)},
    }
    steps = summarise(all_items, marked)["steps"]
    assert steps["1"]["number"]["percent"] == pytest.approx(100 * 18 / 21)
    assert steps["1"]["overall"]["percent"] == pytest.approx(100 * 18 / 21)
    assert steps["1"]["action"]["percent"] == 100
    assert steps["2"]["subject"]["percent"] == steps["2"]["overall"]["percent"] == pytest.approx(100 * 6 / 7)


def test_failed_verdicts_are_no_verdicts_and_are_counted_by_kind(tmp_path: Path) -> None:
    table = questions(tmp_path, 7)
    all_items = items(tmp_path, right_answers(table), table)
    marked: Marked = {3: {i: StepVerdict(((1, 1, 1),)) if i else no_verdict("refused") for i in range(7)}}
    summary = summarise(all_items, marked)
    assert summary["steps"]["3"]["overall"]["percent"] == 100
    assert summary["steps"]["3"]["overall"]["n"] == 6
    assert summary["failed_verdicts"] == {"3": {"refused": 1}}


class Refused(Judge):
    """Its account is empty after the third verdict."""

    refusals = 0

    async def say(self, context: Context, options: Options) -> Reply:
        if len(self.asked) == 3:
            self.refusals += 1
            raise CallFailed("quota", "the account is empty", stops_run=True)
        return await super().say(context, options)


async def test_a_judge_that_cannot_go_on_is_asked_nothing_more_and_what_it_said_is_kept(tmp_path: Path) -> None:
    table = questions(tmp_path, 7)
    all_items = items(tmp_path, right_answers(table), table)
    judge = Refused()
    for start in (1, 2):
        with pytest.raises(CallFailed, match="the account is empty"):
            await by_judge(with_cache(judge, tmp_path / "kept"), all_items, False, 1)
        assert (len(judge.asked), judge.refusals) == (3, start), "the second time, three come from the cache"


def test_each_structure_has_a_table_of_its_own(tmp_path: Path) -> None:
    table = questions(tmp_path, 14)
    answers = right_answers(table)
    answers[0][2] = answers[1][2] = "no idea"
    all_items = items(tmp_path, answers, table)
    tables = summarise(all_items, by_rule(all_items))["by_rule"]
    assert list(tables) == ["1", "5", "9", "13", "15", "17", "19"]
    assert [steps["3"]["overall"]["percent"] for steps in tables.values()] == [0, 100, 100, 100, 100, 100, 100]
    assert {steps["3"]["overall"]["n"] for steps in tables.values()} == {2}


def test_kappa_is_cohens() -> None:
    rng = Random(1)
    ones = [rng.random() < 0.7 for _ in range(200)]
    others = [mark if rng.random() < 0.8 else not mark for mark in ones]
    found = judge_agreement(_numbers(ones), _numbers(others))["2"]["number"]
    counts = np.zeros((2, 2))
    for one, other in zip(ones, others, strict=True):
        counts[int(one), int(other)] += 1
    assert found["raw"] == sum(a == b for a, b in zip(ones, others, strict=True)) / 200
    assert found["kappa"] == pytest.approx(cohens_kappa(counts).kappa)


def _numbers(marks: list[bool]) -> Marked:
    return {2: {i: StepVerdict(((int(mark), 1, 1),)) for i, mark in enumerate(marks)}}


def test_kappa_is_undefined_where_both_always_say_the_same() -> None:
    assert judge_agreement(_numbers([True] * 5), _numbers([True] * 5))["2"]["number"] == {
        "n": 5,
        "raw": 1.0,
        "kappa": None,
    }


def test_failed_verdicts_are_no_opinion() -> None:
    judged: Marked = {2: {0: no_verdict("empty"), 1: StepVerdict(((1, 1, 1),))}}
    assert judge_agreement(_numbers([True, True]), judged)["2"]["overall"] == {"n": 1, "raw": 1.0, "kappa": None}


def test_step_1_agreement_is_counted_picture_by_picture() -> None:
    ruled: Marked = {1: {0: StepVerdict(((1, 1, 1), (1, 1, 1), (0, 0, 0)))}}
    judged: Marked = {1: {0: StepVerdict(((1, 1, 1), (0, 1, 1), (1, 0, 0)))}}
    found = judge_agreement(ruled, judged)["1"]
    assert (found["number"]["n"], found["number"]["raw"]) == (3, pytest.approx(1 / 3))
