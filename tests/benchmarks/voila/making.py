"""A judge that follows a script, and small sets of questions with answers for it to judge."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from sketchmark import Context, Model, Options, Reply
from sketchmark.benchmarks.voila.results_file import AnsweredQuestion, pair
from sketchmark.worlds.voila.make import SetOrder, make
from sketchmark.worlds.voila.scenes import parse_description
from sketchmark.worlds.voila.table import QuestionRow, read_table

KEY = "sk-planted-key-0123456789"
Answers = list[list[str]]


class Judge(Model):
    """Answers in the form that the schema asks for. A mark is 1 where the truth's own words are in the answer.

    An answer that holds `<word>` makes it misbehave in the way that the word says.
    """

    def __init__(self) -> None:
        super().__init__("test/judge")
        self.asked: list[tuple[str, Options]] = []

    async def say(self, context: Context, options: Options) -> Reply:
        text = context.texts[-1]
        self.asked.append((text, options))
        schema = options.extra["response_format"]["json_schema"]
        question = schema["schema"]["properties"]["question"]["const"]
        if schema["name"] == "DrawnImage":
            assert len(context.pictures) == 1
            return Reply(json.dumps({"question": question, "number": 1, "subject_type": 0, "action": 0}))
        truth, said = re.search(r"Ground truth texts:(.*)\n\s+Texts to compare: (.*)\n", text, re.DOTALL).groups()  # type: ignore[union-attr]
        verdict = {"question": question, **_marks(schema["name"], truth, said)}
        match re.search(r"<(\w+)>", said):
            case None:
                return Reply(json.dumps(verdict))
            case found:
                return _misbehave(found[1], verdict)


def _marks(name: str, truth: str, said: str) -> dict[str, Any]:
    if name == "ImageTextMatching":
        truths, saids = (re.split(r"\.? ?Image \d: ?", text)[1:] for text in (truth, said))
        return {f"image_{i}": _scene(t, s) for i, (t, s) in enumerate(zip(truths, saids, strict=True), 1)}
    if name == "IdentifyChanges":
        number, action, subject = truth.split(". ")[:3]
        return {"number": int(number in said), "subject_type": int(subject in said), "action": int(action in said)}
    words = re.fullmatch(r" number = (.*) subject = (.*) action = (.*)", truth)
    assert words, truth
    return dict(
        zip(("number", "subject_type", "action"), (int(word in said) for word in words.groups()), strict=True)
    )


def _scene(truth: str, said: str) -> dict[str, int]:
    scene = parse_description(truth)
    assert scene, truth
    return {
        "number": int(scene.number_word in said),
        "subject_type": int(scene.subject_word in said),
        "action": int(scene.action_word in said),
    }


def _misbehave(how: str, verdict: dict[str, Any]) -> Reply:
    match how:
        case "prose":
            return Reply("I think this is right.")
        case "empty":
            return Reply("")
        case "refuse":
            return Reply("I'd rather not.", finish="refused")
        case "cut":
            return Reply(json.dumps(verdict)[:-3], finish="length")
        case "other":
            return Reply(json.dumps({**verdict, "question": verdict["question"] + 1}))
        case "seven":
            return Reply(json.dumps({**verdict, "number": 7}))
        case "crash":
            raise RuntimeError("the judge fell off the bench")
    raise AssertionError(how)


def questions(folder: Path, count: int = 14, *, distraction: bool = False) -> Path:
    table = folder / "questions.csv"
    make(table, SetOrder(count=count, distraction=distraction, pictures=False, seed=3))
    return table


def right_answers(table: Path) -> Answers:
    """What a perfect model says, question by question."""
    answers = []
    for fields in read_table(table)[1]:
        row = QuestionRow(*fields)
        scene = parse_description(row.text4)
        assert scene
        last = f"number = {scene.number_word}, subject = {scene.subject_word}, action = {scene.action_word}"
        answers.append([row.combined, row.relations, f"The answer is {last}"])
    return answers


def element(question: int, says: list[str]) -> dict[str, Any]:
    return {
        f"query{i}": {"question": question, "row_index": question, "query": "?", "generated_text": text}
        for i, text in enumerate(says)
    }


def write_answers(path: Path, answers: Answers) -> Path:
    path.write_text(json.dumps([element(i, says) for i, says in enumerate(answers)]))
    return path


def items(folder: Path, answers: Answers, table: Path) -> list[AnsweredQuestion]:
    return pair(write_answers(folder / "results.json", answers), table).items
