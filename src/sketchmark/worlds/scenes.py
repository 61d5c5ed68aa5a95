"""Self-made pictures with much to see in every corner, the same to the pixel on every machine for a seed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sketchmark.errors import UnknownName
from sketchmark.worlds import textures, views
from sketchmark.worlds.paint import Canvas

if TYPE_CHECKING:
    from PIL import Image

KINDS: dict[str, Callable[[Random, int, int], Canvas]] = {
    "landscape": views.landscape,
    "seascape": views.seascape,
    "city": views.city,
    "wood": textures.wood,
    "marble": textures.marble,
    "weave": textures.weave,
    "bubbles": textures.bubbles,
    "nebula": textures.nebula,
    "glass": textures.glass,
}


def pick_kind(rng: Random, but: str = "") -> str:
    """A kind of scene at random; scenes with things in them are more frequent than textures."""
    names = [name for name in (*KINDS, "landscape", "seascape", "city", "landscape") if name != but]
    return names[rng.randrange(len(names))]


def pixels(seed: int, kind: str, height: int, width: int) -> NDArray[np.uint8]:
    """A scene as (height, width, 3)."""
    if kind not in KINDS:
        raise UnknownName(f"there is no scene called {kind!r}", ", ".join(KINDS))
    return KINDS[kind](Random(seed), 2 * height, 2 * width).halved()


def paint(seed: int, kind: str | None = None, size: int | tuple[int, int] = 256) -> Image.Image:
    """A scene as an image of `size` (one side, or width and height)."""
    from PIL import Image as images

    width, height = (size, size) if isinstance(size, int) else size
    return images.fromarray(pixels(seed, kind or pick_kind(Random(seed)), height, width))
