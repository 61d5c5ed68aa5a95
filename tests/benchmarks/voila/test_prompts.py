from __future__ import annotations

from typing import Any

import pytest
from PIL import Image

from sketchmark.benchmarks.voila.judge import (
    Inquiry,
    Truth,
    drawing_prompt,
    formatted,
    inquire,
    prompt,
    response_format,
)
from sketchmark.media import Picture
from sketchmark.worlds.voila.scenes import SCENE, Scene

TRUTH = Truth("Image 1: two cats walking. Image 2: …", "Number remains constant two. ", Scene(None, 4, 2))


def test_step_1_is_asked_to_the_letter() -> None:
    assert prompt(1, TRUTH, "Image 1: {two} cats", distraction=True) == (
        "Give me the score by comparing the provided texts to the ground truth text for each image focusing on "
        "subject numbers, subject types, and actions. Comparing similar subject types, such as \"mice\" versus "
        "\"hamsters,\" or variations in number, such as \"man\" versus \"men,\" is acceptable as a correct answer. "
        "However, differences in age or gender, such as \"woman\" versus \"senior woman,\" are not acceptable as a "
        "correct answer. If the answer is correct, assign 1 point for each property score, otherwise give 0. \n"
        "        Ground truth texts:Image 1: two cats walking. Image 2: …\n"
        "        Texts to compare: Image 1: {two} cats\n"
        "        Write the output as JSON object for each image without explanation."
    )  # fmt: skip


def test_step_2_is_asked_to_the_letter() -> None:
    assert prompt(2, TRUTH, "nothing changed", distraction=False) == (
        "Give me the score by comparing the provided texts to the ground truth text to determine if the model "
        "correctly identifies the unchanged and changed properties between Image 1 and Image 2. The properties to "
        "compare are the number of subjects, the subject type, and the actions. If the answer is correct, assign 1 "
        "point for each property, otherwise give 0. \n"
        "        Ground truth texts:Number remains constant two. \n"
        "        Texts to compare: nothing changed\n"
        "        Write the output as JSON object for each image without explanation."
    )


STEP_3 = (
    "Give me the score by comparing the provided texts to the ground truth text to determine if the model correctly "
    "identifies the properties of subject numbers, subject types, and actions in order. {any}If the answer is "
    "correct, assign 1 point for each property, otherwise give 0. \n"
    "{gap}Ground truth texts: number = any subject = senior women action = ice-skating\n"
    "{gap}Texts to compare: The answer is …\n"
    "{gap}Write the output as JSON object for each image without explanation."
)


def test_step_3_is_asked_to_the_letter_without_distraction() -> None:
    assert prompt(3, TRUTH, "The answer is …", distraction=False) == STEP_3.format(any="", gap=" " * 32)


def test_step_3_is_asked_to_the_letter_with_distraction() -> None:
    sentence = (
        'If ground truth text contains the value "any" for a property, it only counts as correct if the provided '
        "text also has 'any' for that property. Otherwise, the answer is incorrect. "
    )
    assert prompt(3, TRUTH, "The answer is …", distraction=True) == STEP_3.format(any=sentence, gap=" " * 20)


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
