"""A model for the kill test: the solver, at a pace that does not depend on the machine."""

from __future__ import annotations

import asyncio

from sketchmark import Context, Model, Options, Reply
from sketchmark.models.players import Sketcher


class Slow(Model):
    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self._inner = Sketcher()

    async def say(self, context: Context, options: Options) -> Reply:
        await asyncio.sleep(0.04)
        return await self._inner.say(context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        await asyncio.sleep(0.04)
        return await self._inner.draw(context, options)
