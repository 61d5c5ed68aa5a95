"""Latency and faults on purpose, the same ones for the same requests each time.

The silent faults of real servers respond, with status 200, to something else than the request:

ignores_prompt     a drawing ignores the texts
ignores_history    a drawing ignores the model's own earlier text (vLLM-Omni's BAGEL)
first_picture      only the first of several images is used (vLLM-Omni's BAGEL, when it draws)
drops_settings     size, seed and limits do not reach the model
wrong_size         a drawing has a size that the server chose
stretches          images are stretched to a square (vLLM-Omni's BAGEL, when it reads)
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, replace

from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Context, Part
from sketchmark.errors import BadInput
from sketchmark.media import Picture
from sketchmark.models.wrappers import Wrapped

RESET = "reset"
"""The fault without an HTTP status: the connection is reset without a response."""


@dataclass(frozen=True)
class Faults:
    """Latency and chances of faults of the server."""

    chances: tuple[tuple[str, float], ...] = ()
    latency: float = 0.0
    seed: int = 0
    retry_after: float = 0.05
    """Seconds in the Retry-After of a 429 or 503."""

    @classmethod
    def parse(cls, fail: str = "", latency: str = "", seed: int = 0) -> Faults:
        """Parse options of the command line: `429:0.1,500:0.05,reset:0.02` and `50ms`."""
        chances = tuple(_chance(entry.strip()) for entry in fail.split(",") if entry.strip())
        if sum(chance for _, chance in chances) > 1:
            raise BadInput(f"--fail {fail}: the chances add up to more than 1")
        return cls(chances, _seconds(latency) if latency else 0.0, seed)


def _chance(entry: str) -> tuple[str, float]:
    hint = "write it as 429:0.1,500:0.05,reset:0.02"
    match = re.fullmatch(r"(reset|[45]\d\d):(\d*\.?\d+)", entry)
    if not match:
        raise BadInput(f"--fail: {entry!r} is not a fault and its chance", hint)
    chance = float(match[2])
    if chance > 1:
        raise BadInput(f"--fail: {entry!r}: a chance is between 0 and 1", hint)
    return match[1], chance


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d*\.?\d+)(ms|s)", text.strip())
    if not match:
        raise BadInput(f"--latency: {text!r} is not a time", "write it as 50ms or 1.5s")
    return float(match[1]) / (1000 if match[2] == "ms" else 1)


class Dice:
    """Decides which requests fail.

    The decision follows from the seed, the request's bytes and how often the same bytes came before. It does not
    depend on the order of arrival, so a concurrent run meets the same faults each time.
    """

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self._seen: Counter[bytes] = Counter()

    def fate(self, method: str, path: str, content_type: str, body: bytes) -> str | None:
        """Return the fault for this request, or None."""
        if not self.faults.chances:
            return None
        boundary = re.search(r'boundary="?([^";]+)', content_type)
        if boundary:
            # Clients make a new multipart boundary for each attempt; it is not part of the request.
            body = body.replace(boundary[1].encode("latin-1"), b"")
        request = hashlib.sha256(b"\0".join([method.encode(), path.encode(), body])).digest()
        attempt = self._seen[request]
        self._seen[request] += 1
        drawn = hashlib.sha256(f"{self.faults.seed}:{attempt}:".encode() + request).digest()
        level = int.from_bytes(drawn[:8]) / 2**64
        for fault, chance in self.faults.chances:
            if level < chance:
                return fault
            level -= chance
        return None


FAULTS = ("ignores_prompt", "ignores_history", "first_picture", "drops_settings", "wrong_size", "stretches")
_LIKED = (512, 512)


def parse_silent(text: str) -> frozenset[str]:
    """Parse an option of the command line: `first_picture,wrong_size`."""
    names = frozenset(name.strip().replace("-", "_") for name in text.split(",") if name.strip())
    for name in sorted(names - set(FAULTS)):
        raise BadInput(f"--silent: no fault named {name!r}", f"there are: {', '.join(FAULTS)}")
    return names


class Silent(Wrapped):
    """A model with silent faults."""

    def __init__(self, model: Model, faults: frozenset[str]) -> None:
        super().__init__(model)
        self._faults = faults

    async def say(self, context: Context, options: Options) -> Reply:
        return await self._model.say(*self._heard(context, options))

    async def draw(self, context: Context, options: Options) -> Reply:
        heard, options = self._heard(context, options)
        parts = heard.parts
        if "ignores_prompt" in self._faults:
            parts = tuple(part for part in parts if part.text is None)
        if "ignores_history" in self._faults:
            parts = tuple(part for part in parts if part.text is None or part.by == "task")
        reply = await self._model.draw(Context(parts), options)
        if "wrong_size" in self._faults and reply.picture:
            reply = replace(reply, picture=Picture.from_image(reply.picture.image().resize(_LIKED)))
        return reply

    def _heard(self, context: Context, options: Options) -> tuple[Context, Options]:
        if "drops_settings" in self._faults:
            options = Options()
        if "first_picture" in self._faults:
            context = Context(tuple(_with_one_picture(context)))
        if "stretches" in self._faults:
            context = Context(tuple(map(_stretched, context)))
        return context, options


def _with_one_picture(context: Context) -> list[Part]:
    first = next((part for part in context if part.picture), None)
    return [part for part in context if part.picture is None or part is first]


def _stretched(part: Part) -> Part:
    return replace(part, content=Picture.from_image(part.picture.image().resize(_LIKED))) if part.picture else part
