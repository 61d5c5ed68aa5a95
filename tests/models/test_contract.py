"""The contract of every adapter, over real HTTP with the real SDKs, against a server that validates every body."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
import tracemalloc
from base64 import b64decode, urlsafe_b64decode
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.responses import RedirectResponse, Response, StreamingResponse

from sketchmark import Context, Model, Options, Part, Sound
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, CannotPlay
from sketchmark.media import Picture
from sketchmark.models import load_model
from sketchmark.models.call import LARGEST_DRAWING, LARGEST_TEXT
from sketchmark.models.layout import without_sounds
from sketchmark.models.providers.anthropic import Anthropic
from sketchmark.models.providers.azure import Azure
from sketchmark.models.providers.bagel import make
from sketchmark.models.providers.gemini import _FINISHES, Gemini
from sketchmark.models.providers.openai import OpenAI
from sketchmark.models.wrappers import CallCount, CountedModel
from tests.core.hearing import encoded, tone
from tests.models.asking import draw, failure, say
from tests.models.fake_server import (
    DRAWN,
    KEY,
    FarEnd,
    Fault,
    anthropic_answer,
    chat_answer,
    gemini_answer,
    in_base64,
    picture,
    picture_block,
)
from tests.models.test_http import packed, photo

EIGHT = [picture(shade) for shade in range(8)]
BAGEL = "ByteDance-Seed/BAGEL-7B-MoT"


@dataclass(frozen=True)
class Adapter:
    """A way to make a model for a server, and its request for a text without the conversation."""

    make: Callable[..., Model]
    path: str
    key: tuple[str, str]
    body: dict[str, Any]


ADAPTERS = {
    "openai": Adapter(
        lambda url, **args: OpenAI("m", base_url=f"{url}/v1", **args),
        "/v1/chat/completions",
        ("authorization", f"Bearer {KEY}"),
        {"model": "m", "temperature": 0.0, "max_tokens": 64, "seed": 7},
    ),
    "azure": Adapter(
        lambda url, **args: Azure("m", azure_endpoint=url, image_deployment="d", **args),
        "/openai/deployments/m/chat/completions",
        ("api-key", KEY),
        {"model": "m", "temperature": 0.0, "max_completion_tokens": 64, "seed": 7},
    ),
    "bagel": Adapter(
        lambda url, **args: make("", base_url=f"{url}/v1", **args),
        "/v1/chat/completions",
        ("authorization", f"Bearer {KEY}"),
        {
            "model": BAGEL,
            "temperature": 0.0,
            "max_tokens": 64,
            "seed": 7,
            "modalities": ["text"],
            "repetition_penalty": 1.0,
        },
    ),
    "gemini": Adapter(
        lambda url, **args: Gemini("m", base_url=url, draw_model="m-image", **args),
        "/v1/models/m:generateContent",
        ("x-goog-api-key", KEY),
        {"generationConfig":
            {"temperature": 0.0, "maxOutputTokens": 64, "seed": 7, "responseModalities": ["TEXT"]}},
    ),
    "anthropic": Adapter(
        lambda url, **args: Anthropic("m", base_url=url, **args),
        "/v1/messages",
        ("authorization", f"Bearer {KEY}"),
        {"model": "m", "max_tokens": 64, "temperature": 0.0},
    ),
}  # fmt: skip
DRAWERS = [name for name in ADAPTERS if name != "anthropic"]


def adapter(far: FarEnd, name: str, **args: Any) -> Model:
    far.bagel = name == "bagel"
    return ADAPTERS[name].make(far.url, **{"max_retries": 0, **args})


def turns(body: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Each message of a request: its author, and its texts and images in order."""
    found = []
    for message in body.get("messages") or body["contents"]:
        blocks = message.get("content") or message["parts"]
        blocks = [{"text": blocks}] if isinstance(blocks, str) else blocks
        role = "assistant" if message["role"] == "model" else message["role"]
        found.append((role, [block.get("text", "an image") for block in blocks]))
    return found


