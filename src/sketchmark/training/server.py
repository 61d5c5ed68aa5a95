"""The reward server, `sketchmark rewards`: drawn frames in, rewards out, as JSON over HTTP.

The format is UniRL's, with several frames per request and without pickle:

    POST /score {"requests": [{"history": [{"image_b64": …}, …], "required_rewards": ["maze_frames"],
                               "metadata": {"seed": 7, "level": 3}}]}
    → {"results": [{"maze_frames": {"right": 1.0, "progress": 1.0, …}}], "errors": [{}], "identities": [{…}]}

`NAME_frames` scores all drawings of a sample, `NAME_last` the drawing for frame `index` alone, `NAME_answer` the last
text. `metadata.skip` is the number of images at the start that the model was shown. A request that cannot be scored
has its reason in `errors`; the others are scored. Samples are those of training seeds.

Scoring runs in one process per core. The key is taken as a bearer token, as the password of the address
(`http://x:KEY@host`) or as the first part of the path, because UniRL's client sends no header.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict
from multiprocessing import get_context
from typing import Annotated

import msgspec
import pybase64
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.serve import (
    HANDLERS,
    LOOPBACK,
    NO_FAULTS,
    Gate,
    ResettableProtocol,
    app_in_thread,
    hosts_for,
    serve_app,
)
from sketchmark.serve.bodies import WireError
from sketchmark.training import named, worlds

KINDS = {"frames": "right progress legal readable", "last": "right readable", "answer": "answer form"}
"""Kind of reward → its numbers, the most important one first: UniRL's client takes the first."""
_MOST_FRAMES = 64
_MOST_REQUESTS = 4096
_HANDED_OVER = (16, 1_000_000)
"""Requests, and bytes, that a process gets at once. Requests of one sample come one after the other, and making a
sample takes as long as scoring several frames."""
_AT_ONCE = 100_000
"""Bytes that are joined, and sent to a process at once."""


_NULL = msgspec.Raw(b"null")


class Shown(msgspec.Struct):
    """One part of the history: a text, an image, or both."""

    text: str | None = None
    image_b64: msgspec.Raw = _NULL
    """A string or null, not decoded: that would copy it."""

    def image(self) -> bytes | None:
        """Return the bytes of the image. Anything but base64 raises ValueError."""
        given = memoryview(self.image_b64)
        if bytes(given[:5]) == b"null":
            return None
        if given[0] == ord('"'):
            with suppress(ValueError):
                return pybase64.b64decode(given[1:-1], validate=True)
        return pybase64.b64decode(msgspec.json.decode(given, type=str), validate=True)  # it has escaped characters


class Metadata(msgspec.Struct):
    """Names the sample, and what of the history to score."""

    seed: Annotated[int, msgspec.Meta(ge=0)]
    level: Annotated[int, msgspec.Meta(ge=1, le=5)] = 1
    look: str = ""
    index: Annotated[int, msgspec.Meta(ge=0)] = 0
    skip: Annotated[int, msgspec.Meta(ge=0)] = 0


class Asked(msgspec.Struct):
    """One sample to score, by one or more rewards, and seven names of UniRL's that are returned as they came."""

    history: Annotated[list[Shown], msgspec.Meta(max_length=_MOST_FRAMES)]
    required_rewards: Annotated[list[str], msgspec.Meta(max_length=16)]
    metadata: Metadata
    request_id: msgspec.Raw = _NULL
    sample_id: msgspec.Raw = _NULL
    group_id: msgspec.Raw = _NULL
    source_rank: msgspec.Raw = _NULL
    policy_version: msgspec.Raw = _NULL
    scorer_version: msgspec.Raw = _NULL
    idempotency_key: msgspec.Raw = _NULL


_IDENTITY = Asked.__struct_fields__[3:]


class _Body(msgspec.Struct):
    requests: Annotated[list[msgspec.Raw], msgspec.Meta(max_length=_MOST_REQUESTS)]


class Scored(msgspec.Struct):
    """Reward → numbers, reward → why there are none, and the names that came with the request."""

    results: dict[str, dict[str, float]]
    errors: dict[str, str]
    identity: dict[str, msgspec.Raw]


_ASKED = msgspec.json.Decoder(Asked)
_BODY = msgspec.json.Decoder(_Body)


