"""The Responses API: items to a context, and a reply as a message or a call of the `image_generation` tool.

The server keeps nothing between requests.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Content, Context, Part
from sketchmark.serve import bodies
from sketchmark.serve.bodies import WireError

_STATE = ("previous_response_id", "conversation")
TOOL = "image_generation"
_HANDLED = frozenset(
    {"input", "instructions", "tools", "tool_choice", "max_output_tokens", "stream", "include", "image", *_STATE}
    | {"max_tool_calls", "parallel_tool_calls", "truncation", "background", "service_tier", "text"}
)


@dataclass(frozen=True)
class ResponsesRequest:
    context: Context
    options: Options
    draws: bool


def _read_responses(body: Mapping[str, Any]) -> ResponsesRequest:
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise WireError("you must provide a model parameter", param="model")
    if bodies.streams(body):
        raise WireError("this server does not stream responses; chat completions can", param="stream")
    for name in _STATE:
        if body.get(name) is not None:
            raise WireError("this server keeps no responses: send the whole conversation as input", param=name)
    parts = [*_instructions(body.get("instructions")), *_input(body.get("input"))]
    if not parts:
        raise WireError("the input has no content", param="input")
    tool = _drawing_tool(body.get("tools"))
    limit = bodies.whole_number(body, "max_output_tokens", 1, 2**31 - 1)
    asked = {name: value for name, value in body.items() if name not in _HANDLED}
    of_tool = {name: value for name, value in (tool or {}).items() if name != "type"}
    settings = {**asked, **_text_settings(body.get("text")), **of_tool}
    options = bodies.options({**settings, "max_tokens": limit}, frozenset())
    return ResponsesRequest(Context(tuple(parts)), options, _is_to_draw(tool, body.get("tool_choice")))


def _text_settings(text: object) -> dict[str, Any]:
    """Read the text settings. A format gets chat's name and form, so that a model needs to know only one."""
    if text is None:
        return {}
    form = text.get("format") if isinstance(text, dict) else text
    if not isinstance(text, dict) or not isinstance(form, dict | None):
        raise WireError("text must be an object, and its format too", param="text")
    others = {name: value for name, value in text.items() if name != "format"}
    if form is None or form.get("type") == "text":
        return others
    if form.get("type") == "json_schema":
        form = {"type": "json_schema", "json_schema": {name: form[name] for name in form if name != "type"}}
    return {**others, "response_format": form}


def _drawing_tool(tools: object) -> Mapping[str, Any] | None:
    if tools is None:
        return None
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise WireError("tools must be a list of objects", param="tools")
    for i, tool in enumerate(tools):
        if tool.get("type") != TOOL:
            raise WireError(f"unknown tool {tool.get('type')!r}: {TOOL} is known", param=f"tools[{i}].type")
    return tools[0] if tools else None


def _is_to_draw(tool: Mapping[str, Any] | None, choice: object) -> bool:
    """Return whether to draw. A model here does not choose by itself. With the tool it draws, unless the choice is
    `none`: otherwise `auto` would mean that no client ever gets an image."""
    forced = isinstance(choice, dict) and choice.get("type") == TOOL
    if forced and tool is None:
        raise WireError(f"tool_choice names {TOOL}, which is not among the tools", param="tool_choice")
    return tool is not None and choice != "none"


def _instructions(text: object) -> list[Part]:
    if text is None or text == "":
        return []
    if not isinstance(text, str):
        raise WireError("instructions must be a text", param="instructions")
    return [Part(text)]


def _input(given: object) -> Iterator[Part]:
    if isinstance(given, str):
        if given:
            yield Part(given)
        return
    if not isinstance(given, list):
        raise WireError("input must be a text or a list of items", param="input")
    for i, item in enumerate(given):
        yield from _item(item, f"input[{i}]")


def _item(item: object, param: str) -> Iterator[Part]:
    if not isinstance(item, dict):
        raise WireError("an item must be an object", param=param)
    kind = item.get("type", "message")
    if kind == "reasoning":
        return  # reasoning is a provider's state, which models here do not have
    if kind == "image_generation_call":
        if not isinstance(item.get("result"), str):
            raise WireError("no such item: this server keeps no responses", status=404, param=param)
        yield Part(bodies.picture_from_url(f"data:;base64,{item['result']}", f"{param}.result"), "model")
        return
    if kind != "message":
        raise WireError(f"unknown item type {kind!r}: message and image_generation_call are known", param=param)
    author = bodies.AUTHORS.get(str(item.get("role")))
    if author is None:
        raise WireError(
            f"unknown role {item.get('role')!r}: {', '.join(bodies.AUTHORS)} are known", param=f"{param}.role"
        )
    content = item.get("content")
    if isinstance(content, str):
        content = [{"type": "input_text", "text": content}]
    if not isinstance(content, list):
        raise WireError("content must be a text or a list of parts", param=f"{param}.content")
    for i, part in enumerate(content):
        yield Part(_content(part, f"{param}.content[{i}]"), author)


def _content(part: object, param: str) -> Content:
    if not isinstance(part, dict):
        raise WireError("a part must be an object", param=param)
    match part.get("type"):
        case "input_text" | "output_text" | "text":
            return bodies.words(part, "text", param)
        case "refusal":
            return bodies.words(part, "refusal", param)
        case "input_image":
            return bodies.picture_from_url(part.get("image_url"), param)
        case other:
            raise WireError(f"unknown part type {other!r}: input_text and input_image are known", param=param)


def routes(model: Model) -> list[Route]:
    async def respond(http: Request) -> Response:
        raw = await http.body()
        request = await asyncio.to_thread(lambda: _read_responses(bodies.json_object(raw)))
        bodies.check_taken(model, request.context)
        reply = await (model.draw if request.draws else model.say)(request.context, request.options)
        encoded = await asyncio.to_thread(lambda: json.dumps(_response(model, reply, request)))
        return Response(encoded, media_type="application/json")

    return [Route("/v1/responses", respond, methods=["POST"])]


def _response(model: Model, reply: Reply, request: ResponsesRequest) -> dict[str, Any]:
    why = {"length": "max_output_tokens", "refused": "content_filter"}.get(reply.finish)
    used = reply.usage
    return {
        "id": f"resp_{uuid.uuid4().hex}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "incomplete" if why else "completed",
        "incomplete_details": {"reason": why} if why else None,
        "error": None,
        "instructions": None,
        "metadata": {},
        "model": model.name,
        "output": _output(reply),
        "parallel_tool_calls": False,
        "temperature": request.options.temperature,
        "tool_choice": {"type": TOOL} if request.draws else "auto",
        "tools": [{"type": TOOL}] if request.draws else [],
        "top_p": 1.0,
        "store": False,
        "usage": {
            "input_tokens": used.tokens_in,
            "output_tokens": used.tokens_out,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": used.tokens_in + used.tokens_out,
        },
        "sketchmark": bodies.own(reply),
    }


def _output(reply: Reply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.picture is not None:
        drawn = base64.b64encode(reply.picture.data).decode("ascii")
        form = {"id": f"ig_{uuid.uuid4().hex}", "status": "completed", "output_format": reply.picture.format}
        items.append({"type": "image_generation_call", **form, "result": drawn})
    if reply.text or not items:
        said: dict[str, Any]
        if reply.finish == "refused":
            said = {"type": "refusal", "refusal": reply.text}
        else:
            said = {"type": "output_text", "text": reply.text, "annotations": []}
        message = {"id": f"msg_{uuid.uuid4().hex}", "role": "assistant", "status": "completed", "content": [said]}
        items.append({"type": "message", **message})
    return items
