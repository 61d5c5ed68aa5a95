"""Requests and responses of OpenAI's API, without its SDK (`tests/models/test_against_the_sdk.py` compares them).

Each form of a response was seen on some compatible server.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from sketchmark.episode.model import Finish
from sketchmark.errors import BadInput
from sketchmark.media import Picture
from sketchmark.models.call import LARGEST_DRAWING, LARGEST_FILE, LARGEST_TEXT, Call
from sketchmark.models.failures import BadReply, ErrorStatus
from sketchmark.models.http import Headers, HttpClient, read_object
from sketchmark.models.http_bodies import FormFile, form_body, json_body

_FINISHES: dict[str, Finish] = {"length": "length", "max_tokens": "length", "content_filter": "refused"}
_REFUSAL_CODES = frozenset(
    {"content_filter", "content_policy_violation", "image_content_policy_violation", "moderation_blocked"}
    | {"ResponsibleAIPolicyViolation"}
)
_FLAGGED = re.compile(r"flagged_input|input was flagged|violates usage guidelines", re.IGNORECASE)
_MARKDOWN_PICTURE = re.compile(r"!\[[^\[\]]*\]\((data:image/[^()\[\]\s]+)\)")
"""No part of it crosses a bracket, so no character is read twice."""


@dataclass(frozen=True)
class ChatReply:
    """First choice of a chat completion: its text, and the addresses of its images."""

    text: str
    pictures: tuple[str, ...]
    finish: Finish
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
    return ChatReply(text, pictures, finish)


def _contents(message: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Read `content` as text (on some gateways with a markdown data URL in it), as a list of blocks (vLLM-Omni), or
    with a separate list `images` (OpenRouter)."""
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
    """Return the address of the first image, with b64_json as a data URL. Empty if there is none."""
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
    """Return the message of a content filter, which is a refusal and not a bad request. None if it is another error.

    Most servers answer 400 with a code. OpenRouter (`metadata` with what was flagged) and xAI (a message) answer 403.
    """
    status, body = error.status_code, error.body
    if status == 403 and _FLAGGED.search(str(body)):
        return str(body.get("message")) if isinstance(body, dict) else str(body)
    if status != 400 or not isinstance(body, dict):
        return None
    inner = body.get("innererror") or body.get("inner_error") or {}
    codes = {body.get("code"), inner.get("code") if isinstance(inner, dict) else None}
    return str(body.get("message") or "refused by the content filter") if codes & _REFUSAL_CODES else None


OPENAI = "https://api.openai.com/v1"
Json = dict[str, Any]

SERVER_SETTINGS = (
    "negative_prompt", "num_inference_steps", "guidance_scale", "true_cfg_scale", "strength", "flow_shift"
)  # fmt: skip
"""Further settings of the image endpoints of vLLM-Omni and SGLang."""

_EDIT_FIELDS = (
    *("prompt", "background", "input_fidelity", "model", "n", "output_format", "quality", "size"),
    *("response_format", "seed", *SERVER_SETTINGS),
)
"""OpenAI's fields in the order of the SDK's form, then the others."""


class OpenAIWire:
    """The API of one server. It makes one attempt; the caller retries."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client

    async def chat(self, request: Json, call: Call) -> Json:
        path = self._path("/chat/completions", request["model"])
        return read_object(await self._client.post(path, json_body(request), call))

    async def respond(self, request: Json, call: Call, drawer: str | None = None) -> Json:
        """Call the Responses API, for a drawing if there is a drawer. The request names the image model."""
        call.up_to(LARGEST_DRAWING if drawer else LARGEST_TEXT)
        return read_object(await self._client.post("/responses", json_body(request), call))

    async def generate(self, request: Json, call: Call) -> Json:
        path = self._path("/images/generations", request["model"])
        return read_object(await self._client.post(path, json_body(request), call.up_to(LARGEST_DRAWING)))

    async def edit(self, request: Json, pictures: Sequence[Picture], call: Call) -> Json:
        fields = {name: str(request[name]) for name in _EDIT_FIELDS if name in request}
        files = [
            FormFile("image[]", f"{number}.{picture.format}", picture.media_type, picture.data)
            for number, picture in enumerate(pictures, start=1)
        ]
        path = self._path("/images/edits", request["model"])
        return read_object(await self._client.post(path, form_body(fields, files), call.up_to(LARGEST_DRAWING)))

    async def model(self, name: str, call: Call) -> Json:
        return read_object(await self._client.get(f"/models/{quoted(name)}", call))

    async def models(self, call: Call) -> list[Json]:
        """Return the server's list of models."""
        listed = read_object(await self._client.get("/models", call)).get("data")
        return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []

    async def upload(self, name: str, data: bytes, purpose: str, call: Call) -> Json:
        body = form_body({"purpose": purpose}, [FormFile("file", name, "application/octet-stream", data)])
        return read_object(await self._client.post("/files", body, call))

    async def content(self, file_id: str, call: Call) -> bytes:
        path = f"/files/{quoted(file_id)}/content"
        return (await self._client.get(path, call.up_to(LARGEST_FILE), accept="application/binary")).data

    async def create_batch(self, file_id: str, endpoint: str, call: Call) -> Json:
        request = {"input_file_id": file_id, "endpoint": endpoint, "completion_window": "24h"}
        return read_object(await self._client.post("/batches", json_body(request), call))

    async def batch(self, batch_id: str, call: Call) -> Json:
        return read_object(await self._client.get(f"/batches/{quoted(batch_id)}", call))

    async def batches(self, most: int, call: Call) -> Json:
        return read_object(await self._client.get("/batches", call, {"limit": str(most)}))

    async def close(self) -> None:
        await self._client.close()

    def _path(self, what: str, model: str) -> str:
        return what


def is_openai(base_url: str | None) -> bool:
    """Return whether this is OpenAI's own server."""
    return base_url is None or f".{urlsplit(base_url).hostname}".endswith(".openai.com")


def to_openai(base_url: str | None, key: str) -> OpenAIWire:
    headers = {"Authorization": f"Bearer {key}", **account()}

    async def authorise() -> Headers:
        return headers

    return OpenAIWire(HttpClient(base_url or OPENAI, authorise))


def account() -> Mapping[str, str]:
    """Return the headers of the account to bill, if a key belongs to several."""
    named = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
    found = {header: value for header, name in named.items() if (value := os.environ.get(name, "").strip())}
    for header, value in found.items():
        if not (value.isascii() and value.isprintable()):
            raise BadInput(f"{named[header]} holds a character that no account has", "copy it again")
    return found


def quoted(name: str) -> str:
    return quote(name, safe="")
