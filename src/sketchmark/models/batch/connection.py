"""The way to a server with a Batch API."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from sketchmark.errors import BadInput
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.calling import Attempt, Caller
from sketchmark.models.openai_wire import OPENAI, OpenAIWire, to_openai
from sketchmark.models.pacing import Pace
from sketchmark.models.secrets import find_key, require_key, without_credentials

T = TypeVar("T")


@dataclass(frozen=True)
class Connection:
    """`model` is the name that requests carry; `server` is the address as it may be written down."""

    wire: OpenAIWire
    model: str
    server: str
    call: Caller

    async def __call__(self, attempt: Attempt[T]) -> T:
        """One request, tried again while that can help; errors come without keys in them."""
        return await self.call(attempt)

    async def close(self) -> None:
        await self.wire.close()


def connect(name: str, arguments: Mapping[str, Value]) -> Connection:
    """To the server of `openai/NAME`, with the arguments that model takes for reaching it."""
    provider, _, model = name.partition("/")
    if provider not in ("openai", "openai_compatible") or not model:
        raise BadInput(f"--batch needs a judge behind OpenAI's Batch API, not {name!r}", "name it openai/MODEL")
    args = Arguments(name, arguments)
    if "|" in (args.text("base_url") or ""):
        raise BadInput("--batch: a batch job lives on one server, and base_url names several", "name one")
    base_url = args.text("base_url") or os.environ.get("OPENAI_BASE_URL") or None
    key_name = args.text("api_key_env")
    timeout = args.above_zero("timeout") or 300.0
    retries = args.whole("max_retries", 6)
    args.refuse_unknown()
    names = (key_name or "OPENAI_API_KEY",)
    at_openai = base_url is None or f".{urlsplit(base_url).hostname}".endswith(".openai.com")
    key = require_key(name, names) if at_openai or key_name else find_key(names) or "none"
    return Connection(
        wire=to_openai(base_url, key),
        model=model,
        server=without_credentials(base_url) if base_url else OPENAI,
        call=Caller(name, Pace(), timeout=timeout, max_retries=retries, keys=names),
    )
