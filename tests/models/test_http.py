"""The HTTP client, images on the wire and images fetched by their address: bodies, limits, redirects, proxies."""

from __future__ import annotations

import asyncio
import base64
import gzip
import io
import json
import random
import socket
import threading
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from sketchmark import Options
from sketchmark.episode.sample import of
from sketchmark.errors import BadPicture, CallFailed
from sketchmark.media import Picture
from sketchmark.models import load_model
from sketchmark.models.call import Call
from sketchmark.models.failures import BadReply, NoConnection
from sketchmark.models.http import download, is_public
from sketchmark.models.http_bodies import (
    DataUrl,
    Encoder,
    FormFile,
    form_body,
    json_body,
    picture_from_base64,
    picture_from_bytes,
)
from sketchmark.models.providers.azure import Azure
from sketchmark.models.providers.batch import connect
from sketchmark.models.providers.openai import OpenAI
from sketchmark.secrets import redact
from tests.models.asking import failure, openai
from tests.models.broken_server import free_port
from tests.models.fake_server import DRAWN, KEY, FarEnd, Fault, answering_proxy, chat_answer, in_base64, picture
from tests.tabled import tabled


async def said(model: OpenAI) -> str:
    try:
        return (await model.say(of(picture(1), "Hm?"), Options())).text
    finally:
        await model.close()


LEFT = json.dumps(chat_answer({"role": "assistant", "content": "left"})).encode()


def reply(data: bytes, encoding: str = "") -> Response:
    headers = {"content-encoding": encoding} if encoding else {}
    return Response(data, headers=headers, media_type="application/json")


# Bodies that are sent


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


def test_a_body_is_made_in_small_pieces() -> None:
    body = json_body(DataUrl(Picture(bytes(3_000_000), "png")))
    assert max(map(len, body.chunks())) < 200_000


def test_a_value_that_json_cannot_say_is_not_sent_as_something_else() -> None:
    with pytest.raises(TypeError, match="object is nothing that JSON can say"):
        json_body({"seed": object()})


def test_a_files_name_cannot_end_its_field() -> None:
    body = form_body({}, [FormFile("file", 'a"\r\nX: y', "text/plain", b"data")])
    assert b'filename="a%22%0D%0AX: y"\r\nContent-Type: text/plain\r\n\r\ndata\r\n' in b"".join(body.chunks())


async def test_a_user_and_password_in_the_address_are_sent_as_every_client_sends_them(far: FarEnd) -> None:
    url = far.url.replace("http://", "http://me:hush%20hush-hush@") + "/v1?tenant=acme-4711"
    assert await said(OpenAI("m", base_url=url)) == "left"
    sent = far.seen[0]
    assert sent.headers["authorization"] == "Basic " + base64.b64encode(b"me:hush hush-hush").decode()
    assert (sent.path, sent.query) == ("/v1/chat/completions", {"tenant": "acme-4711"})
    assert "hush" not in redact(f"{url} {sent.headers['authorization']} {base64.b64encode(b'me:hush hush-hush')!r}")


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


async def test_a_proxy_is_used_where_the_environment_names_one(
    far: FarEnd, no_proxy: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with answering_proxy(LEFT.replace(b"left", b"through")) as (proxy, asked):
        monkeypatch.setenv("http_proxy", f"http://{proxy}")
        assert await said(OpenAI("m", base_url="http://models.invalid/v1")) == "through"
        assert asked == [b"POST http://models.invalid/v1/chat/completions HTTP/1.1"]
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert await said(openai(far)) == "left"
    assert len(asked) == 1


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "all_proxy"])
@pytest.mark.parametrize("model", ["openai/m", "anthropic/m", "gemini/m"])
async def test_a_dead_proxy_is_named_with_its_variable(
    far: FarEnd, no_proxy: None, monkeypatch: pytest.MonkeyPatch, model: str, name: str
) -> None:
    monkeypatch.setenv(name, f"http://me:hush-hush-1@127.0.0.1:{free_port()}")
    asked = load_model(model, {"base_url": "http://models.invalid/v1", "max_retries": 1})
    error = await failure(asked)
    await asked.close()
    assert "no connection to http://models.invalid through the proxy http://127.0.0.1:" in str(error)
    assert f"that {name} names: nothing listens there" in str(error) and "hush" not in str(error)
    assert error.stops_run and error.hint == f"start it, correct or unset {name}, or name the server in no_proxy"


