"""Limits on responses: their size, counted while they are unpacked, and the server that a key is sent to.

A megabyte of gzip can hold a gigabyte, so a response is counted as it is decoded. HTTP libraries do not know that a
key in a provider's own header (`x-api-key`) must not follow a redirect, so redirects to other servers are refused.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from sketchmark.errors import BadInput
from sketchmark.models.call import Call
from sketchmark.models.failures import BadReply, refuse_page
from sketchmark.secrets import without_credentials

if TYPE_CHECKING:
    import httpx2


Hook = Callable[..., Awaitable[None]]

_HEADER = "x-sketchmark-call"
_CALL = "sketchmark_call"


class SdkCalls:
    """The calls that an SDK is making, and the `hooks` for the httpx2 client that it sends them with.

    The SDKs pass headers on to that client, but not objects. So a header names the call, and the request hook removes
    it before the request is sent.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._calls: dict[str, Call] = {}
        self.hooks: dict[str, list[Hook]] = {"request": [self._note], "response": [_stay_there, _read_bounded]}
        """`event_hooks` of the client."""

    @contextmanager
    def headers(self, call: Call) -> Iterator[dict[str, str]]:
        """Give the headers that name `call` to the SDK, for the request made in this block."""
        name = str(next(self._numbers))
        self._calls[name] = call
        try:
            yield {_HEADER: name}
        finally:
            del self._calls[name]

    async def _note(self, request: httpx2.Request) -> None:
        """Attach the call to its request. Requests after a redirect keep the extensions of the first one."""
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
    """Refuse a redirect to another server: the key would go with it."""
    if server_of(urlsplit(here)) != server_of(urlsplit(there)):
        parts = urlsplit(there)
        where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        remedy = "if you trust it with the key, name it in base_url= instead"
        raise BadReply(f"the server redirects to {where}", retry=False, remedy=remedy)


def server_of(url: SplitResult) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port of an address."""
    try:
        return url.scheme, url.hostname, url.port or {"http": 80, "https": 443}.get(url.scheme)
    except ValueError:
        return "", None, None  # an invalid port matches no server


def is_address(url: str) -> bool:
    """Return whether this is an http address with a host that names can have."""
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")
    except ValueError:  # also of a label that is empty or too long
        return False
    return parts.scheme in ("http", "https") and None not in server_of(parts)


def refuse_no_address(url: str) -> None:
    shown = without_credentials(url)  # this also remembers its secrets
    if not is_address(url):
        raise BadInput(f"{shown!r} is not an address of a server", "http://HOST:PORT/v1 or https://…")


async def _read_bounded(response: httpx2.Response) -> None:
    """Read a response piece by piece, and count each before the next is decoded."""
    import httpx2

    encoded = httpx2.Response(response.status_code, headers=response.headers, stream=response.stream)
    call = _call_of(response.request)
    call.answered = response.is_success
    read = ByteCount(call.most)
    async with aclosing(encoded.aiter_bytes()) as decoded:
        async for piece in decoded:
            read.add(piece)
    data = read.whole()
    if response.is_success:
        refuse_page(data)
    response.headers.pop("content-encoding", None)
    response.stream = httpx2.ByteStream(data)


ACCEPTED = "gzip, deflate"
_STEP = 2**18
"""Bytes that are unpacked before they are counted."""

_MOST_LAYERS = 3


class ByteCount:
    """The bytes of one response. More than `most` of them are an error."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._size = 0

    def refuse_beyond(self, announced: int | None) -> None:
        if announced is not None and announced > self._most:
            raise self._over()

    def add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._most:
            raise self._over()
        self._pieces.append(piece)

    def whole(self) -> bytes:
        return b"".join(self._pieces)

    def _over(self) -> BadReply:
        return BadReply(f"the server's reply is over the limit of {self._most} bytes", retry=False)


async def read_counted(pieces: AsyncIterator[bytes], encoding: str, most: int) -> bytes:
    """Read a whole response, unpacked as its Content-Encoding says."""
    layers = [_Layer(name) for name in reversed(_named(encoding))]
    read = ByteCount(most)
    async for piece in pieces:
        for unpacked in _through(layers, piece):
            read.add(unpacked)
    if not all(layer.ended for layer in layers):
        raise BadReply("the server's reply ends in the middle of what it packed")
    return read.whole()


def _named(encoding: str) -> list[str]:
    names = [name.strip().lower() for name in encoding.split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if len(names) > _MOST_LAYERS:
        raise BadReply(f"the server packs its reply {len(names)} times over", retry=False)
    return names


def _through(layers: list[_Layer], data: bytes) -> Iterator[bytes]:
    if not layers:
        yield data
        return
    for piece in layers[0].unpack(data):
        yield from _through(layers[1:], piece)


class _Layer:
    def __init__(self, name: str) -> None:
        if name not in ("gzip", "x-gzip", "deflate"):
            raise BadReply(f"the server packs its reply as {name[:40]!r}, which was not requested", retry=False)
        self._bits = 15 if name == "deflate" else 31
        self._packer = zlib.decompressobj(self._bits)
        self._begun = False

    @property
    def ended(self) -> bool:
        return self._packer.eof or not self._begun

    def unpack(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._packer.eof:
                if self._bits != 31:
                    return  # what follows is ignored
                self._packer = zlib.decompressobj(self._bits)  # gzip data may have several members
            try:
                yield self._packer.decompress(data, _STEP)
            except zlib.error as error:
                if self._begun or self._bits != 15:
                    raise BadReply(f"the server's reply cannot be unpacked: {error}") from None
                self._bits = -15  # many servers' deflate has no header
                self._packer = zlib.decompressobj(self._bits)
                continue
            self._begun = True
            data = self._packer.unused_data if self._packer.eof else self._packer.unconsumed_tail
