"""What every request passes before any endpoint: its host, origin, key, size and kind, the latency, the faults."""

from __future__ import annotations

import asyncio
import hmac
import socket
import struct
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from sketchmark.serve.faults import RESET, Dice, Faults
from sketchmark.serve.wire_errors import WireError

MAX_BODY = 64 * 2**20
MAX_UPLOAD = 256 * 2**20
"""Batch files are larger than other bodies: OpenAI takes 200 MB."""


_FORMS = ("/v1/files", "/v1/images/edits")


class ResettableProtocol(H11Protocol):
    """uvicorn's HTTP protocol, reachable from the ASGI scope: ASGI itself knows no way to break a connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


class Gate:
    def __init__(self, app: ASGIApp, faults: Faults, key: str | None, hosts: Sequence[str]) -> None:
        """`hosts`: the names that it answers to; `*` is any."""
        self.app = app
        self.hosts = hosts
        self.dice = Dice(faults)
        self.key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        try:
            self._check_host(headers)
            _check_origin(headers)
            self._check_key(headers)
            body = await _read(receive, headers, MAX_UPLOAD if scope["path"] == "/v1/files" else MAX_BODY)
            if body is None:
                return None
            _check_kind(scope["path"], headers, body)
            await asyncio.sleep(self.dice.faults.latency)
            target = scope["path"] + "?" + scope["query_string"].decode("latin-1")
            fault = self.dice.fate(scope["method"], target, headers.get("content-type", ""), body)
            if fault == RESET:
                return await _reset(scope)
            if fault:
                raise self._injected(int(fault))
        except WireError as error:
            return await error.response()(scope, receive, send)
        return await self.app(scope, _replay(body, receive), send)

    def _check_host(self, headers: Headers) -> None:
        """A web page must not reach the server through a name that it points at loopback."""
        name = headers.get("host", "").partition(":")[0].lower()
        if "*" not in self.hosts and name not in self.hosts:
            raise WireError("this server does not go by that name", status=400, code="foreign_host")

    def _check_key(self, headers: Headers) -> None:
        if self.key is None:
            return
        scheme, _, given = headers.get("authorization", "").partition(" ")
        same = hmac.compare_digest(given.strip().encode(), self.key.encode())
        if scheme.lower() != "bearer" or not same:
            raise WireError("Incorrect API key provided.", status=401, code="invalid_api_key")

    def _injected(self, status: int) -> WireError:
        wait = self.dice.faults.retry_after
        headers = {"Retry-After": f"{wait:g}", "retry-after-ms": f"{wait * 1000:g}"} if status in (429, 503) else {}
        return WireError(f"injected fault: {status}", status=status, code="injected_fault", headers=headers)


def _check_origin(headers: Headers) -> None:
    """Browsers name the page that a request comes from; this server has no pages, and programs name none."""
    for origin in headers.getlist("origin"):
        if origin != f"http://{headers.get('host')}":
            raise WireError("requests from web pages are refused", status=403, code="foreign_origin")


def _check_kind(path: str, headers: Headers, body: bytes) -> None:
    """A body says that it is JSON, or a form where one is due: as `text/plain` a web page could send it unasked."""
    wanted = "multipart/form-data" if path in _FORMS else "application/json"
    if body and headers.get("content-type", "").partition(";")[0].strip().lower() != wanted:
        raise WireError(f"the body must be sent as {wanted}", status=415, code="unsupported_media_type")


async def _read(receive: Receive, headers: Headers, limit: int) -> bytes | None:
    """The whole body, or None when the client left before it was complete."""
    announced = headers.get("content-length", "0")
    chunks: list[bytes] = []
    size = int(announced) if announced.isdecimal() else 0
    if size <= limit:
        size = 0
        while size <= limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            if not message.get("more_body", False):
                break
    if size > limit:
        # The rest of the body is not read, so the connection cannot be used again.
        raise WireError(
            f"the body is over the limit of {limit} bytes",
            status=413,
            code="body_too_large",
            headers={"Connection": "close"},
        )
    return b"".join(chunks)


def _replay(body: bytes, receive: Receive) -> Receive:
    done = False

    async def again() -> Message:
        nonlocal done
        if done:
            return await receive()
        done = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _reset(scope: Scope) -> None:
    transport: asyncio.Transport = scope["state"]["transport"]
    connection: socket.socket = transport.get_extra_info("socket")
    # Lingering for zero seconds makes the kernel send RST instead of an orderly FIN.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
    # uvicorn answers 500 for an application that returns without a reply, unless it has seen the connection go.
    await asyncio.sleep(0)
