"""What is done with every reply before an SDK sees it, and how long a reply may be.

It is read no further than it may be long, counted as it is decoded: a megabyte of gzip can hold a gigabyte. And the
key stays with the server that it was given to: of a key in a header of the provider's own (`x-api-key`), HTTP
libraries do not know that it must not follow a redirect elsewhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from sketchmark.models.asked_address import note_address
from sketchmark.models.failures import BadReply, refuse_page

if TYPE_CHECKING:
    import httpx2

LARGEST_TEXT = 16_000_000
LARGEST_DRAWING = 64_000_000
"""Bytes of a whole reply with its pictures in base64, or of one downloaded picture."""
LARGEST_FILE = 512_000_000
"""A batch's results: up to 50,000 replies."""

_most = ContextVar("most", default=LARGEST_TEXT)

Hook = Callable[..., Awaitable[None]]


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """The limit for replies that are waited for in this block; elsewhere it is that of a text."""
    before = _most.set(size)
    try:
        yield
    finally:
        _most.reset(before)


def bounded() -> dict[str, list[Hook]]:
    """`event_hooks` for an httpx2 client, which is what Google's and Anthropic's SDKs are built on."""
    return {"request": [_note], "response": [_stay_there, read_bounded]}


async def _note(request: httpx2.Request) -> None:
    note_address(request.url)


async def _stay_there(response: httpx2.Response) -> None:
    if response.has_redirect_location:
        refuse_elsewhere(str(response.url), str(response.url.join(response.headers["location"])))


def refuse_elsewhere(here: str, there: str) -> None:
    """A redirect to another server: the key would go with it."""
    if _place(urlsplit(here)) != _place(urlsplit(there)):
        parts = urlsplit(there)
        where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        remedy = "if you trust it with the key, name it in base_url= instead"
        raise BadReply(f"the server redirects to {where}", retry=False, remedy=remedy)


def _place(url: SplitResult) -> tuple[str, str | None, int | None]:
    try:
        return url.scheme, url.hostname, url.port or {"http": 80, "https": 443}.get(url.scheme)
    except ValueError:
        return "", None, None  # a port that is none is nobody's


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
    data = b"".join(pieces)
    if response.is_success:
        refuse_page(data)
    response.headers.pop("content-encoding", None)
    response.stream = httpx2.ByteStream(data)
