"""`player/flawed`: a player whose faults are known, to calibrate what `sketchmark audit` finds.

With the chance `draw_error` one thing in an episode's drawings is wrong; with the chance `read_error` the answer is
not what the drawings show; with the chance `ignores` it does not look at them at all. Where it has seen nothing (no
drawings, white paper, another puzzle, words) it knows the answer with the chance `knows`, and is wrong otherwise.
Each fault is decided once for a puzzle, whatever the mode and the canvas: the same samples fail in the same way.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from sketchmark.models.base import Model, Options, Reply
from sketchmark.models.players.chance import coded, dice, drawn, guess, said, scribble
from sketchmark.models.players.code import without_asking_for_code
from sketchmark.models.players.sight import play_of
from sketchmark.parts import Context
from sketchmark.worlds.playing import puzzle_in, wanted


@dataclass(frozen=True)
class Faults:
    """Each is a chance from 0 to 1."""

    draw_error: float = 0.0
    read_error: float = 0.0
    ignores: float = 0.0
    knows: float = 0.2


class Flawed(Model):
    def __init__(self, faults: Faults, seed: int = 0) -> None:
        super().__init__("player/flawed")
        self._faults, self._seed = faults, seed

    def identity(self) -> dict[str, Any]:
        return {"name": self.name, "seed": self._seed, **asdict(self._faults)}

    async def say(self, context: Context, options: Options) -> Reply:
        if (before := without_asking_for_code(context)) is not None:
            return coded(await self.draw(before, options), before)
        play = play_of(context)
        answer = play.answer(context) if wanted(context) != "final" else None
        if answer is None and not self._happens("ignores", context):
            answer = play.conclude(context, by_drawings=True, wrong=self._happens("read_error", context))
        if answer is None:
            answer = play.conclude(context, by_drawings=False, wrong=not self._happens("knows", context))
        return said(answer or guess(context, dice(context, self._seed)))

    async def draw(self, context: Context, options: Options) -> Reply:
        play = play_of(context)
        picture = play.misdraw(context) if self._happens("draw_error", context) else play.draw(context)
        return drawn(picture or scribble(context, dice(context, self._seed)))

    def _happens(self, fault: str, context: Context) -> bool:
        shown = puzzle_in(context)
        puzzle = shown.initial.identity if shown else ""
        chance: float = getattr(self._faults, fault)
        return Random(f"{self._seed}:{fault}:{puzzle}").random() < chance