# Contexts


@pytest.mark.parametrize("name", ADAPTERS)
async def test_eight_images_are_sent_in_order_with_the_settings_and_the_key(far: FarEnd, name: str) -> None:
    reply = await say(adapter(far, name), "Look:", *EIGHT, "Which?", max_new_tokens=64, seed=7)
    [seen], wanted = far.seen, ADAPTERS[name]
    assert (seen.path, seen.headers[wanted.key[0]], seen.pictures) == (wanted.path, wanted.key[1], EIGHT)
    assert turns(seen.body) == [("user", ["Look:", *["an image"] * 8, "Which?"])]
    assert {key: seen.body[key] for key in seen.body if key not in ("messages", "contents")} == wanted.body
    assert (reply.text, reply.finish, reply.left_out) == ("left", "stop", ())
    assert (reply.usage.tokens_in, reply.usage.tokens_out, reply.usage.pictures_in) == (11, 5, 8)


@pytest.mark.parametrize("name", ADAPTERS)
async def test_the_assistant_said_its_texts_and_the_user_shows_its_drawings(far: FarEnd, name: str) -> None:
    first = (Part(EIGHT[0]), Part("Plan."), Part("Left.", by="model"))
    context = Context((*first, Part(" "), Part(EIGHT[1], by="model"), Part("So?")))
    reply = await adapter(far, name).say(context, Options())
    wanted = [("user", ["an image", "Plan."]), ("assistant", ["Left."]), ("user", ["an image", "So?"])]
    assert turns(far.seen[0].body) == wanted and reply.left_out == ("1 empty text",)
    assert name != "anthropic" or far.seen[0].body["max_tokens"] == 4096


