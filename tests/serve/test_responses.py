"""`/v1/responses` through the real SDK: text, drawings by the tool, and what the server cannot do."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from sketchmark.media import Picture
from sketchmark.serve import serving
from tests.serve.models import Mirror, Painter, Speaker, painted

RED, BLUE = painted("red"), painted("blue")
ELSEWHERE = {"type": "input_image", "image_url": "http://host/x.png"}
DRAW: Any = {"tools": [{"type": "image_generation", "size": "416x416"}], "tool_choice": {"type": "image_generation"}}


@pytest.fixture(scope="module")
def client() -> Iterator[openai.OpenAI]:
    with serving(Mirror()) as url:
        yield openai.OpenAI(base_url=url, api_key="any", max_retries=0)


def conversation() -> Any:
    image = {"type": "input_image", "image_url": RED.data_url, "detail": "auto"}
    before, after = ({"type": "input_text", "text": text} for text in ("first", "2"))
    return [
        {"role": "user", "content": [before, image, after]},
        {"role": "assistant", "content": "I move right."},
        {"role": "user", "content": [{"type": "input_image", "image_url": BLUE.data_url, "detail": "auto"}]},
    ]


def test_a_text_is_a_message_and_the_context_arrives_in_order(client: openai.OpenAI) -> None:
    answer = client.responses.create(model="m", instructions="be brief", input=conversation(), max_output_tokens=50)
    seen = json.loads(answer.output_text)
    assert seen["parts"] == [
        ["task", "text", "be brief"],
        ["task", "text", "first"],
        ["task", "picture", RED.identity],
        ["task", "text", "2"],
        ["model", "text", "I move right."],
        ["task", "picture", BLUE.identity],
    ]
    assert seen["options"]["max_new_tokens"] == 50
    assert answer.status == "completed" and answer.usage and answer.usage.total_tokens == 13


def test_the_tool_draws_with_its_settings(client: openai.OpenAI) -> None:
    answer = client.responses.create(model="m", input=conversation(), store=False, **DRAW)
    drawn, message = answer.output
    assert drawn.type == "image_generation_call" and drawn.result
    assert Picture.from_bytes(base64.b64decode(drawn.result)).image().getpixel((0, 0)) == (0, 0, 255)
    assert message.type == "message" and json.loads(answer.output_text)["options"]["extra"] == {"size": "416x416"}


def test_the_format_of_the_text_reaches_the_model_as_chat_would_say_it(client: openai.OpenAI) -> None:
    schema = {"name": "verdict", "schema": {"type": "object"}, "strict": True}

    def extra(text: Any, **more: Any) -> Any:
        answer = client.responses.create(model="m", input="x", text=text, **more)
        return json.loads(answer.output_text)["options"]["extra"]

    wanted = {"response_format": {"type": "json_schema", "json_schema": schema}}
    assert extra({"format": {"type": "json_schema", **schema}, "verbosity": "low"}) == wanted | {"verbosity": "low"}
    assert extra({"format": {"type": "json_object"}}) == {"response_format": {"type": "json_object"}}
    assert extra({"format": {"type": "text"}}) == {}


def test_every_setting_of_the_tool_reaches_the_model(client: openai.OpenAI) -> None:
    tool: Any = {"type": "image_generation", "quality": "low", "moderation": "low", "output_compression": 50}
    answer = client.responses.create(model="m", input="x", tools=[tool])
    assert json.loads(answer.output_text)["options"]["extra"] == {
        name: value for name, value in tool.items() if name != "type"
    }


def test_the_tool_that_may_not_be_used_is_not(client: openai.OpenAI) -> None:
    answer = client.responses.create(model="m", input="hello", **{**DRAW, "tool_choice": "none"})
    assert [item.type for item in answer.output] == ["message"]


def test_a_drawing_given_back_is_the_models_own(client: openai.OpenAI) -> None:
    drawn = base64.b64encode(RED.data).decode()
    item: Any = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": drawn}
    answer = client.responses.create(model="m", input=[item, *conversation()[1:2]])
    assert json.loads(answer.output_text)["parts"][0] == ["model", "picture", RED.identity]


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"input": "x", "previous_response_id": "resp_1"}, "previous_response_id"),
        ({"input": "x", "stream": True}, "stream"),
        ({"input": "x", "text": {"format": "json"}}, "text"),
        ({"input": []}, "input"),
        ({"input": [{"role": "robot", "content": "x"}]}, "input[0].role"),
        ({"input": [{"type": "function_call"}]}, "input[0]"),
        ({"input": "x", "tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"input": "x", "tool_choice": {"type": "image_generation"}}, "tool_choice"),
        ({"input": [{"role": "user", "content": [ELSEWHERE]}]}, "input[0].content[0]"),
    ],
)
def test_what_the_server_cannot_do_is_refused_by_its_place(client: openai.OpenAI, asked: Any, param: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="m", **asked)
    assert caught.value.param == param


def test_an_item_that_was_not_kept_is_not_found(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model="m", input=[{"type": "image_generation_call", "id": "ig_1"}])  # type: ignore[misc,list-item]


def test_a_cut_and_a_refused_answer_say_so() -> None:
    for finish, reason in (("length", "max_output_tokens"), ("refused", "content_filter")):
        with serving(Speaker("no", finish=finish)) as url:  # type: ignore[arg-type]
            answer = openai.OpenAI(base_url=url, api_key="any").responses.create(model="m", input="x")
        assert answer.status == "incomplete" and answer.incomplete_details
        assert answer.incomplete_details.reason == reason


def test_a_refusal_given_back_is_what_the_model_said(client: openai.OpenAI) -> None:
    with serving(Speaker("no", finish="refused")) as url:
        refused: Any = openai.OpenAI(base_url=url, api_key="any").responses.create(model="m", input="x").output
    assert refused[0].content[0].type == "refusal"
    back: Any = [*(item.to_dict() for item in refused), *conversation()]
    answer = client.responses.create(model="m", input=back)
    assert json.loads(answer.output_text)["parts"][0] == ["model", "text", "no"]


def test_a_drawing_call_without_a_picture_is_an_empty_message() -> None:
    with serving(Painter(None)) as url:
        answer = openai.OpenAI(base_url=url, api_key="any").responses.create(model="m", input="x", **DRAW)
    assert [item.type for item in answer.output] == ["message"] and answer.output_text == ""
