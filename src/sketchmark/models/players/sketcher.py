"""`player/sketcher`: sees only a few moves ahead, and draws with a shaky hand.

Drawing helps it: each drawing is a new starting point, and at the end it reads its moves off the drawings. A canvas
that shows nothing of its own puzzle (blank, or another's) takes that help away, and then it answers exactly as it
would have without drawing. It is the harness's control: a positive drawing gain that must vanish with the canvas.
"""

from __future__ import annotations

from typing import Any

from sketchmark.models.base import Model, Options, Reply
from sketchmark.models.players.chance import coded, dice, drawn, guess, said, scribble
from sketchmark.models.players.code import without_asking_for_code
from sketchmark.models.players.sight import play_of
from sketchmark.parts import Context


class Sketcher(Model):
    hears = True

    def __init__(self, seed: int = 0, lookahead: int = 3, hand_error: float = 0.02) -> None:
        super().__init__("player/sketcher")
        self._seed, self._lookahead, self._hand_error = seed, lookahead, hand_error

    def identity(self) -> dict[str, Any]:
        return {
            "name": self.name, "seed": self._seed, "lookahead": self._lookahead, "hand_error": self._hand_error
        }  # fmt: skip

    async def say(self, context: Context, options: Options) -> Reply:
        if (before := without_asking_for_code(context)) is not None:
            return coded(await self.draw(before, options), before)
        answer = play_of(context).glance(context, self._lookahead, self._seed)
        return said(answer or guess(context, dice(context, self._seed)))

    async def draw(self, context: Context, options: Options) -> Reply:
        rng = dice(context, self._seed)
        shaky = rng.random() < self._hand_error
        return drawn(play_of(context).sketch(context, shaky, rng) or scribble(context, rng))