def score(raw: bytes | msgspec.Raw) -> Scored:
    """Score one request. Nothing in it raises an exception."""
    try:
        asked = _ASKED.decode(raw)
    except (msgspec.MsgspecError, RecursionError) as error:
        return Scored({}, {"request": f"not a request: {error}"[:200]}, {})
    results: dict[str, dict[str, float]] = {}
    errors: dict[str, str] = {}
    for name in asked.required_rewards:
        world, _, kind = name.rpartition("_")
        try:
            if kind not in KINDS or world not in worlds():
                raise BadInput(f"there is no reward {name[:80]!r}")
            results[name] = _scored(asked, world, kind)
        except (SketchmarkError, ValueError, msgspec.MsgspecError) as error:  # not base64, or not a string
            errors[name[:80]] = str(error)[:200]
    return Scored(results, errors, {name: getattr(asked, name) for name in _IDENTITY})


def _scored(asked: Asked, world: str, kind: str) -> dict[str, float]:
    about = asked.metadata
    course, sample = named(world, about.seed, about.level, about.look)
    kept = asked.history[about.skip :]
    if kind == "answer":
        said = [shown.text for shown in kept if shown.text is not None]
        marks = course.judge(sample, (), said[-1] if said else "")
    else:
        drawn = [image for shown in kept if (image := shown.image()) is not None]
        last = drawn[-1] if drawn else b""
        marks = course.judge(sample, drawn) if kind == "frames" else course.judge_frame(sample, about.index, last)
    numbers = asdict(marks)
    return {name: float(numbers[name]) for name in KINDS[kind].split()}


Part = list[msgspec.Raw]
_PART = msgspec.json.Decoder(Part)
_ANSWER = msgspec.json.Decoder(list[Scored])
_DIED = "the process that scored this request died, and so did the next one"


