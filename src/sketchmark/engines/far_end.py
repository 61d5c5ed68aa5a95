"""The far end of a worker, whatever started it: finds the code that plays, by name, and opens it."""

from __future__ import annotations

import importlib
from typing import Protocol

from sketchmark.errors import SketchmarkError


class Player(Protocol):
    """What a worker is at its far end. Whatever befalls a job is part of its outcome; it raises nothing."""

    async def play(self, job: bytes) -> bytes: ...

    async def close(self) -> None: ...


async def open_player(entry: str, recipe: bytes) -> Player | str:
    """`module:name` called with the recipe; a text says why it could not be done."""
    module, _, name = entry.partition(":")
    try:
        player: Player = await getattr(importlib.import_module(module), name)(recipe)
    except SketchmarkError as error:
        return str(error)
    except Exception as error:  # plug-ins: anything may come, and nobody here could read a traceback
        return f"a worker could not start: {type(error).__name__}: {error}"
    return player
