"""Chat completions, the way out: a reply as one completion or as a stream of chunks."""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from sketchmark.models.base import Finish, Model, Reply
from sketchmark.serve import bodies
from sketchmark.serve.chat_request import ChatRequest, read_chat
from sketchmark.serve.wire_errors import WireError

_FINISH: Mapping[Finish, str] = {"length": "length", "refused": "content_filter"}


async def _reply(model: Model, request: ChatRequest) -> Reply:
    bodies.check_taken(model, request.context)
    return await (model.draw if request.draws else model.say)(request.context, request.options)


async def answer(model: Model, body: Mapping[str, Any]) -> dict[str, Any]:
    """One chat request of a batch."""
    request = await asyncio.to_thread(read_chat, body)
    if request.stream:
        raise WireError("a batch cannot stream", param="stream")
    reply = await _reply(model, request)
    return await asyncio.to_thread(_completion, model, reply, request.beside)


def routes(model: Model) -> list[Route]:
    async def chat(http: Request) -> Response:
        raw = await http.body()
        request = await asyncio.to_thread(lambda: read_chat(bodies.json_object(raw)))
        reply = await _reply(model, request)
        if request.stream:
            return StreamingResponse(_events(model, reply, request), media_type="text/event-stream")
        encoded = await asyncio.to_thread(lambda: json.dumps(_completion(model, reply, request.beside)))
        return Response(encoded, media_type="application/json")

    return [Route("/v1/chat/completions", chat, methods=["POST"])]


def _head(model: Model, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": model.name,
    }


def _message(reply: Reply, beside: bool) -> dict[str, Any]:
    """What a message says and shows. A picture makes the content a list, or stands beside it as `images`."""
    if reply.picture is None:
        return {"content": reply.text}
    image = {"type": "image_url", "image_url": {"url": reply.picture.data_url}}
    if beside:
        return {"content": reply.text, "images": [{"index": 0, **image}]}
    return {"content": [{"type": "text", "text": reply.text}, image] if reply.text else [image]}


def _usage(reply: Reply) -> dict[str, int]:
    used = reply.usage
    return {
        "prompt_tokens": used.tokens_in,
        "completion_tokens": used.tokens_out,
        "total_tokens": used.tokens_in + used.tokens_out,
    }


def _own(reply: Reply) -> dict[str, Any]:
    """What OpenAI's form has no place for, so that a Sketchmark at the other end need not lose it."""
    return {"finish": reply.finish, "left_out": list(reply.left_out)}


def _completion(model: Model, reply: Reply, beside: bool) -> dict[str, Any]:
    message = {"role": "assistant", **_message(reply, beside), "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _FINISH.get(reply.finish, "stop")}
    return {
        **_head(model, "chat.completion"),
        "choices": [choice],
        "usage": _usage(reply),
        "sketchmark": _own(reply),
    }


def _events(model: Model, reply: Reply, request: ChatRequest) -> Iterator[str]:
    """Server-sent events. Models reply whole, so the stream only has the form of one: word after word."""
    head = _head(model, "chat.completion.chunk")
    message = _message(reply, request.beside)
    content = message.pop("content")
    pieces: list[Any] = re.findall(r"\S+\s*|\s+", content) or [content] if isinstance(content, str) else [content]
    deltas = [
        {"role": "assistant", "content": ""},
        *({"content": piece} for piece in pieces),
        *([message] if message else []),
        {},
    ]
    for i, delta in enumerate(deltas):
        finish = _FINISH.get(reply.finish, "stop") if i == len(deltas) - 1 else None
        chunk = {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}
        if finish:
            chunk["sketchmark"] = _own(reply)
        yield f"data: {json.dumps(chunk)}\n\n"
    if request.stream_usage:
        yield f"data: {json.dumps({**head, 'choices': [], 'usage': _usage(reply)})}\n\n"
    yield "data: [DONE]\n\n"
