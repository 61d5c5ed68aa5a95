"""What is done with every reply before an SDK sees it, and how long a reply may be.

It is read no further than it may be long, counted as it is decoded: a megabyte of gzip can hold a gigabyte. And the
key stays with the server that it was given to: of a key in a header of the provider's own (`x-api-key`), HTTP
libraries do not know that it must not follow a redirect elsewhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from sketchmark.models.call import Call
from sketchmark.models.failures import BadReply, refuse_page

if TYPE_CHECKING:
    import httpx2

Hook = Callable[..., Awaitable[None]]

_HEADER = "x-sketchmark-call"
_CALL = "sketchmark_call"


class SdkCalls:
    """The calls that an SDK is making, and the `hooks` for the httpx2 client that it sends them with.

    Google's and Anthropic's SDKs pass headers on to that client, but not objects. So a header names the call, and the
    request hook takes it off again: it is not sent.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._calls: dict[str, Call] = {}
        self.hooks: dict[str, list[Hook]] = {"request": [self._note], "response": [_stay_there, read_bounded]}
        """`event_hooks` of the client."""

    @contextmanager
    def headers(self, call: Call) -> Iterator[dict[str, str]]:
        """The headers that name `call`, to be given to the SDK with the request that is made in this block."""
        name = str(next(self._numbers))
        self._calls[name] = call
        try:
            yield {_HEADER: name}
        finally:
            del self._calls[name]

    async def _note(self, request: httpx2.Request) -> None:
        """Requests after a redirect keep the extensions of the first one."""
        if name := request.headers.pop(_HEADER, ""):
            request.extensions = {**request.extensions, _CALL: self._calls[name]}
        _call_of(request).address = str(request.url)


def _call_of(request: httpx2.Request) -> Call:
    call = request.extensions.get(_CALL)
    return call if isinstance(call, Call) else Call()


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

    most = _call_of(response.request).most
    encoded = httpx2.Response(response.status_code, headers=response.headers, stream=response.stream)
    pieces: list[bytes] = []
    size = 0
    async with aclosing(encoded.aiter_bytes()) as decoded:
        async for piece in decoded:
            size += len(piece)
            if size > most:
                raise BadReply(f"the server's reply is over the limit of {most} bytes", retry=False)
            pieces.append(piece)
    data = b"".join(pieces)
    if response.is_success:
        refuse_page(data)
    response.headers.pop("content-encoding", None)
    response.stream = httpx2.ByteStream(data)
