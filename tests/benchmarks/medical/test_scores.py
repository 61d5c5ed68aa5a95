"""The scorers of the medical datasets: rules by kind of sample, the judge, reports, and the note `answer`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sketchmark import Sample
from sketchmark.benchmarks import Scoring
from sketchmark.benchmarks.medical.medevalkit import chosen, judge_choice
from sketchmark.benchmarks.medical.scores import checked_scoring, grade, score, score_report
from sketchmark.benchmarks.mmmu import scores as mmmu_scores
from sketchmark.cli import root as cli
from sketchmark.episode import Grading, Scores
from sketchmark.errors import BadInput, CallFailed, UnknownName
from tests.benchmarks.medical import fixtures
from tests.episodes import Judge, episode
from tests.tabled import tabled

SHOWN = ["A. left", "B. right", "C. both sides"]
CHOICE: dict[str, Any] = {"kind": "choice", "gold": "B", "options": ["left", "right", "both sides"], "shown": SHOWN}
CHOICES: dict[str, Any] = {**CHOICE, "kind": "choices", "gold": ["A", "B"]}
OPEN: dict[str, Any] = {"kind": "open", "gold": "right lobe", "options": [], "shown": [], "asked": "where?"}
CLOSED: dict[str, Any] = {**OPEN, "kind": "closed", "gold": "CT", "asked": "what?"}
YES: dict[str, Any] = {**OPEN, "kind": "closed", "gold": "Yes", "asked": "is it?"}
YES_NO: dict[str, Any] = {**YES, "kind": "yes_no"}
CORRECT, INCORRECT, SILENT = "<judge>0</judge>", "<judge>1</judge>", "It looks fine."


def _score(
    target: dict[str, Any],
    said: str,
    scoring: str = "strict",
    *,
    judge: Judge | None = None,
    dataset: str = "vqa_rad",
    answer_type: str = "",
) -> Scores:
    sample = Sample("x", target=target, groups={"answer_type": answer_type})
    return asyncio.run(score(sample, episode(said), Grading(scoring, judge), dataset=dataset))


KINDS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    (CHOICE, ["B", "right"], ["A"]),
    (CHOICES, ["A, B", "right and left"], ["A", "A, B, C"]),
    (YES, ["yes, it is"], ["No."]),
    ({**YES_NO, "gold": "no"}, ["no"], ["yes"]),
    *(({**YES, "gold": gold}, ["No, it is not"], []) for gold in ("否", "不是", "NO.")),
    ({**YES, "gold": "是"}, ["yes, it is"], []),
    (CLOSED, ["ct.", "Answer: CT"], ["MRI"]),
]


@pytest.mark.parametrize(
    ("target", "said", "right"),
    [(target, said, said in right) for target, right, wrong in KINDS for said in right + wrong],
)
def test_every_kind_of_closed_item_is_read_by_its_own_rule(target: dict[str, Any], said: str, right: bool) -> None:
    scores = _score(target, said)
    assert scores.values == {"correct": float(right)}
    assert not scores.unparsed
    assert scores.notes == {
        "answer": scores.notes["answer"],
        "graded": {"right": right, "closed": True, "judged": None, "stopped": False},
        "with_judge": False,
        "gold": target["gold"],
        "reply": said,
    }


@pytest.mark.parametrize("target", [CHOICE, CHOICES, YES, YES_NO, CLOSED, OPEN])
def test_a_reply_that_cannot_be_read_is_wrong_and_unparsed(target: dict[str, Any]) -> None:
    scores = _score(target, "...")
    assert scores.unparsed and scores.values["correct"] == 0.0


@pytest.mark.parametrize(
    "target",
    [
        {**YES_NO, "gold": "no"},
        {**YES, "gold": "No"},
        {**CHOICE, "options": ["Yes", "No"], "shown": ["A. Yes", "B. No"]},
    ],
)
def test_what_a_reply_says_is_there_answers_the_question_that_asks_for_it(target: dict[str, Any]) -> None:
    asked = {**target, "asked": "Is there a pneumothorax?"}
    assert _score(asked, "There is no pneumothorax.").values["correct"] == 1.0
    other = _score({**target, "asked": "Is there a fracture?"}, "There is no pneumothorax.")
    assert other.unparsed and other.values["correct"] == 0.0
    assert not _score(asked, "There is a small pneumothorax.").unparsed
    assert _score(asked, "There is a small pneumothorax.").values["correct"] == 0.0


def test_a_yes_no_item_whose_gold_is_neither_is_never_right() -> None:
    assert _score({**YES_NO, "gold": "perhaps"}, "perhaps").values["correct"] == 0.0


def test_open_answers_are_right_when_they_are_the_same_and_have_their_overlaps_beside() -> None:
    same, near = _score(OPEN, "Right lobe."), _score(OPEN, "the right lobe")
    assert (same.values["correct"], near.values["correct"]) == (1.0, 0.0)
    assert near.values["precision"] == pytest.approx(2 / 3)
    assert near.values["recall"] == 1.0
    assert same.notes["graded"] == {"right": True, "closed": False, "judged": None, "stopped": False}


@pytest.mark.parametrize(("word", "value"), [(CORRECT, 1.0), (INCORRECT, 0.0)])
@pytest.mark.parametrize("scoring", ["strict", "paper", "code-upstream", "code-fork"])
@pytest.mark.parametrize("said", ["right lobe", "somewhere"])
def test_of_an_open_answer_the_judges_word_counts_whatever_the_rule_says(
    word: str, value: float, scoring: str, said: str
) -> None:
    judge = Judge(word)
    scores = _score(OPEN, said, scoring, judge=judge)
    assert scores.values["correct"] == value
    assert scores.notes["graded"]["judged"] is (value == 1.0)
    assert scores.notes["graded"]["right"] is (said == "right lobe")
    assert scores.notes["with_judge"] is True
    [asked] = judge.asked
    assert "The question is: where?\n\nThe standard answer: right lobe\n\nThe user's answer: " + said in asked


def test_the_judge_is_sent_what_was_read_under_strict_and_what_the_code_sends_otherwise() -> None:
    said = "<think>hm</think>Final answer: The Lobe"
    sent = {}
    for scoring in ("strict", "code-upstream"):
        judge = Judge(CORRECT)
        _score({**OPEN, "gold": "Right Lobe"}, said, scoring, judge=judge)
        sent[scoring] = judge.asked[0]
    assert "standard answer: Right Lobe\n\nThe user's answer: The Lobe\n" in sent["strict"]
    assert "standard answer: right lobe\n\nThe user's answer: <think>hm" in sent["code-upstream"]


def test_a_judge_without_a_verdict_is_its_own_failure_unless_a_published_code_has_a_rule_for_it() -> None:
    for scoring in ("strict", "paper"):
        with pytest.raises(CallFailed, match="no verdict in: It looks fine") as failed:
            _score(OPEN, "right lobe", scoring, judge=Judge(SILENT))
        assert failed.value.kind == "judge_failed"
    assert _score(OPEN, "right lobe", "code-upstream", judge=Judge(SILENT)).values["correct"] == 0.0
    assert _score(OPEN, "right lobe", "code-fork", judge=Judge(SILENT)).values["correct"] == 1.0
    assert _score(OPEN, "somewhere", "code-fork", judge=Judge(SILENT)).values["correct"] == 0.0


@pytest.mark.parametrize("scoring", ["strict", "paper", "code-upstream", "code-fork"])
@pytest.mark.parametrize("dataset", ["vqa_rad", "path_vqa", "slake"])
def test_closed_answers_are_judged_only_in_slake_and_only_by_its_code(dataset: str, scoring: str) -> None:
    asked = dataset == "slake" and scoring.startswith("code-")
    judge = Judge(INCORRECT)
    scores = _score(YES, "yes", scoring, judge=judge, dataset=dataset)
    assert bool(judge.asked) is asked
    assert scores.notes["graded"]["judged"] is (False if asked else None)
    assert scores.values["correct"] == 1.0, "the rule's word still counts"


def test_sets_that_are_not_of_the_judged_kind_never_ask() -> None:
    judge = Judge(CORRECT)
    for target in (CHOICE, OPEN):
        scores = _score(target, "A", judge=judge, dataset="pmc_vqa")
        assert (scores.values["correct"], scores.notes["with_judge"]) == (0.0, False)
    assert judge.asked == []


def test_paper_needs_a_judge_where_open_answers_are_judged_and_only_there() -> None:
    with pytest.raises(BadInput, match="judges open answers"):
        _score(OPEN, "right lobe", "paper")
    assert _score(CHOICE, "B", "paper", dataset="pmc_vqa").values["correct"] == 1.0


def test_the_fork_keeps_what_it_needs_to_mix_its_replies_up() -> None:
    target = {**CHOICE, "first_gold": "right", "key": "k", "asked": "which?"}
    scores = _score(target, "B", "code-fork", dataset="pmc_vqa")
    assert scores.notes["item"] == {"key": "k", "values": scores.values}
    assert "item" not in _score(target, "B", "code-upstream", dataset="pmc_vqa").notes


def _graded(dataset: str, target: dict[str, Any], said: str, scoring: Scoring, **filed: str) -> bool:
    return grade(dataset, target, filed, said, scoring).right


def test_the_published_choice_rule_credits_silence_as_the_first_option() -> None:
    first = {**CHOICE, "gold": "A"}
    for dataset in ("pmc_vqa", "medxpertqa"):
        assert _graded(dataset, first, "", "code-upstream")
        assert not _graded(dataset, CHOICE, "", "code-upstream")
    assert not grade("pmc_vqa", first, {}, "", "strict").right


@pytest.mark.parametrize(("dataset", "right"), [("medxpertqa", False), ("omnimedvqa", False), ("pmc_vqa", True)])
def test_some_sets_take_the_tags_out_before_they_judge(dataset: str, right: bool) -> None:
    """Taken out, the box that comes after the tag is gone."""
    said = "<answer>A</answer> \\boxed{B}"
    assert _graded(dataset, CHOICE, said, "code-upstream") is right
    assert _graded(dataset, CHOICE, "It is thin. <answer>B</answer>", "code-upstream")


@pytest.mark.parametrize(("kind", "closed"), [("open", False), ("closed", True), ("yes_no", True)])
def test_slake_says_itself_what_is_closed_and_the_others_go_by_the_gold(kind: str, closed: bool) -> None:
    target = {**OPEN, "kind": kind}
    assert grade("slake", target, {}, "right lobe", "code-upstream").closed is closed
    assert grade("vqa_rad", target, {}, "right lobe", "code-upstream").closed is False
    assert grade("vqa_rad", {**target, "gold": "yes"}, {}, "yes", "code-upstream").closed is True


def test_an_answer_without_words_stops_the_main_branch_and_not_the_fork() -> None:
    assert grade("vqa_rad", OPEN, {}, "", "code-upstream").stopped
    assert not grade("vqa_rad", OPEN, {}, "", "code-fork").stopped
    assert _score(OPEN, "", "code-upstream").notes["graded"]["stopped"] is True


@tabled
def test_radrestruct_as_published_goes_by_the_first_gold(
    first: str, shown: list[str], answer_type: str, right: list[str], wrong: list[str]
) -> None:
    target = {**CHOICES, "first_gold": first, "shown": shown}
    found = (
        said
        for said in right + wrong
        if _graded("radrestruct", target, said, "code-upstream", answer_type=answer_type)
    )
    assert list(found) == right


def test_a_full_stop_inside_an_option_does_not_cut_it_in_radrestruct() -> None:
    sizes = ["3 cm", "1.5 cm"]
    target = {**CHOICES, "options": sizes, "first_gold": "1.5 cm"}
    lettered = {**target, "shown": ["A. 3 cm", "B. 1.5 cm"]}
    assert _graded("radrestruct", lettered, "B", "code-upstream", answer_type="multi_choice")
    bare = {**target, "shown": sizes}
    assert _graded("radrestruct", bare, "about 1.5 cm", "code-upstream", answer_type="multi_choice")


def test_radrestruct_read_strictly_wants_the_whole_set() -> None:
    target = {**CHOICES, "first_gold": "left"}
    assert _graded("radrestruct", target, "A, B", "strict", answer_type="multi_choice")
    assert not _graded("radrestruct", target, "A", "strict", answer_type="multi_choice")


def test_the_names_of_the_scorings_are_checked() -> None:
    for name in ("strict", "code-upstream", "code-fork", "paper"):
        assert checked_scoring(name) == name
    assert checked_scoring("official") == "code-upstream"
    with pytest.raises(UnknownName, match="strict, code-upstream, code-fork, paper, official"):
        checked_scoring("exact")


def _report(said: str, scoring: str = "strict") -> Scores:
    sample = Sample("x", target={"reference": "Findings: The heart is large. Impression: Large heart."})
    return score_report(sample, episode(said), Grading(scoring))


def test_a_report_is_scored_against_its_reference() -> None:
    reference = "Findings: The heart is large. Impression: Large heart."
    scores = _report(reference)
    assert scores.values["bleu1"] == pytest.approx(1.0)
    assert scores.values["rouge1"] == pytest.approx(1.0)
    assert scores.notes == {"reply": reference, "reference": reference}
    assert not scores.unparsed
    shorter = _report("The heart is large and red and wide and more.").values["bleu1"]
    assert shorter is not None and 0 < shorter < 1


def test_an_empty_report_is_worth_nothing_and_has_no_score_in_the_fork() -> None:
    empty = _report("  ")
    assert empty.unparsed and empty.values and set(empty.values.values()) == {0.0}
    assert _report("", "code-upstream").values == empty.values
    fork = _report("", "code-fork")
    assert (fork.values, fork.unparsed) == ({}, True)
    assert fork.notes["reply"] == ""
    assert _report("Clear.", "code-fork").values


def _read(dataset: str, target: dict[str, Any], said: str, scoring: str, answer_type: str = "") -> Any:
    return _score(target, said, scoring, dataset=dataset, answer_type=answer_type).notes["answer"]


@pytest.mark.parametrize(
    ("said", "strict", "published"),
    [("B", "B", "B"), ("Answer: right", "B", "B"), ("", None, "A"), ("It is normal.", None, "A")],
)
def test_a_choice_is_noted_as_its_letter(said: str, strict: str | None, published: str) -> None:
    assert _read("pmc_vqa", CHOICE, said, "strict") == strict
    assert _read("pmc_vqa", CHOICE, said, "code-upstream") == published
    rad = {**CHOICE, "kind": "choices", "gold": ["B"], "first_gold": "right"}
    assert _read("radrestruct", rad, said, "strict") == ([strict] if strict else [])
    assert _read("radrestruct", rad, said, "code-upstream", answer_type="multi_choice") == published


@pytest.mark.parametrize(
    "said", ["B", "b.", "left", "A. left", "both", "", "C\n\nso", "x: right", "right. Both sides", "I do not know"]
)
def test_the_letter_noted_is_the_one_that_the_published_judge_takes_a_reply_for(said: str) -> None:
    for options in (SHOWN, ["left", "right", "both sides"]):
        right = [letter for letter in "ABC" if judge_choice(options, letter, said)]
        assert right == [chosen(options, said)]


@pytest.mark.parametrize(
    ("said", "strict", "published"),
    [("Yes.", True, "yes"), ("no", False, "no"), ("normal", None, "no"), ("yes and no", None, None)],
)
def test_yes_and_no_are_noted_as_such(said: str, strict: bool | None, published: str | None) -> None:
    assert _read("vqa_rad", YES_NO, said, "strict") is strict
    assert _read("vqa_rad", YES_NO, said, "code-upstream") == published
    single = {**YES_NO, "first_gold": "Yes"}
    assert _read("radrestruct", single, said, "code-fork", answer_type="single_choice") == published


def test_words_are_noted_as_they_were_read() -> None:
    target = {"kind": "open", "gold": "lung", "options": [], "shown": [], "asked": "where?"}
    assert _read("vqa_rad", target, "Answer: the Lung", "strict") == "the Lung"
    assert _read("vqa_rad", target, "Answer: the Lung", "code-upstream").strip() == "the lung"
    closed = {**target, "kind": "closed", "gold": "CT"}
    assert _read("slake", closed, "ct.", "strict") == "ct."
    assert _read("slake", closed, "ct.", "code-upstream") == "ct"


def test_mmmu_notes_the_letter_by_every_program() -> None:
    sample = Sample("x", target={"kind": "choice", "gold": "B", "options": ["left", "right"]})
    for program, said, letters in (
        ("mmmu", "The answer is (B).", {"strict": "B", "official": "B", "code-upstream": "B"}),
        ("mmmu", "It is A tricky one", {"strict": None, "official": "A"}),
        ("mmmu", "...", {"strict": None, "official": None}),
        ("mmmu_pro", "Answer: B", {"strict": "B", "official": "B"}),
    ):
        for scoring, letter in letters.items():
            scored = mmmu_scores.score(sample, episode(said), Grading(scoring), program=program)
            assert scored.notes["answer"] == letter, (said, scoring)


def test_score_file_lists_what_is_read_differently_and_does_not_claim_to_know_what_was_cut(tmp_path: Path) -> None:
    said = ["(B)", "It is A tricky one", "..."]
    lettered = {"all_choices": ["A", "B"], "index2ans": {"A": "left", "B": "right"}, "answer": "A"}
    rows = [
        {"id": f"validation_Math_{number}", "question_type": "multiple-choice", "response": reply, **lettered}
        for number, reply in enumerate(said)
    ]
    fixtures.write_json(tmp_path / "llava" / "Math" / "output.json", rows)
    asked = ["score-file", "--task", "mmmu", "--predictions", str(tmp_path / "llava"), "--scoring", "strict,official"]
    (cell,) = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).output)["tasks"].values()
    first, second = cell["scorings"]["official"]["against"]["replies"]
    assert first["readings"] == {"strict": None, "official": "A"} and first["sample"] == "validation_Math_1"
    assert second["readings"] == {"strict": None, "official": None}, "drawn at random, which is worth a half"
    assert "cut" not in cell and cell["unparsed"] == pytest.approx(2 / 3)
    text = CliRunner(env={"COLUMNS": "300"}).invoke(cli, asked).output
    published = cell["scorings"]["official"]["aggregate"]["Overall"]["acc"]
    assert "mmmu.llava by official: correct counts the 1 unparsed choices at the expected value" in text
    assert f"its overall accuracy is {published:.3f}" in text
    assert (
        "mmmu.llava: official 50.0, strict 0.0: -50.0 points: -33.3 from 1 reply read differently (1 unparsed by "
        "strict); -16.7 from 1 reply read alike and scored differently"
    ) in text