UNPLACED = "where the pictures were among the texts: the image API takes one prompt"
PROMPT = "Plan.\n\nLeft.\n\nDraw."
EDIT = {"prompt": PROMPT, "n": "1"}
PNG = {"response_format": "b64_json", "output_format": "png"}
DRAWING: dict[str, tuple[Callable[[str], Model], str, dict[str, Any], list[Picture], tuple[str, ...]]] = {
    "chat": (
        lambda url: OpenAI("m", base_url=f"{url}/v1"),
        "/v1/chat/completions",
        {"model": "m", "temperature": 0.0, "modalities": ["image"]},
        EIGHT[:2],
        (),
    ),
    "gemini": (
        lambda url: Gemini("m-image", base_url=url, aspect_ratio="1:1"),
        "/v1/models/m-image:generateContent",
        {"generationConfig":
            {"temperature": 0.0, "responseModalities": ["TEXT", "IMAGE"], "imageConfig": {"aspectRatio": "1:1"}}},
        EIGHT[:2],
        (),
    ),
    "edit": (
        lambda url: OpenAI("gpt-image-2", base_url=f"{url}/v1", quality="low"),
        "/v1/images/edits",
        {"model": "gpt-image-2", **EDIT, "quality": "low"},
        EIGHT[:2],
        (UNPLACED,),
    ),
    "azure": (
        lambda url: Azure("m", azure_endpoint=url, image_deployment="d"),
        "/openai/deployments/d/images/edits",
        {"model": "d", **EDIT},
        EIGHT[:2],
        (UNPLACED,),
    ),
    "generate": (
        lambda url: OpenAI("m", base_url=f"{url}/v1", draw_with="generate"),
        "/v1/images/generations",
        {"model": "m", "prompt": PROMPT, "n": 1, **PNG},
        [],
        ("2 of 2 pictures: images.generate takes none",),
    ),
    "bagel": (
        lambda url: make("", base_url=f"{url}/v1"),
        "/v1/chat/completions",
        {"model": BAGEL, "temperature": 0.0, "modalities": ["image"], "repetition_penalty": 1.0},
        EIGHT[1:2],
        (
            "1 of 2 pictures: the server conditions a drawing on one, the newest was sent",
            "which texts are the model's own: the server reads the user's texts only",
            "where the pictures were among the texts: the server joins the texts",
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWING)
async def test_a_drawing_is_made_from_the_context_and_the_reply_names_what_was_left_out(
    far: FarEnd, name: str
) -> None:
    new, path, body, pictures, left_out = DRAWING[name]
    far.bagel = name == "bagel"
    parts = (Part(EIGHT[0]), Part("Plan."), Part("Left.", by="model"), Part(EIGHT[1], by="model"), Part("Draw."))
    reply = await new(far.url).draw(Context(parts), Options())
    [seen] = far.seen
    assert (seen.path, seen.pictures) == (path, pictures)
    assert {key: seen.body[key] for key in seen.body if key not in ("messages", "contents")} == body
    assert (reply.picture, reply.finish, reply.usage.pictures_out) == (DRAWN, "stop", 1)
    assert sorted(reply.left_out) == sorted(left_out)
    assert name == "generate" or reply.usage.pictures_in == len(pictures)
    if name in ("edit", "azure", "generate"):
        assert (reply.usage.tokens_in, reply.usage.tokens_out) == (30, 70)
    if name in ("chat", "gemini"):
        assert [role for role, _ in turns(seen.body)] == ["user", "assistant", "user"]
    if name == "gemini":
        assert reply.text == "left"
    if name == "bagel":  # it reads the texts of user messages and the first image, and nothing else
        assert turns(seen.body) == [("user", ["Plan.", "Left.", "an image", "Draw."])]


@pytest.mark.parametrize(("name", "kind"), [("openai", "BMP"), ("azure", "TIFF"), ("gemini", "GIF")])
async def test_an_image_in_a_format_that_the_api_does_not_read_is_sent_as_png(
    far: FarEnd, name: str, kind: str
) -> None:
    await say(adapter(far, name), picture(9, kind), "What is it?")
    [sent] = far.seen[0].pictures
    assert sent.format == "png" and (kind == "GIF" or sent.pixel_digest == picture(9).pixel_digest)


@pytest.mark.parametrize(
    ("name", "given", "sent"),
    [("openai", "wav", "wav"), ("openai", "mp3", "mp3"), ("openai", "flac", "wav"), ("openai", "ogg", "wav"),
     ("openai", "m4a", "wav"), ("gemini", "flac", "flac"), ("gemini", "mp3", "mp3"), ("gemini", "m4a", "wav")],
)  # fmt: skip
async def test_a_sound_is_sent_in_a_format_that_the_provider_reads(
    far: FarEnd, name: str, given: str, sent: str
) -> None:
    sound = tone() if given == "wav" else encoded(given)
    reply = await say(adapter(far, name), EIGHT[1], sound, "Which?")
    assert reply.left_out == () and turns(far.seen[0].body) == [("user", ["an image", "an image", "Which?"])]
    if name == "openai":
        block = far.seen[0].body["messages"][0]["content"][1]["input_audio"]
        kind, data = block["format"], b64decode(block["data"])
    else:
        block = far.seen[0].body["contents"][0]["parts"][1]["inlineData"]
        kind = (block.get("mimeType") or block["mime_type"]).removeprefix("audio/")
        data = urlsafe_b64decode(block["data"])
    assert kind == sent and Sound.from_bytes(data) == (sound if given == sent else sound.as_wav())


@pytest.mark.parametrize(
    ("args", "left_out"),
    [
        ({"draw_with": "edit", "draw_model": "gpt-image-2"}, "2 sounds: an image API takes none"),
        ({"draw_with": "responses", "draw_model": "gpt-image-2"}, "2 sounds: the Responses API takes none"),
    ],
)
async def test_an_api_without_sounds_is_sent_none_and_the_reply_says_so(
    far: FarEnd, args: dict[str, Any], left_out: str
) -> None:
    if args["draw_with"] == "responses":
        call = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": in_base64(DRAWN)}
        far.answer = {"status": "completed", "output": [call]}
    reply = await draw(adapter(far, "openai", **args), EIGHT[1], tone(), tone(880), "Draw.")
    assert reply.left_out == (left_out,) and reply.picture == DRAWN
    assert far.seen[0].pictures == EIGHT[1:2] and "audio" not in str(far.seen[0].body)


def test_sounds_are_left_out_and_counted() -> None:
    assert without_sounds(of("a", EIGHT[0]), "it") == (of("a", EIGHT[0]), ())
    assert without_sounds(of("a", tone(), EIGHT[0]), "it") == (of("a", EIGHT[0]), ("1 sound: it takes none",))


# Abilities, identities, settings


HERE = {"base_url": "http://127.0.0.1:9/v1"}


@pytest.mark.parametrize(
    ("name", "args", "abilities"),
    [
        ("openai/gpt-audio", HERE, "say draw hear"),
        ("openai/gpt-6-luna", {**HERE, "history": "native"}, "say draw native"),
        ("openai/gpt-4o", {}, "say draw hear"),
        ("openai/gpt-image-2", HERE, "draw"),
        ("azure/m", {"azure_endpoint": "http://127.0.0.1:9"}, "say hear"),
        ("azure/m", {"azure_endpoint": "http://127.0.0.1:9", "image_deployment": "d"}, "say draw hear"),
        ("bagel/m", HERE, "say draw hear"),
        ("bagel/m", {**HERE, "mode": "understanding"}, "say hear"),
        ("gemini/m", {}, "say hear"),
        ("gemini/m", {"draw_model": "m-image"}, "say draw hear"),
        ("anthropic/claude", {}, "say"),
        ("player/random", {}, "say draw hear"),
        ("player/solver", {}, "say draw"),
    ],
)
async def test_a_model_says_draws_and_hears_what_its_provider_can(
    far: FarEnd, name: str, args: dict[str, Any], abilities: str
) -> None:
    model = load_model(name, args)
    known = ("say", "draw", "hear", "native")
    assert [one for one in known if getattr(model.abilities, one)] == abilities.split()
    for act in (model.say, model.draw):
        if act.__name__ not in abilities.split():
            with pytest.raises(CannotPlay):
                await act(of("Hm?"), Options())


@pytest.mark.parametrize(
    ("name", "args", "identity"),
    [
        ("openai/gpt-4o", {}, {"draw_model": "gpt-image-2", "draw_with": "responses"}),
        ("openai/gpt-image-2", {}, {"draw_model": "gpt-image-2", "draw_with": "edit"}),
        (
            "openai/m",
            {"base_url": "http://me:hush-hush-hush@host:8000/v1/?token=abc"},
            {"base_url": "http://host:8000/v1", "draw_with": "chat"},
        ),
        ("azure/", {"deployment": "m"}, {"name": "azure/m", "api_version": "2025-04-01-preview"}),
        ("bagel/m", {**HERE, "cfg_text_scale": 6}, {"cfg_text_scale": 6}),
    ],
)
def test_the_identity_holds_what_could_change_a_reply_and_no_password(
    far: FarEnd, name: str, args: dict[str, Any], identity: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "http://127.0.0.1:9")
    model = load_model(name, args)
    assert model.identity().items() >= ({"name": name} | identity).items()
    assert not any(secret in repr(model.identity()) for secret in (KEY, "hush", "abc")) and KEY not in repr(
        vars(model)
    )


@pytest.mark.parametrize(
    ("name", "args", "why"),
    [
        ("openai/m", {"drawwith": "edit"}, "takes no argument drawwith .*base_url.*draw_with"),
        ("openai/m", {"api_key_env": "NO_KEY"}, "NO_KEY is not set"),
        ("azure/m", {}, "azure_endpoint"),
        ("bagel", {}, "base_url=.*code="),
        ("bagel/m", {**HERE, "draw_with": "4"}, "takes no argument draw_with .*cfg_text_scale"),
        ("bagel/m", {**HERE, "cfg_txt_scale": "4"}, "takes no argument cfg_txt_scale .*cfg_text_scale"),
        *(("openai/m", {"base_url": address}, "is not an address")
          for address in ("localhost:8000/v1", "ftp://host/v1", "http://", "http://host:99999/v1", "/v1", "http://a..b/v1",
                          f"http://{'a' * 70}/v1", "http://.a/v1", "http://[::1/v1")),
        *((name, {"base_url": address}, "is not an address") for name in ("anthropic/m", "gemini/m", "bagel/m")
          for address in ("http://a..b/v1", f"http://{'a' * 70}/v1", "ftp://h/v1")),
        ("azure/m", {"azure_endpoint": "http://a..b"}, "is not an address"),
        ("openai/m", {"base_url": "http://a..b/v1|http://a/v1"}, "address 1 of base_url is not an http"),
        *(("openai/m", {name: odd}, f"{name}={odd} is not a number") for name in ("timeout", "max_retries")
          for odd in ("inf", "nan", "1e400", "-inf")),
        ("openai/x", {"base_url": "http://a/v1|"}, "address 2 of base_url is not an http"),
        ("openai/x", {"base_url": "http://a/v1|ftp://b"}, "address 2 of base_url is not an http"),
        ("openai/x", {"base_url": "http://a/v1|http://a/v1/"}, "names a server twice"),
        ("openai/x", {"base_url": "http://a/v1|https://api.openai.com/v1"}, "draw_model, draw_with differ"),
        ("openai/x", {"base_url": "http://a/v1|http://b/v1", "colour": "red"}, "takes no argument colour"),
        ("openai/x", {"base_url": "http://a|http://b", "api_key_env": "A|B|C"}, "3 variables for 2 servers"),
        ("player/solver", {"base_url": "http://a|http://b"}, "takes no argument base_url"),
        ("player/solver", {"hf_token": "ordinaryword"}, "hf_token=… is a key"),
        ("player/solver", {"draw_with": "svg", "svg_retries": 6}, "svg_retries=6 is not a whole number from 0 to 5"),
        ("player/solver", {"draw_with": "svg", "svg_retries": -1}, "svg_retries=-1.0 is not a whole number"),
        ("player/solver", {"draw_with": "svg", "svg_tokens": 0}, "svg_tokens=0.0 is not a whole number from 1"),
        ("player/solver", {"svg_retries": 1}, "takes no argument svg_retries"),
        ("player/solver", {"draw_with": "crayon"}, "takes no argument draw_with"),
        ("openai/m", {"draw_with": "svg", "draw_model": "gpt-image-2"}, "leave out draw_model"),
        ("openai/gpt-image-2", {"draw_with": "svg"}, "only draws"),
        ("openai/gpt-image-2", {"history": "native"}, "a chat model with draw_with=responses"),
        ("openai/m", {"history": "native", "draw_with": "edit"}, "draw_with=responses"),
        ("openai/m", {"history": "native", "draw_with": "svg"}, "leave out history=native"),
        ("openai/m", {"history": "native", "base_url": "http://a/v1|http://b/v1"}, "names several"),
        ("openai/m", {"history": "all"}, "history=all is not plain or native"),
        ("gemini/m", {"history": "native", "draw_model": "m-image"}, "leave out draw_model"),
        ("anthropic/m", {"history": "native"}, "takes no argument history"),
        ("bagel/m", {"history": "native", "base_url": "http://a/v1"}, "takes no argument history"),
        ("player/solver", {"history": "native"}, "takes no argument history"),
    ],
)  # fmt: skip
def test_arguments_that_make_no_sense_are_refused_before_the_first_call(
    far: FarEnd, name: str, args: dict[str, Any], why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        load_model(name, args)


@pytest.mark.parametrize("name", ["o4-mini", "gpt-5.5", "gpt-6-luna"])
async def test_a_reasoning_model_is_sent_no_temperature(far: FarEnd, name: str) -> None:
    model = OpenAI(name, base_url=f"{far.url}/v1")
    await say(model)
    assert "temperature" not in far.seen[0].body and model.identity()["send_temperature"] is False


async def test_anthropic_is_sent_a_temperature_only_on_request(far: FarEnd) -> None:
    await say(adapter(far, "anthropic", send_temperature=True), temperature=0.5)
    assert far.seen[0].body["temperature"] == 0.5


# Replies


def chat(content: Any, finish: str = "stop", **more: Any) -> dict[str, Any]:
    return chat_answer({"role": "assistant", "content": content, **more}, finish)


def inline(shown: Picture, **more: Any) -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": in_base64(shown)}, **more}


REFUSALS = ("SAFETY", "IMAGE_SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
            "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR", "ESCALATION")  # fmt: skip


@pytest.mark.parametrize(
    ("name", "answer", "said", "drawn"),
    [
        ("openai", chat("so far", "length"), "length", "length"),
        ("openai", chat("", "length"), "length", "length"),
        ("openai", chat("", "content_filter"), "refused", "refused"),
        ("openai", chat(None, refusal="I will not."), "refused", "refused"),
        ("openai", chat(" \n"), "empty", "no_picture"),
        ("openai", chat(None), "empty", "no_picture"),
        ("openai", chat("I cannot draw."), "stop", "no_picture"),
        ("gemini", gemini_answer([{"text": "so far"}], "MAX_TOKENS"), "length", "length"),
        ("gemini", gemini_answer([{"text": "so far"}], "CONTINUATION"), "length", "length"),
        ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}, "refused", "refused"),
        ("gemini", gemini_answer([{"text": "no"}], "NO_IMAGE"), "no_picture", "no_picture"),
        ("gemini", gemini_answer([{"text": "words only"}]), "stop", "no_picture"),
        ("gemini", gemini_answer([]), "empty", "no_picture"),
        ("gemini", gemini_answer([inline(DRAWN)]), "empty", "stop"),
        ("gemini", gemini_answer([], "UNEXPECTED_TOOL_CALL"), "empty", "no_picture"),
        *(("gemini", gemini_answer([], reason), "refused", "refused") for reason in REFUSALS),
        ("anthropic", anthropic_answer("so far", "max_tokens"), "length", None),
        ("anthropic", anthropic_answer("", "refusal"), "refused", None),
        ("anthropic", anthropic_answer("", "end_turn"), "empty", None),
        ("anthropic", anthropic_answer("x", "end_turn"), "stop", None),
    ],
)
async def test_the_end_of_a_reply_is_recorded_as_what_it_is(
    far: FarEnd, name: str, answer: dict[str, Any], said: str, drawn: str | None
) -> None:
    far.answer = answer
    model = adapter(far, name)
    assert (await say(model)).finish == said
    if drawn:
        reply = await draw(model)
        assert (reply.finish, reply.picture) == (drawn, DRAWN if drawn == "stop" else None)
        assert "I cannot draw." not in str(answer) or reply.text == "I cannot draw."


@pytest.mark.parametrize(
    ("name", "answer", "text", "count"),
    [
        ("openai", chat([{"type": "text", "text": "Here: "}, picture_block(DRAWN)]), "Here: ", 1),
        ("openai", chat("Here: ", images=[picture_block(DRAWN)]), "Here: ", 1),
        ("openai", chat(f"Here: ![drawn](data:image/png;base64,{in_base64(DRAWN)})"), "Here: ", 1),
        ("openai", chat([picture_block(EIGHT[0]), picture_block(DRAWN)]), "", 2),
        ("gemini", gemini_answer([inline(EIGHT[0]), {"text": "and now"}, inline(DRAWN)]), "and now", 2),
        ("gemini", gemini_answer([inline(EIGHT[0], thought=True), inline(DRAWN)]), "", 1),
    ],
)
async def test_the_last_image_of_a_reply_is_the_drawing_in_every_known_shape(
    far: FarEnd, name: str, answer: dict[str, Any], text: str, count: int
) -> None:
    far.answer = answer
    reply = await draw(adapter(far, name))
    assert (reply.text, reply.picture, reply.usage.pictures_out) == (text, DRAWN, count)


@pytest.mark.parametrize("name", ["openai", "gemini"])
async def test_a_drawing_that_was_cut_off_is_asked_for_again(far: FarEnd, name: str) -> None:
    cut = Picture(photo("PNG")[:2000], "png")
    far.faults = [
        Fault(200, body={"openai": chat([picture_block(cut)]), "gemini": gemini_answer([inline(cut)])}[name])
    ]
    assert (await draw(adapter(far, name, max_retries=1))).picture == DRAWN
    assert len(far.seen) == 2


BLOCKED = {"message": "Blocked.", "code": "content_filter"}


@pytest.mark.parametrize(
    "error",
    [{"message": "Blocked.", "code": "moderation_blocked"},
     {**BLOCKED, "innererror": {"code": "ResponsibleAIPolicyViolation"}}],
)  # fmt: skip
async def test_a_content_filter_that_answers_400_is_a_refusal(far: FarEnd, error: dict[str, Any]) -> None:
    far.faults = [Fault(400, body={"error": error}) for _ in range(2)]
    assert (await say(adapter(far, "openai"))).finish == "refused"
    assert (await draw(adapter(far, "openai", draw_model="gpt-image-2"))).finish == "refused"


@pytest.mark.filterwarnings("ignore:LATER is not a valid FinishReason")
@pytest.mark.parametrize("reason", ["OTHER", "IMAGE_OTHER", "MALFORMED_RESPONSE", "PUP_LIMITED_DISABLED", "LATER"])
async def test_an_end_that_says_nothing_about_the_model_is_no_reply_and_is_asked_for_again(
    far: FarEnd, reason: str
) -> None:
    far.answer = gemini_answer([{"text": "so f"}], reason)
    error = await failure(adapter(far, "gemini", max_retries=1))
    assert f"ended with {reason} at " in str(error) and ", tried 2 times" in str(error)
    assert (error.kind, error.blames_model, len(far.seen)) == ("bad_reply", False, 2)


async def test_the_adapter_knows_every_end_that_geminis_sdk_knows() -> None:
    from google.genai.types import FinishReason

    unknown = {"FINISH_REASON_UNSPECIFIED", "OTHER", "IMAGE_OTHER", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE",
               "PUP_LIMITED_DISABLED"}  # fmt: skip
    assert {reason.name for reason in FinishReason} - set(_FINISHES) == unknown


# Failures: `test_faults.py` has every fault for every adapter.


@pytest.mark.parametrize("name", ADAPTERS)
async def test_attempts_are_made_by_the_adapter_and_counted_for_the_model_around_it(far: FarEnd, name: str) -> None:
    shared = adapter(far, name, max_retries=2)
    model, judge = CallCount(), CallCount()
    far.faults = [Fault(529, {"Retry-After": "0"}), Fault(500)]
    await say(CountedModel(shared, model))
    far.faults = [Fault(503)]
    await say(CountedModel(shared, judge))
    assert (model.retries, model.answered, model.silent, judge.retries) == (2, 1, 0, 1) and len(far.seen) == 5
    assert model.error.startswith("server_error: ") and f"planned 500 at {far.url}" in model.error
    assert not [header for seen in far.seen for header in seen.headers if "sketchmark" in header], "for an SDK only"


async def test_the_wait_that_google_asks_for_in_the_body_is_kept(far: FarEnd) -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.1s"}
    body = {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED", "details": [info]}}
    far.faults = [Fault(429, body=body)]
    await say(adapter(far, "gemini", max_retries=1))
    assert 0.1 <= far.seen[1].at - far.seen[0].at < 20


# Limits


ZIPPED: dict[str, Any] = {"headers": {"content-encoding": "gzip"}, "media_type": "application/json"}
BOMB = packed(300, 31)


@pytest.mark.parametrize("name", ADAPTERS)
async def test_a_small_reply_that_unpacks_to_a_large_one_fails_the_call_once(far: FarEnd, name: str) -> None:
    model = adapter(far, name, max_retries=3)
    await say(model)
    far.answer = Response(BOMB, **ZIPPED)
    tracemalloc.start()
    error = await failure(model)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert f"over the limit of {LARGEST_TEXT} bytes" in str(error)
    assert (error.kind, len(far.seen)) == ("bad_reply", 2) and most < 3 * LARGEST_TEXT


@pytest.mark.parametrize("name", DRAWERS)
async def test_the_reply_to_a_drawing_may_be_longer_but_has_a_limit_too(far: FarEnd, name: str) -> None:
    far.answer = Response(BOMB, **ZIPPED)
    assert f"over the limit of {LARGEST_DRAWING} bytes" in str(await failure(adapter(far, name), draw))


async def test_calls_at_the_same_time_have_their_own_limits(far: FarEnd) -> None:
    far.answer = Response(BOMB, **ZIPPED)
    model = adapter(far, "gemini")
    said, drawn = await asyncio.gather(say(model), draw(model), return_exceptions=True)
    assert str(LARGEST_TEXT) in str(said) and str(LARGEST_DRAWING) in str(drawn)


class Long:
    """A body that starts again for every reader: a call may be retried."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in range(2 * LARGEST_TEXT // 10**6):
            yield bytes(10**6)


@pytest.mark.parametrize(("name", "status"), [*((name, 200) for name in ADAPTERS), ("openai", 400)])
async def test_a_long_reply_that_does_not_say_its_length_is_not_read_to_its_end(
    far: FarEnd, name: str, status: int
) -> None:
    far.answer = StreamingResponse(Long(), status, media_type="application/json")
    assert "over the limit" in str(await failure(adapter(far, name)))


@pytest.mark.parametrize("name", ADAPTERS)
async def test_a_redirect_to_another_server_is_not_followed_with_the_key(
    far: FarEnd, name: str, other: FarEnd
) -> None:
    far.answer = RedirectResponse(f"{other.url}/v1/elsewhere", 307)
    error = await failure(adapter(far, name, max_retries=3))
    assert f"redirects to {other.url} (if you trust it" in str(error)
    assert (other.seen, len(far.seen), error.kind) == ([], 1, "bad_reply")


# Keys


@pytest.mark.parametrize("name", ADAPTERS)
async def test_a_planted_key_is_in_no_error_traceback_or_log(
    far: FarEnd, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    body = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key", "key": KEY}}
    model = adapter(far, name)
    for status in (400, 401, 429, 500):
        far.faults = [Fault(status, body=body, headers={"x-echo": KEY})]
        error = await failure(model)
        shown = "".join(traceback.format_exception(error)) + repr(error)
        assert "[key]" in shown and KEY not in shown and error.__context__ is None
    assert caplog.records or name in ("openai", "azure", "bagel"), "the SDKs do log"
    assert KEY not in "\n".join(f"{record.getMessage()} {record.exc_text} {record.args}" for record in caplog.records)


@pytest.mark.parametrize("name", ADAPTERS)
async def test_a_planted_key_is_in_no_reply_identity_or_repr(
    far: FarEnd, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said = f"Your key is {KEY}."
    echoes = {
        "gemini": gemini_answer([{"text": said}]) | {"modelVersion": KEY},
        "anthropic": anthropic_answer(said) | {"model": KEY},
    }
    far.answer = echoes.get(name) or chat(said, note=KEY)
    model = adapter(far, name)
    reply = await say(model)
    assert reply.text == "Your key is [key]." and "[key]" in json.dumps(reply.raw)
    assert KEY not in json.dumps([reply.raw, model.identity()]) + repr(model) + repr(vars(model)) + caplog.text
