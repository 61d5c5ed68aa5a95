"""Fetching a returned picture by its URL, which is a far server's word and is not trusted."""

from __future__ import annotations

import gzip
import socket

import pytest
from starlette.responses import PlainTextResponse, RedirectResponse, StreamingResponse

from sketchmark.models.call import Call
from sketchmark.models.failures import BadReply, NoConnection
from sketchmark.models.http import download, is_public
from tests.models.fake_server import DRAWN, FarEnd, answering_proxy, running


async def test_a_redirect_on_the_endpoints_own_server_is_followed(far: FarEnd) -> None:
    far.answer = RedirectResponse(f"{far.url}/pictures/drawn.png")
    assert await download(f"{far.url}/moved", far.url, Call(), timeout=5) == DRAWN


async def test_a_redirect_to_a_file_is_not_followed(far: FarEnd) -> None:
    far.answer = RedirectResponse("file:///etc/hostname")
    with pytest.raises(BadReply, match="file address is not fetched"):
        await download(f"{far.url}/moved", far.url, Call(), timeout=5)


async def test_a_redirect_in_a_circle_ends(far: FarEnd) -> None:
    far.answer = RedirectResponse(f"{far.url}/again")
    with pytest.raises(BadReply, match="redirects more than 3 times"):
        await download(f"{far.url}/again", far.url, Call(), timeout=5)
    assert len(far.seen) == 4


async def test_reading_stops_at_the_size_limit(far: FarEnd) -> None:
    with pytest.raises(BadReply, match="over the limit of 10 bytes"):
        await download(f"{far.url}/pictures/drawn.png", far.url, Call(), timeout=5, most=10)


async def test_what_is_fetched_must_be_a_picture(far: FarEnd) -> None:
    far.answer = PlainTextResponse("internal secrets")
    with pytest.raises(BadReply, match="not a picture"):
        await download(f"{far.url}/page", far.url, Call(), timeout=5)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "localhost.", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0",
             "[::ffff:127.0.0.1]"],
)  # fmt: skip
async def test_another_port_of_this_machine_is_not_fetched_however_it_is_written(far: FarEnd, host: str) -> None:
    with running() as other:
        port = other.url.rpartition(":")[2]
        with pytest.raises(BadReply):
            await download(f"http://{host}:{port}/pictures/drawn.png", far.url, Call(), timeout=5)
        assert other.seen == []


async def test_a_redirect_to_another_port_of_this_machine_is_not_followed(far: FarEnd) -> None:
    with running() as other:
        far.answer = RedirectResponse(f"{other.url}/pictures/drawn.png")
        with pytest.raises(BadReply, match="neither the endpoint nor a public address") as caught:
            await download(f"{far.url}/moved", far.url, Call(), timeout=5)
        assert (other.seen, caught.value.retry) == ([], False)


async def test_without_an_address_of_its_own_the_endpoint_has_no_private_place(far: FarEnd) -> None:
    with pytest.raises(BadReply, match="neither the endpoint nor a public address"):
        await download(f"{far.url}/pictures/drawn.png", None, Call(), timeout=5)


async def test_the_endpoint_is_known_under_its_other_name(far: FarEnd) -> None:
    by_name = far.url.replace("127.0.0.1", "localhost")
    assert await download(f"{far.url}/pictures/drawn.png", by_name, Call(), timeout=5) == DRAWN


async def test_a_picture_is_fetched_from_the_place_that_was_looked_at(
    far: FarEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name points elsewhere when it is looked up again. Nothing listens at the first place."""
    places = ["127.0.0.2"]

    async def look_up(self: object, host: bytes, port: int, **_: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (places.pop() if places else "127.0.0.1", port))]

    monkeypatch.setattr("asyncio.BaseEventLoop.getaddrinfo", look_up)
    monkeypatch.setattr("sketchmark.models.http.is_public", lambda address: True)
    port = far.url.rpartition(":")[2]
    with pytest.raises(NoConnection):
        await download(f"http://rebound.example:{port}/pictures/drawn.png", None, Call(), timeout=5)
    assert (places, far.seen) == ([], [])
    assert await download(f"http://rebound.example:{port}/pictures/drawn.png", None, Call(), timeout=5) == DRAWN
    assert far.seen[0].headers["host"] == f"rebound.example:{port}"


async def test_the_next_place_of_a_name_is_tried_where_the_first_does_not_answer(
    far: FarEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look_up(self: object, host: bytes, port: int, **_: object) -> list[tuple[object, ...]]:
        found = (("127.0.0.2", port), ("127.0.0.1", port))
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", place) for place in found]

    monkeypatch.setattr("asyncio.BaseEventLoop.getaddrinfo", look_up)
    assert await download(f"{far.url}/pictures/drawn.png", far.url, Call(), timeout=5) == DRAWN


async def test_a_host_that_cannot_be_found_is_a_bad_reply(far: FarEnd) -> None:
    with pytest.raises(BadReply, match=r"pictures\.invalid cannot be found"):
        await download("http://pictures.invalid/x.png", far.url, Call(), timeout=5)


@pytest.mark.parametrize("url", ["/x.png", "//host/x.png", "http://", "http://[::1/x", "http://a:99999/x", "data:,x"])
async def test_an_address_that_is_none_is_a_bad_reply(far: FarEnd, url: str) -> None:
    with pytest.raises(BadReply):
        await download(url, far.url, Call(), timeout=5)


async def test_a_picture_that_is_packed_small_is_counted_unpacked(far: FarEnd) -> None:
    far.answer = StreamingResponse(iter([gzip.compress(bytes(10**6))]), headers={"content-encoding": "gzip"})
    with pytest.raises(BadReply, match="over the limit of 50000 bytes"):
        await download(f"{far.url}/x.png", far.url, Call(), timeout=5, most=50_000)


async def test_through_a_proxy_the_name_is_sent_but_private_addresses_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    async with answering_proxy(DRAWN.data) as (proxy, asked):
        monkeypatch.setenv("http_proxy", proxy)
        assert await download("http://pictures.invalid/x.png", None, Call(), timeout=5) == DRAWN
        with pytest.raises(BadReply, match="neither the endpoint nor a public address"):
            await download("http://127.0.0.1:9/x.png", None, Call(), timeout=5)
    assert asked == [b"GET http://pictures.invalid/x.png HTTP/1.1"]


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
     "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::127.0.0.1",
     "::ffff:127.0.0.1", "::ffff:10.0.0.1", "fe80::1", "fe80::1%2", "fec0::1", "fc00::1", "ff02::1", "2001:db8::1",
     "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::",
     "2001:0:4136:e378:8000:63bf:80ff:fffe"],
)  # fmt: skip
def test_addresses_of_this_machine_its_network_and_no_one(address: str) -> None:
    assert not is_public(address)
