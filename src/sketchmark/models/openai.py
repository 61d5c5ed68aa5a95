"""`openai/NAME`: OpenAI, and any server that speaks its protocol (`base_url=`).

Says through chat completions. Draws in one of three ways (`draw_with=`):
  edit      images.edit with the context's pictures, and its texts as the prompt (images.generate without pictures)
  generate  images.generate with the texts alone; every picture is left out, and the reply says so
  chat      chat completions with modalities image and text: the whole context, the picture in the reply's message
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from sketchmark.errors import BadInput, CannotPlay, MissingExtra
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.base import Abilities, Options, Reply, Usage
from sketchmark.models.calling import BadReply
from sketchmark.models.download import download
from sketchmark.models.encoding import picture_from_base64
from sketchmark.models.endpoint import Endpoint
from sketchmark.models.openai_replies import read_chat, read_image, refusal_in
from sketchmark.models.replies import body_of, finish_of_drawing, finish_of_text, for_looking
from sketchmark.models.secrets import find_key, redact, require_key
from sketchmark.parts import Context, Picture

if TYPE_CHECKING:
    from openai import AsyncOpenAI

DRAW_WITH = ("edit", "generate", "chat")
DRAWS_FOR_OPENAI = "gpt-image-2"
"""Who draws for a chat model on OpenAI's own server, where chat completions return no pictures."""

_IMAGE_MODEL = re.compile(r"(gpt-image|chatgpt-image|dall-e)")
_FIXED_TEMPERATURE = re.compile(r"^(o\d|gpt-5)")
"""OpenAI's reasoning models answer 400 to any temperature but their own."""

_CHAT_SETTINGS = ("top_p", "frequency_penalty", "presence_penalty", "stop", "reasoning_effort")
_IMAGE_SETTINGS = ("size", "quality", "background", "input_fidelity", "output_format", "style")


def is_image_model(name: str) -> bool:
    return _IMAGE_MODEL.search(name) is not None


def most_edit_pictures(model: str) -> int:
    """The Images API documents 16 input pictures for the GPT image models and one for dall-e-2."""
    return 1 if "dall-e-2" in model else 16


