"""The bodies that each provider's API accepts, strictly: an unknown field or a malformed block is an `Invalid`.

The checks follow the public API references, not what our adapters happen to send.
"""

from __future__ import annotations

import base64
import io
from typing import Any

from PIL import Image
from starlette.datastructures import FormData, UploadFile

FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP", "image/gif": "GIF"}
CHAT_FIELDS = {
    "model", "messages", "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop", "modalities",
    "frequency_penalty", "presence_penalty", "reasoning_effort", "stream",
}  # fmt: skip
BAGEL_FIELDS = {
    "num_inference_steps", "height", "width", "negative_prompt", "cfg_text_scale", "cfg_img_scale", "cfg_interval",
    "cfg_renorm_type", "cfg_renorm_min", "timestep_shift", "think", "max_think_tokens", "do_sample",
    "text_temperature", "repetition_penalty", "top_k", "sampling_params_list",
}  # fmt: skip
IMAGE_FIELDS = {"model", "prompt", "n", "size", "quality", "background", "output_format", "style"}
SERVERS = {"negative_prompt", "num_inference_steps", "guidance_scale", "true_cfg_scale", "seed", "response_format"}
"""Fields that vLLM-Omni and SGLang take for their own models, and OpenAI does not for its."""
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
"""Fields of the items that a model returned: those that must be sent back, and those that may be."""
GEMINI_FIELDS = {"temperature", "maxOutputTokens", "seed", "responseModalities", "imageConfig", "topP", "topK"}
GEMINI_SOUNDS = ("audio/wav", "audio/mp3", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac")


class Invalid(Exception):
    pass


def need(holds: object, words: str) -> None:
    if not holds:
        raise Invalid(words)


def check_image(media_type: str, data: bytes | str) -> None:
    need(media_type in FORMATS, f"media type {media_type}")
    try:
        if isinstance(data, str):
            data = base64.b64decode(data.replace("-", "+").replace("_", "/"), validate=True)
        with Image.open(io.BytesIO(data)) as image:
            image.load()
            need(image.format == FORMATS[media_type], f"{image.format} picture sent as {media_type}")
    except (OSError, ValueError) as error:
        raise Invalid(f"broken picture: {error}") from None


def check_data_url(url: str) -> None:
    head, _, data = url.partition(";base64,")
    check_image(head.removeprefix("data:"), data)


def check_fields(body: Any, known: set[str]) -> None:
    need(set(body) <= known, f"unknown fields {sorted(set(body) - known)}")


def check_chat(body: Any, *, bagel: bool = False) -> None:
    check_fields(body, CHAT_FIELDS | BAGEL_FIELDS if bagel else CHAT_FIELDS)
    need(isinstance(body.get("model"), str) and body.get("messages"), "model and messages are required")
    need(set(body.get("modalities", [])) <= {"text", "image"}, f"modalities {body.get('modalities')}")
    for message in body["messages"]:
        need(set(message) == {"role", "content"}, f"message fields {sorted(message)}")
        own = message["role"] in ("assistant", "system")
        need(own or message["role"] == "user", f"role {message['role']}")
        need(isinstance(message["content"], str if own else list), f"the content of {message['role']}")
        for block in () if own else message["content"]:
            need(set(block) == {"type", block["type"]}, f"block {sorted(block)}")
            if block["type"] == "input_audio":
                heard = block["input_audio"]
                need(set(heard) == {"data", "format"} and heard["format"] in ("wav", "mp3"), f"sound {sorted(heard)}")
            elif block["type"] == "image_url":
                need(set(block["image_url"]) <= {"url", "detail"}, f"image_url {sorted(block['image_url'])}")
                check_data_url(block["image_url"]["url"])
            else:
                need(block["type"] == "text" and isinstance(block["text"], str), f"block {block['type']}")


def check_responses(body: Any) -> None:
    check_fields(body, RESPONSES_FIELDS)
    need(body.get("store") is False, "store is not off")
    items = body["input"]
    for item, following in zip(items, [*items[1:], {}], strict=True):
        if "type" in item:
            _check_item(item, following)
        elif item["role"] in ("assistant", "system"):
            need(isinstance(item["content"], str), f"{item['role']} content is not a text")
        else:
            for block in item["content"]:
                if block["type"] != "input_text" or set(block) != {"type", "text"}:
                    need(block["type"] == "input_image", f"block {block['type']}")
                    need(set(block) == {"type", "image_url", "detail"}, f"block {sorted(block)}")
                    check_data_url(block["image_url"])


def _check_item(item: Any, following: Any) -> None:
    needed, possible = ITEM_FIELDS.get(item["type"], (set[str](), set[str]()))
    good = needed and needed <= set(item) <= needed | possible and None not in item.values()
    need(good, f"item {item['type']} with {sorted(item)}")
    if item["type"] == "message":
        need(item["role"] == "assistant" and isinstance(item["content"], list), "a message not of the assistant")
    if item["type"] == "reasoning":
        led_on = following.get("type") in ("message", "image_generation_call")
        need(led_on, f"reasoning {item['id']} was provided without its required following item")
    if "result" in item:
        check_image("image/png", item["result"])


def check_generation(body: Any) -> None:
    check_fields(body, IMAGE_FIELDS if "gpt-image" in str(body.get("model")) else IMAGE_FIELDS | SERVERS)
    need(body.get("prompt"), "prompt is required")


async def check_edit(form: FormData) -> None:
    pictures = form.getlist("image") + form.getlist("image[]")
    need(0 < len(pictures) <= 16, f"{len(pictures)} pictures")
    for picture in pictures:
        assert isinstance(picture, UploadFile)
        check_image(picture.content_type or "", await picture.read())
    fields = {key: value for key, value in form.items() if not key.startswith("image") and key != "input_fidelity"}
    check_generation(fields)


def check_gemini(body: Any) -> None:
    check_fields(body, {"contents", "generationConfig", "systemInstruction"})
    check_fields(body.get("generationConfig", {}), GEMINI_FIELDS)
    for content in body["contents"]:
        need(content.get("role") in ("user", "model") and content.get("parts"), f"content {content}")
        own = content["role"] == "model"
        for part in content["parts"]:
            signature = {"thoughtSignature"} if own and part.get("thoughtSignature") else set[str]()
            if set(part) - {"thought"} == {"text"} | signature and (part["text"] or signature):
                continue
            inline = dict(part.get("inlineData", {}))
            media_type = inline.pop("mimeType", None) or inline.pop("mime_type", "")  # proto JSON reads both
            good = set(part) == {"inlineData"} | signature and set(inline) == {"data"}
            need(good, f"part {sorted(part)} {sorted(inline)}")
            if own or media_type not in GEMINI_SOUNDS:
                check_image(media_type, inline["data"])
                need(signature or not own, "Image part is missing a thought_signature")


def check_anthropic(body: Any) -> None:
    check_fields(body, {"model", "max_tokens", "messages", "temperature", "system"})
    need(isinstance(body.get("max_tokens"), int), "max_tokens is required")
    need(body["messages"][0]["role"] == "user", "the user speaks first")
    for message in body["messages"]:
        for block in message["content"]:
            if set(block) == {"type", "text"} and block["type"] == "text" and block["text"].strip():
                continue
            good = message["role"] == "user" and set(block) == {"type", "source"} and block["type"] == "image"
            need(good, f"{message['role']} block {sorted(block)}")
            source = block["source"]
            need(set(source) == {"type", "media_type", "data"} and source["type"] == "base64", f"source {source}")
            check_image(source["media_type"], source["data"])
