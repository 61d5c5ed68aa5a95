"""The viewer: a local web application that shows run folders and never writes to them.

It shows untrusted text on your machine, so every request is checked and every answer carries strict headers.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request, cookie_parser
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.view.runs import in_words
from sketchmark.view.views import Views

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}

LOOPBACK, READING = ("127.0.0.1", "localhost"), ("GET", "HEAD")


class Guard:
    """Middleware that admits requests with this server's name and the token, first in the address, then in a cookie.

    The Host check keeps out web pages that point their own name at loopback. The token keeps out other users of this
    machine.
    """

    def __init__(
        self,
        app: ASGIApp,
        token: str,
        hosts: Sequence[str] = LOOPBACK,
        methods: Sequence[str] = READING,
        command: str = "view",
        secure: bool = False,
    ) -> None:
        self.app, self.token, self.hosts, self.methods = app, token, hosts, methods
        self.command, self.secure = command, secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        return await self._answer(scope)(scope, receive, send_guarded)

    def _answer(self, scope: Scope) -> ASGIApp:
        headers = Headers(scope=scope)
        host, _, port = headers.get("host", "").partition(":")
        if host not in self.hosts:
            return PlainTextResponse("This is not the address of this server.\n", 421)
        if scope["method"] not in self.methods:
            return PlainTextResponse("The viewer only reads.\n", 405)
        cookie = f"sketchmark_{port or '80'}"
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = dict(query).get("token", "")
        if given and self._is_token(given):
            rest = urlencode([(key, value) for key, value in query if key != "token"])
            path = scope["path"] if not scope["path"].startswith("//") else "/"
            answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
            answer.set_cookie(cookie, self.token, httponly=True, samesite="lax", secure=self.secure)
            return answer
        if self._is_token(cookie_parser(headers.get("cookie", "")).get(cookie, "")):
            return self.app
        return PlainTextResponse(
            f"Open the address that `sketchmark {self.command}` printed: it holds the key to this page.\n", 403
        )

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())


Made = TypeVar("Made")

STATIC = Path(__file__).parent / "static"
_FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
"""Sandbox for report.html: in an untrusted run folder the file may hold anything."""


def make_app(root: Path, token: str) -> Starlette:
    views = Views(root)
    threading.Thread(target=views.warm, daemon=True).start()
    pages = (
        views.runs,
        views.run,
        views.samples,
        views.episode,
        views.compare,
        views.several,
        views.version,
    )
    images = (views.picture, views.thumbnail, views.overlay)
    return Starlette(
        routes=[
            *(Route(f"/api/{view.__name__}", _answering(view, _Strict)) for view in pages),
            *(Route(f"/{view.__name__}", _answering(view, _image)) for view in images),
            Route("/sound", _answering(views.sound, _sound)),
            Route("/report", _answering(views.report, _report)),
            Mount("/static", StaticFiles(directory=STATIC)),
            *(Route(path, _shell) for path in ("/", "/run", "/samples", "/episode", "/compare", "/several")),
        ],
        middleware=[Middleware(Guard, token=token)],
        exception_handlers={404: _missing},
    )


class _Strict(JSONResponse):
    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _image(made: tuple[bytes, str]) -> Response:
    return Response(made[0], media_type=made[1], headers=_FOREVER)


class _Ranged(Response):
    """Bytes that answer a range request with one range, which a browser needs for seeking in a sound."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        whole, asked = bytes(self.body), Headers(scope=scope).get("range", "")
        self.headers["accept-ranges"] = "bytes"
        if found := _RANGE.fullmatch(asked):
            first, last = found.groups()
            start = int(first) if first else max(0, len(whole) - int(last or 0))
            end = min(int(last) + 1 if first and last else len(whole), len(whole))
            if start < end:
                self.status_code, self.body = 206, whole[start:end]
                self.headers["content-range"] = f"bytes {start}-{end - 1}/{len(whole)}"
            else:
                self.status_code, self.body = 416, b""
                self.headers["content-range"] = f"bytes */{len(whole)}"
            self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def _sound(made: tuple[bytes, str]) -> Response:
    return _Ranged(made[0], media_type=made[1], headers=_FOREVER)


def _report(page: bytes) -> Response:
    return Response(page, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


def _answering(view: Callable[[dict[str, str]], Made], wrap: Callable[[Made], Response]) -> Callable[[Request], Any]:
    """Wrap a view as an endpoint; any error of a broken or hostile run folder becomes one line."""

    async def answer(http: Request) -> Response:
        try:
            return wrap(await run_in_threadpool(view, dict(http.query_params)))
        except Exception as error:
            return JSONResponse({"error": in_words(error)}, 404 if isinstance(error, SketchmarkError) else 500)

    return answer


async def _shell(http: Request) -> Response:
    return FileResponse(STATIC / "index.html", media_type="text/html")


async def _missing(http: Request, error: Exception) -> Response:
    return JSONResponse({"error": "there is no such page"}, 404)


HOST = "127.0.0.1"


def serve(root: Path, port: int, ready: Callable[[str], None]) -> None:
    """Serve the runs below `root` on loopback until Ctrl-C; `ready` gets the address with its token."""
    server, listening, address = _prepare(root, port)
    with listening:
        ready(address)
        try:
            asyncio.run(server.serve(sockets=[listening]))
        except KeyboardInterrupt:
            return


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """Run a viewer on a free port in a thread, and give its address."""
    server, listening, address = _prepare(root, 0)
    with listening:
        # In another thread than the main one uvicorn installs no signal handlers.
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True)
        thread.start()
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join(10)


def _prepare(root: Path, port: int) -> tuple[uvicorn.Server, socket.socket, str]:
    token = secrets.token_urlsafe(24)
    server, listening = prepare_server(make_app(root, token), HOST, port)
    return server, listening, f"http://{HOST}:{listening.getsockname()[1]}/?token={token}"


def prepare_server(app: ASGIApp, host: str, port: int) -> tuple[uvicorn.Server, socket.socket]:
    """Make a server for an application, and the socket that it is to listen on."""
    config = uvicorn.Config(
        app,
        ws="none",
        loop="asyncio",
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=2,
    )
    try:
        listening = socket.create_server((host, port))
    except (OSError, OverflowError) as error:
        raise BadInput(f"cannot listen on {host}:{port}: {error}", "--port 0 takes any free port") from error
    return uvicorn.Server(config), listening
