"""The built-in images of VOILA: every scene drawn by our own code, with one test and nine training variations.

bank.picture(Scene(3, 7, 2))                # three foxes ice-skating, the test image
bank.picture(Scene(3, 7, 2), variation=4)   # the same in another place, pose, palette and size

Here is the stage: it combines a backdrop and its figures, with their sizes, positions and directions.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import TYPE_CHECKING

from sketchmark.media import Picture
from sketchmark.worlds.voila.bank.acting import Actor, act
from sketchmark.worlds.voila.bank.figure import GIRL, SIZES, Outfit
from sketchmark.worlds.voila.bank.pen import (
    CLOTHES,
    DRESS,
    SKIES,
    SKIN_LIGHT,
    SKIN_TAN,
    TROUSERS,
    Colour,
    Face,
    Pen,
    Point,
)
from sketchmark.worlds.voila.bank.places import SIZE, draw_place
from sketchmark.worlds.voila.scenes import ACTIONS, SUBJECTS, Scene

if TYPE_CHECKING:
    from PIL import Image


_SOCCER, _DRIVE, _SKATE, _WALK, _SWIM, _JUMP, _TYPE, _WRITE, _DIG, _CARRY, _READ, _RUN, _EAT = range(13)

_HORIZONS = {1: 290.0, 2: 262.0, 3: 196.0, 4: 190.0}

_SCALES = {1: (3.0, 3.8), 2: (2.3, 2.65), 3: (1.88, 2.04), 4: (1.8, 1.96)}
"""Smallest and largest, in pixels per unit of a figure's frame: the more figures, the smaller."""

_SHRINK = {_DRIVE: 0.96, _JUMP: 0.9, _SWIM: 0.85, _DIG: 0.98}
"""Actions that take more room than a standing figure."""


def draw_scene(number: int, subject: int, action: int, rng: random.Random) -> Image.Image:
    pen = Pen(SIZE, SKIES[0])
    horizon = _HORIZONS[number] + rng.random() * 16 - 8
    ground = draw_place(pen, action, rng, horizon)
    smallest, largest = _SCALES[number]
    scale = (smallest + rng.random() * (largest - smallest)) * _SHRINK.get(action, 1.0)
    mirror = rng.random() < 0.5
    skin = SKIN_LIGHT if rng.random() < 0.6 else SKIN_TAN
    for x, y in _spots(number, rng):
        actor = Actor(pen, subject, _outfit(subject, skin, rng), rng, ground)
        with pen.at(x, y, scale * SIZES.get(subject, 1.0), mirror=mirror):
            act(actor, action)
    return pen.finish()


def _spots(number: int, rng: random.Random) -> list[Point]:
    """Return the positions of the figures, from back to front."""

    def near(x: float, y: float) -> Point:
        return x + rng.random() * 12 - 6, y + rng.random() * 8 - 4

    if number == 1:
        return [near(214 + rng.random() * 84, 462)]
    if number == 2:
        shift = (rng.random() - 0.5) * 40
        return sorted((near(132, 430 + shift), near(380, 430 - shift)), key=lambda spot: spot[1])
    back, front = 276.0, 486.0
    if number == 3:
        if rng.random() < 0.5:
            return [near(132, back), near(380, back), near(256, front)]
        return [near(256, back), near(132, front), near(380, front)]
    return [near(132, back), near(380, back), near(132, front), near(380, front)]


def _outfit(subject: int, skin: Colour, rng: random.Random) -> Outfit:
    tops = DRESS if subject == GIRL else CLOTHES
    top: Colour = tops[int(rng.random() * len(tops))]
    bottom: Colour = TROUSERS[int(rng.random() * len(TROUSERS))]
    return Outfit(top, bottom, Face(skin=skin))


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
