"""Scripted players: honest stand-ins that read pixels and draw pixels, never called models.

They see a context and nothing else. They make the first run work with no key, no weights and no network, and they
calibrate the harness: `random` sits at chance, `solver` must score 1.0 everywhere, `sketcher` is helped by drawing.
`patient` is for `sketchmark doctor`.
"""

from __future__ import annotations

from sketchmark.errors import BadInput, UnknownName
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.base import Model


def make(name: str, **model_args: Value) -> Model:
    """`player/random`, `player/solver`, `player/patient` or `player/sketcher` (`lookahead` and `hand_error`)."""
    args = Arguments(f"player/{name}", model_args)
    seed = args.whole("seed", 0)
    if name == "sketcher":
        from sketchmark.models.players.sketcher import Sketcher

        lookahead, hand_error = args.whole("lookahead", 3), args.number("hand_error")
        args.refuse_unknown()
        if hand_error is not None and not 0 <= hand_error <= 1:
            raise BadInput(f"player/sketcher: hand_error={hand_error:g} is not a chance from 0 to 1")
        return Sketcher(seed, lookahead, 0.02 if hand_error is None else hand_error)
    args.refuse_unknown()
    if name == "random":
        from sketchmark.models.players.chance import Chance

        return Chance(seed)
    if name == "solver":
        from sketchmark.models.players.solver import Solver

        return Solver()
    if name == "patient":
        from sketchmark.models.players.patient import Patient

        return Patient()
    raise UnknownName(f"no player named {name!r}", "there are: random, solver, sketcher, patient")
