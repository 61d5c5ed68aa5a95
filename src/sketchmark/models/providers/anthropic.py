"""`anthropic/NAME`: reads texts and images, and generates text. It does not draw."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any, ClassVar
from urllib.parse import urlsplit

from sketchmark.episode.model import Finish, Options, Reply
from sketchmark.episode.sample import Context, Part
from sketchmark.errors import BadInput, MissingExtra
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments, Value, stop_words
from sketchmark.models.call import Call, Endpoint
from sketchmark.models.http_bounds import SdkCalls, refuse_no_address
from sketchmark.models.layout import as_a_reply, body_of, finish_of_text, for_looking, usage_in
from sketchmark.models.providers import Provider
from sketchmark.secrets import require_key

_SERVER = "https://api.anthropic.com"
_SAMPLING = ("top_p", "top_k")
_DEFAULT_MAX_TOKENS = 4096
"""The Messages API requires a limit. This one is sent if the task has none."""

_FINISHES: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}


class Anthropic(Endpoint):
    provider: ClassVar[str] = "anthropic"
    key_variables: ClassVar[tuple[str, ...]] = ("ANTHROPIC_API_KEY",)
    max_pictures: int | None = 100

    def __init__(self, name: str, **model_args: Value) -> None:
        if not name:
            raise BadInput("anthropic needs the name of a model", "write anthropic/NAME")
        args = Arguments(f"anthropic/{name}", model_args)
        super().__init__(name, args)
        self._model = name
        self.base_url = self.base_url or os.environ.get("ANTHROPIC_BASE_URL") or None
        # Anthropic's newer models have no temperature (the SDK dropped the argument). Other servers' models do.
        own_server = not f".{urlsplit(self.base_url or _SERVER).hostname}".endswith(".anthropic.com")
        self._send_temperature = args.flag("send_temperature", own_server)
        args.refuse_unknown()
        refuse_no_address(self.base_url or _SERVER)
        try:
            from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
        except ImportError:
            raise MissingExtra(f"model {self.name}", "anthropic") from None
        self._calls = SdkCalls()
        self._client = AsyncAnthropic(
            api_key=require_key(self.name, self.keys),
            base_url=self.base_url,
            timeout=self.timeout,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(timeout=self.timeout, event_hooks=self._calls.hooks),
        )

    def _settings(self) -> dict[str, Any]:
        return {"send_temperature": True if self._send_temperature else None}

    def receives(self, act: str) -> Collection[str]:
        known = {"max_new_tokens", "stop", "until", *_SAMPLING}
        return known | ({"temperature"} if self._send_temperature else set())

    async def close(self) -> None:
        await self._client.close()

    async def say(self, context: Context, options: Options) -> Reply:
        system, context = layout.system_apart(context)
        context, left_out = layout.without_empty_texts(context)
        request: dict[str, Any] = {
            **({"system": system} if system else {}),
            "model": self._model,
            "max_tokens": options.max_new_tokens or _DEFAULT_MAX_TOKENS,
            "messages": [
                {"role": message.role, "content": [await self._block(part) for part in message.parts]}
                for message in layout.messages(context)
            ],
        }
        body = {name: options.extra[name] for name in _SAMPLING if name in options.extra}
        body |= {"temperature": options.temperature} if self._send_temperature else {}
        if stops := stop_words(options.extra):
            body["stop_sequences"] = stops
        if body:
            request["extra_body"] = body

        async def attempt(call: Call) -> Reply:
            with self._calls.headers(call) as headers:
                body = body_of(await self._client.messages.create(**request, extra_headers=headers))
            call.used = usage_in(body, len(context.pictures))
            with as_a_reply():
                text = "".join(block["text"] for block in body["content"] if block.get("type") == "text")
                finish = finish_of_text(_FINISHES.get(body.get("stop_reason") or "", "stop"), text)
            return Reply(text, None, finish, call.used, left_out, for_looking(body))

        return await self._call(attempt, options.notes)

    async def _block(self, part: Part) -> dict[str, Any]:
        if part.picture is None:
            return {"type": "text", "text": part.text}
        media_type, data = await self._encoder.base64(part.picture)
        return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


PROVIDER = Provider(
    Anthropic,
    "anthropic/NAME: reads pictures, does not draw",
    addresses=("base_url",),
    variables=Anthropic.key_variables,
    families=("claude",),
)
