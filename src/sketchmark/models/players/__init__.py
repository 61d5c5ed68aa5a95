"""Scripted players: honest stand-ins that read pixels and draw pixels, never called models.

They see a context and nothing else. They make the first run work with no key, no weights and no network, and they
calibrate the harness: `random` sits at chance, `solver` must score 1.0 everywhere, `sketcher` is helped by drawing.
"""

from __future__ import annotations

from sketchmark.errors import UnknownName
from sketchmark.models.base import Model


def make(name: str, *, seed: int = 0, lookahead: int = 3, hand_error: float = 0.02) -> Model:
    """`player/random`, `player/solver` or `player/sketcher` (which takes `lookahead` and `hand_error`)."""
    if name == "random":
        from sketchmark.models.players.chance import Chance

        return Chance(seed)
    if name == "solver":
        from sketchmark.models.players.solver import Solver

        return Solver()
    if name == "sketcher":
        from sketchmark.models.players.sketcher import Sketcher

        return Sketcher(seed, lookahead, hand_error)
    raise UnknownName(f"no player named {name!r}", "there are: random, solver, sketcher")
