"""A sound reaches the models that listen, in a format that they read; where it cannot, that is said."""

from __future__ import annotations

from base64 import b64decode, urlsafe_b64decode
from typing import Any

import pytest

from sketchmark.catalog import Catalog
from sketchmark.episode.model import Options
from sketchmark.episode.sample import of
from sketchmark.media.sound import Sound
from sketchmark.models.layout import without_sounds
from sketchmark.models.providers.gemini import Gemini
from sketchmark.models.providers.openai import OpenAI
from sketchmark.serve import serving
from tests.core.hearing import Deaf, Ear, encoded, tone
from tests.models.fake_server import DRAWN, FarEnd, in_base64, picture

RED = picture(1)


def openai(far: FarEnd, **args: Any) -> OpenAI:
    return OpenAI("m", base_url=f"{far.url}/v1", **{"max_retries": 0, **args})


def heard_by_openai(far: FarEnd) -> list[Sound]:
    blocks = [block for message in far.seen[0].body["messages"] for block in message["content"]]
    given = [block["input_audio"] for block in blocks if block["type"] == "input_audio"]
    sounds = [Sound.from_bytes(b64decode(one["data"])) for one in given]
    assert [one["format"] for one in given] == [sound.format for sound in sounds]
    return sounds


@pytest.mark.parametrize("sound", [tone(), encoded("mp3")])
async def test_a_chat_is_given_wav_and_mp3_as_they_came(far: FarEnd, sound: Sound) -> None:
    reply = await openai(far).say(of(RED, sound, "Which?"), Options())
    assert heard_by_openai(far) == [sound] and reply.left_out == ()
    assert [block["type"] for block in far.seen[0].body["messages"][0]["content"]] == [
        "image_url",
        "input_audio",
        "text",
    ]


@pytest.mark.parametrize("name", ["flac", "ogg", "m4a"])
async def test_a_chat_is_given_other_formats_as_wav(far: FarEnd, name: str) -> None:
    await openai(far).say(of(encoded(name), "Which?"), Options())
    assert heard_by_openai(far) == [encoded(name).as_wav()]


@pytest.mark.parametrize(("name", "sent"), [("flac", "audio/flac"), ("mp3", "audio/mp3"), ("m4a", "audio/wav")])
async def test_gemini_is_given_the_formats_that_it_lists(far: FarEnd, name: str, sent: str) -> None:
    sound = encoded(name)
    model = Gemini("gemini-x", base_url=far.url, max_retries=0)
    await model.say(of("Listen:", sound, "Which?"), Options())
    parts = far.seen[0].body["contents"][0]["parts"]
    assert [part.get("text") for part in parts] == ["Listen:", None, "Which?"]
    inline = parts[1]["inlineData"]
    assert (inline.get("mimeType") or inline["mime_type"]) == sent
    assert Sound.from_bytes(urlsafe_b64decode(inline["data"])) == (sound if sent.endswith(name) else sound.as_wav())
    await model.close()


async def test_whoever_draws_by_an_image_api_is_not_given_the_sound_and_that_is_said(far: FarEnd) -> None:
    reply = await openai(far, draw_with="edit", draw_model="gpt-image-2").draw(of(RED, tone(), "Draw."), Options())
    assert reply.left_out == ("1 sound: an image API takes none",) and reply.picture is not None


async def test_the_responses_api_is_not_given_the_sound_and_that_is_said(far: FarEnd) -> None:
    drawing = openai(far, draw_with="responses", draw_model="gpt-image-2")
    call = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": in_base64(DRAWN)}
    far.answer = {"status": "completed", "output": [call]}
    reply = await drawing.draw(of(tone(), tone(880), "Draw."), Options())
    assert reply.left_out == ("2 sounds: the Responses API takes none",)
    assert [block["type"] for block in far.seen[0].body["input"][0]["content"]] == ["input_text"]


def test_nothing_is_said_where_there_is_nothing_to_hear() -> None:
    assert without_sounds(of("a", RED), "it") == (of("a", RED), ())
    assert without_sounds(of("a", tone(), RED), "it") == (of("a", RED), ("1 sound: it takes none",))


@pytest.mark.parametrize(
    ("name", "args", "hears"),
    [
        ("openai/gpt-audio", {"base_url": "http://127.0.0.1:9/v1"}, True),
        ("openai/gpt-6-luna", {"base_url": "http://127.0.0.1:9/v1", "history": "native"}, False),
        ("openai/gpt-image-2", {"base_url": "http://127.0.0.1:9/v1"}, False),
        ("gemini/gemini-x", {"base_url": "http://127.0.0.1:9"}, True),
        ("anthropic/claude", {"base_url": "http://127.0.0.1:9"}, False),
        ("player/random", {}, True),
        ("player/solver", {}, False),
    ],
)
def test_who_hears(name: str, args: dict[str, Any], hears: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(key, "k")
    assert Catalog().model(name, args).abilities.hear is hears


async def test_over_the_wire_the_same_sound_arrives() -> None:
    ear, sound = Ear(), tone()
    with serving(ear) as url:
        model = OpenAI("m", base_url=url, max_retries=0)
        reply = await model.say(of(sound, RED, "Which?"), Options())
        await model.close()
    assert reply.text == "1 sounds"
    assert [part.content for part in ear.contexts[0]] == [sound, RED, "Which?"]


@pytest.mark.parametrize(
    ("heard", "told"),
    [
        ({"data": "AAAA", "format": "wav"}, "not a sound"),
        ({"data": "?", "format": "wav"}, "broken base64"),
        ({"format": "wav"}, "needs its data"),
        ("AAAA", "needs its data"),
    ],
)
async def test_a_server_says_what_is_wrong_with_a_sound(heard: object, told: str) -> None:
    import httpx

    body = {"model": "m", "messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": heard}]}]}
    with serving(Ear()) as url:
        answer = httpx.post(f"{url}/chat/completions", json=body)
    assert answer.status_code == 400 and told in answer.json()["error"]["message"]


async def test_a_server_before_a_deaf_model_refuses_a_sound() -> None:
    from sketchmark.errors import CallFailed

    with serving(Deaf()) as url:
        model = OpenAI("m", base_url=url, max_retries=0)
        with pytest.raises(CallFailed, match="ear takes no sounds"):
            await model.say(of(tone(), "Which?"), Options())
        await model.close()
