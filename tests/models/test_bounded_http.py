"""No reply is read further than it may be long, packed or not, and no key follows a redirect to another server."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable

import pytest
from starlette.responses import RedirectResponse, Response, StreamingResponse

from sketchmark.episode.model import Model, Options
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.models import call as calling
from sketchmark.models.call import LARGEST_DRAWING, LARGEST_TEXT
from sketchmark.models.providers.anthropic import Anthropic
from sketchmark.models.providers.azure import Azure
from sketchmark.models.providers.bagel import make
from sketchmark.models.providers.batch import connect
from sketchmark.models.providers.gemini import Gemini
from sketchmark.models.providers.openai import OpenAI
from sketchmark.models.wrappers import CallCount, CountedModel
from tests.models.fake_server import KEY, FarEnd, Fault, chat_answer, running

Maker = Callable[[str], Model]
ADAPTERS: dict[str, Maker] = {
    "openai": lambda url: OpenAI("m", base_url=f"{url}/v1", max_retries=3),
    "azure": lambda url: Azure("m", azure_endpoint=url, max_retries=3),
    "bagel": lambda url: make("", base_url=f"{url}/v1", max_retries=3),
    "gemini": lambda url: Gemini("m", base_url=url, max_retries=3, draw_model="m"),
    "anthropic": lambda url: Anthropic("m", base_url=url, max_retries=3),
}
ZEROS = bytes(10**6)


def packed(size: int, window: int) -> bytes:
    """`size` million bytes in about a thousandth of it: gzip (31) or deflate (15)."""
    packer = zlib.compressobj(1, wbits=window)
    return b"".join([*(packer.compress(ZEROS) for _ in range(size)), packer.flush()])


BOMB = packed(300, 31)


@pytest.mark.parametrize("name", ADAPTERS)
async def test_a_small_reply_that_unpacks_to_a_large_one_fails_the_call_once(far: FarEnd, name: str) -> None:
    far.bagel = name == "bagel"
    model = ADAPTERS[name](far.url)
    await model.say(of("Hm?"), Options())
    far.answer = Response(BOMB, headers={"content-encoding": "gzip"}, media_type="application/json")
    tracemalloc.start()
    with pytest.raises(CallFailed, match=f"over the limit of {LARGEST_TEXT} bytes") as caught:
        await model.say(of("Hm?"), Options())
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (caught.value.kind, len(far.seen)) == ("bad_reply", 2)
    assert most < 3 * LARGEST_TEXT
    await model.close()


@pytest.mark.parametrize("name", ["openai", "azure", "bagel", "gemini"])
async def test_the_reply_to_a_drawing_may_be_longer_but_has_a_limit_too(far: FarEnd, name: str) -> None:
    far.bagel = name == "bagel"
    far.answer = Response(BOMB, headers={"content-encoding": "gzip"}, media_type="application/json")
    args = {"image_deployment": "m"} if name == "azure" else {}
    model = Azure("m", azure_endpoint=far.url, **args) if args else ADAPTERS[name](far.url)
    with pytest.raises(CallFailed, match=f"over the limit of {LARGEST_DRAWING} bytes"):
        await model.draw(of("Draw."), Options())
    await model.close()


class Long:
    """From its beginning for everyone who asks: a call may be tried again."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in range(2 * LARGEST_TEXT // len(ZEROS)):
            yield ZEROS


@pytest.mark.parametrize("name", ADAPTERS)
async def test_a_long_reply_that_does_not_say_its_length_is_not_read_to_its_end(far: FarEnd, name: str) -> None:
    far.bagel = name == "bagel"
    far.answer = StreamingResponse(Long(), media_type="application/json")
    model = ADAPTERS[name](far.url)
    with pytest.raises(CallFailed, match="over the limit"):
        await model.say(of("Hm?"), Options())
    await model.close()


@pytest.mark.parametrize("encoding", ["deflate", "gzip, gzip"])
async def test_however_it_is_packed_it_is_counted_unpacked(far: FarEnd, encoding: str) -> None:
    body = packed(30, 15) if encoding == "deflate" else gzip.compress(packed(30, 31))
    far.answer = Response(body, headers={"content-encoding": encoding}, media_type="application/json")
    model = ADAPTERS["openai"](far.url)
    with pytest.raises(CallFailed, match="over the limit"):
        await model.say(of("Hm?"), Options())
    await model.close()


