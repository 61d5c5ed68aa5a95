"""Scripted players: honest stand-ins that read pixels and draw pixels, never called models.

They see a context and nothing else. They make the first run work with no key, no weights and no network, and they
calibrate the harness: `random` sits at chance, `solver` must score 1.0 everywhere, `sketcher` is helped by drawing,
`flawed` has faults of known size. `patient` is for `sketchmark doctor`.
"""

from __future__ import annotations

from dataclasses import fields

from sketchmark.errors import UnknownName
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.base import Model


def make(name: str, **model_args: Value) -> Model:
    """`player/random`, `player/solver`, `player/patient`, `player/sketcher` (takes `lookahead`, `hand_error`)
    or `player/flawed` (`draw_error`, `read_error`, `ignores`, `knows`)."""
    args = Arguments(f"player/{name}", model_args)
    seed = args.whole("seed", 0)
    if name == "sketcher":
        from sketchmark.models.players.sketcher import Sketcher

        lookahead, hand_error = args.whole("lookahead", 3), args.chance("hand_error", 0.02)
        args.refuse_unknown()
        return Sketcher(seed, lookahead, hand_error)
    if name == "flawed":
        from sketchmark.models.players.flawed import Faults, Flawed

        chances = {field.name: args.chance(field.name, getattr(Faults, field.name)) for field in fields(Faults)}
        args.refuse_unknown()
        return Flawed(Faults(**chances), seed)
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
    raise UnknownName(f"no player named {name!r}", "there are: random, solver, sketcher, flawed, patient")