async def test_a_proxy_that_refuses_is_named_and_a_server_without_one_is_not(
    far: FarEnd, no_proxy: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", far.url)  # it takes CONNECT for a bad request
    error = await failure(OpenAI("m", base_url="https://models.invalid/v1", max_retries=0))
    assert f"no connection to https://models.invalid through the proxy {far.url} that https_proxy names: " in str(
        error
    )
    error = await failure(OpenAI("m", base_url=f"http://127.0.0.1:{free_port()}/v1", max_retries=0))
    assert "proxy" not in str(error)


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "http://a..b:1", "http://", "ftp://h"])
async def test_a_proxy_that_is_no_address_stops_the_run(
    far: FarEnd, no_proxy: None, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    error = await failure(openai(far))
    assert error.stops_run and "that http_proxy names is not an http proxy" in str(error)


def test_a_model_can_be_used_in_one_loop_after_another(far: FarEnd) -> None:
    model = openai(far)

    async def twice() -> list[str]:
        return [(await model.say(of("Hm?"), Options())).text for _ in range(2)]

    assert asyncio.run(twice()) == asyncio.run(twice()) == ["left"] * 2
    asyncio.run(model.close())


async def test_connections_are_used_again(far: FarEnd) -> None:
    model = openai(far)
    for _ in range(3):
        await model.say(of("Hm?"), Options())
    session = model._wire._client._session
    assert session is not None and session.connector is not None
    assert sum(map(len, session.connector._conns.values())) == 1
    await model.close()


async def test_the_key_is_sent_and_nothing_of_netrc(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("netrc").write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", "netrc")
    model = Azure("m", azure_endpoint=far.url)
    await model.say(of("Hm?"), Options())
    await model.close()
    assert far.seen[0].headers["api-key"] == KEY and "authorization" not in far.seen[0].headers


# Bodies that are received


def packed(size: int, window: int) -> bytes:
    """`size` million zeros in about a thousandth of their length: gzip (31) or deflate (15)."""
    packer = zlib.compressobj(1, wbits=window)
    return b"".join([*(packer.compress(bytes(10**6)) for _ in range(size)), packer.flush()])


@pytest.mark.parametrize(
    "answer",
    [reply(LEFT), reply(gzip.compress(LEFT), "gzip"), reply(LEFT.replace(b'"c"', b"NaN"))],
    ids=["plain", "packed", "a number that JSON does not know"],
)
async def test_a_reply_is_read_packed_or_not(far: FarEnd, answer: Response) -> None:
    far.answer = answer
    assert await said(openai(far)) == "left"


@pytest.mark.parametrize(
    ("data", "encoding", "why"),
    [
        (packed(30, 15), "deflate", "over the limit"),
        (gzip.compress(packed(30, 31)), "gzip, gzip", "over the limit"),
        (b"\x0b\x02\x80{}\x03", "br", "packs its reply as 'br'"),
        (gzip.compress(LEFT)[:-12], "gzip", "packed|unpacked"),
        (b"no gzip at all", "gzip", "packed|unpacked"),
    ],
)
async def test_a_reply_that_is_too_long_or_cannot_be_unpacked_is_no_reply(
    far: FarEnd, data: bytes, encoding: str, why: str
) -> None:
    far.answer = reply(data, encoding)
    with pytest.raises(CallFailed, match=why) as caught:
        await said(openai(far))
    assert caught.value.kind == "bad_reply"


async def test_the_results_of_a_batch_have_a_limit_and_lose_an_echoed_key(
    far: FarEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sketchmark.models.providers import batch as job
    from sketchmark.models.providers import openai_wire

    monkeypatch.setattr(openai_wire, "LARGEST_FILE", 2_000_000)
    connection = connect("openai/m", {"base_url": f"{far.url}/v1"})
    far.answer = Response(bytes(3_000_000))
    with pytest.raises(CallFailed, match="over the limit of 2000000 bytes"):
        await job._content(connection, "file-1")
    far.answer = Response(b'{"custom_id": "1", "echo": "' + KEY.encode() + b'"}\n\xff')
    assert await job._content(connection, "file-1") == b'{"custom_id": "1", "echo": "[key]"}\n\xff'
    await connection.close()


async def test_a_redirect_on_the_same_server_is_followed(far: FarEnd) -> None:
    far.faults = [Fault(307, {"location": "/v1/chat/completions"})]
    assert await said(openai(far)) == "left"


# Images on the wire


PNG = frozenset({"png"})
KINDS = ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"]


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
    for shown in (picture(1), picture(1)):
        assert await encoder.sendable(shown) is shown


@pytest.mark.parametrize("opaque", [True, False])
async def test_an_image_is_decoded_off_the_event_loop(monkeypatch: pytest.MonkeyPatch, opaque: bool) -> None:
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


async def test_an_image_that_cannot_be_read_fails_its_own_calls_only() -> None:
    encoder = Encoder(PNG)
    broken = Picture(b"BM nothing", "bmp")
    outcomes = await asyncio.gather(*(encoder.sendable(broken) for _ in range(3)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [BadPicture] * 3
    assert (await encoder.sendable(picture(1, "BMP"))).pixel_digest == picture(1).pixel_digest


async def test_a_cancelled_wait_for_an_image_does_not_stop_the_others() -> None:
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


def photo(kind: str) -> bytes:
    """Large enough for a decoder to have something left when it meets the end."""
    buffer = io.BytesIO()
    Image.effect_noise((64, 64), 90).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize("text", ["!!!", "AAA", "bm90IGEgcGljdHVyZQ=="])
async def test_returned_text_that_is_no_picture_is_a_bad_reply(text: str) -> None:
    with pytest.raises(BadReply):
        await picture_from_base64(text)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_picture_that_was_cut_off_does_not_count(kind: str) -> None:
    data = photo(kind)
    assert await picture_from_base64(base64.b64encode(data).decode()) == Picture.from_bytes(data)
    for length in (len(data) // 4, len(data) // 2, len(data) * 3 // 4):
        with pytest.raises(BadReply, match="the server returned"):
            await picture_from_base64(base64.b64encode(data[:length]).decode())


@pytest.mark.parametrize("kind", KINDS)
async def test_spoilt_bytes_are_a_picture_or_a_bad_reply(kind: str) -> None:
    data, chance = photo(kind), random.Random(7)
    for _ in range(60):
        spoilt = bytearray(data)
        for _ in range(chance.randint(1, 8)):
            spoilt[chance.randrange(16, len(spoilt))] = chance.randrange(256)
        with suppress(BadReply):
            (await picture_from_bytes(bytes(spoilt))).image()


# Images fetched by an address that a server returned, which is not trusted


@pytest.mark.parametrize(
    ("answer", "path", "most", "why", "seen"),
    [
        (RedirectResponse("file:///etc/hostname"), "moved", None, "file address is not fetched", 1),
        (RedirectResponse("/again"), "again", None, "redirects more than 3 times", 4),
        (None, "pictures/drawn.png", 10, "over the limit of 10 bytes", 1),
        (PlainTextResponse("internal secrets"), "page", None, "not a picture", 1),
        (reply(gzip.compress(bytes(10**6)), "gzip"), "x.png", 50_000, "over the limit of 50000 bytes", 1),
    ],
)
async def test_a_fetch_that_ends_in_no_image_is_a_bad_reply(
    far: FarEnd, answer: Any, path: str, most: int | None, why: str, seen: int
) -> None:
    far.answer = answer
    limit = {"most": most} if most else {}
    with pytest.raises(BadReply, match=why):
        await download(f"{far.url}/{path}", far.url, Call(), timeout=5, **limit)
    assert len(far.seen) == seen


async def test_a_redirect_on_the_endpoints_own_server_is_followed_to_the_image(far: FarEnd) -> None:
    far.answer = RedirectResponse("/pictures/drawn.png")
    assert await download(f"{far.url}/moved", far.url, Call(), timeout=5) == DRAWN


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "localhost.", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0",
             "[::ffff:127.0.0.1]"],
)  # fmt: skip
async def test_another_port_of_this_machine_is_not_fetched_however_it_is_written(
    far: FarEnd, other: FarEnd, host: str
) -> None:
    with pytest.raises(BadReply):
        await download(f"http://{host}:{other.port}/pictures/drawn.png", far.url, Call(), timeout=5)
    assert other.seen == []


async def test_a_redirect_to_another_port_of_this_machine_is_not_followed(far: FarEnd, other: FarEnd) -> None:
    far.answer = RedirectResponse(f"{other.url}/pictures/drawn.png")
    with pytest.raises(BadReply, match="neither the endpoint nor a public address") as caught:
        await download(f"{far.url}/moved", far.url, Call(), timeout=5)
    assert (other.seen, caught.value.retry) == ([], False)


async def test_the_endpoint_is_known_under_its_other_name_and_not_without_a_name(far: FarEnd) -> None:
    by_name = far.url.replace("127.0.0.1", "localhost")
    assert await download(f"{far.url}/pictures/drawn.png", by_name, Call(), timeout=5) == DRAWN
    with pytest.raises(BadReply, match="neither the endpoint nor a public address"):
        await download(f"{far.url}/pictures/drawn.png", None, Call(), timeout=5)


def look_up(monkeypatch: pytest.MonkeyPatch, *places: Sequence[str]) -> list[Sequence[str]]:
    """Let every name point to the first of these places, then to the next, the last for good."""
    left = list(places)

    async def found(self: object, host: bytes, port: int, **_: object) -> list[tuple[object, ...]]:
        here = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (place, port)) for place in here]

    monkeypatch.setattr("asyncio.BaseEventLoop.getaddrinfo", found)
    return left


async def test_an_image_is_fetched_from_the_place_that_was_checked(
    far: FarEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name points elsewhere when it is looked up again. Nothing listens at the first place."""
    places = look_up(monkeypatch, ["127.0.0.2"], ["127.0.0.1"])
    monkeypatch.setattr("sketchmark.models.http.is_public", lambda address: True)
    url = f"http://rebound.example:{far.port}/pictures/drawn.png"
    with pytest.raises(NoConnection):
        await download(url, None, Call(), timeout=5)
    assert (places, far.seen) == ([["127.0.0.1"]], [])
    assert await download(url, None, Call(), timeout=5) == DRAWN
    assert far.seen[0].headers["host"] == f"rebound.example:{far.port}"


async def test_the_next_place_of_a_name_is_tried_where_the_first_does_not_answer(
    far: FarEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up(monkeypatch, ["127.0.0.2", "127.0.0.1"])
    assert await download(f"{far.url}/pictures/drawn.png", far.url, Call(), timeout=5) == DRAWN


@pytest.mark.parametrize(
    ("url", "why"),
    [("http://pictures.invalid/x.png", r"pictures\.invalid cannot be found"),
     *((url, "") for url in ("/x.png", "//host/x.png", "http://", "http://[::1/x", "http://a:99999/x", "data:,x"))],
)  # fmt: skip
async def test_an_address_that_leads_nowhere_is_a_bad_reply(far: FarEnd, url: str, why: str) -> None:
    with pytest.raises(BadReply, match=why or None):
        await download(url, far.url, Call(), timeout=5)


async def test_a_proxy_is_sent_the_name_but_no_private_address(
    no_proxy: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with answering_proxy(DRAWN.data) as (proxy, asked):
        monkeypatch.setenv("http_proxy", proxy)
        assert await download("http://pictures.invalid/x.png", None, Call(), timeout=5) == DRAWN
        with pytest.raises(BadReply, match="neither the endpoint nor a public address"):
            await download("http://127.0.0.1:9/x.png", None, Call(), timeout=5)
    assert asked == [b"GET http://pictures.invalid/x.png HTTP/1.1"]


@tabled
def test_an_address_is_public_or_of_a_private_network(public: bool, addresses: str) -> None:
    assert {address: is_public(address) for address in addresses.split()} == dict.fromkeys(addresses.split(), public)