async def test_a_packed_reply_of_the_usual_size_is_read(far: FarEnd) -> None:
    body = json.dumps(chat_answer({"role": "assistant", "content": "left"})).encode()
    far.answer = Response(gzip.compress(body), headers={"content-encoding": "gzip"}, media_type="application/json")
    model = ADAPTERS["openai"](far.url)
    assert (await model.say(of("Hm?"), Options())).text == "left"
    await model.close()


async def test_a_long_error_is_not_read_to_its_end_either(far: FarEnd) -> None:
    far.answer = StreamingResponse(Long(), 400, media_type="application/json")
    model = ADAPTERS["openai"](far.url)
    with pytest.raises(CallFailed, match="over the limit"):
        await model.say(of("Hm?"), Options())
    await model.close()


async def test_the_results_of_a_batch_have_a_limit(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    from sketchmark.models.providers import batch as job
    from sketchmark.models.providers import openai_wire

    monkeypatch.setattr(openai_wire, "LARGEST_FILE", 2_000_000)
    far.answer = StreamingResponse(Long())
    connection = connect("openai/m", {"base_url": f"{far.url}/v1"})
    with pytest.raises(CallFailed, match="over the limit of 2000000 bytes"):
        await job._content(connection, "file-1")
    await connection.close()


async def test_the_results_of_a_batch_are_kept_without_the_key_that_a_server_put_in(far: FarEnd) -> None:
    from sketchmark.models.providers import batch as job

    far.answer = Response(b'{"custom_id": "1", "echo": "' + KEY.encode() + b'"}\n\xff')
    connection = connect("openai/m", {"base_url": f"{far.url}/v1"})
    assert await job._content(connection, "file-1") == b'{"custom_id": "1", "echo": "[key]"}\n\xff'
    await connection.close()


@pytest.mark.parametrize("name", ADAPTERS)
async def test_a_redirect_to_another_server_is_not_followed_with_the_key(far: FarEnd, name: str) -> None:
    far.bagel = name == "bagel"
    with running() as other:
        far.answer = RedirectResponse(f"{other.url}/v1/elsewhere", 307)
        model = ADAPTERS[name](far.url)
        with pytest.raises(CallFailed, match=rf"redirects to {other.url} \(if you trust it") as caught:
            await model.say(of("Hm?"), Options())
        assert (other.seen, len(far.seen), caught.value.kind) == ([], 1, "bad_reply")
        await model.close()


async def test_a_redirect_on_the_same_server_is_followed(far: FarEnd) -> None:
    far.faults = [Fault(307, {"location": "/v1/chat/completions"})]
    model = ADAPTERS["openai"](far.url)
    assert (await model.say(of("Hm?"), Options())).text == "left"
    await model.close()


@pytest.mark.parametrize("name", ADAPTERS)
async def test_the_header_that_names_a_call_to_an_sdk_is_not_sent(far: FarEnd, name: str) -> None:
    far.bagel = name == "bagel"
    model = ADAPTERS[name](far.url)
    await model.say(of("Hm?"), Options())
    assert not [header for header in far.seen[0].headers if "sketchmark" in header]
    await model.close()


async def test_a_call_at_the_same_time_has_its_own_limit(far: FarEnd) -> None:
    far.answer = Response(BOMB, headers={"content-encoding": "gzip"}, media_type="application/json")
    model = ADAPTERS["gemini"](far.url)
    ends = await asyncio.gather(
        model.say(of("Hm?"), Options()), model.draw(of("Draw."), Options()), return_exceptions=True
    )
    assert [str(most) in str(end) for most, end in zip((LARGEST_TEXT, LARGEST_DRAWING), ends, strict=True)] == [
        True
    ] * 2
    await model.close()


@pytest.mark.parametrize("name", ADAPTERS)
async def test_the_attempts_of_a_call_are_counted_by_the_model_around_it(
    far: FarEnd, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calling, "FIRST_WAIT", 0.001)
    far.bagel, far.faults = name == "bagel", [Fault(500), Fault(500)]
    model, tally = ADAPTERS[name](far.url), CallCount()
    await CountedModel(model, tally).say(of("Hm?"), Options())
    assert (tally.retries, tally.answered, tally.silent) == (2, 1, 0) and "planned 500" in tally.error
    await model.close()
