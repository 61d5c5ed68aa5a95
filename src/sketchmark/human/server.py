"""The server of `sketchmark play`: pages and files of a person out, replies in.

It has the viewer's guard (own name, token, strict headers) and also takes POST requests: JSON of a bounded size, from
its own pages only.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.human import Person, Stale
from sketchmark.human.pages import MOST_BYTES, given_in, read_as
from sketchmark.view import LOOPBACK, READING, Guard, prepare_server
from sketchmark.view import STATIC as STYLES

STATIC = Path(__file__).parent / "static"
_PATIENCE = 20.0
"""Seconds that a request waits for the next page."""
_MOST_TEXT = 100_000


class Host(Protocol):
    """The one who knows the people."""

    hosts: Sequence[str]
    """Names of the server, for the header `Host`."""
    secure: bool
    """The pages are served over TLS by another server."""

    def person(self, http: Request) -> Person | None:
        """Return the person of a request, None if there is none yet."""

    async def enrol(self, http: Request, given: dict[str, Any]) -> Response:
        """Admit a new person."""

    def first_page(self) -> dict[str, Any]:
        """Return the page of someone who is not admitted yet."""


class Alone:
    """The host of one person on this machine."""

    hosts: Sequence[str] = LOOPBACK
    secure = False

    def __init__(self, person: Person) -> None:
        self._person = person

    def person(self, http: Request) -> Person:
        return self._person

    async def enrol(self, http: Request, given: dict[str, Any]) -> Response:
        raise BadInput("this page is for one person")

    def first_page(self) -> dict[str, Any]:
        return {"kind": "wait", "number": 0}


class Refused(Exception):
    """A request that is not answered, with the status to send."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


def make_app(host: Host, token: str) -> Starlette:
    async def page(http: Request) -> Response:
        person = host.person(http)
        if person is None:
            return JSONResponse(host.first_page())
        after = http.query_params.get("after", "-1")
        return JSONResponse(await person.news(int(after) if after.isdigit() else -1, _PATIENCE))

    async def reply(http: Request) -> Response:
        person, number, body = _person(host, http), _number(http), await _body(http, MOST_BYTES)
        if number != person.page["number"]:
            raise Stale("this page is no longer shown", "reload the page")
        given = await asyncio.to_thread(given_in, body, person.page)
        person.reply(number, given)
        return JSONResponse(await person.news(number, _PATIENCE))

    async def read(http: Request) -> Response:
        person, given = _person(host, http), json.loads(await _body(http, _MOST_TEXT))
        item = person.item
        text = given.get("text") if isinstance(given, dict) else None
        if item is None or not isinstance(text, str) or person.page.get("final") is not True:
            raise BadInput("this page does not read answers")
        return JSONResponse(await read_as(text[:20_000], item.cell, item.sample))

    async def leave(http: Request) -> Response:
        await _body(http, _MOST_TEXT)
        person = _person(host, http)
        person.leave()
        return JSONResponse(await person.news(person.page["number"], _PATIENCE))

    async def enrol(http: Request) -> Response:
        given = json.loads(await _body(http, _MOST_TEXT))
        if not isinstance(given, dict):
            raise BadInput("an object is expected")
        return await host.enrol(http, given)

    async def file(http: Request) -> Response:
        found = _person(host, http).files.get(http.path_params["digest"])
        if found is None:
            raise Refused(404, "this page has no such file")
        return Response(found.data, media_type=found.media_type)

    async def shell(http: Request) -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html")

    return Starlette(
        routes=[
            Route("/", shell),
            Route("/api/page", _answered(page)),
            Route("/file/{digest}", _answered(file)),
            *(
                Route(f"/api/{handler.__name__}", _answered(handler), methods=["POST"])
                for handler in (reply, read, leave, enrol)
            ),
            Mount("/play", StaticFiles(directory=STATIC)),
            Mount("/static", StaticFiles(directory=STYLES)),
        ],
        middleware=[
            Middleware(
                Guard,
                token=token,
                hosts=host.hosts,
                methods=(*READING, "POST"),
                command="play",
                secure=host.secure,
            )
        ],
    )


def _person(host: Host, http: Request) -> Person:
    person = host.person(http)
    if person is None:
        raise Refused(403, "begin on the first page")
    return person


def _number(http: Request) -> int:
    given = http.query_params.get("number", "")
    if not given.isdigit() or len(given) > 9:
        raise BadInput("the page has no number")
    return int(given)


async def _body(http: Request, most: int) -> bytes:
    """Return the body of a request of our own pages."""
    origin = http.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != http.headers.get("host"):
        raise Refused(403, "this request came from another site")
    if http.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise Refused(415, "send JSON")
    body = bytearray()
    async for chunk in http.stream():
        body += chunk
        if len(body) > most:
            raise Refused(413, f"more than {most:,} bytes")
    return bytes(body)


def _answered(handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Turn errors into one line with a status."""

    async def answer(http: Request) -> Response:
        try:
            return await handler(http)
        except Refused as error:
            return JSONResponse({"error": str(error)}, error.status)
        except Stale as error:
            return JSONResponse({"error": str(error)}, 409)
        except (SketchmarkError, ValueError, RecursionError) as error:
            return JSONResponse({"error": str(error)}, 400)

    return answer


class _Server(uvicorn.Server):
    """A server that leaves signals to the command line."""

    def capture_signals(self) -> contextlib.AbstractContextManager[None]:  # type: ignore[override]
        return contextlib.nullcontext()


@asynccontextmanager
async def serving(
    host: Host, port: int, ready: Callable[[str], None], token: str = "", listen: str = LOOPBACK[0]
) -> AsyncIterator[None]:
    """Serve during the block. `ready` gets the address with its token."""
    token = token or secrets.token_urlsafe(24)
    prepared, listening = prepare_server(make_app(host, token), listen, port)
    server = _Server(prepared.config)
    with listening:
        task = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            ready(f"http://{listen}:{listening.getsockname()[1]}/?token={token}")
            yield
        finally:
            server.should_exit = True
            await asyncio.wait([task], timeout=5)


_FAREWELL = 5.0
"""Seconds for the browser to get the last page."""


async def alone(
    person: Person, port: int, ready: Callable[[str], None], course: Callable[[], Awaitable[dict[str, Any]]]
) -> None:
    """Serve one person on this machine until `course` has returned the last page."""
    async with serving(Alone(person), port, ready):
        person.show("end", **await course())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL):
                await person.has_seen_end.wait()


async def hosting(host: Host, port: int, ready: Callable[[str], None], token: str, listen: str) -> None:
    """Serve many people until the command is stopped."""
    async with serving(host, port, ready, token, listen):
        await asyncio.Event().wait()
