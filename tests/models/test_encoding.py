from __future__ import annotations

import asyncio
import threading

import pytest

from sketchmark.models.base import Options
from sketchmark.models.calling import BadReply
from sketchmark.models.encoding import Encoder, picture_from_base64
from sketchmark.models.openai import OpenAI
from sketchmark.parts import of
from tests.models.fake_server import FarEnd, in_base64, picture

PNG = frozenset({"png"})


async def test_a_picture_is_encoded_once_however_often_it_is_sent() -> None:
    encoder = Encoder(PNG)
    urls = await asyncio.gather(*(encoder.data_url(picture(1)) for _ in range(20)))
    assert set(urls) == {f"data:image/png;base64,{in_base64(picture(1))}"}
    assert encoder.encoded == 1


async def test_encoding_runs_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []
    encode = Encoder._encode

    def watched(self: Encoder, shown: object) -> object:
        threads.append(threading.get_ident())
        return encode(self, shown)  # type: ignore[arg-type]

    monkeypatch.setattr(Encoder, "_encode", watched)
    await Encoder(PNG).base64(picture(1))
    assert threads != [threading.get_ident()]


async def test_the_cache_forgets_the_oldest_picture_when_it_is_full() -> None:
    weight = len(picture(1).data) + len(in_base64(picture(1)))
    encoder = Encoder(PNG, cache_bytes=2 * weight + 10)
    for shade in (1, 2, 3, 3, 1):
        await encoder.base64(picture(shade))
    assert encoder.encoded == 4


async def test_a_growing_context_encodes_each_picture_once(far: FarEnd) -> None:
    asked = OpenAI("m", base_url=f"{far.url}/v1")
    for steps in range(1, 5):
        await asked.say(of(*(picture(shade) for shade in range(steps)), "?"), Options())
    assert [len(seen.pictures) for seen in far.seen] == [1, 2, 3, 4]
    assert asked._encoder.encoded == 4


@pytest.mark.parametrize("text", ["!!!", "AAA", "bm90IGEgcGljdHVyZQ=="])
async def test_returned_text_that_is_no_picture_is_a_bad_reply(text: str) -> None:
    with pytest.raises(BadReply):
        await picture_from_base64(text)
