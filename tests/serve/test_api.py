"""The server's API through the real SDK: chat, images and responses; bad requests are refused by their place."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import openai
import pytest
from PIL import Image

from sketchmark import Model, Options
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.media import Picture
from sketchmark.models.providers.openai import OpenAI
from sketchmark.serve import serving
from sketchmark.serve.bodies import MAX_PICTURE_BYTES
from sketchmark.serve.pictures import PictureShelf
from tests.core.hearing import Deaf, Ear, tone
from tests.serve.models import Mirror, Moody, Painter, Speaker, painted
from tests.tabled import tabled

RED, BLUE = painted("red"), painted("blue")
FILE = ("a.png", RED.data, "image/png")


class Recorder(Mirror):
    """A mirror that keeps what it was last asked to draw."""

    seen: Any = None

    async def draw(self, context: Any, options: Any) -> Any:
        reply = await super().draw(context, options)
        self.seen = json.loads(reply.text)
        return reply


@pytest.fixture(scope="module")
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture(scope="module")
def client(recorder: Recorder) -> Iterator[openai.OpenAI]:
    with connected(recorder) as found:
        yield found


@contextmanager
def connected(model: Model) -> Iterator[openai.OpenAI]:
    with serving(model) as url:
        yield openai.OpenAI(base_url=url, api_key="any", max_retries=0)


def shown(picture: Picture | str) -> dict[str, Any]:
    url = picture if isinstance(picture, str) else picture.data_url
    return {"type": "image_url", "image_url": {"url": url}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content[0] if isinstance(content[0], str) else list(content)}


def ask(client: openai.OpenAI, *messages: Any, **settings: Any) -> Any:
    given: Any = messages or [user("x")]
    return client.chat.completions.create(model="any", messages=given, **settings)


def heard(client: openai.OpenAI, *messages: Any) -> Any:
    return json.loads(ask(client, *messages).choices[0].message.content)["parts"]


def respond(client: openai.OpenAI, input: Any = "x", **settings: Any) -> Any:
    return client.responses.create(model="m", input=input, **settings)


def pixel(encoded: str) -> Any:
    return Picture.from_bytes(base64.b64decode(encoded.rpartition(",")[2])).image().getpixel((0, 0))


# Chat


def test_parts_keep_their_order_and_their_author_over_all_messages(client: openai.OpenAI) -> None:
    assert heard(
        client,
        {"role": "system", "content": "be short"},
        user(shown(RED), text("what?"), shown(BLUE)),
        {"role": "assistant", "content": [text("I draw"), shown(RED)]},
        user("go on"),
    ) == [
        ["task", "text", "be short"],
        ["task", "picture", RED.identity],
        ["task", "text", "what?"],
        ["task", "picture", BLUE.identity],
        ["model", "text", "I draw"],
        ["model", "picture", RED.identity],
        ["task", "text", "go on"],
    ]


def test_settings_reach_the_model_and_the_answer_has_its_name_usage_and_end(client: openai.OpenAI) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": {"type": "object"}}}
    settings = {"temperature": 0.5, "seed": 3}
    extra = {"cfg_text_scale": 4.0}
    answer = ask(client, max_tokens=12, response_format=schema, extra_body=extra, **settings)
    options = json.loads(answer.choices[0].message.content)["options"]
    assert options == {**settings, "max_new_tokens": 12, "extra": {"response_format": schema, **extra}}
    assert (answer.model, answer.choices[0].finish_reason) == ("test/mirror", "stop")
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (1, 7, 8)


@pytest.mark.parametrize("modalities", [["image", "text"], ["image"]])
def test_a_drawing_is_in_the_content_or_next_to_a_text_and_may_come_back(
    client: openai.OpenAI, modalities: list[str]
) -> None:
    question = user(shown(RED), text("turn it"))
    message = ask(client, question, modalities=modalities).choices[0].message
    if modalities == ["image"]:
        words, image = message.content
        assert words["type"] == "text"
    else:
        assert json.loads(message.content)["parts"][-1] == ["task", "text", "turn it"]
        [image] = message.images
    assert pixel(image["image_url"]["url"]) == (255, 0, 0)
    *_, said, drawn = heard(client, question, message.to_dict(warnings=False))
    assert said[:2] == ["model", "text"] and '"turn it"' in said[2]
    assert drawn == ["model", "picture", RED.identity]


def test_a_drawing_without_words_comes_back_without_words(client: openai.OpenAI) -> None:
    with connected(Painter(BLUE)) as painter:
        message = ask(painter, modalities=["image", "text"]).choices[0].message
    assert message.content == ""
    for content in ("", None):
        _, drawn, _ = heard(client, user("draw"), {**message.to_dict(), "content": content}, user("draw"))
        assert drawn == ["model", "picture", BLUE.identity]


def test_a_refusal_that_comes_back_is_what_the_model_said(client: openai.OpenAI) -> None:
    in_the_content = [{"type": "refusal", "refusal": "I won't"}]
    for given in ({"content": None, "refusal": "I won't"}, {"content": in_the_content}):
        parts = heard(client, user("draw"), {"role": "assistant", **given})
        assert parts[1:] == [["model", "text", "I won't"]]


@pytest.mark.parametrize(
    ("model", "modalities", "reason"),
    [
        (Speaker("hm", "length"), ["text"], "length"),
        (Speaker("hm", "refused"), ["text"], "content_filter"),
        (Painter(None, "refused"), ["image"], "content_filter"),
    ],
)
def test_a_cut_or_refused_reply_says_so(model: Model, modalities: list[str], reason: str) -> None:
    with connected(model) as client:
        assert ask(client, modalities=modalities).choices[0].finish_reason == reason


def test_the_client_is_sent_what_was_left_out() -> None:
    with connected(Speaker("hm", left_out=("1 of 2 pictures",))) as client:
        assert ask(client).sketchmark == {"finish": "stop", "left_out": ["1 of 2 pictures"]}


def test_a_stream_adds_up_to_the_whole_reply(client: openai.OpenAI) -> None:
    said = "  several words\nover two lines "
    with connected(Speaker(said, "length")) as speaker:
        chunks = list(ask(speaker, stream=True, stream_options={"include_usage": True}))
    assert len(chunks) > 5
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == said
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "length"
    assert chunks[-1].usage.total_tokens == 0
    chunks = list(ask(client, user(shown(RED)), modalities=["image"], stream=True))
    contents = [c.choices[0].delta.content for c in chunks if isinstance(c.choices[0].delta.content, list)]
    assert contents[0][-1]["image_url"]["url"].startswith("data:image/png;base64,")


def assistant(**message: Any) -> dict[str, Any]:
    return {"messages": [{"role": "assistant", **message}]}


BROKEN = RED.data_url.replace("base64,", "base64,!")
FIRST = "messages[0].content[0]"


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": "hello"}, "messages"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [user({"type": "input_audio"})]}, FIRST),
        ({"messages": [user({"type": "image_url"})]}, FIRST),
        ({"messages": [user(shown(RED), {"type": "text"})]}, "messages[0].content[1]"),
        ({"messages": [user(shown("http://a/b"))]}, FIRST),
        ({"messages": [user(shown(BROKEN))]}, FIRST),
        ({"messages": [user(shown("data:,x"))]}, FIRST),
        (assistant(content="x", images="y"), "messages[0].images"),
        (assistant(images=[{"type": "image_url"}]), "messages[0].images[0]"),
        (assistant(tool_calls=[{"id": "1"}]), "messages[0].tool_calls"),
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
def test_a_bad_body_is_a_400_that_names_the_place(client: openai.OpenAI, change: dict[str, Any], param: str) -> None:
    answer = httpx.post(f"{client.base_url}chat/completions", json={"model": "m", "messages": [user("x")], **change})
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["param"]) == (400, "invalid_request_error", param)
    assert error["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"[" * 100_000, b"\xff\xfe"])
def test_a_body_that_is_no_json_object_is_a_400(client: openai.OpenAI, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    assert httpx.post(f"{client.base_url}chat/completions", content=body, headers=headers).status_code == 400


def test_a_picture_of_too_many_bytes_or_pixels_is_a_400(client: openai.OpenAI) -> None:
    Image.new("1", (9000, 9000)).save(many := io.BytesIO(), "PNG")
    for picture in (Picture(RED.data + bytes(MAX_PICTURE_BYTES), "png"), Picture(many.getvalue(), "png")):
        with pytest.raises(openai.BadRequestError, match="limit"):
            ask(client, user(shown(picture)))


@pytest.mark.parametrize(
    ("content", "modalities", "status", "said"),
    [
        ([text("x")], ["image"], 400, "does not draw"),
        ([shown(RED), shown(BLUE), text("x")], ["text"], 400, "takes 1 at most"),
        ([text("crash")], ["text"], 500, "RuntimeError"),
        ([text("fail")], ["text"], 502, "the provider is away"),
    ],
)
def test_a_call_that_the_model_cannot_answer_is_an_error_that_gives_nothing_away(
    content: list[Any], modalities: list[str], status: int, said: str
) -> None:
    with connected(Moody()) as client, pytest.raises(openai.APIStatusError, match=said) as raised:
        ask(client, user(*content), modalities=modalities)
    assert raised.value.status_code == status and "secret" not in str(raised.value)
    assert status != 502 or raised.value.code == "upstream"


def test_the_model_list_holds_the_served_model_and_an_unknown_path_is_a_404(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["test/mirror"]
    assert client.models.retrieve("test/mirror").id == "test/mirror"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("other")
    answer = httpx.get(f"{client.base_url}nothing")
    assert (answer.status_code, answer.json()["error"]["message"]) == (404, "Not Found")


# Sounds


async def test_a_sound_arrives_at_a_model_that_hears_and_is_refused_for_others() -> None:
    ear, sound = Ear(), tone()
    with serving(ear) as url:
        reply = await OpenAI("m", base_url=url, max_retries=0).say(of(sound, RED, "Which?"), Options())
    assert reply.text == "1 sounds" and [part.content for part in ear.contexts[0]] == [sound, RED, "Which?"]
    with serving(Deaf()) as url, pytest.raises(CallFailed, match="ear takes no sounds"):
        await OpenAI("m", base_url=url, max_retries=0).say(of(sound, "Which?"), Options())


@tabled
def test_a_sound_that_cannot_be_read_is_a_400_with_the_reason(client: openai.OpenAI, sound: object, why: str) -> None:
    with pytest.raises(openai.BadRequestError, match=why):
        ask(client, user({"type": "input_audio", "input_audio": sound}))


# Images


def test_an_edit_sees_its_images_in_order_and_then_the_prompt(client: openai.OpenAI, recorder: Recorder) -> None:
    answer = client.images.edit(model="m", image=FILE, prompt="turn", size="1024x1024")
    assert answer.data and pixel(answer.data[0].b64_json or "") == (255, 0, 0)
    assert recorder.seen["parts"] == [["task", "picture", RED.identity], ["task", "text", "turn"]]
    assert recorder.seen["options"]["extra"] == {"size": "1024x1024"}
    assert answer.usage is not None and answer.usage.total_tokens == 12
    files: Any = [FILE, ("b.png", BLUE.data, "image/png"), ("c.png", RED.data)]
    client.images.edit(model="m", image=files, prompt="mix")
    assert [part[2] for part in recorder.seen["parts"]] == [RED.identity, BLUE.identity, RED.identity, "mix"]


def test_a_generation_sees_the_prompt_only_and_may_return_an_address(
    client: openai.OpenAI, recorder: Recorder
) -> None:
    answer = client.images.generate(model="m", prompt="a red square")
    assert answer.data and pixel(answer.data[0].b64_json or "") == (255, 0, 0)
    assert recorder.seen["parts"] == [["task", "text", "a red square"]]
    answer = client.images.generate(model="m", prompt="x", response_format="url")
    assert answer.data and answer.data[0].url and answer.data[0].b64_json is None
    fetched = httpx.get(answer.data[0].url)
    assert fetched.headers["content-type"] == "image/png" and Picture.from_bytes(fetched.content).size == (4, 4)


def test_the_shelf_keeps_only_the_newest_pictures() -> None:
    shelf = PictureShelf(room=1)
    shelf.put(RED)
    shelf.put(BLUE)
    assert shelf.get(BLUE.digest) == BLUE
    with pytest.raises(Exception, match="no such picture"):
        shelf.get(RED.digest)


@pytest.mark.parametrize(
    ("way", "settings", "why"),
    [
        ("generate", {"prompt": ""}, ""),
        ("generate", {"n": 2}, ""),
        ("generate", {"extra_body": {"response_format": "gif"}}, ""),
        ("generate", {"stream": True}, "does not stream pictures"),
        ("generate", {"extra_body": {"image": RED.data_url}}, "as files"),
        ("generate", {"extra_body": {"image[]": [RED.data_url]}}, "as files"),
        ("edit", {"image": ("a.txt", b"no picture")}, ""),
        ("edit", {"image": FILE, "mask": FILE}, ""),
        ("edit", {"image": FILE, "prompt": ""}, ""),
        ("edit", {"image": FILE, "stream": True}, "does not stream pictures"),
    ],
)
def test_a_bad_request_for_an_image_is_a_400(
    client: openai.OpenAI, recorder: Recorder, way: str, settings: dict[str, Any], why: str
) -> None:
    recorder.__dict__.pop("seen", None)
    ask: Any = getattr(client.images, way)
    with pytest.raises(openai.BadRequestError, match=why or None) as raised:
        ask(**{"model": "m", "prompt": "x", **settings})
    assert not recorder.seen
    if "stream" in settings:
        assert raised.value.param == "stream"
        assert ask(**{"model": "m", "prompt": "x", **settings, "stream": False}).data
        assert recorder.seen["options"]["extra"] == {}


def test_an_upload_that_is_no_form_with_an_image_is_refused(client: openai.OpenAI) -> None:
    url = f"{client.base_url}images/edits"
    assert httpx.post(url, json={"prompt": "x"}).status_code == 415
    assert httpx.post(f"{client.base_url}files", json={"purpose": "batch"}).status_code == 415
    assert httpx.post(url, files={"prompt": (None, "x")}).status_code == 400
    sent = httpx.post(url, data={"prompt": "x", "image[]": RED.data_url}, files={"image": FILE})
    assert (sent.status_code, sent.json()["error"]["param"]) == (400, "image[]")


def test_a_refused_image_is_blocked_by_moderation_and_no_image_is_no_data() -> None:
    with connected(Painter(None, "refused")) as client, pytest.raises(openai.BadRequestError) as raised:
        client.images.generate(model="m", prompt="x")
    assert raised.value.code == "moderation_blocked"
    with connected(Painter(None, "no_picture")) as client:
        assert client.images.generate(model="m", prompt="x").data == []


# Responses


DRAW: Any = {"tools": [{"type": "image_generation", "size": "416x416"}], "tool_choice": {"type": "image_generation"}}


def image(picture: Picture) -> dict[str, Any]:
    return {"type": "input_image", "image_url": picture.data_url, "detail": "auto"}


CONVERSATION: Any = [
    user({"type": "input_text", "text": "first"}, image(RED), {"type": "input_text", "text": "2"}),
    {"role": "assistant", "content": "I move right."},
    user(image(BLUE)),
]


def test_a_text_is_a_message_and_the_context_arrives_in_order(client: openai.OpenAI) -> None:
    answer = respond(client, CONVERSATION, instructions="be brief", max_output_tokens=50)
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


def test_the_tool_draws_with_its_settings_unless_it_may_not_be_used(client: openai.OpenAI) -> None:
    answer = respond(client, CONVERSATION, store=False, **DRAW)
    drawn, message = answer.output
    assert drawn.type == "image_generation_call" and pixel(drawn.result) == (0, 0, 255)
    assert message.type == "message" and json.loads(answer.output_text)["options"]["extra"] == {"size": "416x416"}
    settings = {"quality": "low", "moderation": "low", "output_compression": 50}
    answer = respond(client, tools=[{"type": "image_generation", **settings}])
    assert json.loads(answer.output_text)["options"]["extra"] == settings
    answer = respond(client, **{**DRAW, "tool_choice": "none"})
    assert [item.type for item in answer.output] == ["message"]
    with connected(Painter(None)) as painter:
        answer = respond(painter, **DRAW)
    assert [item.type for item in answer.output] == ["message"] and answer.output_text == ""


SCHEMA = {"name": "verdict", "schema": {"type": "object"}, "strict": True}


@pytest.mark.parametrize(
    ("given", "extra"),
    [
        (
            {"format": {"type": "json_schema", **SCHEMA}, "verbosity": "low"},
            {"response_format": {"type": "json_schema", "json_schema": SCHEMA}, "verbosity": "low"},
        ),
        ({"format": {"type": "json_object"}}, {"response_format": {"type": "json_object"}}),
        ({"format": {"type": "text"}}, {}),
    ],
)
def test_the_format_of_the_text_reaches_the_model_as_chat_would_say_it(
    client: openai.OpenAI, given: Any, extra: Any
) -> None:
    assert json.loads(respond(client, text=given).output_text)["options"]["extra"] == extra


def test_a_drawing_or_a_refusal_given_back_is_the_models_own(client: openai.OpenAI) -> None:
    call = {"type": "image_generation_call", "id": "ig_1", "status": "completed"}
    drawn = {**call, "result": base64.b64encode(RED.data).decode()}
    answer = respond(client, [drawn, *CONVERSATION[1:2]])
    assert json.loads(answer.output_text)["parts"][0] == ["model", "picture", RED.identity]
    with pytest.raises(openai.NotFoundError):
        respond(client, [{"type": "image_generation_call", "id": "ig_1"}])
    with connected(Speaker("no", finish="refused")) as speaker:
        refused = respond(speaker).output
    assert refused[0].content[0].type == "refusal"
    answer = respond(client, [*(item.to_dict() for item in refused), *CONVERSATION])
    assert json.loads(answer.output_text)["parts"][0] == ["model", "text", "no"]


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"stream": True}, "stream"),
        ({"text": {"format": "json"}}, "text"),
        ({"input": []}, "input"),
        ({"input": [{"role": "robot", "content": "x"}]}, "input[0].role"),
        ({"input": [{"type": "function_call"}]}, "input[0]"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"tool_choice": {"type": "image_generation"}}, "tool_choice"),
        ({"input": [user({"type": "input_image", "image_url": "http://host/x.png"})]}, "input[0].content[0]"),
    ],
)
def test_a_response_that_the_server_cannot_make_is_refused_by_its_place(
    client: openai.OpenAI, asked: Any, param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        respond(client, **asked)
    assert caught.value.param == param


@pytest.mark.parametrize(("finish", "reason"), [("length", "max_output_tokens"), ("refused", "content_filter")])
def test_a_cut_or_refused_response_says_so(finish: Any, reason: str) -> None:
    with connected(Speaker("no", finish=finish)) as client:
        answer = respond(client)
    assert answer.status == "incomplete" and answer.incomplete_details.reason == reason
