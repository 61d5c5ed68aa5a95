"""Our own HTTP client: addresses, proxies, loops, bodies in pieces."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response

from sketchmark.episode.model import Options
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, CallFailed
from sketchmark.media import Picture
from sketchmark.models.http_bodies import DataUrl, FormFile, form_body, json_body
from sketchmark.models.providers.azure import Azure
from sketchmark.models.providers.openai import OpenAI
from sketchmark.secrets import redact
from tests.models.fake_server import KEY, FarEnd, answering_proxy, chat_answer, in_base64, picture


def openai(url: str, **args: Any) -> OpenAI:
    return OpenAI("m", base_url=url, **{"max_retries": 0, **args})


async def said(model: OpenAI) -> str:
    try:
        return (await model.say(of(picture(1), "Hm?"), Options())).text
    finally:
        await model.close()


@pytest.mark.parametrize("size", [1, 2, 3, 98_303, 98_304, 98_305, 300_000])
def test_a_body_is_as_long_as_it_says_and_holds_every_picture_where_it_belongs(size: int) -> None:
    shown = Picture(bytes(index % 251 for index in range(size)), "png")
    value = {"a": ["é", DataUrl(shown), {"b": DataUrl(picture(1))}], "c": '"\\ \u2028 \U0001f600'}
    body = json_body(value)
    sent = b"".join(body.chunks())
    assert body.size == len(sent) and b"".join(body.chunks()) == sent
    read = json.loads(sent)
    assert base64.b64decode(read["a"][1].removeprefix("data:image/png;base64,")) == shown.data
    assert read["a"][2]["b"].endswith(in_base64(picture(1))) and read["c"] == value["c"]


def test_nothing_holds_the_whole_of_a_body() -> None:
    body = json_body(DataUrl(Picture(bytes(3_000_000), "png")))
    assert max(map(len, body.chunks())) < 200_000


def test_what_json_cannot_say_is_not_sent_as_something_else() -> None:
    with pytest.raises(TypeError, match="object is nothing that JSON can say"):
        json_body({"seed": object()})


def test_a_files_name_cannot_end_its_field() -> None:
    body = form_body({}, [FormFile("file", 'a"\r\nX: y', "text/plain", b"data")])
    assert b'filename="a%22%0D%0AX: y"\r\nContent-Type: text/plain\r\n\r\ndata\r\n' in b"".join(body.chunks())


@pytest.mark.parametrize("address", ["localhost:8000/v1", "ftp://host/v1", "http://", "http://host:99999/v1", "/v1"])
def test_what_is_no_address_of_a_server_is_refused_before_the_first_call(far: FarEnd, address: str) -> None:
    with pytest.raises(BadInput, match="is not an address"):
        openai(address)


async def test_a_user_and_password_in_the_address_are_sent_as_every_client_sends_them(far: FarEnd) -> None:
    url = far.url.replace("http://", "http://me:hush%20hush-hush@") + "/v1?tenant=acme-4711"
    assert await said(openai(url)) == "left"
    sent = far.seen[0]
    assert sent.headers["authorization"] == "Basic " + base64.b64encode(b"me:hush hush-hush").decode()
    assert (sent.path, sent.query) == ("/v1/chat/completions", {"tenant": "acme-4711"})
    assert "hush" not in redact(f"{url} {sent.headers['authorization']} {base64.b64encode(b'me:hush hush-hush')!r}")


async def test_a_proxy_is_used_where_the_environment_names_one(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    body = json.dumps(chat_answer({"role": "assistant", "content": "through"})).encode()

    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    async with answering_proxy(body) as (proxy, asked):
        monkeypatch.setenv("http_proxy", f"http://{proxy}")
        assert await said(openai("http://models.invalid/v1")) == "through"
        assert asked == [b"POST http://models.invalid/v1/chat/completions HTTP/1.1"]
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert await said(openai(f"{far.url}/v1")) == "left"
    assert len(asked) == 1


def test_a_model_can_be_used_in_one_loop_after_another(far: FarEnd) -> None:
    model = openai(f"{far.url}/v1")

    async def twice() -> list[str]:
        return [(await model.say(of("Hm?"), Options())).text for _ in range(2)]

    assert asyncio.run(twice()) == asyncio.run(twice()) == ["left"] * 2
    asyncio.run(model.close())


async def test_connections_are_used_again(far: FarEnd) -> None:
    model = openai(f"{far.url}/v1")
    for _ in range(3):
        await model.say(of("Hm?"), Options())
    session = model._wire._client._session
    assert session is not None and session.connector is not None
    assert sum(map(len, session.connector._conns.values())) == 1
    await model.close()


async def test_a_reply_with_numbers_that_json_does_not_know_is_read(far: FarEnd) -> None:
    body = json.dumps(chat_answer({"role": "assistant", "content": "left"}) | {"logprob": float("nan")})
    far.answer = Response(body, media_type="application/json")
    assert await said(openai(f"{far.url}/v1")) == "left"


async def test_a_reply_that_is_packed_as_nobody_asked_for_says_so(far: FarEnd) -> None:
    far.answer = Response(b"\x0b\x02\x80{}\x03", headers={"content-encoding": "br"}, media_type="application/json")
    with pytest.raises(CallFailed, match="packs its reply as 'br'"):
        await said(openai(f"{far.url}/v1"))


async def test_a_packed_reply_that_breaks_off_is_no_reply(far: FarEnd) -> None:
    data = gzip.compress(json.dumps(chat_answer({"role": "assistant", "content": "left"})).encode())
    for spoilt in (data[:-12], b"no gzip at all"):
        far.answer = Response(spoilt, headers={"content-encoding": "gzip"}, media_type="application/json")
        with pytest.raises(CallFailed, match=r"packed|unpacked") as caught:
            await said(openai(f"{far.url}/v1"))
        assert caught.value.kind == "bad_reply"


async def test_the_key_is_sent_and_nothing_of_netrc(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("netrc").write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", "netrc")
    model = Azure("m", azure_endpoint=far.url)
    await model.say(of("Hm?"), Options())
    await model.close()
    assert far.seen[0].headers["api-key"] == KEY and "authorization" not in far.seen[0].headers
