"""`openai/NAME`: OpenAI, and any server with its protocol (`base_url=`).

Text comes from chat completions. Drawings are made in one of four ways (`draw_with=`):
  edit      images.edit with the context's images, and its texts as the prompt (images.generate without images)
  generate  images.generate with only the texts; every image is left out, and the reply reports it
  chat      chat completions with modalities image and text: the whole context, the image in the reply's message
  responses the Responses API: the model itself calls the tool `image_generation`, with the whole context before it
With `history=native` text and drawings use the Responses API, and the model's turns go back as they were returned.

The Responses API is sent the whole conversation as items, and no id of an earlier response: what a canvas removed
does not return through the server's memory. In the plain form the items are texts and images in their order: no id,
no reasoning, no item of an earlier drawing. With `history=native` the model's turns are the items that it returned.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

from sketchmark.episode.model import Abilities, Finish, Options, Reply
from sketchmark.episode.sample import Context, Part
from sketchmark.errors import BadInput, CallFailed, CannotPlay
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.call import Call
from sketchmark.models.failures import BadReply, ErrorStatus, most_images
from sketchmark.models.http_bodies import Base64, DataUrl
from sketchmark.models.layout import (
    Piece,
    as_a_reply,
    drafts_left_out,
    for_looking,
    read,
    usage_in,
    wants_native,
    written,
)
from sketchmark.models.providers import Provider
from sketchmark.models.providers.openai_chat import (
    ChatEndpoint,
    as_user_texts,
    by_stage,
    known_settings,
    refused_or_raise,
    with_inline_picture,
)
from sketchmark.models.providers.openai_wire import SERVER_SETTINGS, ChatReply, is_openai, is_refusal_code, read_image

TOOL = "image_generation"
CALL = f"{TOOL}_call"
_IMAGE_SETTINGS = ("size", "quality", "background", "input_fidelity", "output_format")


def _items_of(context: Context, detail: str, *, native: bool) -> tuple[list[Piece], layout.LeftOut]:
    """Return the items, and what they lack of earlier turns."""
    found: list[Piece] = []
    drafts = 0
    for message in layout.messages(context, native=native):
        if message.role == "user":
            found.append({"role": "user", "content": [_block(part, detail) for part in message.parts]})
            continue
        for part in message.parts:
            if not (native and part.native):
                found.append({"role": message.role, "content": part.text})
                continue
            for item in _own_items(part):
                if item.get("type") != CALL or "result" in item:
                    found.append(item)
                    continue
                drafts += 1
                while found and found[-1].get("type") == "reasoning":  # the API refuses it without its result
                    found.pop()
    return found, drafts_left_out(drafts)


def _block(part: Part, detail: str) -> Piece:
    if part.picture is None:
        return {"type": "input_text", "text": part.text}
    return {"type": "input_image", "image_url": DataUrl(part.picture), "detail": detail}


def record_of(output: list[Piece]) -> str:
    """Return a response's output as it goes back, empty for reasoning without a result.

    The drawing, which is the last call with bytes, keeps an empty `result`, where the image is put in again. Other
    calls keep none. Fields without a value are dropped: they are read-only.
    """
    drawing = next((item for item in reversed(output) if item.get("type") == CALL and item.get("result")), None)
    if drawing is None and not any(item.get("type") == "message" for item in output):
        return ""
    kept: list[Piece] = []
    for item in output:
        known = {name: value for name, value in item.items() if value is not None and name != "result"}
        kept.append(known | ({"result": ""} if item is drawing else {}))
    return written(kept)


def _own_items(part: Part) -> Iterator[Piece]:
    """Return the items as the model returned them, with the original bytes of the drawing."""
    for item in read(part.native):
        drawing = {"result": Base64(part.picture)} if item.pop("result", None) is not None and part.picture else {}
        yield item | drawing


def request_for(model: str, items: list[dict[str, Any]], *, native: bool) -> dict[str, Any]:
    """Make a request. `store` is off, and so is image compression, because a maze's walls are thin.

    Reasoning that is to be sent back is requested in encrypted form.
    """
    request = {"model": model, "store": False, "input": items, "image": {"context_compression": "disabled"}}
    return request | ({"include": ["reasoning.encrypted_content"]} if native else {})


def _drawing_tool(drawer: str | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request for a drawing. `drawer` is the tool's image model, if a request may name it."""
    tool = {"type": TOOL, **({"model": drawer} if drawer else {})}
    tool |= {name: settings[name] for name in _IMAGE_SETTINGS if name in settings}
    return {"tools": [tool], "tool_choice": {"type": TOOL}, "max_tool_calls": 1, "parallel_tool_calls": False}


