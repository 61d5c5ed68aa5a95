"""Where one model is asked: contexts out of plain texts and pictures, and a count of what that took."""

from __future__ import annotations

import time
from collections.abc import Mapping
from statistics import median

from sketchmark.doctor.findings import Calls
from sketchmark.models.base import Model, Options, Reply, Usage
from sketchmark.parts import Context, Part
from sketchmark.picture import Picture

ABOUT = "This is a check-up."
"""Begins every prompt, so that nobody takes it for more."""


class Bedside:
    """No cache stands between: what was answered another day says nothing about today."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._took: dict[str, list[tuple[float, Usage]]] = {"say": [], "draw": []}

    async def say(self, *parts: str | Picture | Part, most: int = 512) -> Reply:
        return await self._ask("say", parts, Options(max_new_tokens=most, seed=1))

    async def draw(
        self, *parts: str | Picture | Part, seed: int | None = 1, extra: Mapping[str, object] | None = None
    ) -> Reply:
        return await self._ask("draw", parts, Options(seed=seed, extra=extra or {}))

    async def _ask(self, act: str, parts: tuple[str | Picture | Part, ...], options: Options) -> Reply:
        context = Context(tuple(part if isinstance(part, Part) else Part(part) for part in parts))
        started = time.perf_counter()
        reply = await (self.model.say if act == "say" else self.model.draw)(context, options)
        self._took[act].append((time.perf_counter() - started, reply.usage))
        return reply

    def calls(self, act: str) -> Calls:
        took = self._took[act]
        return Calls(
            calls=len(took),
            seconds=round(median(seconds for seconds, _ in took), 3) if took else 0.0,
            tokens_in=sum(usage.tokens_in for _, usage in took),
            tokens_out=sum(usage.tokens_out for _, usage in took),
            pictures_out=sum(usage.pictures_out for _, usage in took),
        )
