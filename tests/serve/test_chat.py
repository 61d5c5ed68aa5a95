from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest

from sketchmark.media import Picture
from sketchmark.serve import serving
from sketchmark.serve.bodies import MAX_PICTURE_BYTES
from tests.serve.models import Mirror, Moody, Painter, Speaker, painted

RED, BLUE = painted("red"), painted("blue")


def shown(picture: Picture) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": picture.data_url}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def client(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key="any", max_retries=0)


@pytest.fixture(scope="module")
def mirror() -> Iterator[str]:
    with serving(Mirror()) as url:
        yield url


@pytest.fixture(scope="module")
def moody() -> Iterator[str]:
    with serving(Moody()) as url:
        yield url


def ask(url: str, messages: list[Any], **settings: Any) -> Any:
    return client(url).chat.completions.create(model="any", messages=messages, **settings)


def test_parts_keep_their_order_and_their_author_over_all_messages(mirror: str) -> None:
    messages = [
        {"role": "system", "content": "be short"},
        {"role": "user", "content": [shown(RED), text("what?"), shown(BLUE)]},
        {"role": "assistant", "content": [text("I draw"), shown(RED)]},
        {"role": "user", "content": "go on"},
    ]
    seen = json.loads(ask(mirror, messages).choices[0].message.content)
    assert seen["parts"] == [
        ["task", "text", "be short"],
        ["task", "picture", RED.identity],
        ["task", "text", "what?"],
        ["task", "picture", BLUE.identity],
        ["model", "text", "I draw"],
        ["model", "picture", RED.identity],
        ["task", "text", "go on"],
    ]


def test_settings_reach_the_model_and_unknown_ones_travel_as_extra(mirror: str) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": {"type": "object"}}}
    answer = ask(
        mirror,
        [{"role": "user", "content": "x"}],
        max_tokens=12,
        temperature=0.5,
        seed=3,
        response_format=schema,
        extra_body={"cfg_text_scale": 4.0},
    )
    assert json.loads(answer.choices[0].message.content)["options"] == {
        "max_new_tokens": 12,
        "temperature": 0.5,
        "seed": 3,
        "extra": {"response_format": schema, "cfg_text_scale": 4.0},
    }


def test_the_answer_names_the_served_model_its_usage_and_why_it_ended(mirror: str) -> None:
    answer = ask(mirror, [{"role": "user", "content": "x"}])
    assert answer.model == "test/mirror"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (1, 7, 8)
    assert answer.choices[0].finish_reason == "stop"


def test_asking_for_an_image_gives_a_picture_in_the_content(mirror: str) -> None:
    answer = ask(mirror, [{"role": "user", "content": [shown(RED), text("turn it")]}], modalities=["image"])
    words, image = answer.choices[0].message.content
    assert words["type"] == "text"
    drawn = Picture.from_bytes(base64.b64decode(image["image_url"]["url"].split(",")[1]))
    assert drawn.image().getpixel((0, 0)) == (255, 0, 0)


def test_asking_for_image_and_text_gives_the_picture_beside_the_text(mirror: str) -> None:
    answer = ask(mirror, [{"role": "user", "content": [shown(RED), text("turn it")]}], modalities=["image", "text"])
    message: Any = answer.choices[0].message
    assert json.loads(message.content)["parts"][-1] == ["task", "text", "turn it"]
    [image] = message.images
    drawn = Picture.from_bytes(base64.b64decode(image["image_url"]["url"].split(",")[1]))
    assert drawn.image().getpixel((0, 0)) == (255, 0, 0)


def heard(url: str, messages: list[Any]) -> Any:
    return json.loads(ask(url, messages).choices[0].message.content)["parts"]


@pytest.mark.parametrize("modalities", [["image", "text"], ["image"]])
def test_a_drawing_is_heard_when_its_message_comes_back_as_it_was_given(mirror: str, modalities: list[str]) -> None:
    question = {"role": "user", "content": [shown(RED), text("turn it")]}
    message = ask(mirror, [question], modalities=modalities).choices[0].message
    *_, said, drawn = heard(mirror, [question, message.to_dict(warnings=False)])
    assert said[:2] == ["model", "text"] and '"turn it"' in said[2]
    assert drawn == ["model", "picture", RED.identity]


def test_a_drawing_without_words_comes_back_without_words(mirror: str) -> None:
    question = {"role": "user", "content": "draw"}
    with serving(Painter(BLUE)) as url:
        message = ask(url, [question], modalities=["image", "text"]).choices[0].message
    assert message.content == ""
    for content in ("", None):
        given = {**message.to_dict(), "content": content}
        _, drawn, _ = heard(mirror, [question, given, question])
        assert drawn == ["model", "picture", BLUE.identity]


def test_a_refusal_that_comes_back_is_what_the_model_said(mirror: str) -> None:
    question = {"role": "user", "content": "draw"}
    in_the_content = [{"type": "refusal", "refusal": "I won't"}]
    for given in ({"content": None, "refusal": "I won't"}, {"content": in_the_content}):
        parts = heard(mirror, [question, {"role": "assistant", **given}])
        assert parts[1:] == [["model", "text", "I won't"]]


