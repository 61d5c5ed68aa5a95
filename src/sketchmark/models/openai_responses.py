"""OpenAI's Responses API: a mainline model draws by calling the `image_generation` tool; with `history=native` it
also says through it.

The whole conversation goes along as items (`openai_items.py`), and no id of an earlier response: what a canvas took
away does not come back by the server's memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sketchmark.models.base import Finish
from sketchmark.models.failures import BadReply
from sketchmark.models.openai_items import CALL, TOOL, record_of
from sketchmark.models.openai_replies import ChatReply, is_refusal_code
from sketchmark.models.replies import as_a_reply, counted

_TOOL_SETTINGS = ("size", "quality", "background", "input_fidelity", "output_format")


def request_for(model: str, items: list[dict[str, Any]], *, native: bool) -> dict[str, Any]:
    """`store` and the compression of pictures are off: nothing is kept there, and a maze's walls are thin. What the
    model thought comes back encrypted where it is to be sent again."""
    request = {"model": model, "store": False, "input": items, "image": {"context_compression": "disabled"}}
    return request | ({"include": ["reasoning.encrypted_content"]} if native else {})


def drawing_tool(drawer: str | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What makes it a request for a drawing. `drawer`: the image model behind the tool, where a request may name
    it."""
    tool = {"type": TOOL, **({"model": drawer} if drawer else {})}
    tool |= {name: settings[name] for name in _TOOL_SETTINGS if name in settings}
    return {"tools": [tool], "tool_choice": {"type": TOOL}, "max_tool_calls": 1, "parallel_tool_calls": False}


def read_with_record(body: dict[str, Any]) -> ChatReply:
    """With what goes back of it (`history=native`)."""
    reply = read_response(body)
    return replace(reply, native=record_of([item for item in body["output"] if isinstance(item, dict)]))


def read_response(body: dict[str, Any]) -> ChatReply:
    """A drawing counts when its bytes are there, whatever `status` says: finished ones were seen as `generating`.

    A refusal comes in several shapes: a failed call with a code, a response that is incomplete for its content, an
    error of the response, a block of a message. (The fifth, status 400, is the caller's.)
    """
    if not isinstance(body.get("output"), list):
        raise BadReply("the server sent a response without a list of output")
    with as_a_reply():
        items = [item for item in body["output"] if isinstance(item, dict)]
        blocks = [block for item in items if item.get("type") == "message" for block in item["content"]]
        drawn = [str(item["result"]) for item in items if item.get("type") == CALL and item.get("result")]
        texts = [str(block["text"]) for block in blocks if block.get("type") == "output_text"]
        said = "".join(texts) or next((str(block["refusal"]) for block in blocks if block.get("refusal")), "")
    tokens_in, tokens_out = counted(body, "input_tokens", "output_tokens")
    of_tool = body.get("tool_usage")
    drawing = of_tool.get("image_gen") if isinstance(of_tool, dict) else None
    more_in, more_out = counted({"usage": drawing}, "input_tokens", "output_tokens")
    pictures = tuple(f"data:;base64,{result}" for result in drawn[-1:])
    if drawn:
        return ChatReply(said, pictures, "stop", tokens_in + more_in, tokens_out + more_out)
    finish, why = _ended(body, items, blocks)
    return ChatReply(said or why, (), finish, tokens_in + more_in, tokens_out + more_out)


def _ended(body: dict[str, Any], items: list[dict[str, Any]], blocks: list[dict[str, Any]]) -> tuple[Finish, str]:
    """How a response without a drawing ended, and its words for it."""
    errors = [
        error for error in (body.get("error"), *(item.get("error") for item in items)) if isinstance(error, dict)
    ]
    for error in errors:
        if is_refusal_code(error.get("code")):
            return "refused", str(error.get("message") or error["code"])
    if errors:
        raise BadReply(f"the server failed: {errors[0].get('message') or errors[0].get('code')}")
    details = body.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    if reason == "content_filter" or any(block.get("type") == "refusal" for block in blocks):
        return "refused", ""
    if reason == "max_output_tokens":
        return "length", ""
    return "stop", ""
