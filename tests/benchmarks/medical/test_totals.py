"""Totals of a few items, and the accidents in all four scorings (docs/benchmarks/medical.md, "Accidents")."""

from __future__ import annotations

import pytest
from pytest import approx

from sketchmark import read_yes_no
from sketchmark.answers.phrases import open_scores
from sketchmark.benchmarks import Graded, Scoring
from sketchmark.benchmarks.medical.medevalkit import Code, VqaSet, fork_key, fork_records, grade_vqa, prepared
from sketchmark.benchmarks.medical.scores import choice_totals, radrestruct_totals, vqa_totals
from sketchmark.errors import BadInput

SETS: tuple[VqaSet, ...] = ("vqa_rad", "path_vqa", "slake")
OPEN_ANSWERS = (("pneumothorax", "pneumothorax"), ("right lobe", "the right lobe"))
CODES: dict[Code, Scoring] = {"upstream": "code-upstream", "fork": "code-fork"}


def mini_set(dataset: VqaSet, code: Code, judged: bool | None = None) -> list[Graded]:
    """2 closed (1 right) and 2 open (1 exact, 1 partial)."""
    slake = dataset == "slake"
    closed = [
        grade_vqa(dataset, "no", reply, code=code, closed=slake or None, judged=judged) for reply in ("no", "yes")
    ]
    opened = [
        grade_vqa(dataset, gold, reply, code=code, closed=False if slake else None, judged=judged)
        for gold, reply in OPEN_ANSWERS
    ]
    return [*closed, *opened]


def strict_mini_set(judged: bool | None = None) -> list[Graded]:
    closed = [Graded(right=read_yes_no(reply).value is False, closed=True) for reply in ("no", "yes")]
    scores = [open_scores(gold, reply) for gold, reply in OPEN_ANSWERS]
    return [*closed, *(Graded(right=s["em"] == 1, closed=False, metrics=s, judged=judged) for s in scores)]


@pytest.mark.parametrize("dataset", SETS)
@pytest.mark.parametrize("code", CODES)
def test_the_mini_set_without_a_judge_in_both_codes(dataset: VqaSet, code: Code) -> None:
    totals = vqa_totals(mini_set(dataset, code), dataset, CODES[code])
    assert totals["total metrics"] == {"total": 4, "right": 2, "acc": 0.5}
    assert totals["close"] == {"total": 2, "right": 1, "acc": 0.5}
    assert list(totals["open"]) == [
        *("total", "right", "em", "bleu1", "bleu2", "bleu3", "bleu4", "rouge1", "rouge2", "rougel"),
        *("precision", "recall", "f1", "acc"),
    ]
    expected = {"right": 1, "em": 0.5, "acc": 0.25, "bleu1": 0.833333, "bleu2": 0.288675}
    expected |= {"rouge1": 0.9, "rouge2": 0.333333, "precision": 0.9, "recall": 0.833333, "f1": 1.0}
    assert {key: totals["open"][key] for key in expected} == approx(expected, abs=1e-6)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("dataset", SETS)
def test_the_mini_set_with_an_always_correct_judge_in_both_codes(dataset: VqaSet, code: Code) -> None:
    totals = vqa_totals(mini_set(dataset, code, judged=True), dataset, CODES[code], with_judge=True)
    accidents = {
        ("path_vqa", "upstream"): (0.5, 0.0),
        ("slake", "upstream"): (1.25, 1.5),
        ("slake", "fork"): (1.0, 1.0),
    }
    found = totals["total metrics"]["acc"], totals["close"]["acc"]
    assert found == accidents.get((dataset, code), (0.75, 0.5))
    assert totals["open"]["acc"] == 0.5


@pytest.mark.parametrize("dataset", SETS)
def test_the_mini_set_in_strict(dataset: VqaSet) -> None:
    totals = vqa_totals(strict_mini_set(), dataset)
    assert totals["total metrics"]["acc"] == 0.5
    expected = {"acc": 0.5, "precision": 0.833333, "recall": 1.0, "f1": 0.9, "bleu1": 0.833333, "rouge1": 0.9}
    assert {key: totals["open"][key] for key in expected} == approx(expected, abs=1e-6)
    judged = vqa_totals(strict_mini_set(judged=True), dataset, with_judge=True)
    assert judged["total metrics"]["acc"] == 0.75
    assert judged["close"]["acc"] == 0.5
    assert judged["open"]["acc"] == 1.0


