"""A body as aiohttp takes it. A module of its own, because aiohttp is loaded when the first request is made."""

from __future__ import annotations

from aiohttp import payload
from aiohttp.abc import AbstractStreamWriter

from sketchmark.models.http_bodies import Body


class Payload(payload.Payload):
    """Writes piece after piece and waits in between until the connection has taken them."""

    _autoclose = True

    def __init__(self, body: Body) -> None:
        super().__init__(None, content_type=body.content_type)
        self._body = body
        self._size = body.size

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return b"".join(self._body.chunks()).decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        for chunk in self._body.chunks():
            await writer.write(chunk)
