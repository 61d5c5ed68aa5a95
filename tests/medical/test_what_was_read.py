"""The note `answer` says what a scoring read, in one form for all of them: readings are compared by it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sketchmark.benchmarks.medical.medevalkit import chosen, judge_choice
from sketchmark.benchmarks.medical.scores import score
from sketchmark.benchmarks.mmmu.scores import score as score_mmmu
from sketchmark.cli import root as cli
from sketchmark.episode import Grading
from sketchmark.episode.sample import Sample
from tests.episodes import episode
from tests.medical import fixtures

SHOWN = ["A. left", "B. right", "C. both sides"]
CHOICE: dict[str, Any] = {"kind": "choice", "gold": "B", "options": ["left", "right", "both sides"], "shown": SHOWN}
YES: dict[str, Any] = {"kind": "yes_no", "gold": "Yes", "options": [], "shown": []}


def _read(dataset: str, target: dict[str, Any], said: str, scoring: str, **groups: str) -> Any:
    sample = Sample("x", target=target, groups=groups)
    scored = asyncio.run(score(sample, episode(said), Grading(scoring), dataset=dataset))
    return scored.notes["answer"]


@pytest.mark.parametrize(
    ("said", "strict", "published"),
    [
        ("B", "B", "B"),
        ("Answer: right", "B", "B"),
        ("", None, "A"),
        ("It is normal.", None, "A"),
    ],
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
    assert _read("vqa_rad", YES, said, "strict") is strict
    assert _read("vqa_rad", YES, said, "code-upstream") == published
    single = {**YES, "first_gold": "Yes"}
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
            scored = score_mmmu(sample, episode(said), Grading(scoring), program=program)
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
    assert (
        "mmmu.llava: official 0.500, strict 0.000: -50.0 points: -33.3 from 1 reply read differently (1 unparsed by "
        "strict); -16.7 from 1 reply read alike and scored differently"
    ) in text
