"""The ready-made scorers: a task file names one, and its replies are read as all tasks' replies are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Sample
from sketchmark.answers import phrases as strict_answers
from sketchmark.episode import Grading, Scores
from sketchmark.errors import BadInput
from tests.episodes import episode

WAYS = {"options": ["North", "South"], "answer": "B"}


def _score(scorer: str, target: dict[str, Any], said: str, **fields: str) -> Scores:
    sample = Sample("x", fields=fields, target=target)
    found: Scores = getattr(strict_answers, scorer)(sample, episode(said), Grading())
    return found


@pytest.mark.parametrize(
    ("scorer", "target", "right", "wrong", "unsure"),
    [
        ("choice", WAYS, "I go for (B).", "north", "A or B"),
        ("choice", {**WAYS, "options": {"B": "South", "C": "West"}}, "Answer: B", "C", "A"),
        ("yes_no", {"answer": True}, "Yes, it is.", "No.", "yes and no"),
        ("yes_no", {"answer": "no"}, "The answer is no.", "Yes", "I have no idea."),
        ("number", {"answer": 12}, "There are 3 rows of 4, that is 12.", "The answer is 3.", "3 or 12"),
        ("number", {"answer": "1,200"}, "$1200", "12", ""),
        ("phrase", {"answer": "pneumonia"}, "It is pneumonia.", "It is not pneumonia.", ""),
        ("phrase", {"answer": ["heart failure", "CHF"]}, "The diagnosis is CHF.", "Asthma.", ""),
    ],
)
def test_what_is_meant_is_right_or_wrong_and_what_nobody_can_tell_is_unparsed(
    scorer: str, target: dict[str, Any], right: str, wrong: str, unsure: str
) -> None:
    for said, value, unparsed in ((right, 1.0, False), (wrong, 0.0, False), (unsure, 0.0, True)):
        scores = _score(scorer, target, said)
        assert (scores.values, scores.unparsed) == ({"right": value}, unparsed), said


def test_the_question_tells_what_there_is_no_answers() -> None:
    said = "There is no fracture."
    assert _score("yes_no", {"answer": False}, said, question="Is there a fracture?").values == {"right": 1.0}
    options = {"options": ["Yes", "No"], "answer": "B"}
    assert _score("choice", options, said, question="Is there a fracture?").values == {"right": 1.0}
    assert _score("yes_no", {"answer": False}, said, question="Is there a mass?").unparsed


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        ("apple", "apples"),
        ("grey", "gray"),
        ("São Paulo", "Sao Paulo"),
        ("two", "2"),
        ("haemorrhage", "hemorrhage"),
        ("basketball", "basket ball"),
        ("fish & chips", "fish and chips"),
        ("a cat", "my cat"),
    ],
)
def test_a_task_can_switch_off_what_counts_as_the_same_phrase(truth: str, said: str) -> None:
    assert _score("phrase", {"answer": truth}, said).values == {"right": 1.0}
    assert _score("phrase", {"answer": truth, "exact": True}, said).values == {"right": 0.0}
    assert _score("phrase", {"answer": truth, "exact": True}, truth.upper()).values == {"right": 1.0}


@pytest.mark.parametrize(
    ("scorer", "target", "message"),
    [
        ("choice", {"answer": "B"}, "sample x has no 'options' in its target .it has: answer"),
        ("choice", {**WAYS, "answer": "E"}, "not a letter of its options"),
        ("yes_no", {"answer": "perhaps"}, "neither yes nor no"),
        ("number", {"answer": "many"}, "not a number"),
        ("phrase", {}, "no 'answer'"),
    ],
)
def test_a_target_that_cannot_be_scored_says_what_is_missing(
    scorer: str, target: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        _score(scorer, target, "B")


def test_a_task_file_names_it_without_any_code_beside_it(tmp_path: Path) -> None:
    task = {
        "source": {"use": "mine:samples"},
        "modes": {"direct": {"prompts": {"inputs": ["{question}"]}}},
        "scorers": ["strict_answers:choice"],
        "headline": "right",
    }
    (tmp_path / "mine.yaml").write_text(json.dumps(task))
    (tmp_path / "mine.py").write_text(
        "from sketchmark import Model, Reply, Sample\n\n\n"
        "def samples(*, seed, data):\n"
        "    yield Sample('1', fields={'question': 'Where?'}, target={'options': ['N', 'S'], 'answer': 'B'})\n\n\n"
        "class Talker(Model):\n"
        "    async def say(self, context, options):\n"
        "        return Reply(text='Not A. The answer is **B**.')\n"
    )
    include = (tmp_path / "mine.py", tmp_path / "mine.yaml")
    folder = sketchmark.run("talker", "mine", include=include, output_path=tmp_path / "run", cache=None).folder
    assert folder.results().tasks["mine.direct"].metrics["right"].mean == 1.0
