from __future__ import annotations

import json
from typing import Any

import pytest
from PIL import Image

from sketchmark import Context, Model, Options, Reply
from sketchmark.benchmarks.voila.judge import (
    Inquiry,
    StepVerdict,
    Truth,
    ask,
    drawing_prompt,
    forgive_any,
    formatted,
    inquire,
    no_verdict,
    prompt,
    read_verdict,
    response_format,
)
from sketchmark.errors import CallFailed
from sketchmark.media import Picture
from sketchmark.worlds.voila.scenes import SCENE, Scene
from tests.tabled import tabled


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


TRUTH = Truth("Image 1: two cats walking. Image 2: …", "Number remains constant two. ", Scene(None, 4, 2))


@tabled
def test_a_step_is_asked_to_the_letter(step: Any, said: str, distraction: bool, text: str) -> None:
    assert prompt(step, TRUTH, said, distraction=distraction) == text


def test_the_formatted_answer_is_the_originals_for_every_possible_text() -> None:
    """The original goes by word position: two words of subject after male, female or senior, else one."""
    for scene in SCENE.values():
        words = scene.describe().split()
        size = 2 if {"male", "female", "senior"} & set(words) else 1
        number, subject, action = words[0], " ".join(words[1 : 1 + size]), " ".join(words[1 + size :])
        assert formatted(scene) == f"number = {number} subject = {subject} action = {action}"


def _object(**properties: Any) -> dict[str, Any]:
    names = list(properties)
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


INTEGER = {"type": "integer"}
MARKS = {"number": INTEGER, "subject_type": INTEGER, "action": INTEGER}


@pytest.mark.parametrize(
    ("step", "name", "fields"),
    [
        (1, "ImageTextMatching", {f"image_{i}": _object(**MARKS) for i in (1, 2, 3)}),
        (2, "IdentifyChanges", MARKS),
        (3, "FindingLastImage", MARKS),
    ],
)
def test_the_schema_is_the_published_one(step: Any, name: str, fields: dict[str, Any]) -> None:
    schema = _object(question={"type": "integer", "const": 12}, **fields)
    named = {"name": name, "schema": schema, "strict": True}
    assert response_format(step, 12) == {"type": "json_schema", "json_schema": named}


def test_a_batch_request_has_a_temperature_in_step_1_only() -> None:
    bodies = [Inquiry(step, 5, "text").body("gpt-4o-2024-08-06") for step in (1, 2, 3)]
    assert [body.get("temperature") for body in bodies] == [0.1, None, None]
    assert bodies[1] == {
        "model": "gpt-4o-2024-08-06",
        "response_format": response_format(2, 5),
        "messages": [{"role": "user", "content": "text"}],
    }


def test_a_live_judge_gets_the_temperature_that_leaving_it_out_means() -> None:
    assert [Inquiry(step, 5, "text").options().temperature for step in (1, 2, 3)] == [0.1, 1.0, 1.0]


def test_an_answer_without_words_is_not_sent() -> None:
    assert inquire(1, 0, TRUTH, " \n", distraction=True) is None


def test_the_judge_of_step_4_is_shown_the_picture_and_told_the_truth() -> None:
    picture = Picture.from_image(Image.new("RGB", (4, 4), "red"))
    asked = Inquiry(4, 5, drawing_prompt(TRUTH), picture)
    assert asked.context().pictures == [picture]
    assert "number = any subject = senior women action = ice-skating" in asked.context().texts[0]
    image, text = asked.body("m")["messages"][0]["content"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,")
    assert text == {"type": "text", "text": drawing_prompt(TRUTH)}