def _read_with_record(body: dict[str, Any]) -> ChatReply:
    """Read a response and the record that goes back (`history=native`)."""
    reply = _read_response(body)
    return replace(reply, native=record_of([item for item in body["output"] if isinstance(item, dict)]))


def _read_response(body: dict[str, Any]) -> ChatReply:
    """Read a response. A drawing with bytes counts, whatever its `status`: finished ones were seen as `generating`.

    A refusal has several forms: a failed call with a code, a response that is incomplete because of its content, an
    error of the response, a block of a message. The caller handles the fifth, status 400.
    """
    if not isinstance(body.get("output"), list):
        raise BadReply("the server sent a response without a list of output")
    with as_a_reply():
        items = [item for item in body["output"] if isinstance(item, dict)]
        blocks = [block for item in items if item.get("type") == "message" for block in item["content"]]
        drawn = [str(item["result"]) for item in items if item.get("type") == CALL and item.get("result")]
        texts = [str(block["text"]) for block in blocks if block.get("type") == "output_text"]
        said = "".join(texts) or next((str(block["refusal"]) for block in blocks if block.get("refusal")), "")
    if drawn:
        return ChatReply(said, (f"data:;base64,{drawn[-1]}",), "stop")
    finish, why = _ended(body, items, blocks)
    return ChatReply(said or why, (), finish)


def _ended(body: dict[str, Any], items: list[dict[str, Any]], blocks: list[dict[str, Any]]) -> tuple[Finish, str]:
    """Return the end of a response without a drawing, and its message."""
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


_DRAW_WITH = ("edit", "generate", "chat", "responses")
_DRAWS_FOR_OPENAI = "gpt-image-2"
"""Image model for a chat model on OpenAI's own server, where chat completions return no images."""

_IMAGE_MODEL = re.compile(r"(gpt-image|chatgpt-image)")
_FIXED_TEMPERATURE = re.compile(r"^(o\d|gpt-[5-9])")
"""OpenAI's reasoning models answer 400 to any temperature but the default."""

_DRAWN_IN_CHAT = (
    *("size", "width", "height", "num_inference_steps", "guidance_scale", "true_cfg_scale", "negative_prompt"),
    *("quality", "layers", "resolution", "lora"),
)
"""Settings of servers that draw in a chat (vLLM-Omni)."""

_MODALITIES = {"image": ["image"], "image+text": ["image", "text"]}
_GATEWAYS = re.compile(r"(^|\.)(openrouter\.ai|vercel\.sh)$")
"""Gateways whose documented request for an image names text too."""

_MOST_EDIT_PICTURES = 16
"""Documented limit of the Images API for the GPT image models."""


def is_image_model(name: str) -> bool:
    return _IMAGE_MODEL.search(name) is not None


