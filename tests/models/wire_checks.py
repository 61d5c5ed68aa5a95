"""What each provider's API accepts, written down strictly: an unknown field or a malformed block is an error.

Each check returns the text of the first complaint, or None. They hold what the public API references say, not what
our adapters happen to send.
"""

from __future__ import annotations

import base64
import io
from typing import Any

from PIL import Image
from starlette.datastructures import FormData, UploadFile

ACCEPTED_PICTURES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP", "image/gif": "GIF"}
CHAT_FIELDS = {
    "model", "messages", "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop", "modalities",
    "frequency_penalty", "presence_penalty", "reasoning_effort", "stream",
}  # fmt: skip
BAGEL_FIELDS = {
    "num_inference_steps", "height", "width", "negative_prompt", "cfg_text_scale", "cfg_img_scale", "cfg_interval",
    "cfg_renorm_type", "cfg_renorm_min", "timestep_shift", "think", "max_think_tokens", "do_sample",
    "text_temperature",
}  # fmt: skip
IMAGE_FIELDS = {"model", "prompt", "n", "size", "quality", "background", "output_format", "response_format", "style"}


SERVERS = {"negative_prompt", "num_inference_steps", "guidance_scale", "true_cfg_scale", "seed", "response_format"}
"""What vLLM-Omni and SGLang take for their own models, and OpenAI does not for its."""


def _image_fields(model: Any) -> set[str]:
    return IMAGE_FIELDS - {"response_format"} if "gpt-image" in str(model) else IMAGE_FIELDS | SERVERS


def picture_complaint(media_type: str, data: bytes) -> str | None:
    if media_type not in ACCEPTED_PICTURES:
        return f"media type {media_type}"
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.load()
            if image.format != ACCEPTED_PICTURES[media_type]:
                return f"{image.format} picture sent as {media_type}"
    except OSError as error:
        return f"broken picture: {error}"
    return None


def _base64_complaint(media_type: str, text: str) -> str | None:
    try:
        data = base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except ValueError as error:
        return f"not base64: {error}"
    return picture_complaint(media_type, data)


def chat_complaint(body: Any, extra_fields: frozenset[str] = frozenset()) -> str | None:
    unknown = set(body) - CHAT_FIELDS - extra_fields
    if unknown:
        return f"unknown fields {sorted(unknown)}"
    if not isinstance(body.get("model"), str) or not body.get("messages"):
        return "model and messages are required"
    if not set(body.get("modalities", [])) <= {"text", "image"}:
        return f"modalities {body['modalities']}"
    for message in body["messages"]:
        complaint = _chat_message_complaint(message)
        if complaint:
            return complaint
    return None


def _chat_message_complaint(message: Any) -> str | None:
    if set(message) != {"role", "content"}:
        return f"message fields {sorted(message)}"
    if message["role"] == "assistant":
        return None if isinstance(message["content"], str) else "assistant content is not a text"
    if message["role"] != "user" or not isinstance(message["content"], list):
        return f"role {message['role']} with {type(message['content']).__name__}"
    for block in message["content"]:
        if block.get("type") == "text" and set(block) == {"type", "text"} and isinstance(block["text"], str):
            continue
        if block.get("type") == "input_audio":
            heard = block["input_audio"]
            if set(heard) != {"data", "format"} or heard["format"] not in ("wav", "mp3"):
                return f"input_audio {sorted(heard)}"
            continue
        if block.get("type") != "image_url" or set(block) != {"type", "image_url"}:
            return f"block {sorted(block)}"
        if not set(block["image_url"]) <= {"url", "detail"}:
            return f"image_url {sorted(block['image_url'])}"
        head, _, data = block["image_url"]["url"].partition(";base64,")
        complaint = _base64_complaint(head.removeprefix("data:"), data)
        if complaint:
            return complaint
    return None


RESPONSES_FIELDS = {
    "model", "input", "store", "include", "image", "tools", "tool_choice", "max_tool_calls", "parallel_tool_calls",
    "temperature", "top_p", "max_output_tokens", "reasoning",
}  # fmt: skip
ITEM_FIELDS = {
    "message": ({"type", "id", "role", "status", "content"}, {"phase"}),
    "reasoning": ({"type", "id", "summary"}, {"encrypted_content", "content", "status"}),
    "image_generation_call": (
        {"type", "id", "status", "result"},
        {"revised_prompt", "size", "quality", "action", "output_format", "background"},
    ),
}
"""Of the items that a model returned: what must be there when they are sent back, and what may be."""


