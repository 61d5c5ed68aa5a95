"""Chat completions as OpenAI defined them, for OpenAI, compatible servers and other providers that use them."""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

from sketchmark.episode.model import Abilities, CallNotes, Listing, Options, Reply
from sketchmark.episode.sample import Content, Context
from sketchmark.errors import BadInput, CallFailed, CannotPlay
from sketchmark.media import Picture
from sketchmark.media.sound import Sound
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments, stop_words
from sketchmark.models.call import LARGEST_DRAWING, Call, Endpoint
from sketchmark.models.failures import BadReply, ErrorStatus, NoConnection
from sketchmark.models.http import download
from sketchmark.models.http_bodies import Base64, DataUrl, picture_from_base64
from sketchmark.models.layout import finish_of_drawing, finish_of_text, for_looking, usage_in
from sketchmark.models.providers.openai_wire import ChatReply, OpenAIWire, read_chat, refusal_in, to_openai
from sketchmark.secrets import find_key, require_key

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_PATIENCE = 5.0
"""Seconds for a request that a run does not need."""
Ask = Callable[[Call], Awaitable[dict[str, Any]]]
Read = Callable[[dict[str, Any]], ChatReply]
_SOUNDS = ("wav", "mp3")
_CHAT_SETTINGS = (
    *("top_p", "frequency_penalty", "presence_penalty", "logit_bias", "stop", "reasoning_effort", "response_format"),
)
_SERVER_SETTINGS = (
    *("top_k", "min_p", "repetition_penalty", "repeat_penalty", "typical_p", "length_penalty", "min_tokens"),
    *("stop_token_ids", "bad_words", "ignore_eos"),
)
"""Further settings of compatible servers (vLLM, SGLang, llama.cpp). OpenAI's own answers 400 to them."""

_FIXED = ("model", "messages", "stream", "n", "modalities")
"""Fields that `extra_body` must not replace: the reply would not be one to the context."""

_FOR_TEXT = ("temperature", "max_tokens", "seed", "top_p", "top_k", "min_p", "repetition_penalty", "stop")


