"""OpenAI-compatible server on loopback in front of any Sketchmark model: `sketchmark serve`.

Other harnesses can use it to drive the same model, and our tests use it as the server:

    with serving(model) as base_url:
        client = openai.AsyncOpenAI(base_url=base_url, api_key="any")
"""

from __future__ import annotations

import asyncio
import hmac
import signal
import socket
import struct
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from sketchmark.episode.model import Model
from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.serve import batches, chat, files, pictures, responses
from sketchmark.serve.batches import Batches, Fate
from sketchmark.serve.bodies import WireError, as_wire_error
from sketchmark.serve.faults import RESET, Dice, Faults
from sketchmark.serve.files import FileStore

MAX_BODY = 64 * 2**20
_MAX_UPLOAD = 256 * 2**20
"""Batch files are larger than other bodies: OpenAI accepts 200 MB."""


MOST_IN_FLIGHT = 320 * 2**20
"""Bytes of all bodies that are being received or answered. More of them are turned away until there is room."""
MOST_CONNECTIONS = 768
HEAD_SECONDS, BODY_PAUSE, BODY_SECONDS = 20.0, 20.0, 600.0
"""Seconds for a request's head, between two pieces of its body, and for the whole of it."""

_FORMS = ("/v1/files", "/v1/images/edits")