class OpenAI(Endpoint):
    provider: ClassVar[str] = "openai"

    def __init__(self, name: str, **model_args: Value) -> None:
        args = Arguments(f"{self.provider}/{name}", model_args)
        super().__init__(name, args)
        if not name:
            raise BadInput(f"{self.provider} needs the name of a model", f"write {self.provider}/NAME")
        self._speaker: str | None = None if is_image_model(name) else name
        self._drawer: str | None = None
        self._read_arguments(name, args)
        self._draw_with = args.choice("draw_with", DRAW_WITH) or self._default_draw_with()
        self._detail = args.choice("detail", ("auto", "low", "high"))
        self._image_settings = {key: args.text(key) for key in ("size", "quality", "input_fidelity")}
        self._send_temperature = args.flag("send_temperature", not _FIXED_TEMPERATURE.match(name))
        args.refuse_unknown()
        try:
            self._client = self._connect()
        except ImportError:
            raise MissingExtra(f"model {self.name}", self.provider) from None

    def _read_arguments(self, name: str, args: Arguments) -> None:
        """What differs between the providers that share this protocol: who says, who draws, and where."""
        self.base_url = self.base_url or os.environ.get("OPENAI_BASE_URL") or None
        self._drawer = args.text("draw_model")
        if self._drawer is None:
            self._drawer = DRAWS_FOR_OPENAI if self._on_openai and not is_image_model(name) else name

    @property
    def _on_openai(self) -> bool:
        return self.base_url is None or (urlsplit(self.base_url).hostname or "").endswith("openai.com")

    def _default_draw_with(self) -> str:
        if "dall-e-3" in (self._drawer or ""):
            return "generate"  # it has no edit endpoint
        return "edit" if self._on_openai or is_image_model(self._drawer or "") else "chat"

    def _connect(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        names = (self.api_key_env or "OPENAI_API_KEY",)
        needed = self._on_openai or self.api_key_env
        # A server of one's own often wants no key, but the SDK insists on some text.
        key = require_key(self.name, names) if needed else find_key(names) or "none"
        return AsyncOpenAI(api_key=key, base_url=self.base_url, timeout=self.timeout, max_retries=0)

    @property
    def abilities(self) -> Abilities:
        return Abilities(say=self._speaker is not None, draw=self._drawer is not None, max_pictures=self.max_pictures)

    def _settings(self) -> dict[str, Any]:
        return {
            "draw_model": self._drawer if self._drawer != self._speaker else None,
            "draw_with": self._draw_with if self._drawer else None,
            "detail": self._detail,
            **self._image_settings,
            "send_temperature": None if self._send_temperature else False,
        }

    async def close(self) -> None:
        await self._client.close()

    async def say(self, context: Context, options: Options) -> Reply:
        if self._speaker is None:
            raise CannotPlay(f"{self.name} does not say anything: it only draws")
        context, left_out = layout.without_empty_texts(context)
        request = await self._chat_request(self._speaker, context, options)

        async def attempt() -> Reply:
            try:
                body = body_of(await self._client.chat.completions.create(**request))
            except Exception as error:
                return _refused_or_raise(error, left_out)
            reply = read_chat(body)
            usage = Usage(reply.tokens_in, reply.tokens_out, pictures_in=len(context.pictures))
            finish = finish_of_text(reply.finish, reply.text)
            return Reply(reply.text, None, finish, usage, left_out, for_looking(body))

        return await self._call(attempt)

    async def draw(self, context: Context, options: Options) -> Reply:
        if self._drawer is None:
            raise CannotPlay(f"{self.name} does not draw", "name a model that does")
        if self._draw_with == "chat":
            return await self._draw_by_chat(self._drawer, context, options)
        return await self._draw_by_image_api(self._drawer, context, options)

    async def _draw_by_chat(self, drawer: str, context: Context, options: Options) -> Reply:
        context, left_out = layout.without_empty_texts(context)
        request = await self._chat_request(drawer, context, options)
        request["extra_body"] = {"modalities": ["image", "text"], **request.get("extra_body", {})}
        return await self._drawing_in_chat(request, len(context.pictures), left_out)

    async def _drawing_in_chat(self, request: dict[str, Any], pictures: int, left_out: layout.LeftOut) -> Reply:
        async def attempt() -> tuple[Reply, str]:
            try:
                body = body_of(await self._client.chat.completions.create(**request))
            except Exception as error:
                return _refused_or_raise(error, left_out), ""
            chat = read_chat(body)
            usage = Usage(chat.tokens_in, chat.tokens_out, pictures_in=pictures, pictures_out=len(chat.pictures))
            reply = Reply(chat.text, None, chat.finish, usage, left_out, for_looking(body))
            return await _with_inline_picture(reply, chat.pictures[0] if chat.pictures else "")

        return await self._fetch(*await self._call(attempt))

    async def _draw_by_image_api(self, drawer: str, context: Context, options: Options) -> Reply:
        generate = self._draw_with == "generate" or not context.pictures
        most = 0 if generate else most_edit_pictures(drawer)
        why = "images.generate takes none" if generate else f"{drawer} takes {most}"
        context, empty = layout.without_empty_texts(context)
        context, dropped = layout.newest_pictures(context, most, why)
        prompt, unplaced = layout.as_prompt(context)
        left_out = (*empty, *dropped, *unplaced)
        request: dict[str, Any] = {"model": drawer, "prompt": prompt, "n": 1, **self._image_options(options)}
        if "dall-e" in drawer:
            request["response_format"] = "b64_json"  # the GPT image models refuse it: they return nothing else
        pictures = [await self._encoder.sendable(picture) for picture in context.pictures]
        if pictures:
            request["image"] = [_as_file(i, picture) for i, picture in enumerate(pictures, start=1)]
        send = self._client.images.edit if pictures else self._client.images.generate

        async def attempt() -> tuple[Reply, str]:
            try:
                body = body_of(await send(**request))
            except Exception as error:
                return _refused_or_raise(error, left_out), ""
            counted = body.get("usage") or {}
            address = read_image(body)
            usage = Usage(
                int(counted.get("input_tokens") or 0),
                int(counted.get("output_tokens") or 0),
                pictures_in=len(pictures),
                pictures_out=1 if address else 0,
            )
            return await _with_inline_picture(Reply("", None, "stop", usage, left_out, for_looking(body)), address)

        return await self._fetch(*await self._call(attempt))

    async def _fetch(self, reply: Reply, address: str) -> Reply:
        """Fetch what came as a URL, as a call of its own: a failed download must not pay for a second drawing."""
        if address:
            picture = await self._call(lambda: download(address, timeout=self.timeout))
            reply = replace(reply, picture=picture)
        return replace(reply, finish=finish_of_drawing(reply.finish, reply.picture is not None))

    async def _chat_request(self, model: str, context: Context, options: Options) -> dict[str, Any]:
        request: dict[str, Any] = {"model": model, "messages": await self._messages(context)}
        if self._send_temperature:
            request["temperature"] = options.temperature
        if options.max_new_tokens is not None:
            # OpenAI retired max_tokens for newer models; most servers that imitate it know only the old name.
            request["max_completion_tokens" if self._on_openai else "max_tokens"] = options.max_new_tokens
        if options.seed is not None:
            request["seed"] = options.seed
        return request | _known(options.extra, _CHAT_SETTINGS)

    async def _messages(self, context: Context) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for message in layout.messages(context):
            if message.role == "assistant":
                # One message a text: lists of blocks from the assistant are beyond many compatible servers.
                out += [{"role": "assistant", "content": part.text} for part in message.parts]
            else:
                out.append({"role": "user", "content": [await self._block(part.content) for part in message.parts]})
        return out

    async def _block(self, content: str | Picture) -> dict[str, Any]:
        if isinstance(content, str):
            return {"type": "text", "text": content}
        image = {"url": await self._encoder.data_url(content)}
        return {"type": "image_url", "image_url": image | ({"detail": self._detail} if self._detail else {})}

    def _image_options(self, options: Options) -> dict[str, Any]:
        """The task's settings, then the user's, which win."""
        chosen = _known(options.extra, _IMAGE_SETTINGS)
        if "width" in options.extra and "height" in options.extra:
            chosen.setdefault("size", f"{options.extra['width']}x{options.extra['height']}")
        return chosen | {key: value for key, value in self._image_settings.items() if value is not None}


def _known(extra: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The settings this API has. The others are meant for other models, and a server answers 400 to unknown ones."""
    return {name: extra[name] for name in names if name in extra}


def _as_file(number: int, picture: Picture) -> tuple[str, bytes, str]:
    return f"{number}.{picture.format}", picture.data, picture.media_type


def _refused_or_raise(error: Exception, left_out: layout.LeftOut) -> Reply:
    refusal = refusal_in(error)
    if refusal is None:
        raise error
    return Reply(redact(refusal), finish="refused", left_out=left_out, raw=for_looking(getattr(error, "body", None)))


async def _with_inline_picture(reply: Reply, address: str) -> tuple[Reply, str]:
    """The reply with the picture of a data URL in it; any other address is handed on to be fetched."""
    if not address.startswith("data:"):
        return reply, address
    head, comma, data = address.partition(",")
    if not comma or not head.endswith(";base64"):
        raise BadReply("a returned picture is a data URL without base64")
    return replace(reply, picture=await picture_from_base64(data)), ""