class ChatEndpoint(Endpoint, ABC):
    """Generates text by chat completions. A subclass reads its own arguments and decides how to draw."""

    key_variables: ClassVar[tuple[str, ...]] = ("OPENAI_API_KEY",)

    def __init__(self, name: str, args: Arguments) -> None:
        super().__init__(name, args)
        if not name:
            raise BadInput(f"{self.provider} needs the name of a model", f"write {self.provider}/NAME")
        self._speaker: str | None = name
        self._drawer: str | None = None
        self._detail: str | None = None
        self._send_temperature = True
        self._listed: Listing | None = None
        self._read_arguments(name, args)
        self._read_body(args)
        args.refuse_unknown()
        self._wire = self._connect()

    @abstractmethod
    def _read_arguments(self, name: str, args: Arguments) -> None:
        """Read this provider's arguments from `args`. Any others are refused."""

    def _read_body(self, args: Arguments) -> None:
        """Read what a chat request holds besides the settings of a call."""
        names = ("chat_template_kwargs", "mm_processor_kwargs")
        given = {name: found for name in names if (found := args.mapping(name))}
        if given and self._on_openai:
            raise BadInput(
                f"{self.name}: OpenAI's server takes no {' and no '.join(given)}", "name another: base_url="
            )
        more = args.mapping("extra_body")
        if fixed := [name for name in _FIXED if name in more]:
            raise BadInput(f"{self.name}: extra_body must not replace {', '.join(fixed)}")
        self._body = given | more

    def receives(self, act: str) -> Collection[str]:
        """Return the settings of chat completions."""
        known = {"max_new_tokens", "seed", "until", *_CHAT_SETTINGS, *(() if self._on_openai else _SERVER_SETTINGS)}
        return known | ({"temperature"} if self._send_temperature else set())

    @property
    def _on_openai(self) -> bool:
        """Return whether the server is OpenAI's own, which uses a few other names than compatible servers."""
        return False

    def _connect(self) -> OpenAIWire:
        needed = self._on_openai or self.api_key_env
        # A local server often needs no key, but some require a header with any text.
        key = require_key(self.name, self.keys) if needed else find_key(self.keys) or "none"
        return to_openai(self.base_url, key)

    @property
    def abilities(self) -> Abilities:
        says, draws = self._speaker is not None, self._drawer is not None
        return Abilities(say=says, draw=draws, max_pictures=self.max_pictures, hear=says)

    async def close(self) -> None:
        await self._wire.close()

    async def retirements(self) -> dict[str, str]:
        """Read `shutdown_date` from the list of models."""
        names = dict.fromkeys(filter(None, (self._speaker, self._drawer)))
        days: dict[str, str] = {}
        with suppress(TimeoutError, ErrorStatus, NoConnection, BadReply):  # the first call will report the error
            async with asyncio.timeout(_PATIENCE):
                for name in names:
                    day = (await self._wire.model(name, Call())).get("shutdown_date")
                    if isinstance(day, str) and _DAY.fullmatch(day):
                        days[name] = day
        return days

    async def listing(self) -> Listing:
        """Read the list of models, once if the server answers."""
        if self._on_openai or self._speaker is None:
            return Listing()
        if self._listed is None:
            with suppress(TimeoutError, NoConnection):  # the first call will report the error
                try:
                    async with asyncio.timeout(_PATIENCE):
                        self._listed = _listing(self._speaker, await self._wire.models(Call()))
                except (ErrorStatus, BadReply):
                    self._listed = Listing()
                    await self._wire.close()  # after an error a server may close the connection and not say so
        return self._listed or Listing()

    async def say(self, context: Context, options: Options) -> Reply:
        if self._speaker is None:
            raise CannotPlay(f"{self.name} does not say anything: it only draws")
        context, left_out = layout.without_empty_texts(context)
        request = await self._chat_request(self._speaker, context, options)
        pictures = len(context.pictures)
        return await self._saying(
            lambda call: self._wire.chat(request, call), read_chat, pictures, left_out, options.notes
        )

    async def _saying(
        self, ask: Ask, read: Read, pictures: int, left_out: layout.LeftOut, notes: CallNotes | None
    ) -> Reply:
        """Run a conversation that ends with text, by either API that has conversations."""

        async def attempt(call: Call) -> Reply:
            try:
                body = await ask(call)
            except ErrorStatus as error:
                return refused_or_raise(error, left_out)
            call.used = usage_in(body, pictures)
            chat = read(body)
            finish = finish_of_text(chat.finish, chat.text)
            return Reply(chat.text, None, finish, call.used, left_out, for_looking(body), native=chat.native)

        return await self._call(attempt, notes)

    async def _drawing_in_chat(
        self, request: dict[str, Any], pictures: int, left_out: layout.LeftOut, notes: CallNotes | None
    ) -> Reply:
        def ask(call: Call) -> Awaitable[dict[str, Any]]:
            return self._wire.chat(request, call.up_to(LARGEST_DRAWING))

        return await self._drawing(ask, read_chat, pictures, left_out, notes)

    async def _drawing(
        self, ask: Ask, read: Read, pictures: int, left_out: layout.LeftOut, notes: CallNotes | None
    ) -> Reply:
        """Run a conversation that ends with a drawing, by either API that has conversations."""

        async def attempt(call: Call) -> tuple[Reply, str]:
            try:
                body = await ask(call)
            except ErrorStatus as error:
                return refused_or_raise(error, left_out), ""
            call.used = usage_in(body, pictures, 1)
            chat = read(body)
            usage = replace(call.used, pictures_out=len(chat.pictures))
            reply = Reply(chat.text, None, chat.finish, usage, left_out, for_looking(body), native=chat.native)
            return await with_inline_picture(reply, chat.pictures[-1] if chat.pictures else "")

        return await self._fetch(*await self._call(attempt, notes), notes)

    async def _fetch(self, reply: Reply, address: str, notes: CallNotes | None) -> Reply:
        """Fetch an image from its URL, as a separate call: a failed download must not pay for a second drawing."""
        if address:

            async def attempt(call: Call) -> Picture:
                return await download(address, self.base_url, call, timeout=self.timeout)

            try:
                reply = replace(reply, picture=await self._call(attempt, notes))
            except CallFailed:
                if notes is not None:
                    notes.billed(reply.usage)  # the drawing was made, and is paid for
                raise
        return replace(reply, finish=finish_of_drawing(reply.finish, reply.picture is not None))

    async def _chat_request(self, model: str, context: Context, options: Options) -> dict[str, Any]:
        request: dict[str, Any] = {"model": model, "messages": await self._messages(context)}
        if self._send_temperature:
            request["temperature"] = options.temperature
        if options.max_new_tokens is not None:
            # OpenAI retired max_tokens for newer models. Most compatible servers know only the old name.
            request["max_completion_tokens" if self._on_openai else "max_tokens"] = options.max_new_tokens
        if options.seed is not None:
            request["seed"] = options.seed
        names = _CHAT_SETTINGS if self._on_openai else (*_CHAT_SETTINGS, *_SERVER_SETTINGS)
        request |= known_settings(options.extra, names)
        if options.extra.get("until"):
            request["stop"] = stop_words(options.extra)
        return request | self._body

    async def _messages(self, context: Context) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for message in layout.messages(context):
            if message.role != "user":
                # One message per text: many compatible servers refuse lists of blocks from others than the user.
                out += [{"role": message.role, "content": part.text} for part in message.parts]
            else:
                out.append({"role": "user", "content": [await self._block(part.content) for part in message.parts]})
        return out

    async def _block(self, content: Content) -> dict[str, Any]:
        if isinstance(content, str):
            return {"type": "text", "text": content}
        if isinstance(content, Sound):
            sound = content if content.format in _SOUNDS else await asyncio.to_thread(content.as_wav)
            return {"type": "input_audio", "input_audio": {"data": Base64(sound), "format": sound.format}}
        image: dict[str, Any] = {"url": DataUrl(await self._encoder.sendable(content))}
        return {"type": "image_url", "image_url": image | ({"detail": self._detail} if self._detail else {})}


