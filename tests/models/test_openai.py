"""The OpenAI adapter and the real SDK, over real HTTP, against a server that validates every body."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.responses import HTMLResponse

from sketchmark.episode.model import Options
from sketchmark.episode.sample import Context, Part, of
from sketchmark.errors import BadInput, CallFailed, CannotPlay
from sketchmark.models.providers.openai import OpenAI
from tests.models.fake_server import DRAWN, KEY, FarEnd, Fault, chat_answer, in_base64, picture, picture_block


def openai(far: FarEnd, name: str = "some-chat", **args: Any) -> OpenAI:
    return OpenAI(name, base_url=f"{far.url}/v1", **{"max_retries": 0, **args})


EIGHT = [picture(shade) for shade in range(8)]
DRAWN_BETWEEN = Context(
    (
        Part(EIGHT[0]),
        Part("Plan step 1."),
        Part("Next, move left.", by="model"),
        Part("Draw it."),
        Part(EIGHT[1], by="model"),
        Part("Answer now."),
    )
)


async def test_a_context_of_eight_pictures_sends_eight_pictures_in_order(far: FarEnd) -> None:
    reply = await openai(far).say(of("Look:", *EIGHT, "Which one?"), Options(max_new_tokens=64, seed=7))
    assert far.seen[0].pictures == EIGHT
    assert [block["type"] for block in far.seen[0].body["messages"][0]["content"]] == ["text"] + ["image_url"] * 8 + [
        "text"
    ]
    assert (reply.text, reply.finish, reply.left_out) == ("left", "stop", ())
    assert (reply.usage.tokens_in, reply.usage.tokens_out, reply.usage.pictures_in) == (11, 5, 8)
    assert far.seen[0].body | {"messages": 0} == {
        "model": "some-chat", "messages": 0, "temperature": 0.0, "max_tokens": 64, "seed": 7,
    }  # fmt: skip


async def test_what_the_model_said_is_the_assistants_and_what_it_drew_is_shown_by_the_user(far: FarEnd) -> None:
    await openai(far).say(DRAWN_BETWEEN, Options())
    shape = [
        (
            message["role"],
            message["content"] if isinstance(message["content"], str) else [b["type"] for b in message["content"]],
        )
        for message in far.seen[0].body["messages"]
    ]
    assert shape == [
        ("user", ["image_url", "text"]),
        ("assistant", "Next, move left."),
        ("user", ["text", "image_url", "text"]),
    ]


async def test_a_compatible_server_draws_in_chat_from_the_whole_context(far: FarEnd) -> None:
    reply = await openai(far).draw(DRAWN_BETWEEN, Options())
    assert far.seen[0].body["modalities"] == ["image", "text"]
    assert far.seen[0].pictures == EIGHT[:2]
    assert (reply.picture, reply.finish, reply.left_out) == (DRAWN, "stop", ())
    assert (reply.usage.pictures_in, reply.usage.pictures_out) == (2, 1)


@pytest.mark.parametrize(
    "message",
    [
        {"content": [{"type": "text", "text": "Here: "}, picture_block(DRAWN)]},
        {"content": "Here: ", "images": [picture_block(DRAWN)]},
        {"content": f"Here: ![drawn](data:image/png;base64,{in_base64(DRAWN)})"},
    ],
    ids=["content list", "images beside content", "markdown data URL"],
)
async def test_every_known_shape_of_a_drawn_chat_reply_is_read(far: FarEnd, message: dict[str, Any]) -> None:
    far.answer = chat_answer({"role": "assistant", **message})
    reply = await openai(far).draw(of("Draw."), Options())
    assert (reply.text, reply.picture) == ("Here: ", DRAWN)


async def test_edit_sends_all_pictures_and_the_texts_as_prompt(far: FarEnd) -> None:
    reply = await openai(far, "gpt-image-2", quality="low").draw(of(*EIGHT, "Draw it."), Options())
    assert far.seen[0].path == "/v1/images/edits"
    assert far.seen[0].pictures == EIGHT
    assert far.seen[0].body == {"model": "gpt-image-2", "prompt": "Draw it.", "n": "1", "quality": "low"}
    assert (reply.picture, reply.left_out) == (DRAWN, ())
    assert (reply.usage.tokens_in, reply.usage.tokens_out, reply.usage.pictures_out) == (30, 70, 1)


async def test_edit_says_that_it_cannot_place_pictures_among_texts(far: FarEnd) -> None:
    reply = await openai(far, draw_model="gpt-image-2").draw(DRAWN_BETWEEN, Options())
    assert far.seen[0].body["prompt"] == "Plan step 1.\n\nNext, move left.\n\nDraw it.\n\nAnswer now."
    assert reply.left_out == ("where the pictures stood among the texts: the image API takes one prompt",)


async def test_of_more_pictures_than_the_image_api_takes_the_newest_are_sent(far: FarEnd) -> None:
    reply = await openai(far, "gpt-image-2").draw(of(*EIGHT, *EIGHT, DRAWN, "Draw it."), Options())
    assert far.seen[0].pictures == [*EIGHT[1:], *EIGHT, DRAWN]
    assert reply.left_out == ("1 of 17 pictures: gpt-image-2 takes 16, the newest 16 were sent",)


async def test_generate_leaves_every_picture_out_and_says_so(far: FarEnd) -> None:
    reply = await openai(far, draw_with="generate").draw(
        of(*EIGHT, "Draw it."), Options(extra={"width": 64, "height": 32})
    )
    assert far.seen[0].path == "/v1/images/generations"
    asked = {"size": "64x32", "response_format": "b64_json", "output_format": "png"}
    assert far.seen[0].body == {"model": "some-chat", "prompt": "Draw it.", "n": 1, **asked}
    assert reply.left_out == ("8 of 8 pictures: images.generate takes none",)


async def test_without_a_picture_to_edit_one_is_generated(far: FarEnd) -> None:
    reply = await openai(far, "gpt-image-2").draw(of("Draw a maze."), Options())
    assert far.seen[0].path == "/v1/images/generations"
    assert reply.left_out == ()


async def test_a_picture_returned_as_a_url_is_fetched_without_the_key(far: FarEnd) -> None:
    far.answer = {"created": 1, "data": [{"url": f"{far.url}/pictures/drawn.png"}]}
    reply = await openai(far, "gpt-image-2").draw(of("Draw."), Options())
    assert reply.picture == DRAWN
    assert "authorization" not in far.seen[1].headers


@pytest.mark.parametrize("address", ["file:///etc/hostname", "ftp://host/x.png"])
async def test_only_http_addresses_of_pictures_are_fetched(far: FarEnd, address: str) -> None:
    far.answer = {"created": 1, "data": [{"url": address}]}
    with pytest.raises(CallFailed, match="is not fetched") as caught:
        await openai(far, "gpt-image-2").draw(of("Draw."), Options())
    assert caught.value.kind == "bad_reply"


async def test_of_several_pictures_in_a_message_the_last_is_the_drawing(far: FarEnd) -> None:
    far.answer = chat_answer({"role": "assistant", "content": [picture_block(EIGHT[0]), picture_block(DRAWN)]})
    reply = await openai(far).draw(of("Draw."), Options())
    assert (reply.picture, reply.usage.pictures_out) == (DRAWN, 2)


async def test_a_bmp_picture_is_sent_as_png(far: FarEnd) -> None:
    await openai(far).say(of(picture(9, "BMP"), "What is it?"), Options())
    [sent] = far.seen[0].pictures
    assert (sent.format, sent.pixel_digest) == ("png", picture(9).pixel_digest)


@pytest.mark.parametrize(
    ("message", "reason", "finish"),
    [
        ({"content": "so far"}, "length", "length"),
        ({"content": ""}, "length", "length"),
        ({"content": ""}, "content_filter", "refused"),
        ({"content": None, "refusal": "I will not."}, "stop", "refused"),
        ({"content": " \n"}, "stop", "empty"),
        ({"content": None}, "stop", "empty"),
    ],
)
async def test_the_end_of_a_reply_is_recorded_as_what_it_is(
    far: FarEnd, message: dict[str, Any], reason: str, finish: str
) -> None:
    far.answer = chat_answer({"role": "assistant", **message}, reason)
    assert (await openai(far).say(of("Hm?"), Options())).finish == finish


async def test_a_drawing_reply_without_a_picture_is_recorded_with_its_words(far: FarEnd) -> None:
    far.answer = chat_answer({"role": "assistant", "content": "I cannot draw."})
    reply = await openai(far).draw(of("Draw."), Options())
    assert (reply.finish, reply.picture, reply.text) == ("no_picture", None, "I cannot draw.")


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Blocked.", "code": "moderation_blocked"}},
        {
            "error": {
                "message": "Blocked.",
                "code": "content_filter",
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
    ],
)
async def test_a_content_filter_that_answers_400_is_a_refusal(far: FarEnd, body: dict[str, Any]) -> None:
    far.faults = [Fault(400, body=body), Fault(400, body=body)]
    assert (await openai(far).say(of("Hm?"), Options())).finish == "refused"
    assert (await openai(far, "gpt-image-2").draw(of("Draw."), Options())).finish == "refused"


async def test_a_page_that_is_not_json_is_a_failed_call(far: FarEnd) -> None:
    far.answer = HTMLResponse("<h1>Gateway</h1>")
    with pytest.raises(CallFailed) as caught:
        await openai(far).say(of("Hm?"), Options())
    assert caught.value.kind == "bad_reply"


async def test_a_returned_picture_that_is_none_is_a_failed_call(far: FarEnd) -> None:
    far.answer = {"created": 1, "data": [{"b64_json": "bm90IGEgcGljdHVyZQ=="}]}
    with pytest.raises(CallFailed, match="not a picture") as caught:
        await openai(far, "gpt-image-2").draw(of("Draw."), Options())
    assert caught.value.kind == "bad_reply"


async def test_an_empty_text_in_the_context_is_left_out_and_named(far: FarEnd) -> None:
    reply = await openai(far).say(Context((Part("Plan."), Part("", by="model"), Part("Go on."))), Options())
    assert [block["text"] for block in far.seen[0].body["messages"][0]["content"]] == ["Plan.", "Go on."]
    assert reply.left_out == ("1 empty text",)


def test_on_openais_own_server_a_chat_model_draws_through_an_image_model(far: FarEnd) -> None:
    model = OpenAI("gpt-4o")
    assert model.identity() == {"name": "openai/gpt-4o", "draw_model": "gpt-image-2", "draw_with": "responses"}
    assert (model.abilities.say, model.abilities.draw) == (True, True)


async def test_an_image_model_says_nothing(far: FarEnd) -> None:
    model = OpenAI("gpt-image-2")
    assert (model.abilities.say, model.abilities.draw) == (False, True)
    with pytest.raises(CannotPlay):
        await model.say(of("Hm?"), Options())


@pytest.mark.parametrize("name", ["o4-mini", "gpt-5.5", "gpt-6-luna"])
async def test_a_reasoning_model_is_sent_no_temperature(far: FarEnd, name: str) -> None:
    model = openai(far, name)
    await model.say(of("Hm?"), Options())
    assert "temperature" not in far.seen[0].body
    assert model.identity()["send_temperature"] is False


def test_an_unknown_argument_is_refused_with_the_known_ones(far: FarEnd) -> None:
    with pytest.raises(BadInput, match=r"takes no argument drawwith .*draw_with") as caught:
        OpenAI("gpt-4o", drawwith="edit")
    assert "base_url" in str(caught.value)


def test_a_missing_key_is_named_before_the_first_call(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(BadInput, match="OPENAI_API_KEY is not set"):
        OpenAI("gpt-4o")


def test_the_identity_holds_the_server_but_not_its_password(far: FarEnd) -> None:
    model = OpenAI("m", base_url="http://me:hush-hush-hush@host:8000/v1/?token=abc")
    assert model.identity() == {"name": "openai/m", "base_url": "http://host:8000/v1", "draw_with": "chat"}
    assert KEY not in repr(vars(model))


async def test_other_servers_image_endpoints_are_asked_for_png_and_given_their_settings(far: FarEnd) -> None:
    model = openai(far, "Qwen/Qwen-Image-Edit-2509", draw_with="edit", edit_pictures=4)
    options = Options(seed=7, extra={"num_inference_steps": 20, "true_cfg_scale": 4.0, "cfg_text_scale": 3})
    reply = await model.draw(of(*EIGHT[:6], "Draw."), options)
    sent = far.seen[0].body
    wanted = {"response_format": "b64_json", "output_format": "png", "seed": "7", "num_inference_steps": "20"}
    assert {name: sent[name] for name in wanted} == wanted and sent["true_cfg_scale"] == "4.0"
    assert "cfg_text_scale" not in sent
    assert far.seen[0].pictures == EIGHT[2:6]
    assert reply.left_out == ("2 of 6 pictures: Qwen/Qwen-Image-Edit-2509 takes 4, the newest 4 were sent",)
    assert model.identity()["edit_pictures"] == 4


async def test_an_openai_image_model_behind_a_gateway_is_sent_what_openai_knows(far: FarEnd) -> None:
    await openai(far, "gpt-image-2").draw(of(EIGHT[0], "Draw."), Options(seed=7))
    assert not {"seed", "response_format"} & set(far.seen[0].body)
