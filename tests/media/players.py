"""Players that write bad SVG."""

from __future__ import annotations

from dataclasses import replace

from sketchmark import Context, Model, Options, Reply
from sketchmark.episode.model import Abilities
from sketchmark.models.players import make


class Careless(Model):
    """A player that omits the end of a tag in every drawing, until it gets the reason."""

    def __init__(self, player: Model | None = None) -> None:
        super().__init__("careless")
        self.player = player or make("solver")

    @property
    def abilities(self) -> Abilities:
        return replace(self.player.abilities, draw=False)

    async def say(self, context: Context, options: Options) -> Reply:
        reply = await self.player.say(context, options)
        if "<svg" in reply.text and "could not be used" not in context.texts[-1]:
            return replace(reply, text=reply.text.replace("/>", ">", 1))
        return reply


class Says(Model):
    """The solver with one text for every drawing. It returns no images."""

    def __init__(self, drawing: str) -> None:
        super().__init__("says")
        self.drawing = drawing
        self.player = make("solver")

    async def say(self, context: Context, options: Options) -> Reply:
        reply = await self.player.say(context, options)
        return replace(reply, text=self.drawing) if "<svg" in reply.text else reply
