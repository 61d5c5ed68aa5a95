"""Puzzle families: rules, generator, renderer (state to picture), reader (picture to state), solver.

Each is described by one `World` (description.py), and all that is done with worlds goes through the list below: a
new world is a module with a `WORLD` and one line here (docs/add-a-world.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sketchmark.errors import UnknownName

if TYPE_CHECKING:
    from sketchmark.worlds.description import Board, World

WORLDS = {
    "maze": "sketchmark.worlds.maze_world",
    "sliding": "sketchmark.worlds.sliding_world",
    "jigsaw": "sketchmark.worlds.jigsaw_world",
    "voila": "sketchmark.worlds.voila.world",
}
"""name -> the module whose `WORLD` describes it. Nothing is imported until it is asked for."""


def world(name: str) -> World:
    if name not in WORLDS:
        raise UnknownName(f"there is no world called {name!r}", f"there are: {', '.join(WORLDS)}")
    found: World = import_module(WORLDS[name]).WORLD
    return found


def every_world() -> Iterator[World]:
    return map(world, WORLDS)


def world_of(target: Mapping[str, Any]) -> World | None:
    """Whose sample it is. A target that names its world is believed. The others (published sets, and run folders on
    disk, which must keep working) belong to the first world that claims them."""
    named = target.get("world")
    if named is None:
        return next((each for each in every_world() if each.claims(target)), None)
    return world(named) if isinstance(named, str) and named in WORLDS else None


def board_of(target: Mapping[str, Any]) -> tuple[Board, int, int] | None:
    """The board that a sample's pictures show, with its rows and columns; None: no board that can be read."""
    found = world_of(target)
    if found is None or found.board is None:
        return None
    try:
        return found.board, *found.board.size_of(target)
    except (KeyError, TypeError, ValueError):
        return None
