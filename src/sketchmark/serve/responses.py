"""The Responses API, the way out: text as a message, a drawing as a call of the `image_generation` tool."""

from __future__ import annotations

import asyncio
import base64
import json
import time
import uuid
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sketchmark.models.base import Model, Reply
from sketchmark.serve import bodies
from sketchmark.serve.responses_request import TOOL, ResponsesRequest, read_responses


def routes(model: Model) -> list[Route]:
    async def respond(http: Request) -> Response:
        raw = await http.body()
        request = await asyncio.to_thread(lambda: read_responses(bodies.json_object(raw)))
        bodies.check_taken(model, request.context)
        reply = await (model.draw if request.draws else model.say)(request.context, request.options)
        encoded = await asyncio.to_thread(lambda: json.dumps(_response(model, reply, request)))
        return Response(encoded, media_type="application/json")

    return [Route("/v1/responses", respond, methods=["POST"])]


def _response(model: Model, reply: Reply, request: ResponsesRequest) -> dict[str, Any]:
    why = {"length": "max_output_tokens", "refused": "content_filter"}.get(reply.finish)
    used = reply.usage
    tokens = {"input_tokens": used.tokens_in, "output_tokens": used.tokens_out}
    total = used.tokens_in + used.tokens_out
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
            **tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": total,
        },
        "sketchmark": {"finish": reply.finish, "left_out": list(reply.left_out)},
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
