"""VOILA as a world. Its sets are made and written by `sketchmark voila`, which knows the benchmark's own files."""

from __future__ import annotations

from sketchmark.worlds import voila
from sketchmark.worlds.description import World
from sketchmark.worlds.voila.play import AnalogyPlay

WORLD = World(
    name="voila",
    about=voila.__doc__ or "",
    told_by=("fourth image", "first three images"),
    play=AnalogyPlay(),
)