@pytest.mark.parametrize(("finish", "reason"), [("length", "length"), ("refused", "content_filter")])
def test_a_cut_or_refused_reply_says_so(finish: Any, reason: str) -> None:
    with serving(Speaker("hm", finish)) as url:
        assert ask(url, [{"role": "user", "content": "x"}]).choices[0].finish_reason == reason


def test_a_refused_drawing_is_a_content_filter_stop() -> None:
    with serving(Painter(None, "refused")) as url:
        answer = ask(url, [{"role": "user", "content": "x"}], modalities=["image"])
        assert answer.choices[0].finish_reason == "content_filter"


def test_what_was_left_out_is_told_to_the_client() -> None:
    with serving(Speaker("hm", left_out=("1 of 2 pictures",))) as url:
        answer = ask(url, [{"role": "user", "content": "x"}])
        assert answer.sketchmark == {"finish": "stop", "left_out": ["1 of 2 pictures"]}


def test_a_stream_adds_up_to_the_whole_reply() -> None:
    said = "  several words\nover two lines "
    with serving(Speaker(said, "length")) as url:
        chunks = list(
            ask(url, [{"role": "user", "content": "x"}], stream=True, stream_options={"include_usage": True})
        )
    assert len(chunks) > 5
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == said
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "length"
    assert chunks[-1].usage.total_tokens == 0


def test_a_picture_can_be_streamed(mirror: str) -> None:
    messages = [{"role": "user", "content": [shown(RED)]}]
    chunks = list(ask(mirror, messages, modalities=["image"], stream=True))
    contents = [c.choices[0].delta.content for c in chunks if isinstance(c.choices[0].delta.content, list)]
    assert contents[0][-1]["image_url"]["url"].startswith("data:image/png;base64,")


BROKEN = RED.data_url.replace("base64,", "base64,!")


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": "hello"}, "messages"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "user", "content": [shown(RED), {"type": "text"}]}]}, "messages[0].content[1]"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://a/b"}}]}]},
            "messages[0].content[0]",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": BROKEN}}]}]},
            "messages[0].content[0]",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,x"}}]}]},
            "messages[0].content[0]",
        ),
        ({"messages": [{"role": "assistant", "content": "x", "images": "y"}]}, "messages[0].images"),
        ({"messages": [{"role": "assistant", "images": [{"type": "image_url"}]}]}, "messages[0].images[0]"),
        ({"messages": [{"role": "assistant", "tool_calls": [{"id": "1"}]}]}, "messages[0].tool_calls"),
        ({"stream": "yes"}, "stream"),
        ({"model": None}, "model"),
        ({"modalities": ["audio"]}, "modalities"),
        ({"modalities": []}, "modalities"),
        ({"n": 2}, "n"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 1.5}, "max_tokens"),
    ],
)
def test_a_bad_body_is_a_400_that_names_the_place(mirror: str, change: dict[str, Any], param: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], **change}
    answer = httpx.post(f"{mirror}/chat/completions", json=body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert error["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"[" * 100_000, b"\xff\xfe"])
def test_a_body_that_is_no_json_object_is_a_400(mirror: str, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    assert httpx.post(f"{mirror}/chat/completions", content=body, headers=headers).status_code == 400


def test_a_picture_of_too_many_bytes_or_pixels_is_a_400(mirror: str) -> None:
    heavy = Picture(RED.data + bytes(MAX_PICTURE_BYTES), "png")
    wide = painted("red", (9000, 9000))
    for picture in (heavy, wide):
        with pytest.raises(openai.BadRequestError, match="limit"):
            ask(mirror, [{"role": "user", "content": [shown(picture)]}])


def test_a_model_that_does_not_draw_says_so_with_a_400(moody: str) -> None:
    with pytest.raises(openai.BadRequestError, match="does not draw"):
        ask(moody, [{"role": "user", "content": "x"}], modalities=["image"])


def test_more_pictures_than_the_model_takes_are_a_400(moody: str) -> None:
    with pytest.raises(openai.BadRequestError, match="takes 1 at most"):
        ask(moody, [{"role": "user", "content": [shown(RED), shown(BLUE), text("x")]}])


def test_a_crash_in_the_model_is_a_500_that_gives_nothing_away(moody: str) -> None:
    with pytest.raises(openai.InternalServerError) as raised:
        ask(moody, [{"role": "user", "content": "crash"}])
    assert "RuntimeError" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_failed_call_behind_the_server_is_a_502_with_its_kind(moody: str) -> None:
    with pytest.raises(openai.APIStatusError) as raised:
        ask(moody, [{"role": "user", "content": "fail"}])
    assert (raised.value.status_code, raised.value.code) == (502, "upstream")


def test_the_model_list_holds_the_served_model(mirror: str) -> None:
    assert [model.id for model in client(mirror).models.list()] == ["test/mirror"]
    assert client(mirror).models.retrieve("test/mirror").id == "test/mirror"
    with pytest.raises(openai.NotFoundError):
        client(mirror).models.retrieve("other")


def test_an_unknown_path_is_a_404_in_openai_form(mirror: str) -> None:
    answer = httpx.get(f"{mirror}/nothing")
    assert (answer.status_code, answer.json()["error"]["message"]) == (404, "Not Found")
