"""Samples from the generated worlds, under the names that their task files and the run folders on disk have for them.

A new world needs none: its task file names its generator itself (docs/add-a-world.md).
"""

from __future__ import annotations

from sketchmark.worlds.jigsaw_world import samples as jigsaws
from sketchmark.worlds.maze_world import samples as mazes
from sketchmark.worlds.sliding_world import samples as slidings

__all__ = ["jigsaws", "mazes", "slidings"]