def _parts(asked: Sequence[msgspec.Raw], processes: int) -> Iterator[Part]:
    """Yield requests to hand to a process together, so many that each process gets some."""
    most = min(_HANDED_OVER[0], -(-len(asked) // processes))
    part: Part = []
    size = 0
    for one in asked:
        part.append(one)
        size += len(memoryview(one))
        if len(part) == most or size > _HANDED_OVER[1]:
            yield part
            part, size = [], 0
    if part:
        yield part


def _work(link: socket.socket) -> None:
    """Score parts until the server goes: the main function of a process. A message has its length before it. Every
    part comes into the same memory, and its images are decoded from there."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    room = bytearray(2**16)
    with link, suppress(ConnectionError):
        while link.recv_into(room, _LENGTH, socket.MSG_WAITALL) == _LENGTH:
            size = int.from_bytes(room[:_LENGTH], "big")
            if size > len(room):
                room = bytearray(size)
            _fill(link, memoryview(room)[:size])
            found = msgspec.json.encode(list(map(score, _PART.decode(memoryview(room)[:size]))))
            link.sendall(len(found).to_bytes(_LENGTH, "big") + found)


_LENGTH = 8


def _fill(link: socket.socket, room: memoryview) -> None:
    while room:
        got = link.recv_into(room)
        if not got:
            raise ConnectionResetError
        room = room[got:]


class _Process:
    """A process that scores, and the socket to it."""

    def __init__(self) -> None:
        self._link, theirs = socket.socketpair()
        with theirs:
            get_context("spawn").Process(target=_work, args=(theirs,), daemon=True).start()
        self._link.setblocking(False)

    async def score(self, part: Part) -> list[Scored]:
        loop = asyncio.get_running_loop()
        pieces: list[bytes | memoryview] = []
        for before, one in zip(b"[" + b"," * len(part), part, strict=False):
            pieces += [bytes((before,)), memoryview(one)]
        pieces.append(b"]")
        size = sum(map(len, pieces))
        pieces[0] = size.to_bytes(_LENGTH, "big") + pieces[0]
        for piece in pieces if size > _AT_ONCE else (b"".join(pieces),):
            await loop.sock_sendall(self._link, piece)
        size = int.from_bytes(await self._read(_LENGTH), "big")
        return _ANSWER.decode(await self._read(size))

    async def _read(self, size: int) -> bytes:
        loop, found = asyncio.get_running_loop(), b""
        while len(found) < size:
            got = await loop.sock_recv(self._link, size - len(found))
            if not got:
                raise ConnectionResetError
            found += got
        return found

    def close(self) -> None:
        self._link.close()


class _Scorers:
    """Processes that score, one per core. One that dies is replaced, and its part is scored again."""

    def __init__(self, count: int) -> None:
        self._free = asyncio.Queue[_Process]()
        self._count = count
        self._stopped = False

    def start(self) -> None:
        for _ in range(self._count):
            self._free.put_nowait(_Process())

    async def score(self, asked: Sequence[msgspec.Raw]) -> list[Scored]:
        found = await asyncio.gather(*map(self._score, _parts(asked, self._count)))
        return [one for part in found for one in part]

    async def _score(self, part: Part) -> list[Scored]:
        for _ in range(2):
            process = await self._free.get()
            done = False
            try:
                found = await process.score(part)
                done = True
                return found
            except ConnectionError:
                continue
            finally:
                if not done:  # it died, or is in the middle of a part whose request has gone
                    process.close()
                if not self._stopped:
                    self._free.put_nowait(process if done else _Process())
        return [Scored({}, {"request": _DIED}, {}) for _ in part]

    def stop(self) -> None:
        self._stopped = True
        while not self._free.empty():
            self._free.get_nowait().close()


class _Keys:
    """Passes on a key that came as the address's password or as the first part of the path, as a bearer token."""

    def __init__(self, app: ASGIApp, key: str | None) -> None:
        self._app, self._key = app, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._key and scope["type"] == "http":
            scope = self._with_bearer(scope, self._key)
        await self._app(scope, receive, send)

    def _with_bearer(self, scope: Scope, key: str) -> Scope:
        given = Headers(scope=scope).get("authorization", "")
        first, _, rest = scope["path"][1:].partition("/")
        if given.lower().startswith("basic "):
            try:
                _, _, password = base64.b64decode(given[6:], validate=True).decode().partition(":")
            except ValueError:
                return scope
        elif rest and hmac.compare_digest(first.encode(), key.encode()):
            password, scope = first, {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode()}
        else:
            return scope
        kept = [(name, value) for name, value in scope["headers"] if name != b"authorization"]
        return {**scope, "headers": [*kept, (b"authorization", f"Bearer {password}".encode())]}


def make_app(*, key: str | None = None, hosts: Sequence[str] = LOOPBACK, processes: int = 0) -> Starlette:
    """Make the application. `processes`: 0 is one per core."""
    scorers = _Scorers(processes or os.cpu_count() or 1)
    names = [f"{world}_{kind}" for world in worlds() for kind in KINDS]

    async def scored(http: Request) -> Response:
        try:
            asked = _BODY.decode((await http.receive()).get("body", b"")).requests  # one message: see `Gate`
        except (msgspec.MsgspecError, RecursionError) as error:
            raise WireError(f"not a body of requests: {error}"[:200]) from None
        found = await scorers.score(asked)
        body = {
            "protocol_version": "1",
            "results": [one.results for one in found],
            "errors": [one.errors for one in found],
            "identities": [one.identity for one in found],
        }
        return Response(msgspec.json.encode(body), media_type="application/json")

    async def health(http: Request) -> Response:
        return JSONResponse({"status": "ok", "rewards": {name: ["ready"] for name in names}})

    async def listed(http: Request) -> Response:
        return JSONResponse({"rewards": names})

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        scorers.start()
        yield
        scorers.stop()

    return Starlette(
        routes=[Route("/score", scored, methods=["POST"]), Route("/health", health), Route("/rewards", listed)],
        middleware=[Middleware(_Keys, key=key), Middleware(Gate, faults=NO_FAULTS, key=key, hosts=hosts)],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )


_MOST_CONNECTIONS = 8192


def _protocol() -> type[ResettableProtocol]:
    """Return the protocol of one server. All its connections are read into the same memory: fresh memory for each
    piece takes as long as reading it."""
    room = memoryview(bytearray(2**18))

    class Protocol(ResettableProtocol, asyncio.BufferedProtocol):
        most = _MOST_CONNECTIONS

        def get_buffer(self, sizehint: int) -> memoryview:
            return room

        def buffer_updated(self, nbytes: int) -> None:
            self.data_received(room[:nbytes])  # type: ignore[arg-type]  # h11 copies it

    return Protocol


async def serve_rewards(
    *, host: str, port: int, key: str | None, processes: int, ready: Callable[[str], None]
) -> None:
    """Serve until SIGINT or SIGTERM."""
    hosts = hosts_for(host, key)
    _allow_files(_MOST_CONNECTIONS)
    app = make_app(key=key, hosts=hosts, processes=processes)
    await serve_app(app, port=port, host=host, ready=ready, protocol=_protocol())


def _allow_files(count: int) -> None:
    """Raise the number of open files, and so of connections, as far as the system lets us."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = count + 256 if hard == resource.RLIM_INFINITY else min(count + 256, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


@contextmanager
def rewarding(*, key: str | None = None, processes: int = 1) -> Iterator[str]:
    """Serve on a free port in a separate thread, and give the address."""
    _allow_files(_MOST_CONNECTIONS)
    with app_in_thread(make_app(key=key, processes=processes), _protocol()) as url:
        yield url