class ResettableProtocol(H11Protocol):
    """uvicorn's HTTP protocol, reachable from the ASGI scope: ASGI itself cannot break a connection.

    It also limits the number of connections and the time for the head of a request, for which uvicorn waits forever.
    """

    most = MOST_CONNECTIONS
    _overdue: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}
        if len(self.connections) > self.most:
            transport.write(b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\r\n")
            transport.close()
            return
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait_for_head()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._wait_for_head()

    def _wait_for_head(self) -> None:
        """Run the clock while a head is due: it starts with the connection or the first byte after a response."""
        closing = self.transport.is_closing()
        waits = not closing and (self.cycle is None or self.cycle.response_complete)
        begun = self.cycle is None or bool(self.conn.trailing_data[0])
        if not waits and self._overdue:
            self._overdue.cancel()
            self._overdue = None
        elif waits and begun and self._overdue is None:
            self._overdue = self.loop.call_later(HEAD_SECONDS, self.transport.close)


class Gate:
    """Checks of every request before any endpoint: host, origin, key, size and type. Also the latency and faults."""

    def __init__(self, app: ASGIApp, faults: Faults, key: str | None, hosts: Sequence[str]) -> None:
        """`hosts`: the accepted host names; `*` is any."""
        self.app = app
        self.hosts = hosts
        self.dice = Dice(faults)
        self.key = key
        self.in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        room = _Room(self)
        try:
            return await self._answer(scope, receive, send, room)
        finally:
            room.leave()

    async def _answer(self, scope: Scope, receive: Receive, send: Send, room: _Room) -> None:
        headers = Headers(scope=scope)
        try:
            self._check_host(headers)
            _check_origin(headers)
            self._check_key(headers)
            body = await _read(receive, headers, _MAX_UPLOAD if scope["path"] == "/v1/files" else MAX_BODY, room)
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
        """Refuse other host names: a web page may point a name at loopback."""
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
    """Refuse requests from web pages: browsers name the page, and programs name none."""
    for origin in headers.getlist("origin"):
        if origin != f"http://{headers.get('host')}":
            raise WireError("requests from web pages are refused", status=403, code="foreign_origin")


def _check_kind(path: str, headers: Headers, body: bytes) -> None:
    """Require JSON, or a form where one is due: a web page could send `text/plain` without asking."""
    wanted = "multipart/form-data" if path in _FORMS else "application/json"
    if body and headers.get("content-type", "").partition(";")[0].strip().lower() != wanted:
        raise WireError(f"the body must be sent as {wanted}", status=415, code="unsupported_media_type")


class _Room:
    """The bytes of one body among all that are in flight."""

    def __init__(self, gate: Gate) -> None:
        self._gate, self._taken = gate, 0

    def take(self, count: int) -> None:
        if self._gate.in_flight + count > MOST_IN_FLIGHT:
            raise WireError("too many bytes in flight", status=503, code="overloaded", headers=_CLOSE | _SOON)
        self._gate.in_flight += count
        self._taken += count

    def leave(self) -> None:
        self._gate.in_flight -= self._taken


_CLOSE = {"Connection": "close"}
"""For a response before the end of the body: the rest is not read, so the connection cannot be used again."""
_SOON = {"Retry-After": "1"}


async def _read(receive: Receive, headers: Headers, limit: int, room: _Room) -> bytes | None:
    """Read the whole body. None if the client left before its end."""
    announced = headers.get("content-length", "0")
    chunks: list[bytes] = []
    size = int(announced) if announced.isdecimal() and len(announced) < 20 else 0
    if size <= limit:
        size = 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while size <= limit:
                    async with asyncio.timeout(BODY_PAUSE):
                        message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    chunks.append(message.get("body", b""))
                    size += len(chunks[-1])
                    room.take(len(chunks[-1]))
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            raise WireError("the body did not come", status=408, code="body_too_slow", headers=_CLOSE) from None
    if size > limit:
        raise WireError(
            f"the body is over the limit of {limit} bytes", status=413, code="body_too_large", headers=_CLOSE
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


async def _answer_error(http: Request, error: Exception) -> Response:
    return as_wire_error(error).response()


HANDLERS: dict[Any, Any] = dict.fromkeys((WireError, SketchmarkError, HTTPException, Exception), _answer_error)
NO_FAULTS = Faults()
LOOPBACK = ("127.0.0.1", "localhost")


def make_app(
    model: Model,
    faults: Faults = NO_FAULTS,
    *,
    key: str | None = None,
    fates: Sequence[Fate] = ("complete",),
    hosts: Sequence[str] = LOOPBACK,
) -> Starlette:
    """Make an OpenAI-compatible application.

    `key` is the required bearer token, `fates` are the ends of the batch jobs in turn, `hosts` the accepted host
    names. The caller closes the model.
    """
    store = FileStore()
    answers = {
        "/v1/chat/completions": partial(chat.answer, model),
        "/v1/images/generations": partial(pictures.answer, model),
    }
    jobs = Batches(store, answers, fates, faults.seed)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await jobs.stop()

    return Starlette(
        routes=[
            *_models(model),
            *chat.routes(model),
            *responses.routes(model),
            *pictures.routes(model),
            *files.routes(store),
            *batches.routes(jobs),
        ],
        middleware=[Middleware(Gate, faults=faults, key=key, hosts=hosts)],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )


def _models(model: Model) -> list[Route]:
    served: dict[str, Any] = {
        "id": model.name,
        "object": "model",
        "created": int(time.time()),
        "owned_by": "sketchmark",
    }

    async def listed(http: Request) -> Response:
        return JSONResponse({"object": "list", "data": [served]})

    async def shown(http: Request) -> Response:
        name = http.path_params["name"]
        if name != model.name:
            raise WireError(f"The model {name!r} does not exist", status=404, code="model_not_found")
        return JSONResponse(served)

    return [Route("/v1/models", listed), Route("/v1/models/{name:path}", shown)]


HOST = "127.0.0.1"


class _Server(uvicorn.Server):
    """uvicorn without its signal handling: it raises the signal again, so that a stopped process looks killed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _server(app: Starlette, protocol: type[ResettableProtocol]) -> _Server:
    config = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        loop="asyncio",
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=5,
    )
    return _Server(config)


def _listen(port: int, host: str = HOST) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError, UnicodeError) as error:
        raise BadInput(f"cannot listen on {host}:{port}: {error}", "--port 0 takes any free port") from error


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def hosts_for(host: str, key: str | None) -> Sequence[str]:
    """Return the host names to accept. Other machines are served only with a key. Then any name is accepted, because
    a web page does not have the key."""
    if host in LOOPBACK:
        return LOOPBACK
    if not key:
        raise BadInput(f"--host {host} would serve anyone who can reach it", "ask for a token with --key-env NAME")
    return ("*",)


async def serve_app(
    app: Starlette,
    *,
    port: int,
    host: str,
    ready: Callable[[str], None],
    protocol: type[ResettableProtocol] = ResettableProtocol,
) -> None:
    """Serve an application until SIGINT or SIGTERM, and finish the current requests."""
    with _listen(port, host) as listening:
        server = _server(app, protocol)
        loop = asyncio.get_running_loop()

        def stop() -> None:
            server.should_exit = True

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
        ready(_url(listening))
        await server.serve(sockets=[listening])


@contextmanager
def app_in_thread(app: Starlette, protocol: type[ResettableProtocol] = ResettableProtocol) -> Iterator[str]:
    """Serve an application on a free port in a separate thread, and give its address."""
    with _listen(0) as listening:
        server = _server(app, protocol)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True)
        thread.start()
        try:
            yield _url(listening)
        finally:
            server.should_exit = True
            thread.join(10)


async def serve(
    model: Model,
    *,
    port: int,
    ready: Callable[[str], None],
    host: str = HOST,
    faults: Faults = NO_FAULTS,
    key: str | None = None,
    fates: Sequence[Fate] = ("complete",),
) -> None:
    """Serve a model until SIGINT or SIGTERM, and close it."""
    hosts = hosts_for(host, key)
    try:
        app = make_app(model, faults, key=key, fates=fates, hosts=hosts)
        await serve_app(app, port=port, host=host, ready=lambda url: ready(f"{url}/v1"))
    finally:
        await model.close()


@contextmanager
def serving(
    model: Model, *, faults: Faults = NO_FAULTS, key: str | None = None, fates: Sequence[Fate] = ("complete",)
) -> Iterator[str]:
    """Serve on a free port in a separate thread, and give the base URL. The model runs in that thread's loop."""
    with app_in_thread(make_app(model, faults, key=key, fates=fates)) as url:
        yield f"{url}/v1"


__all__ = ["Faults", "make_app", "serving"]
