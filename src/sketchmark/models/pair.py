"""A thinker and a drawer as one model: the first generates text, the second draws.

Each part keeps its own address, key, rate limit, cache and concurrency, because each is a whole model. The drawer is
given the thinker's context with the thinker's texts in it. Images and sounds that it does not take are named in
`Reply.left_out`. The usage of the drawer is marked, so that each part has its own price.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from sketchmark.episode.model import Abilities, Listing, Model, Options, Reply, Usage
from sketchmark.episode.sample import Context
from sketchmark.errors import BadInput, CannotPlay
from sketchmark.models import layout
from sketchmark.models.wrappers import PassedNotes
from sketchmark.settings import pair_name


class Pair(Model):
    """Two models as one. A part that lacks its ability is refused here, before the first call."""

    def __init__(self, thinker: Model, drawer: Model) -> None:
        super().__init__(pair_name(thinker.name, drawer.name))
        if not thinker.abilities.say:
            raise CannotPlay(f"{thinker.name} only draws, and --model must generate text", "give it as --drawer")
        if not drawer.abilities.draw:
            raise CannotPlay(
                f"--drawer {drawer.name} does not draw",
                "name a model that does, or add draw_with=svg to --drawer-args",
            )
        if thinker.abilities.native or drawer.abilities.native:
            raise BadInput("history=native is one model's record of its turns, and a pair has two", "leave it out")
        self.thinker, self.drawer = thinker, drawer
        self.keys = tuple(dict.fromkeys((*thinker.keys, *drawer.keys)))

    @property
    def abilities(self) -> Abilities:
        return replace(
            self.thinker.abilities, draw=True, combined_prompt=False, draws_code=self.drawer.abilities.draws_code
        )

    def identity(self) -> dict[str, Any]:
        """Return both identities. Arguments about drawing begin with `draw`, as in a model that does both."""
        return {**self.thinker.identity(), "name": self.name, "drawer": self.drawer.identity()}

    def expect(self, at_once: int) -> None:
        self.thinker.expect(at_once)
        self.drawer.expect(at_once)

    def receives(self, act: str) -> Collection[str] | None:
        return (self.thinker if act == "say" else self.drawer).receives(act)

    def forget(self, context: Context, options: Options) -> None:
        self.thinker.forget(context, options)

    async def retirements(self) -> dict[str, str]:
        return {**await self.thinker.retirements(), **await self.drawer.retirements()}

    async def listing(self) -> Listing:
        """Return the thinker's. The drawer's is read too: it may change what the drawer is sent."""
        await self.drawer.listing()
        return await self.thinker.listing()

    async def close(self) -> None:
        await asyncio.gather(self.thinker.close(), self.drawer.close())

    async def say(self, context: Context, options: Options) -> Reply:
        return await self.thinker.say(context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        can, left_out = self.drawer.abilities, list[str]()
        if can.max_pictures is not None:
            context, lost = layout.newest_pictures(context, can.max_pictures, f"{self.drawer.name} takes no more")
            left_out += lost
        if not can.hear:
            context, lost = layout.without_sounds(context, self.drawer.name)
            left_out += lost
        reply = await self.drawer.draw(context, replace(options, notes=_OfDrawer(options.notes)))
        return replace(reply, usage=reply.usage.of_drawer(), left_out=(*left_out, *reply.left_out))


class _OfDrawer(PassedNotes):
    """Notes of a call whose billed attempts are the drawer's."""

    def billed(self, usage: Usage) -> bool:
        return super().billed(usage.of_drawer())
