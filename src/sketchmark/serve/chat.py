"""Chat completions: messages of any role to a context, and a reply as one completion or a stream of chunks."""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from sketchmark.episode.model import Finish, Model, Options, Reply
from sketchmark.episode.sample import Content, Context, Part
from sketchmark.serve import bodies
from sketchmark.serve.bodies import WireError

_OF_TOOLS = ("tool_calls", "function_call")
_HANDLED = frozenset({"messages", "modalities", "stream", "stream_options"})


@dataclass(frozen=True)
class ChatRequest:
    context: Context
    options: Options
    draws: bool
    beside: bool
    """Drawings go to `images` next to the content, as with OpenRouter and litellm. A client that asks only for an
    image gets it in the content, as with vLLM-Omni."""
    stream: bool
    stream_usage: bool


def read_chat(body: Mapping[str, Any]) -> ChatRequest:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise WireError("messages must be a list that is not empty", param="messages")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise WireError("you must provide a model parameter", param="model")
    bodies.one_only(body)
    parts = tuple(part for i, message in enumerate(messages) for part in _parts(message, f"messages[{i}]"))
    if not parts:
        raise WireError("the messages have no content", param="messages")
    stream_options = body.get("stream_options")
    return ChatRequest(
        context=Context(parts),
        options=bodies.options(body, _HANDLED),
        draws=_draws(body.get("modalities")),
        beside="text" in (body.get("modalities") or ()),
        stream=bodies.streams(body),
        stream_usage=isinstance(stream_options, dict) and stream_options.get("include_usage") is True,
    )


def _draws(modalities: object) -> bool:
    if modalities is None:
        return False
    if not isinstance(modalities, list) or not modalities:
        raise WireError("modalities must be a list that is not empty", param="modalities")
    for modality in modalities:
        if modality not in ("text", "image"):
            raise WireError(f"unknown modality {modality!r}: text and image are known", param="modalities")
    return "image" in modalities


def _parts(message: object, param: str) -> Iterator[Part]:
    if not isinstance(message, dict):
        raise WireError("a message must be an object", param=param)
    role = message.get("role")
    if not isinstance(role, str) or role not in bodies.AUTHORS:
        raise WireError(f"unknown role {role!r}: {', '.join(bodies.AUTHORS)} are known", param=f"{param}.role")
    for name in _OF_TOOLS:
        if message.get(name):
            raise WireError("the models of this server call no tools", param=f"{param}.{name}")
    for name, parts in _lists(message, role, param).items():
        for i, part in enumerate(parts):
            yield Part(_content(part, f"{param}.{name}[{i}]"), bodies.AUTHORS[role])


def _lists(message: Mapping[str, Any], role: str, param: str) -> dict[str, list[object]]:
    """Return the parts of a message by field. This server's own replies are accepted: a drawing as `images` next to
    the text, and no text if the model generated none."""
    content, images, refusal = message.get("content"), message.get("images"), message.get("refusal")
    if images is not None and not isinstance(images, list):
        raise WireError("images must be a list of parts", param=f"{param}.images")
    if role == "assistant" and (content is None or (content == "" and (images or refusal))):
        content = []
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise WireError("content must be a text or a list of parts", param=f"{param}.content")
    refused = [{"type": "refusal", "refusal": refusal}] if refusal else []
    return {"content": content, "refusal": refused, "images": images or []}


def _content(part: object, param: str) -> Content:
    if not isinstance(part, dict):
        raise WireError("a part must be an object", param=param)
    match part.get("type"):
        case "text" | "refusal" as kind:
            return bodies.words(part, kind, param)
        case "image_url":
            image_url = part.get("image_url")
            return bodies.picture_from_url(image_url.get("url") if isinstance(image_url, dict) else image_url, param)
        case "input_audio":
            return bodies.sound(part.get("input_audio"), param)
        case other:
            raise WireError(f"unknown part type {other!r}: text, image_url and input_audio are known", param=param)


_FINISH: Mapping[Finish, str] = {"length": "length", "refused": "content_filter"}


async def _reply(model: Model, request: ChatRequest) -> Reply:
    bodies.check_taken(model, request.context)
    return await (model.draw if request.draws else model.say)(request.context, request.options)


async def answer(model: Model, body: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one chat request of a batch."""
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
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": model.name}


def _message(reply: Reply, beside: bool) -> dict[str, Any]:
    """Return the content of a message. An image makes it a list, or goes to `images` next to it."""
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


def _completion(model: Model, reply: Reply, beside: bool) -> dict[str, Any]:
    message = {"role": "assistant", **_message(reply, beside), "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _FINISH.get(reply.finish, "stop")}
    return {
        **_head(model, "chat.completion"),
        "choices": [choice],
        "usage": _usage(reply),
        "sketchmark": bodies.own(reply),
    }


def _events(model: Model, reply: Reply, request: ChatRequest) -> Iterator[str]:
    """Yield server-sent events, word by word. Models reply whole, so this has only the form of a stream."""
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
            chunk["sketchmark"] = bodies.own(reply)
        yield f"data: {json.dumps(chunk)}\n\n"
    if request.stream_usage:
        yield f"data: {json.dumps({**head, 'choices': [], 'usage': _usage(reply)})}\n\n"
    yield "data: [DONE]\n\n"
