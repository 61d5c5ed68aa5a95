"""`player/solver`: reads the pictures, plans perfectly, draws perfectly.

It must score 1.0 on every channel of every generated world; where it does not, the harness is wrong. Outside the
worlds it guesses like `player/random`.
"""

from __future__ import annotations

from sketchmark.models.base import Model, Options, Reply
from sketchmark.models.players.chance import coded, dice, drawn, guess, said, scribble
from sketchmark.models.players.code import without_asking_for_code
from sketchmark.models.players.sight import play_of
from sketchmark.parts import Context


class Solver(Model):
    def __init__(self) -> None:
        super().__init__("player/solver")

    async def say(self, context: Context, options: Options) -> Reply:
        if (before := without_asking_for_code(context)) is not None:
            return coded(await self.draw(before, options), before)
        return said(play_of(context).answer(context) or guess(context, dice(context, 0)))

    async def draw(self, context: Context, options: Options) -> Reply:
        return drawn(play_of(context).draw(context) or scribble(context, dice(context, 0)))
