"""What every HTTP client of ours does with a reply before an SDK sees it.

It is read no further than it may be long, counted as it is decoded: a megabyte of gzip can hold a gigabyte. And the
key stays with the server that it was given to: of a key in a header of the provider's own (`x-api-key`), HTTP
libraries do not know that it must not follow a redirect elsewhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from sketchmark.models.failures import BadReply

if TYPE_CHECKING:
    import httpx2

LARGEST_TEXT = 16_000_000
LARGEST_DRAWING = 64_000_000
"""Bytes of a whole reply with its pictures in base64, or of one downloaded picture."""
LARGEST_FILE = 512_000_000
"""A batch's results: up to 50,000 replies."""

_most = ContextVar("most", default=LARGEST_TEXT)

Hook = Callable[["httpx2.Response"], Awaitable[None]]


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """The limit for replies that are waited for in this block; elsewhere it is that of a text."""
    before = _most.set(size)
    try:
        yield
    finally:
        _most.reset(before)


def bounded() -> dict[str, list[Hook]]:
    """`event_hooks` for an httpx2 client, which is what all the SDKs are built on."""
    return {"response": [_stay_there, read_bounded]}


async def _stay_there(response: httpx2.Response) -> None:
    if not response.has_redirect_location:
        return
    there = response.url.join(response.headers["location"])
    if (there.scheme, there.host, there.port) != (response.url.scheme, response.url.host, response.url.port):
        where = f"{there.scheme}://{there.netloc.decode('ascii')}"
        raise BadReply(f"the server redirects to {where}: if you trust it with the key, name it instead", retry=False)


async def read_bounded(response: httpx2.Response) -> None:
    """The library decodes in pieces of bounded size; here they are counted before the next is asked for."""
    import httpx2

    encoded = httpx2.Response(response.status_code, headers=response.headers, stream=response.stream)
    pieces: list[bytes] = []
    size = 0
    async with aclosing(encoded.aiter_bytes()) as decoded:
        async for piece in decoded:
            size += len(piece)
            if size > _most.get():
                raise BadReply(f"the server's reply is over the limit of {_most.get()} bytes", retry=False)
            pieces.append(piece)
    response.headers.pop("content-encoding", None)
    response.stream = httpx2.ByteStream(b"".join(pieces))