@pytest.mark.parametrize("dataset", SETS)
def test_paper_is_closed_by_rule_and_open_by_judge(dataset: VqaSet) -> None:
    totals = vqa_totals(mini_set(dataset, "upstream", judged=True), dataset, "paper", with_judge=True)
    assert totals["total metrics"]["acc"] == 0.75
    assert totals["open"]["acc"] == 1.0
    with pytest.raises(BadInput, match="judge"):
        vqa_totals(mini_set(dataset, "upstream"), dataset, "paper")


def test_without_a_verdict_the_fork_falls_back_to_the_rule_and_the_main_branch_says_wrong() -> None:
    for code, right in (("upstream", 0), ("fork", 1)):
        items = mini_set("vqa_rad", code, judged=None)  # type: ignore[arg-type]
        assert vqa_totals(items, "vqa_rad", CODES[code], with_judge=True)["open"]["right"] == right  # type: ignore[index]


def test_slake_on_the_main_branch_never_uses_the_yes_no_rule_on_its_own_golds() -> None:
    assert not grade_vqa("slake", "No", "no, it is clear", code="upstream", closed=True).right
    assert grade_vqa("slake", "no", "no, it is clear", code="upstream", closed=True).right


def test_the_judge_is_sent_what_the_code_sends() -> None:
    assert prepared("vqa_rad", " Right Lobe ", "\\boxed{Right Lobe}") == ("right lobe", "right lobe")
    assert prepared("slake", " Right Lobe ", "<answer>Right Lobe</answer>") == (" Right Lobe ", "Right Lobe")


@pytest.mark.parametrize("response", ["", None, {"error": "timeout"}])
@pytest.mark.parametrize("dataset", SETS)
def test_an_empty_reply_never_stops_the_totals_but_is_counted_where_the_original_stops(
    dataset: VqaSet, response: object
) -> None:
    item = grade_vqa(dataset, "right lobe", response, code="upstream", closed=False)
    totals = vqa_totals([item], dataset, "code-upstream")
    assert totals["stopped"] == 1
    assert totals["total metrics"] == {"total": 1, "right": 0, "acc": 0.0}
    fork = grade_vqa(dataset, "right lobe", response, code="fork", closed=False)
    assert "stopped" not in vqa_totals([fork], dataset, "code-fork")


def test_an_empty_set_has_totals_of_zero() -> None:
    totals = vqa_totals([], "vqa_rad", "code-upstream")
    assert totals["total metrics"] == {"total": 0, "right": 0, "acc": 0.0}


def test_choice_totals_are_split_as_the_data_set_asks() -> None:
    kinds = [("Reasoning", True), ("Reasoning", False), ("Understanding", True)]
    items = [Graded(right, groups={"question_type": kind}, unparsed=not right) for kind, right in kinds]
    assert choice_totals(items, {"question type metrics": "question_type"}) == {
        "total metrics": {"total": 3, "right": 2, "acc": approx(2 / 3)},
        "question type metrics": {
            "Reasoning": {"total": 2, "right": 1, "acc": 0.5},
            "Understanding": {"total": 1, "right": 1, "acc": 1.0},
        },
        "unparsed": 1,
    }


def test_radrestruct_files_fixed_choice_under_multiple_choice() -> None:
    kinds = ("single_choice", "multi_choice", "fixed_choice")
    totals = radrestruct_totals([Graded(True, groups={"answer_type": kind}) for kind in kinds])
    assert totals["single_choice"]["total"] == 1
    assert totals["multiple_choice"]["total"] == 2


def test_the_fork_scores_duplicates_by_the_last_record() -> None:
    same = fork_key("is this a ct?", "yes")
    assert fork_records([same, same], ["yes", "no"]) == ["no", "no"]
    named = [fork_key("is this a ct?", "yes", own_id) for own_id in (1, 2)]
    assert fork_records(named, ["yes", "no"]) == ["yes", "no"]
