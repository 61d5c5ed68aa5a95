"""The far end of the wire: a real HTTP server on loopback that validates every body and can misbehave on request."""

from __future__ import annotations

import asyncio
import base64
import io
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from PIL import Image
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sketchmark.media import Picture
from sketchmark.media.sound import is_sound
from tests.models import wire_checks

KEY = "sk-planted-7f3a9c1e5b2d8046"


def picture(shade: int = 0, kind: str = "PNG") -> Picture:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), (shade, 40, 90)).save(buffer, kind)
    return Picture.from_bytes(buffer.getvalue())


DRAWN = picture(200)


@dataclass
class Seen:
    """One request as it came over the wire. `pictures` are decoded from the body, in order."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    pictures: list[Picture] = field(default_factory=list)
    at: float = 0.0


@dataclass
class Fault:
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    delay: float = 0.0


@dataclass
class Load:
    """Requests in hand at once."""

    now: int = 0
    most: int = 0


class FarEnd:
    def __init__(self) -> None:
        self.url = ""
        self.reset()

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def reset(self) -> None:
        self.seen: list[Seen] = []
        self.faults: list[Fault] = []
        self.answer: Any = None
        self.bagel = False
        self.shutdown_date: Any = None
        """The date in the list of models. It is asked for before a run and is not in `seen`."""
        self.load = Load()
        self.meet = 0
        """Requests that must have been in hand at once before any is answered, for twenty seconds at most."""
        self.delay = 0.0

    async def serve(self, request: Request) -> Response:
        load = self.load  # a request that outlives its test must not count in the next one
        load.now += 1
        load.most = max(load.most, load.now)
        try:
            return await self._reply(request)
        finally:
            load.now -= 1

    async def _reply(self, request: Request) -> Response:
        if "/models" in request.url.path and request.method == "GET":
            told = {"id": "m", "object": "model", "shutdown_date": self.shutdown_date}
            return JSONResponse(told, 200 if self.shutdown_date else 404)
        seen = Seen(request.url.path, dict(request.query_params), dict(request.headers), None, at=time.monotonic())
        complaint = ""
        try:
            await self._read(seen, request)
        except wire_checks.Invalid as error:
            complaint = str(error)
        self.seen.append(seen)
        if self.faults:
            fault = self.faults.pop(0)
            await asyncio.sleep(fault.delay)
            if not fault.delay:
                body = fault.body or {"error": {"message": f"planned {fault.status}", "code": str(fault.status)}}
                return JSONResponse(body, fault.status, headers=fault.headers)
        end, load = time.monotonic() + 20, self.load
        while load.most < self.meet and time.monotonic() < end:
            await asyncio.sleep(0.01)
        await asyncio.sleep(self.delay)
        if complaint:
            return JSONResponse({"error": {"message": f"invalid: {complaint}", "code": "invalid"}}, 400)
        if seen.path == "/pictures/drawn.png":
            return Response(DRAWN.data, media_type="image/png")
        if seen.path == "/msi/token":
            return JSONResponse({"access_token": "entra-token-1234", "expires_on": int(time.time()) + 9000,
                                 "resource": seen.query["resource"], "token_type": "Bearer"})  # fmt: skip
        if isinstance(self.answer, Response):
            return self.answer
        answer = self.answer(seen) if callable(self.answer) else self.answer
        return JSONResponse(answer or default_answer(seen))

    async def _read(self, seen: Seen, request: Request) -> None:
        """Read and check a request. One that is invalid is kept as well."""
        if request.method == "GET":
            return
        if seen.path.endswith("/images/edits"):
            async with request.form() as form:
                for key, value in form.multi_items():
                    if isinstance(value, UploadFile) and key.startswith("image"):
                        seen.pictures.append(Picture.from_bytes(await value.read()))
                        await value.seek(0)
                seen.body = {key: value for key, value in form.items() if isinstance(value, str)}
                await wire_checks.check_edit(form)
        else:
            seen.body = await request.json()
            seen.pictures = list(_pictures_in(seen.body))
            self._check(seen)
        sent = [seen.headers.get(name) for name in ("authorization", "api-key", "x-goog-api-key", "x-api-key")]
        wire_checks.need(any(sent), "no key")

    def _check(self, seen: Seen) -> None:
        deployed = seen.path.startswith("/openai/deployments/")
        wire_checks.need(not deployed or "api-version" in seen.query, "no api-version")
        ends: dict[str, Callable[[Any], None]] = {
            "/chat/completions": lambda body: wire_checks.check_chat(body, bagel=self.bagel),
            "/images/generations": wire_checks.check_generation,
            "/responses": wire_checks.check_responses,
            ":generateContent": wire_checks.check_gemini,
            "/v1/messages": wire_checks.check_anthropic,
        }
        check = next((check for end, check in ends.items() if seen.path.endswith(end)), None)
        wire_checks.need(check, f"no such path {seen.path}")
        assert check
        check(seen.body)


def default_answer(seen: Seen) -> dict[str, Any]:
    if seen.path.endswith("/chat/completions"):
        content: Any = "left" if "image" not in seen.body.get("modalities", []) else [picture_block(DRAWN)]
        return chat_answer({"role": "assistant", "content": content})
    if "/images/" in seen.path:
        usage = {"input_tokens": 30, "output_tokens": 70, "total_tokens": 100}
        return {"created": 1, "data": [{"b64_json": in_base64(DRAWN)}], "usage": usage}
    if seen.path.endswith("/v1/messages"):
        return anthropic_answer("left")
    modalities = seen.body.get("generationConfig", {}).get("responseModalities", ["TEXT"])
    parts: list[dict[str, Any]] = [{"text": "left"}]
    if "IMAGE" in modalities:
        parts.append({"inlineData": {"mimeType": "image/png", "data": in_base64(DRAWN)}})
    return gemini_answer(parts)


def chat_answer(message: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    usage = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def gemini_answer(parts: list[dict[str, Any]], finish: str = "STOP") -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish}
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 5}}


def anthropic_answer(text: str, stop: str = "end_turn") -> dict[str, Any]:
    content = [{"type": "text", "text": text}] if text else []
    usage = {"input_tokens": 11, "output_tokens": 5}
    return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": stop,
            "stop_sequence": None, "usage": usage}  # fmt: skip


def in_base64(shown: Picture) -> str:
    return base64.b64encode(shown.data).decode()


def picture_block(shown: Picture) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{in_base64(shown)}"}}


PICTURE_FIELDS = ("url", "data", "image_url", "result")


def _pictures_in(value: Any) -> Iterator[Picture]:
    """Every base64 picture in a JSON body, in order, whatever the provider calls the field."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in PICTURE_FIELDS and isinstance(item, str):
                text = item.partition(";base64,")[2] or item
                data = base64.b64decode(text.replace("-", "+").replace("_", "/"))
                if not is_sound(data):
                    yield Picture.from_bytes(data)
            else:
                yield from _pictures_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from _pictures_in(item)


@contextmanager
def listening(reply: Any, port: int = 0) -> Iterator[str]:
    """The address of a server that answers every request with `reply`."""
    app = Starlette(routes=[Route("/{path:path}", reply, methods=["GET", "POST"])])
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="critical"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(timeout=5)


@contextmanager
def running(port: int = 0) -> Iterator[FarEnd]:
    far = FarEnd()
    with listening(far.serve, port) as far.url:
        yield far


class Plain:
    """A server that answers every request by its path and JSON body (None: a GET), and keeps the bodies."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.url = ""

    def reply(self, path: str, body: Any) -> tuple[int, Any]:
        raise NotImplementedError

    async def serve(self, request: Request) -> Response:
        body = await request.json() if request.method == "POST" else None
        if body is not None:
            self.asked.append(body)
        status, answer = self.reply(request.url.path, body)
        return JSONResponse(answer, status)


@asynccontextmanager
async def answering_proxy(data: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """The address of a proxy that answers everything itself, and the first lines of what it was asked."""
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).splitlines()[0])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