class OpenAI(ChatEndpoint):
    provider: ClassVar[str] = "openai"

    def __init__(self, name: str, **model_args: Value) -> None:
        super().__init__(name, Arguments(f"{self.provider}/{name}", model_args))

    def _read_arguments(self, name: str, args: Arguments) -> None:
        self._speaker = None if is_image_model(name) else name
        self._choose_server_and_drawer(name, args)
        self._native = wants_native(args)
        default = "responses" if self._native else self._default_draw_with()
        self._draw_with = args.choice("draw_with", _DRAW_WITH) or default
        if self._native and (self._speaker is None or self._draw_with != "responses"):
            raise BadInput(
                f"{self.name}: history=native needs a model that says and draws through the Responses API",
                "a chat model with draw_with=responses; or leave out history=native",
            )
        self._detail = args.choice("detail", ("auto", "low", "high"))
        self._image_settings = {key: args.text(key) for key in ("size", "quality", "input_fidelity")}
        self._modalities = args.choice("modalities", tuple(_MODALITIES)) or self._usual_modalities()
        self._stages = args.choice("stages", ("1", "2"))
        self._edit_pictures = args.whole("edit_pictures", _MOST_EDIT_PICTURES, least=1)
        self._images_taken = self._edit_pictures
        """Fewer if the server says so."""
        self._send_temperature = args.flag("send_temperature", not _FIXED_TEMPERATURE.match(name))

    def _choose_server_and_drawer(self, name: str, args: Arguments) -> None:
        self.base_url = self.base_url or os.environ.get("OPENAI_BASE_URL") or None
        self._drawer = args.text("draw_model")
        if self._drawer is None:
            self._drawer = _DRAWS_FOR_OPENAI if self._on_openai and not is_image_model(name) else name

    @property
    def _on_openai(self) -> bool:
        return is_openai(self.base_url)

    def _default_draw_with(self) -> str:
        """Return the usual way to draw. Image models have separate endpoints; OpenAI's others call a tool."""
        if self._speaker is None:
            return "edit"
        if self._on_openai:
            return "responses"
        return "edit" if is_image_model(self._drawer or "") else "chat"

    def _usual_modalities(self) -> str:
        """Return `image`: vLLM-Omni takes `text` as a request for text, or answers 400. Gateways want both."""
        return "image+text" if _GATEWAYS.search(urlsplit(self.base_url or "").hostname or "") else "image"

    def receives(self, act: str) -> Collection[str]:
        said = super().receives(act)
        of_images = {*_IMAGE_SETTINGS, "width", "height"}
        if act == "draw" and self._draw_with == "chat":
            return {*said, *_DRAWN_IN_CHAT}
        if act == "draw" and self._draw_with != "responses":
            return of_images | ({*SERVER_SETTINGS, "seed"} if self._is_another_servers else set())
        if act == "draw" or self._native:
            more = of_images if act == "draw" else {"top_p", "reasoning_effort"}
            return {*({"max_new_tokens", "temperature"} & {*said}), *more}
        return said

    def _settings(self) -> dict[str, Any]:
        return {
            **self._body,
            "modalities": self._modalities if self._modalities != self._usual_modalities() else None,
            "stages": self._stages,
            "draw_model": self._drawer if self._drawer != self._speaker else None,
            "draw_with": self._draw_with if self._drawer else None,
            "detail": self._detail,
            **self._image_settings,
            "edit_pictures": self._edit_pictures if self._edit_pictures != _MOST_EDIT_PICTURES else None,
            "send_temperature": None if self._send_temperature else False,
            "history": "native" if self._native else None,
        }

    @property
    def abilities(self) -> Abilities:
        can = super().abilities
        return replace(can, native=self._native, hear=can.hear and not self._native)

    async def say(self, context: Context, options: Options) -> Reply:
        if not self._native or self._speaker is None:
            return await super().say(context, options)
        request, left_out = await self._conversation(self._speaker, context, options)
        request |= known_settings(options.extra, ("top_p",))
        if "reasoning_effort" in options.extra:
            request["reasoning"] = {"effort": options.extra["reasoning_effort"]}
        return await self._saying(
            lambda call: self._wire.respond(request, call),
            _read_with_record,
            len(context.pictures),
            left_out,
            options.notes,
        )

    async def draw(self, context: Context, options: Options) -> Reply:
        if self._drawer is None:
            raise CannotPlay(f"{self.name} does not draw", "name a model that does")
        if self._draw_with == "responses":
            return await self._draw_by_responses(self._drawer, context, options)
        draw = self._draw_by_chat if self._draw_with == "chat" else self._draw_by_image_api
        try:
            return await draw(self._drawer, context, options)
        except CallFailed as error:
            most = most_images(str(error))
            if error.kind != "too_many_images" or not most < self._images_taken:
                raise
            self._images_taken = most  # in all later drawings, too
        return await draw(self._drawer, context, options)

    async def _draw_by_responses(self, drawer: str, context: Context, options: Options) -> Reply:
        if self._speaker is None:
            raise CannotPlay(f"{self.name} is an image model", "draw_with=edit, or a model that calls it as a tool")
        request, left_out = await self._conversation(self._speaker, context, options)
        request |= _drawing_tool(self._tool_model(drawer), self._image_options(options))
        read = _read_with_record if self._native else _read_response
        return await self._drawing(
            lambda call: self._wire.respond(request, call, drawer),
            read,
            len(context.pictures),
            left_out,
            options.notes,
        )

    async def _conversation(
        self, speaker: str, context: Context, options: Options
    ) -> tuple[dict[str, Any], layout.LeftOut]:
        """Return a request to the Responses API, and what it lacks."""
        context, empty = layout.without_empty_texts(context)
        context, unheard = layout.without_sounds(context, "the Responses API")
        shown = Context(tuple([await self._sendable(part) for part in context]))
        items, lost = _items_of(shown, self._detail or "auto", native=self._native)
        request = request_for(speaker, items, native=self._native)
        if self._send_temperature:
            request["temperature"] = options.temperature
        if options.max_new_tokens is not None:
            request["max_output_tokens"] = options.max_new_tokens
        return request, (*empty, *unheard, *lost)

    def _tool_model(self, drawer: str) -> str | None:
        """Return the image model that the request names for the tool."""
        return drawer if drawer != self._speaker else None

    async def _sendable(self, part: Part) -> Part:
        if part.picture is None or (self._native and part.native):
            return part
        return replace(part, content=await self._encoder.sendable(part.picture))

    async def _draw_by_chat(self, drawer: str, context: Context, options: Options) -> Reply:
        context, left_out = layout.without_empty_texts(context)
        if self._stages == "2":
            context, lost = as_user_texts(context, most=1, how="conditions a drawing on one")
            left_out += lost
        elif self._stages == "1" or (self._listed is not None and self._listed.says is False):
            context, lost = as_user_texts(context, most=self._images_taken, how=f"takes {self._images_taken}")
            left_out += lost
        elif self._images_taken < _MOST_EDIT_PICTURES:
            context, lost = layout.newest_pictures(
                context, self._images_taken, f"{drawer} takes {self._images_taken}"
            )
            left_out += lost
        request = await self._chat_request(drawer, context, options)
        drawn = known_settings(options.extra, _DRAWN_IN_CHAT)
        staged = by_stage(request, drawn, options.seed) if self._stages == "2" else {}
        request |= {"modalities": _MODALITIES[self._modalities], **drawn, **staged}
        return await self._drawing_in_chat(request, len(context.pictures), left_out, options.notes)

    async def _draw_by_image_api(self, drawer: str, context: Context, options: Options) -> Reply:
        generate = self._draw_with == "generate" or not context.pictures
        most = 0 if generate else self._images_taken
        why = "images.generate takes none" if generate else f"{drawer} takes {most}"
        context, empty = layout.without_empty_texts(context)
        context, unheard = layout.without_sounds(context, "an image API")
        context, dropped = layout.newest_pictures(context, most, why)
        prompt, unplaced = layout.as_prompt(context)
        left_out = (*empty, *unheard, *dropped, *unplaced)
        request: dict[str, Any] = {"model": drawer, "prompt": prompt, "n": 1, **self._image_options(options)}
        pictures = [await self._encoder.sendable(picture) for picture in context.pictures]

        async def attempt(call: Call) -> tuple[Reply, str]:
            try:
                if pictures:
                    body = await self._wire.edit(request, pictures, call)
                else:
                    body = await self._wire.generate(request, call)
            except ErrorStatus as error:
                return refused_or_raise(error, left_out), ""
            call.used = usage_in(body, len(pictures), 1)
            address = read_image(body)
            usage = call.used if address else replace(call.used, pictures_out=0)
            return await with_inline_picture(Reply("", None, "stop", usage, left_out, for_looking(body)), address)

        return await self._fetch(*await self._call(attempt, options.notes), options.notes)

    @property
    def _is_another_servers(self) -> bool:
        """Return whether another server than OpenAI's draws with an open model."""
        return not self._on_openai and not is_image_model(self._drawer or "")

    def _image_options(self, options: Options) -> dict[str, Any]:
        """Return the task's settings with the user's, which take precedence."""
        chosen = known_settings(options.extra, _IMAGE_SETTINGS)
        if "width" in options.extra and "height" in options.extra:
            chosen.setdefault("size", f"{options.extra['width']}x{options.extra['height']}")
        if self._is_another_servers:
            # vLLM-Omni and SGLang. By default the latter returns URLs, and JPEG, which blurs a board's edges.
            chosen = {"response_format": "b64_json", "output_format": "png"} | chosen
            chosen |= known_settings(options.extra, SERVER_SETTINGS)
            chosen |= {"seed": options.seed} if options.seed is not None else {}
        return chosen | {key: value for key, value in self._image_settings.items() if value is not None}


PROVIDER = Provider(
    OpenAI,
    "openai/NAME: OpenAI or a compatible server (base_url=…)",
    addresses=("base_url",),
    variables=OpenAI.key_variables,
    families=("gpt", "o1", "o3", "o4", "chatgpt", "dall-e"),
    hears=True,
)