def responses_complaint(body: Any) -> str | None:
    unknown = set(body) - RESPONSES_FIELDS
    if unknown or body.get("store") is not False:
        return f"unknown fields {sorted(unknown)} or store is not off"
    items = body["input"]
    for item, following in zip(items, [*items[1:], {}], strict=True):
        complaint = _item_complaint(item) if "type" in item else _input_complaint(item)
        if complaint:
            return complaint
        if item.get("type") == "reasoning" and following.get("type") not in ("message", "image_generation_call"):
            return f"reasoning {item['id']} was provided without its required following item"
    return None


def _item_complaint(item: Any) -> str | None:
    needed, possible = ITEM_FIELDS.get(item["type"], (set[str](), set[str]()))
    if not needed or needed - set(item) or set(item) - needed - possible or None in item.values():
        return f"item {item['type']} with {sorted(item)}"
    if item["type"] == "message" and (item["role"] != "assistant" or not isinstance(item["content"], list)):
        return "an item of a message that is not the assistant's"
    return _base64_complaint("image/png", item["result"]) if "result" in item else None


def _input_complaint(message: Any) -> str | None:
    if message["role"] == "assistant":
        return None if isinstance(message["content"], str) else "assistant content is not a text"
    for block in message["content"]:
        if block["type"] == "input_text" and set(block) == {"type", "text"}:
            continue
        if block["type"] != "input_image" or set(block) != {"type", "image_url", "detail"}:
            return f"block {sorted(block)}"
        head, _, data = block["image_url"].partition(";base64,")
        if complaint := _base64_complaint(head.removeprefix("data:"), data):
            return complaint
    return None


def generate_complaint(body: Any) -> str | None:
    unknown = set(body) - _image_fields(body.get("model"))
    if unknown:
        return f"unknown fields {sorted(unknown)}"
    return None if body.get("prompt") else "prompt is required"


async def edit_complaint(form: FormData) -> str | None:
    pictures = form.getlist("image") + form.getlist("image[]")
    if not pictures:
        return "image is required"
    if len(pictures) > 16:
        return f"{len(pictures)} pictures are too many"
    for picture in pictures:
        if not isinstance(picture, UploadFile):
            return "image is not a file"
        complaint = picture_complaint(picture.content_type or "", await picture.read())
        if complaint:
            return complaint
    fields = {key: value for key, value in form.items() if not key.startswith("image")}
    return generate_complaint({key: value for key, value in fields.items() if key != "input_fidelity"})


GEMINI_SOUNDS = ("audio/wav", "audio/mp3", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac")


def gemini_complaint(body: Any) -> str | None:
    unknown = set(body) - {"contents", "generationConfig"}
    if unknown:
        return f"unknown fields {sorted(unknown)}"
    known = {"temperature", "maxOutputTokens", "seed", "responseModalities", "imageConfig", "topP", "topK"}
    if not set(body.get("generationConfig", {})) <= known:
        return f"generationConfig {sorted(body['generationConfig'])}"
    for content in body["contents"]:
        if content.get("role") not in ("user", "model") or not content.get("parts"):
            return f"content {content}"
        for part in content["parts"]:
            own = content["role"] == "model"
            signature = {"thoughtSignature"} if own and part.get("thoughtSignature") else set[str]()
            if set(part) - {"thought"} == {"text"} | signature and (part["text"] or signature):
                continue
            inline = dict(part.get("inlineData", {}))
            media_type = inline.pop("mimeType", None) or inline.pop("mime_type", "")  # proto JSON reads both
            if set(part) != {"inlineData"} | signature or set(inline) != {"data"}:
                return f"part {sorted(part)} {sorted(inline)}"
            if media_type in GEMINI_SOUNDS and not own:
                continue
            complaint = _base64_complaint(media_type, inline["data"])
            if complaint or (own and not signature):
                return complaint or "Image part is missing a thought_signature"
    return None


def anthropic_complaint(body: Any) -> str | None:
    unknown = set(body) - {"model", "max_tokens", "messages", "temperature"}
    if unknown:
        return f"unknown fields {sorted(unknown)}"
    if not isinstance(body.get("max_tokens"), int) or body["messages"][0]["role"] != "user":
        return "max_tokens is required and the user speaks first"
    for message in body["messages"]:
        for block in message["content"]:
            if set(block) == {"type", "text"} and block["type"] == "text" and block["text"].strip():
                continue
            if message["role"] != "user" or set(block) != {"type", "source"} or block["type"] != "image":
                return f"{message['role']} block {sorted(block)}"
            source = block["source"]
            if set(source) != {"type", "media_type", "data"} or source["type"] != "base64":
                return f"source {sorted(source)}"
            complaint = _base64_complaint(source["media_type"], source["data"])
            if complaint:
                return complaint
    return None
