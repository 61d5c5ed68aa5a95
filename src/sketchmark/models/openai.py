"""`openai/NAME`: OpenAI, and any server that speaks its protocol (`base_url=`).

Says through chat completions. Draws in one of four ways (`draw_with=`):
  edit      images.edit with the context's pictures, and its texts as the prompt (images.generate without pictures)
  generate  images.generate with the texts alone; every picture is left out, and the reply says so
  chat      chat completions with modalities image and text: the whole context, the picture in the reply's message
  responses the Responses API: the model itself calls the tool `image_generation`, with the whole context before it
With `history=native` it says and draws through the Responses API, and is sent its own turns back as they came.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

from sketchmark.errors import BadInput, CannotPlay
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.base import Abilities, Options, Reply, Usage
from sketchmark.models.call import Call
from sketchmark.models.failures import ErrorStatus
from sketchmark.models.native import wants_native
from sketchmark.models.openai_chat import ChatEndpoint, known_settings, refused_or_raise, with_inline_picture
from sketchmark.models.openai_items import items_of
from sketchmark.models.openai_replies import read_image
from sketchmark.models.openai_responses import drawing_tool, read_response, read_with_record, request_for
from sketchmark.models.openai_wire import SERVER_SETTINGS
from sketchmark.models.replies import counted, for_looking
from sketchmark.parts import Context, Part

DRAW_WITH = ("edit", "generate", "chat", "responses")
DRAWS_FOR_OPENAI = "gpt-image-2"
"""Who draws for a chat model on OpenAI's own server, where chat completions return no pictures."""

_IMAGE_MODEL = re.compile(r"(gpt-image|chatgpt-image)")
_FIXED_TEMPERATURE = re.compile(r"^(o\d|gpt-[5-9])")
"""OpenAI's reasoning models answer 400 to any temperature but their own."""

_IMAGE_SETTINGS = ("size", "quality", "background", "input_fidelity", "output_format")
_DRAWN_SIZE = ("size", "width", "height")
"""What servers that draw in a chat (vLLM-Omni) know of it."""

_MOST_EDIT_PICTURES = 16
"""What the Images API documents for the GPT image models."""


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
        self._draw_with = args.choice("draw_with", DRAW_WITH) or default
        if self._native and (self._speaker is None or self._draw_with != "responses"):
            raise BadInput(
                f"{self.name}: history=native needs a model that says and draws through the Responses API",
                "a chat model with draw_with=responses; or leave out history=native",
            )
        self._detail = args.choice("detail", ("auto", "low", "high"))
        self._image_settings = {key: args.text(key) for key in ("size", "quality", "input_fidelity")}
        self._edit_pictures = args.whole("edit_pictures", _MOST_EDIT_PICTURES, least=1)
        self._send_temperature = args.flag("send_temperature", not _FIXED_TEMPERATURE.match(name))

    def _choose_server_and_drawer(self, name: str, args: Arguments) -> None:
        self.base_url = self.base_url or os.environ.get("OPENAI_BASE_URL") or None
        self._drawer = args.text("draw_model")
        if self._drawer is None:
            self._drawer = DRAWS_FOR_OPENAI if self._on_openai and not is_image_model(name) else name

    @property
    def _on_openai(self) -> bool:
        return self.base_url is None or f".{urlsplit(self.base_url).hostname}".endswith(".openai.com")

    def _default_draw_with(self) -> str:
        """Image models have endpoints of their own; OpenAI's others call them as a tool."""
        if self._speaker is None:
            return "edit"
        if self._on_openai:
            return "responses"
        return "edit" if is_image_model(self._drawer or "") else "chat"

    def _settings(self) -> dict[str, Any]:
        return {
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
            read_with_record,
            len(context.pictures),
            left_out,
            options.notes,
        )

    async def draw(self, context: Context, options: Options) -> Reply:
        if self._drawer is None:
            raise CannotPlay(f"{self.name} does not draw", "name a model that does")
        if self._draw_with == "chat":
            return await self._draw_by_chat(self._drawer, context, options)
        if self._draw_with == "responses":
            return await self._draw_by_responses(self._drawer, context, options)
        return await self._draw_by_image_api(self._drawer, context, options)

    async def _draw_by_responses(self, drawer: str, context: Context, options: Options) -> Reply:
        if self._speaker is None:
            raise CannotPlay(f"{self.name} is an image model", "draw_with=edit, or a model that calls it as a tool")
        request, left_out = await self._conversation(self._speaker, context, options)
        request |= drawing_tool(self._tool_model(drawer), self._image_options(options))
        read = read_with_record if self._native else read_response
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
        """A request to the Responses API, and what is not in it."""
        context, empty = layout.without_empty_texts(context)
        context, unheard = layout.without_sounds(context, "the Responses API")
        shown = Context(tuple([await self._sendable(part) for part in context]))
        items, lost = items_of(shown, self._detail or "auto", native=self._native)
        request = request_for(speaker, items, native=self._native)
        if self._send_temperature:
            request["temperature"] = options.temperature
        if options.max_new_tokens is not None:
            request["max_output_tokens"] = options.max_new_tokens
        return request, (*empty, *unheard, *lost)

    def _tool_model(self, drawer: str) -> str | None:
        """The image model that the tool is told to use."""
        return drawer if drawer != self._speaker else None

    async def _sendable(self, part: Part) -> Part:
        if part.picture is None or (self._native and part.native):
            return part
        return replace(part, content=await self._encoder.sendable(part.picture))

    async def _draw_by_chat(self, drawer: str, context: Context, options: Options) -> Reply:
        context, left_out = layout.without_empty_texts(context)
        request = await self._chat_request(drawer, context, options)
        request["modalities"] = ["image", "text"]
        request |= known_settings(options.extra, _DRAWN_SIZE)
        return await self._drawing_in_chat(request, len(context.pictures), left_out, options.notes)

    async def _draw_by_image_api(self, drawer: str, context: Context, options: Options) -> Reply:
        generate = self._draw_with == "generate" or not context.pictures
        most = 0 if generate else self._edit_pictures
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
            address = read_image(body)
            tokens_in, tokens_out = counted(body, "input_tokens", "output_tokens")
            usage = Usage(
                tokens_in,
                tokens_out,
                pictures_in=len(pictures),
                pictures_out=1 if address else 0,
            )
            return await with_inline_picture(Reply("", None, "stop", usage, left_out, for_looking(body)), address)

        return await self._fetch(*await self._call(attempt, options.notes), options.notes)

    def _image_options(self, options: Options) -> dict[str, Any]:
        """The task's settings, then the user's, which win."""
        chosen = known_settings(options.extra, _IMAGE_SETTINGS)
        if "width" in options.extra and "height" in options.extra:
            chosen.setdefault("size", f"{options.extra['width']}x{options.extra['height']}")
        if not self._on_openai and not is_image_model(self._drawer or ""):
            # vLLM-Omni and SGLang: left alone, the latter gives addresses, and JPEG, which blurs a board's edges.
            chosen = {"response_format": "b64_json", "output_format": "png"} | chosen
            chosen |= known_settings(options.extra, SERVER_SETTINGS)
            chosen |= {"seed": options.seed} if options.seed is not None else {}
        return chosen | {key: value for key, value in self._image_settings.items() if value is not None}
