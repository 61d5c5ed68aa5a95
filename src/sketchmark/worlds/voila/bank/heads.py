"""The fourteen heads, each in a frame of its own: centre (0, 0), about 20 units in radius, y downwards.

Heads face the viewer whatever the body does, a little turned to where the figure is going: a face is what people
look at first, and it must show who this is at thumbnail size.
"""

from __future__ import annotations

from collections.abc import Callable

from sketchmark.worlds.voila.bank.animals import bear, cat, dog, fox, hamster, monkey, rabbit, wolf
from sketchmark.worlds.voila.bank.faces import Face
from sketchmark.worlds.voila.bank.palette import KEYS
from sketchmark.worlds.voila.bank.pen import Colour, Pen
from sketchmark.worlds.voila.bank.people import boy, girl, man, senior_man, senior_woman, woman


def draw_head(pen: Pen, subject: int, face: Face) -> None:
    _HEADS[subject](pen, face, KEYS[subject])


_HEADS: tuple[Callable[[Pen, Face, Colour], None], ...] = (
    girl,
    man,
    woman,
    senior_man,
    senior_woman,
    cat,
    dog,
    fox,
    hamster,
    monkey,
    wolf,
    boy,
    bear,
    rabbit,
)
