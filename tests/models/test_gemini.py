"""The Gemini adapter and the real SDK, over real HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from sketchmark.episode.model import Options
from sketchmark.episode.sample import Context, Part, of
from sketchmark.errors import CallFailed, CannotPlay
from sketchmark.models.providers.gemini import _FINISHES, Gemini
from tests.models.fake_server import DRAWN, KEY, FarEnd, Fault, gemini_answer, in_base64, picture

EIGHT = [picture(shade) for shade in range(8)]
REFUSALS = (
    "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
)  # fmt: skip
INLINE = {"inlineData": {"mimeType": "image/png", "data": in_base64(DRAWN)}}


def gemini(far: FarEnd, name: str = "gemini-x-image", **args: Any) -> Gemini:
    return Gemini(name, base_url=far.url, **{"max_retries": 0, **args})


async def test_eight_pictures_are_sent_inline_and_in_order(far: FarEnd) -> None:
    reply = await gemini(far, "gemini-x").say(of("Look:", *EIGHT, "Which?"), Options(max_new_tokens=64, seed=3))
    seen = far.seen[0]
    assert seen.path.endswith("/models/gemini-x:generateContent")
    assert seen.headers["x-goog-api-key"] == KEY
    assert seen.pictures == EIGHT
    assert [next(iter(part)) for part in seen.body["contents"][0]["parts"]] == ["text", *["inlineData"] * 8, "text"]
    assert seen.body["generationConfig"] == {
        "temperature": 0.0, "maxOutputTokens": 64, "seed": 3, "responseModalities": ["TEXT"],
    }  # fmt: skip
    assert (reply.text, reply.finish, reply.left_out) == ("left", "stop", ())
    assert (reply.usage.tokens_in, reply.usage.tokens_out, reply.usage.pictures_in) == (11, 5, 8)


async def test_a_drawing_asks_for_text_and_image_with_the_whole_context(far: FarEnd) -> None:
    context = Context(
        (Part(EIGHT[0]), Part("Plan."), Part("Left.", by="model"), Part(EIGHT[1], by="model"), Part("Draw."))
    )
    reply = await gemini(far, aspect_ratio="1:1").draw(context, Options())
    body = far.seen[0].body
    assert body["generationConfig"]["responseModalities"] == ["TEXT", "IMAGE"]
    assert body["generationConfig"]["imageConfig"] == {"aspectRatio": "1:1"}
    assert [content["role"] for content in body["contents"]] == ["user", "model", "user"]
    assert far.seen[0].pictures == EIGHT[:2]
    assert (reply.picture, reply.text, reply.left_out) == (DRAWN, "left", ())
    assert (reply.usage.pictures_in, reply.usage.pictures_out) == (2, 1)


async def test_a_draft_among_the_models_thoughts_is_not_the_drawing(far: FarEnd) -> None:
    draft = {"inlineData": {"mimeType": "image/png", "data": in_base64(EIGHT[0])}, "thought": True}
    far.answer = gemini_answer([draft, INLINE])
    assert (await gemini(far).draw(of("Draw."), Options())).picture == DRAWN


async def test_of_several_pictures_the_last_is_the_drawing(far: FarEnd) -> None:
    sketch = {"inlineData": {"mimeType": "image/png", "data": in_base64(EIGHT[0])}}
    far.answer = gemini_answer([sketch, {"text": "and now"}, INLINE])
    reply = await gemini(far).draw(of("Draw."), Options())
    assert (reply.picture, reply.usage.pictures_out) == (DRAWN, 2)


async def test_a_gif_is_sent_as_png_because_the_api_reads_none(far: FarEnd) -> None:
    await gemini(far).say(of(picture(9, "GIF"), "?"), Options())
    assert far.seen[0].pictures[0].format == "png"


@pytest.mark.parametrize(
    ("answer", "said", "drawn"),
    [
        (gemini_answer([{"text": "so far"}], "MAX_TOKENS"), "length", "length"),
        (gemini_answer([], "SAFETY"), "refused", "refused"),
        (gemini_answer([], "IMAGE_SAFETY"), "refused", "refused"),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "refused", "refused"),
        (gemini_answer([{"text": "no"}], "NO_IMAGE"), "no_picture", "no_picture"),
        (gemini_answer([{"text": "words only"}]), "stop", "no_picture"),
        (gemini_answer([]), "empty", "no_picture"),
        (gemini_answer([INLINE]), "empty", "stop"),
        (gemini_answer([{"text": "so far"}], "CONTINUATION"), "length", "length"),
        (gemini_answer([], "UNEXPECTED_TOOL_CALL"), "empty", "no_picture"),
        *((gemini_answer([], reason), "refused", "refused") for reason in REFUSALS),
    ],
)
async def test_the_end_of_a_reply_is_recorded_as_what_it_is(
    far: FarEnd, answer: dict[str, Any], said: str, drawn: str
) -> None:
    far.answer = answer
    model = gemini(far)
    assert (await model.say(of("?"), Options())).finish == said
    assert (await model.draw(of("?"), Options())).finish == drawn


@pytest.mark.filterwarnings("ignore:LATER is not a valid FinishReason")
@pytest.mark.parametrize("reason", ["OTHER", "IMAGE_OTHER", "MALFORMED_RESPONSE", "LATER"])
async def test_an_end_that_says_nothing_about_the_model_is_no_reply_and_asked_again(far: FarEnd, reason: str) -> None:
    far.answer = gemini_answer([{"text": "so f"}], reason)
    with pytest.raises(CallFailed, match=f"ended with {reason} at .*, tried 2 times") as caught:
        await gemini(far, max_retries=1).say(of("?"), Options())
    assert (caught.value.kind, caught.value.blames_model, len(far.seen)) == ("bad_reply", False, 2)


async def test_every_end_that_the_sdk_knows_has_been_thought_of() -> None:
    from google.genai.types import FinishReason

    unknown = {"FINISH_REASON_UNSPECIFIED", "OTHER", "IMAGE_OTHER", "MALFORMED_RESPONSE"}
    assert {reason.name for reason in FinishReason} - set(_FINISHES) == unknown


async def test_the_wait_google_asks_for_in_the_body_is_kept(far: FarEnd) -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.4s"}
    body = {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED", "details": [info]}}
    far.faults = [Fault(429, body=body)]
    await gemini(far, max_retries=1).say(of("?"), Options())
    assert 0.4 <= far.seen[1].at - far.seen[0].at < 2


async def test_a_server_error_is_tried_again_by_us_not_by_the_sdk(far: FarEnd) -> None:
    far.faults = [Fault(500)] * 3
    with pytest.raises(CallFailed) as caught:
        await gemini(far).say(of("?"), Options())
    assert (caught.value.kind, len(far.seen)) == ("server_error", 1)


async def test_a_slow_reply_is_a_time_out(far: FarEnd) -> None:
    far.faults = [Fault(delay=1)]
    with pytest.raises(CallFailed) as caught:
        await gemini(far, timeout=0.3).say(of("?"), Options())
    assert caught.value.kind == "timeout"


async def test_a_server_that_is_not_there_is_a_connection_failure(far: FarEnd) -> None:
    with pytest.raises(CallFailed) as caught:
        await Gemini("x", base_url="http://127.0.0.1:9", max_retries=0).say(of("?"), Options())
    assert caught.value.kind == "connection"


async def test_a_model_without_pictures_among_its_outputs_draws_only_through_another(far: FarEnd) -> None:
    with pytest.raises(CannotPlay, match="draw_model"):
        await gemini(far, "gemini-x").draw(of("?"), Options())
    await gemini(far, "gemini-x", draw_model="gemini-y-image").draw(of("?"), Options())
    assert far.seen[0].path.endswith("/models/gemini-y-image:generateContent")
