"""PhyX by letter, and the four subtasks that need a judge: when it is asked, what, and what its silence means."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Model, Sample
from sketchmark.catalog import Catalog
from sketchmark.episode import Grading, Scores
from sketchmark.errors import JudgeFailed
from tests.benchmarks.unig2u import published
from tests.benchmarks.unig2u.players import Says
from tests.episodes import Judge, episode
from tests.tabled import tabled

OPTIONS = {"A": "2 m/s", "B": "9.8 m/s", "C": "3 m/s", "D": "1 m/s"}
PHYSICS = Sample("x", fields={"question": "How fast?"}, target={"answer": "B", "options": OPTIONS})
CHOICE = Sample("x", fields={"question": "Where?"}, target={"answer": "B", "options": ["left", "right", "top"]})
BLANK = Sample("x", fields={"question": "Where?"}, target={"answer": "(4,7)"})
PLANE = Sample("x", fields={"problem": "Find {gt_answer} and AD."}, target={"answer": "12"})
SOLID = Sample("x", fields={"question": "Find V."}, target={"answer": "12", "lines": "Connect A and D."})


def scored(task: str, sample: Sample, reply: str, judge: Model | None, scoring: str = "strict") -> Scores:
    [scorer] = Catalog().task(task).scorers
    found: Any = scorer(sample, episode(reply), Grading(scoring, judge))
    return asyncio.run(found)  # type: ignore[no-any-return]


@tabled
def test_physics_goes_by_letter_without_a_judge(reply: str, strict: float, official: float) -> None:
    assert scored("phyx_optics100", PHYSICS, reply, None).values == {"eval_results": strict}
    assert scored("phyx_optics100", PHYSICS, reply, None, "official").values == {"eval_results": official}


def test_official_physics_asks_a_judge_only_about_what_is_neither_letter_nor_option() -> None:
    judge = Judge("True")
    for reply in ("B", "\\boxed{9.8 m/s}", "C"):
        scored("phyx_optics100", PHYSICS, reply, judge, "official")
    assert judge.asked == []
    found = scored("phyx_optics100", PHYSICS, "nearly ten metres", judge, "official")
    assert found.values == {"eval_results": 1.0}
    assert judge.asked[0].endswith("Question: How fast?\nGround Truth Answer: B\nModel Output: nearly ten metres\n")


@pytest.mark.parametrize("scoring", ["strict", "official"])
def test_babyvisions_options_go_by_letter(scoring: str) -> None:
    judge = Judge("True")
    assert scored("babyvision_fine_grained", CHOICE, "\\boxed{B}", judge, scoring).values == {"accuracy": 1.0}
    assert scored("babyvision_fine_grained", CHOICE, "\\boxed{C}", judge, scoring).values == {"accuracy": 0.0}
    assert judge.asked == []


@pytest.mark.parametrize("scoring", ["strict", "official"])
def test_equal_answers_need_no_judge_and_others_do(scoring: str) -> None:
    judge = Judge("False")
    assert scored("babyvision_fine_grained", BLANK, "\\boxed{( 4, 7 )}", judge, scoring).values == {"accuracy": 1.0}
    assert judge.asked == []
    assert scored("babyvision_fine_grained", BLANK, "\\boxed{(4,8)}", judge, scoring).values == {"accuracy": 0.0}
    [question] = judge.asked
    assert question.endswith("Question: Where?\nGround Truth Answer: (4,7)\nModel Output: (4,8)\n")
    assert question.startswith("You are a careful and strict evaluator.")


def test_an_empty_answer_is_wrong_and_not_sent() -> None:
    judge = Judge("True")
    for task, sample in (("babyvision_fine_grained", BLANK), ("unig2u_geometry3k", PLANE)):
        found = scored(task, sample, " ", judge)
        assert (list(found.values.values()), found.unparsed) == ([0.0], True)
    assert judge.asked == []


@pytest.mark.parametrize(
    ("task", "sample", "entry"),
    [("unig2u_geometry3k", PLANE, "answer_correct"), ("auxsolidmath_easy", SOLID, "text_ok")],
)
def test_a_solution_is_judged_by_the_published_question(task: str, sample: Sample, entry: str) -> None:
    for verdict in (0, 1):
        judge = Judge(f'```json\n{{"reason": "so", "{entry}": {verdict}}}\n```')
        found = scored(task, sample, "AD is {gt_answer}, so 12.", judge)
        assert list(found.values.values()) == [float(verdict)]
        system, user = judge.shown[0].texts
        assert system.startswith("You are a rigorous grader for")
        assert "Ground truth answer:\n12\n\nCandidate solution:\nAD is {gt_answer}, so 12.\n\n" in user
    if sample is PLANE:
        assert user.startswith("Problem:\nFind {gt_answer} and AD.\n"), "what a row holds is no template"
    else:
        assert "Ground truth auxiliary lines:\nConnect A and D.\n" in user


def test_official_sends_question_and_truth_with_the_blanks_of_the_file_and_instructions_as_a_system_message() -> None:
    filed = {"question": " Where?\n", "answer": "(4,7) "}
    blank = replace(BLANK, target={**BLANK.target, "as_filed": filed})
    for scoring, question, truth in (("strict", "Where?", "(4,7)"), ("official", *filed.values())):
        judge = Judge("True")
        scored("babyvision_fine_grained", blank, "\\boxed{(4,8)}", judge, scoring)
        assert judge.asked[0].endswith(f"Question: {question}\nGround Truth Answer: {truth}\nModel Output: (4,8)\n")
    physics = replace(PHYSICS, target={**PHYSICS.target, "as_filed": {"answer": "B "}})
    scored("phyx_optics100", physics, "nearly ten", judge, "official")
    assert "Answer: B \nModel" in judge.asked[-1]
    scored("unig2u_geometry3k", PLANE, "12", solver := Judge('{"answer_correct": 1}'))
    assert [part.by for part in solver.shown[0]] == ["system", "task"]


def test_the_form_feed_of_the_published_question_is_officials_alone() -> None:
    for scoring, text in (("official", '"\frac{1}{2}"'), ("strict", '"\\frac{1}{2}"')):
        judge = Judge('{"answer_correct": 1}')
        scored("unig2u_geometry3k", PLANE, "12", judge, scoring)
        assert text in judge.shown[0].texts[0]


def test_a_long_solution_is_cut_to_its_end() -> None:
    judge = Judge('{"answer_correct": 1}')
    scored("unig2u_geometry3k", PLANE, "begin" + "x" * 60_000 + "end", judge)
    text = judge.asked[0]
    assert "Candidate solution:\n...[truncated]...\nxxx" in text and "xxend\n\n" in text and "begin" not in text


@pytest.mark.parametrize("reply", ["", "I cannot say.", '{"answer_correct": "perhaps"}', "True or False"])
@pytest.mark.parametrize("scoring", ["strict", "official"])
def test_a_judge_without_a_verdict_is_a_failure_and_never_a_wrong_answer(reply: str, scoring: str) -> None:
    for task, sample in (("unig2u_geometry3k", PLANE), ("babyvision_fine_grained", BLANK)):
        with pytest.raises(JudgeFailed):
            scored(task, sample, "13", Judge(reply), scoring)


@pytest.mark.parametrize("task", published.JUDGED)
def test_without_a_judge_nothing_is_scored_and_the_run_says_so(task: str, tmp_path: Path) -> None:
    data = published.everything(tmp_path / "data")
    folder = sketchmark.run(Says("12"), task, data=data, output_path=tmp_path / "run").folder
    results = folder.results()
    assert f"{task}.direct is scored by a judge only: add --judge MODEL" in results.warnings
    assert results.tasks[f"{task}.direct"].metrics == {}


def test_a_failed_judge_is_counted_and_asked_again_by_the_next_start(tmp_path: Path) -> None:
    data = published.everything(tmp_path / "data")
    model = Says("It is 12.")
    first = sketchmark.run(
        model, "unig2u_geometry3k", data=data, judge=Judge("hm"), output_path=tmp_path / "run"
    ).folder.results()
    cell = first.tasks["unig2u_geometry3k.direct"]
    assert (cell.failures, cell.metrics) == ({"judge_failed": 2}, {})
    judge = Judge('{"answer_correct": 1}')
    again = sketchmark.run(
        model, "unig2u_geometry3k", data=data, judge=judge, output_path=tmp_path / "run"
    ).folder.results()
    assert again.tasks["unig2u_geometry3k.direct"].metrics["geometry3k_accuracy"].mean == 1.0
    assert len(judge.asked) == 2 and len(model.asked) == 2, "the model is not asked again"
