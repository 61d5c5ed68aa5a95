"""Reading what OpenAI and the servers that imitate it send back. Each shape here was seen on some server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sketchmark.models.base import Finish
from sketchmark.models.failures import BadReply, ErrorStatus
from sketchmark.models.replies import counted

_FINISHES: dict[str, Finish] = {"length": "length", "max_tokens": "length", "content_filter": "refused"}
_REFUSAL_CODES = frozenset(
    {"content_filter", "content_policy_violation", "image_content_policy_violation", "moderation_blocked"}
    | {"ResponsibleAIPolicyViolation"}
)
_FLAGGED = re.compile(r"flagged_input|input was flagged|violates usage guidelines", re.IGNORECASE)
_MARKDOWN_PICTURE = re.compile(r"!\[[^\[\]]*\]\((data:image/[^()\[\]\s]+)\)")
"""No part of it runs over a bracket, so that no character is read again for another beginning."""


@dataclass(frozen=True)
class ChatReply:
    """The first choice of a chat completion: its text, the addresses of its pictures, and what it cost."""

    text: str
    pictures: tuple[str, ...]
    finish: Finish
    tokens_in: int
    tokens_out: int
    native: str = ""


def read_chat(body: dict[str, Any]) -> ChatReply:
    try:
        choice = body["choices"][0]
        message = choice["message"]
        text, pictures = _contents(message)
        finish = _FINISHES.get(choice.get("finish_reason") or "", "stop")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise BadReply("the server sent a chat completion without a message") from None
    if message.get("refusal"):
        text, finish = text or str(message["refusal"]), "refused"
    return ChatReply(text, pictures, finish, *counted(body, "prompt_tokens", "completion_tokens"))


def _contents(message: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """`content` as text (on some gateways with a markdown data URL in it), as a list of blocks (vLLM-Omni), or with a
    list `images` beside it (OpenRouter)."""
    content = message.get("content") or ""
    texts: list[str] = []
    pictures: list[str] = []
    if isinstance(content, str):
        pictures += _MARKDOWN_PICTURE.findall(content)
        texts.append(_MARKDOWN_PICTURE.sub("", content))
        content = []
    for block in [*content, *(message.get("images") or [])]:
        if block.get("type") == "text":
            texts.append(block["text"])
        elif "image_url" in block:
            address = block["image_url"]
            pictures.append(address if isinstance(address, str) else address["url"])
    return "".join(texts), tuple(pictures)


def read_image(body: dict[str, Any]) -> str:
    """The address of the first picture, b64_json as a data URL like everything else; empty if there is none."""
    items = body.get("data")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BadReply("the server sent no list of pictures")
    if not items:
        return ""
    if items[0].get("b64_json"):
        return f"data:;base64,{items[0]['b64_json']}"
    return str(items[0].get("url") or "")


def is_refusal_code(code: object) -> bool:
    return isinstance(code, str) and code in _REFUSAL_CODES


def refusal_in(error: ErrorStatus) -> str | None:
    """The words of a content filter, which is a refusal and no broken request; None if it is none.

    Most answer 400 with a code; OpenRouter (`metadata` with what was flagged) and xAI (its words) answer 403.
    """
    status, body = error.status_code, error.body
    if status == 403 and _FLAGGED.search(str(body)):
        return str(body.get("message")) if isinstance(body, dict) else str(body)
    if status != 400 or not isinstance(body, dict):
        return None
    inner = body.get("innererror") or body.get("inner_error") or {}
    codes = {body.get("code"), inner.get("code") if isinstance(inner, dict) else None}
    return str(body.get("message") or "refused by the content filter") if codes & _REFUSAL_CODES else None
