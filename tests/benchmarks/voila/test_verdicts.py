from __future__ import annotations

import json
from typing import Any

import pytest

from sketchmark import Context, Model, Options, Reply
from sketchmark.benchmarks.voila.judge import Inquiry, StepVerdict, ask, forgive_any, no_verdict, read_verdict
from sketchmark.errors import CallFailed
from sketchmark.worlds.voila.scenes import Scene


def marks(number: Any, subject: Any, action: Any) -> dict[str, Any]:
    return {"number": number, "subject_type": subject, "action": action}


def test_step_1_has_marks_for_each_picture() -> None:
    said = {"question": 4, "image_1": marks(1, 1, 1), "image_2": marks(1, 0, 1), "image_3": marks(0, 0, 0)}
    verdict = read_verdict(1, 4, json.dumps(said))
    assert verdict == StepVerdict(((1, 1, 1), (1, 0, 1), (0, 0, 0)))
    assert verdict.scores() == {"number": 2 / 3, "subject": 1 / 3, "action": 2 / 3, "overall": 1 / 3}


def test_overall_needs_all_three_properties() -> None:
    right = read_verdict(3, 4, json.dumps({"question": 4, **marks(1, 1, 1)}))
    wrong = read_verdict(3, 4, json.dumps({"question": 4, **marks(1, 1, 0)}))
    assert (right.scores()["overall"], wrong.scores()["overall"]) == (1, 0)


def test_a_code_block_around_the_json_is_forgiven() -> None:
    text = f"```json\n{json.dumps({'question': 4, **marks(1, 0, 1)})}\n```"
    assert read_verdict(2, 4, text) == StepVerdict(((1, 0, 1),))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "Correct!",
        "[]",
        "1",
        "null",
        "[" * 100_000,
        json.dumps({"question": 4}),
        json.dumps(marks(1, 1, 1)),
        json.dumps({"question": 5, **marks(1, 1, 1)}),
        json.dumps({"question": True, **marks(1, 1, 1)}),
        *(json.dumps({"question": 4, **marks(1, wrong, 1)}) for wrong in (2, -1, 1.0, "1", True, None, [1])),
    ],
)
def test_anything_but_whole_marks_for_the_question_is_no_verdict(text: str) -> None:
    verdict = read_verdict(2, 4, text)
    assert verdict.failed and verdict.marks == ()


def test_one_bad_picture_fails_the_whole_verdict_of_step_1() -> None:
    said = {"question": 4, "image_1": marks(1, 1, 1), "image_2": marks(1, 1, 1), "image_3": {}}
    assert read_verdict(1, 4, json.dumps(said)) == no_verdict("not 0 or 1")


def test_a_drawing_cannot_be_wrong_where_the_answer_is_any() -> None:
    assert forgive_any(StepVerdict(((0, 0, 0),)), Scene(None, 3, None)) == StepVerdict(((1, 0, 1),))
    assert forgive_any(no_verdict("empty"), Scene(None, 3, None)) == no_verdict("empty")


class Scripted(Model):
    def __init__(self, reply: Reply | CallFailed) -> None:
        super().__init__("scripted")
        self.reply = reply

    async def say(self, context: Context, options: Options) -> Reply:
        if isinstance(self.reply, CallFailed):
            raise self.reply
        return self.reply


RIGHT = json.dumps({"question": 4, **marks(1, 1, 1)})


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(RIGHT), ""),
        (Reply(RIGHT, finish="refused"), "refused"),
        (Reply(RIGHT[:-4], finish="length"), "truncated"),
        (Reply("", finish="empty"), "empty"),
        (CallFailed("timeout", "too slow"), "timeout"),
    ],
)
async def test_a_judge_that_does_not_answer_has_given_no_verdict(reply: Reply | CallFailed, problem: str) -> None:
    verdict = await ask(Scripted(reply), Inquiry(2, 4, "text"))
    assert (verdict.problem, verdict.marks) == (problem, () if problem else ((1, 1, 1),))


async def test_a_judge_that_cannot_go_on_is_not_taken_for_one_that_missed_a_question() -> None:
    with pytest.raises(CallFailed, match="no such key"):
        await ask(Scripted(CallFailed("auth", "no such key", stops_run=True)), Inquiry(2, 4, "text"))
