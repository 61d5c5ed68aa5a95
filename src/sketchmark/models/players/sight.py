"""Which world a player is in, told from the texts of a context. A player has no other source."""

from __future__ import annotations

from sketchmark.parts import Context
from sketchmark.worlds import every_world
from sketchmark.worlds.description import Play

_ELSEWHERE = Play()
"""Outside the worlds nothing is known: players guess and scribble."""


def play_of(context: Context) -> Play:
    """How the world is played whose phrases come first in the context."""
    worlds = list(every_world())
    for text in context.texts:
        for world in worlds:
            if any(phrase in text for phrase in world.told_by):
                return world.play
    return _ELSEWHERE
