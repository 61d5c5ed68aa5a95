"""The built-in pictures: every scene of VOILA drawn by our own code, one test and nine training variations each.

bank.picture(Scene(3, 7, 2))                # three foxes ice-skating, the test picture
bank.picture(Scene(3, 7, 2), variation=4)   # the same in another place, pose, palette and size
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import TYPE_CHECKING

from sketchmark.picture import Picture
from sketchmark.worlds.voila.bank.stage import draw_scene
from sketchmark.worlds.voila.vocabulary import ACTIONS, SUBJECTS, Scene

if TYPE_CHECKING:
    from PIL import Image

VARIATIONS = 10
"""Variation 0 is the test picture; 1 to 9 are for training."""


def image(scene: Scene, variation: int = 0, seed: int = 0) -> Image.Image:
    """The pixels of one picture. The same arguments give the same picture."""
    number, subject, action = scene
    if number is None or subject is None or action is None:
        raise ValueError(f"'{scene.describe()}' leaves something open and cannot be drawn")
    which = (number * len(SUBJECTS) + subject) * len(ACTIONS) + action
    rng = random.Random((seed * VARIATIONS + variation) * 4096 + which)
    return draw_scene(number, subject, action, rng)


@lru_cache(maxsize=128)
def picture(scene: Scene, variation: int = 0, seed: int = 0) -> Picture:
    """The newest are kept: there are 728 scenes, and a run shows each of them often."""
    return Picture.from_image(image(scene, variation, seed))