def _listing(name: str, listed: list[dict[str, Any]]) -> Listing:
    """Find a model in the list of its server.

    llama.cpp and OpenRouter list the kinds of input in `architecture`. vLLM lists the longest context of a model, or
    the `parent` of an adapter. vLLM-Omni lists neither for a pipeline that only draws. Such a server answers any
    request for text with a drawing."""
    found = next((one for one in listed if one.get("id") == name or len(listed) == 1), {})
    of_vllm = found.get("owned_by") == "vllm" and "max_model_len" in found
    only_draws = of_vllm and found["max_model_len"] is None and found.get("parent") is None
    about = found.get("architecture")
    kinds = about.get("input_modalities") if isinstance(about, dict) else None
    takes_images = "image" in kinds if isinstance(kinds, list) and "text" in kinds else None
    return Listing(takes_images, False if only_draws else None)


def as_user_texts(context: Context, most: int, how: str) -> tuple[Context, layout.LeftOut]:
    """Return the part of a context that reaches a drawing of vLLM-Omni, and name the rest: the server joins the
    user's texts, ignores all others, and takes `most` images apart."""
    context, dropped = layout.newest_pictures(context, most, f"the server {how}")
    context, unsaid = layout.all_as_user(context, "the server")
    return context, (*dropped, *unsaid, *layout.places_lost(context, "the server joins the texts"))


def by_stage(request: Mapping[str, Any], drawn: Mapping[str, Any], seed: int | None) -> dict[str, Any]:
    """Return vLLM-Omni's settings of each stage, for a server with a text stage and a drawing stage.

    Without them the drawing stage keeps the seed of its deployment. With them the stages ignore the deployment's
    defaults and the request's own settings, so these are repeated here."""
    text = {name: request[name] for name in _FOR_TEXT if name in request}
    drawing = {name: value for name, value in drawn.items() if name not in ("size", "modalities")}
    return {"sampling_params_list": [text, drawing | ({} if seed is None else {"seed": seed})]}


def known_settings(extra: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings that this API has. Others are for other models, and a server may answer 400 to them."""
    return {name: extra[name] for name in names if name in extra}


def refused_or_raise(error: ErrorStatus, left_out: layout.LeftOut) -> Reply:
    refusal = refusal_in(error)
    if refusal is None:
        raise error
    return Reply(refusal, finish="refused", left_out=left_out, raw=for_looking(error.body))


async def with_inline_picture(reply: Reply, address: str) -> tuple[Reply, str]:
    """Decode the image of a data URL into the reply. Any other address is returned, to be fetched."""
    if not address.startswith("data:"):
        return reply, address
    head, comma, data = address.partition(",")
    if not comma or not head.endswith(";base64"):
        raise BadReply("a returned picture is a data URL without base64")
    return replace(reply, picture=await picture_from_base64(data)), ""
