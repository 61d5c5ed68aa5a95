from __future__ import annotations

import asyncio
import base64
import io
import random
import threading

import pytest
from PIL import Image

from sketchmark.episode.model import Options
from sketchmark.episode.sample import of
from sketchmark.errors import BadPicture
from sketchmark.media import Picture
from sketchmark.models.failures import BadReply
from sketchmark.models.http_bodies import Encoder, picture_from_base64, picture_from_bytes
from sketchmark.models.providers.gemini import Gemini
from sketchmark.models.providers.openai import OpenAI
from tests.models.fake_server import (
    DRAWN,
    FarEnd,
    Fault,
    chat_answer,
    gemini_answer,
    in_base64,
    picture,
    picture_block,
)

PNG = frozenset({"png"})


@pytest.mark.parametrize("kind", ["PNG", "BMP"])
async def test_a_picture_is_made_for_the_wire_once_however_often_it_is_sent(kind: str) -> None:
    encoder = Encoder(PNG)
    [(media_type, text)] = set(await asyncio.gather(*(encoder.base64(picture(1, kind)) for _ in range(20))))
    sent = await encoder.sendable(picture(1, kind))
    assert (media_type, text) == ("image/png", in_base64(sent))
    assert sent.pixel_digest == picture(1).pixel_digest
    assert encoder.decoded == (kind == "BMP")


async def test_a_picture_that_goes_as_it_came_is_not_held() -> None:
    encoder = Encoder(PNG)
    shown = picture(1)
    assert await encoder.sendable(shown) is shown
    again = picture(1)
    assert await encoder.sendable(again) is again


@pytest.mark.parametrize("opaque", [True, False])
async def test_what_has_to_be_decoded_is_decoded_off_the_event_loop(
    monkeypatch: pytest.MonkeyPatch, opaque: bool
) -> None:
    threads: list[int] = []
    look = Picture.shown

    def watched(self: Picture) -> Picture:
        threads.append(threading.get_ident())
        return look(self)

    monkeypatch.setattr(Picture, "shown", watched)
    encoder = Encoder(PNG)
    shown = Picture.from_image(Image.new("RGBA", (4, 4), (9, 9, 9, 255 if opaque else 7)))
    assert (await encoder.sendable(shown) is shown) == opaque
    assert threads and threads != [threading.get_ident()] and encoder.decoded == 1


async def test_a_picture_that_cannot_be_read_fails_whoever_sends_it_and_nobody_else() -> None:
    encoder = Encoder(PNG)
    broken = Picture(b"BM nothing", "bmp")
    outcomes = await asyncio.gather(*(encoder.sendable(broken) for _ in range(3)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [BadPicture] * 3
    assert (await encoder.sendable(picture(1, "BMP"))).pixel_digest == picture(1).pixel_digest


async def test_who_stops_waiting_for_a_picture_does_not_stop_the_others() -> None:
    encoder = Encoder(PNG)
    first, second = (asyncio.create_task(encoder.sendable(picture(1, "BMP"))) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).pixel_digest == picture(1).pixel_digest
    assert first.cancelled() and encoder.decoded == 1


async def test_the_cache_forgets_the_oldest_picture_when_it_is_full() -> None:
    encoder = Encoder(PNG, cache_bytes=2 * len(picture(1).data) + 10)
    for shade in (1, 2, 3, 3, 1):
        await encoder.sendable(picture(shade, "BMP"))
    assert encoder.decoded == 4


async def test_a_growing_context_decodes_each_picture_once(far: FarEnd) -> None:
    asked = OpenAI("m", base_url=f"{far.url}/v1")
    for steps in range(1, 5):
        await asked.say(of(*(picture(shade, "BMP") for shade in range(steps)), "?"), Options())
    assert [len(seen.pictures) for seen in far.seen] == [1, 2, 3, 4]
    assert asked._encoder.decoded == 4


@pytest.mark.parametrize("text", ["!!!", "AAA", "bm90IGEgcGljdHVyZQ=="])
async def test_returned_text_that_is_no_picture_is_a_bad_reply(text: str) -> None:
    with pytest.raises(BadReply):
        await picture_from_base64(text)


def photo(kind: str) -> bytes:
    """Large enough for a decoder to have something left when it meets the end."""
    buffer = io.BytesIO()
    Image.effect_noise((64, 64), 90).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
async def test_a_picture_that_was_cut_off_does_not_count(kind: str) -> None:
    data = photo(kind)
    whole = await picture_from_base64(base64.b64encode(data).decode())
    assert whole == Picture.from_bytes(data)
    for length in (len(data) // 4, len(data) // 2, len(data) * 3 // 4):
        cut = base64.b64encode(data[:length]).decode()
        with pytest.raises(BadReply, match="the server returned"):
            await picture_from_base64(cut)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
async def test_whatever_bytes_come_as_a_picture_they_are_one_or_a_bad_reply(kind: str) -> None:
    data, chance = photo(kind), random.Random(7)
    for _ in range(60):
        spoilt = bytearray(data)
        for _ in range(chance.randint(1, 8)):
            spoilt[chance.randrange(16, len(spoilt))] = chance.randrange(256)
        try:
            (await picture_from_bytes(bytes(spoilt))).image()
        except BadReply:
            continue


@pytest.mark.parametrize("provider", ["openai", "gemini"])
async def test_a_drawing_that_was_cut_off_is_asked_for_again(far: FarEnd, provider: str) -> None:
    cut = Picture(photo("PNG")[:2000], "png")
    inline = {"inlineData": {"mimeType": "image/png", "data": in_base64(cut)}}
    broken = {
        "openai": chat_answer({"role": "assistant", "content": [picture_block(cut)]}),
        "gemini": gemini_answer([inline]),
    }
    far.faults = [Fault(200, body=broken[provider])]
    model = (
        OpenAI("m", base_url=f"{far.url}/v1", max_retries=1)
        if provider == "openai"
        else Gemini("m-image", base_url=far.url, max_retries=1)
    )
    assert (await model.draw(of("Draw."), Options())).picture == DRAWN
    assert len(far.seen) == 2
