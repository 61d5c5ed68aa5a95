"""Fetching a returned picture by its URL, which is a far server's word and is not trusted."""

from __future__ import annotations

import pytest
from starlette.responses import PlainTextResponse, RedirectResponse

from sketchmark.models.calling import BadReply
from sketchmark.models.download import download
from tests.models.fake_server import DRAWN, FarEnd


async def test_a_redirect_to_another_web_address_is_followed(far: FarEnd) -> None:
    far.answer = RedirectResponse(f"{far.url}/pictures/drawn.png")
    assert await download(f"{far.url}/moved", timeout=5) == DRAWN


async def test_a_redirect_to_a_file_is_not_followed(far: FarEnd) -> None:
    far.answer = RedirectResponse("file:///etc/hostname")
    with pytest.raises(BadReply, match="file address is not fetched"):
        await download(f"{far.url}/moved", timeout=5)


async def test_a_redirect_in_a_circle_ends(far: FarEnd) -> None:
    far.answer = RedirectResponse(f"{far.url}/again")
    with pytest.raises(BadReply, match="redirects more than 3 times"):
        await download(f"{far.url}/again", timeout=5)
    assert len(far.seen) == 4


async def test_reading_stops_at_the_size_limit(far: FarEnd) -> None:
    with pytest.raises(BadReply, match="over the limit of 10 bytes"):
        await download(f"{far.url}/pictures/drawn.png", timeout=5, most=10)


async def test_what_is_fetched_must_be_a_picture(far: FarEnd) -> None:
    far.answer = PlainTextResponse("internal secrets")
    with pytest.raises(BadReply, match="not a picture"):
        await download(f"{far.url}/page", timeout=5)
