"""The built-in images of VOILA: every scene drawn by our own code, with one test and nine training variations.

bank.picture(Scene(3, 7, 2))                # three foxes ice-skating, the test image
bank.picture(Scene(3, 7, 2), variation=4)   # the same in another place, pose, palette and size

Here is the stage: it combines a backdrop and its figures, with their sizes, positions and directions. The thirteen
actions are here too: pose, props, and the order in which they are drawn.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from sketchmark.media import Picture
from sketchmark.worlds.voila.bank import props
from sketchmark.worlds.voila.bank.figure import GIRL, SIZES, Figure, Outfit, Pose
from sketchmark.worlds.voila.bank.pen import (
    CARS,
    CLOTHES,
    CLOUD,
    DRESS,
    FRAME,
    RIPPLE,
    SKIES,
    SKIN_LIGHT,
    SKIN_TAN,
    TROUSERS,
    WHITE,
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


@dataclass(frozen=True)
class Actor:
    """One figure in one image: its subject, its clothes, and a random stream for small differences."""

    pen: Pen
    subject: int
    outfit: Outfit
    rng: random.Random
    ground: Colour

    def figure(self, pose: Pose, *, mouth_open: bool = False, look: float = 2.5) -> Figure:
        face = replace(self.outfit.face, mouth_open=mouth_open, look=look)
        return Figure(self.subject, replace(pose, tilt=self.shake(3)), replace(self.outfit, face=face))

    def shake(self, size: float) -> float:
        return (self.rng.random() * 2 - 1) * size

    def shadow(self, x: float, y: float, rx: float, ry: float = 4.0) -> None:
        red, green, blue = self.ground
        self.pen.oval(x, y, rx, ry, (red * 6 // 7, green * 6 // 7, blue * 6 // 7))


def act(actor: Actor, action: int) -> None:
    _ACTS[action](actor)


def _soccer(actor: Actor) -> None:
    actor.shadow(4, 1, 26)
    kick = actor.shake(3)
    pose = Pose(
        lean=-8,
        hands=((-31, -36 + kick), (29, -40 - kick)),
        feet=((-5, 0), (21, -9 + kick)),
        elbows=(-1, 1),
        knees=(-1, -1),
    )
    actor.figure(pose).draw(actor.pen)
    props.ball(actor.pen, 35 + actor.shake(2), -10 + kick)


def _drive(actor: Actor) -> None:
    paint = CARS[int(actor.rng.random() * len(CARS))]
    actor.shadow(0, 0, 48)
    props.car_back(actor.pen, paint)
    pose = Pose(hip=(-13, -23), hands=((13, -37), (12, -34)), elbows=(-1, -1), legs=False, lean=-2)
    actor.figure(pose).draw(actor.pen, held=lambda: props.steering_wheel(actor.pen))
    props.car_front(actor.pen, paint)


def _skate(actor: Actor) -> None:
    actor.shadow(2, 4, 20, 3)
    back = actor.shake(3)
    pose = Pose(
        lean=10,
        hip=(2, -30),
        hands=((-28, -50 + back), (40, -46 - back)),
        feet=((-21, -14 + back), (5, -4)),
        elbows=(1, -1),
        knees=(-1, -1),
        footwear="skates",
    )
    actor.figure(pose).draw(actor.pen)


def _walk(actor: Actor) -> None:
    actor.shadow(0, 1, 20)
    step = 14 + actor.shake(1.5)
    pose = Pose(
        lean=3, hands=((-19, -29), (20, -36)), feet=((-step, -3), (step, -1)), elbows=(-1, -1), knees=(-1, -1)
    )
    actor.figure(pose).draw(actor.pen)


def _swim(actor: Actor) -> None:
    pen = actor.pen
    stroke = actor.shake(3)
    pen.oval(2, -17, 40, 7, RIPPLE)
    pose = Pose(
        lean=62,
        hip=(-20, -18),
        hands=((30, -6), (41, -15 + stroke)),
        feet=((-49, -24 + stroke), (-48, -14)),
        elbows=(1, -1),
        knees=(1, 1),
        footwear="none",
        arm=20,
    )
    actor.figure(pose).draw(pen)
    for x, y in ((-50, -34), (-57, -28), (-43, -36), (-54, -40), (44, -24), (50, -20)):
        pen.circle(x, y + stroke, 2.4, CLOUD)
    wave = [(-60 + step * 2.0, -14 + 2.6 * math.sin(step * 0.62)) for step in range(60)]
    pen.polygon([*wave, (58, 0), (40, 6), (-40, 6), (-60, 0)], actor.ground)
    pen.stroke(wave[3:-3], 2.0, CLOUD)


def _jump(actor: Actor) -> None:
    actor.shadow(0, 1, 20, 4.4)
    up = -19 + actor.shake(3)
    for x in (-12, 0, 12):
        actor.pen.stroke([(x, up + 6), (x, up + 12 + (4 if x == 0 else 0))], 2.0, WHITE)
    with actor.pen.at(0, up):
        pose = Pose(hands=((-33, -58), (33, -58)), feet=((-14, -9), (14, -9)), elbows=(1, -1), knees=(1, -1))
        actor.figure(pose, look=0, mouth_open=True).draw(actor.pen)


def _behind_desk() -> Pose:
    return Pose(hip=(0, -30), arms_in_front=True, legs=False, elbows=(-1, 1))


def _type(actor: Actor) -> None:
    actor.shadow(0, 1, 42)
    pose = replace(_behind_desk(), hands=((-17, -36), (17, -36)), elbows=(1, -1))
    actor.figure(pose, look=0).draw(actor.pen, cover=lambda: props.desk(actor.pen))
    props.laptop(actor.pen)
    props.mug(actor.pen, CLOTHES[int(actor.rng.random() * len(CLOTHES))])


def _write(actor: Actor) -> None:
    actor.shadow(0, 1, 42)

    def cover() -> None:
        props.desk(actor.pen)
        props.paper(actor.pen)

    pose = replace(_behind_desk(), hands=((-16, -32), (11, -36)), elbows=(1, -1))
    actor.figure(pose, look=1).draw(actor.pen, cover=cover, held=lambda: props.pencil(actor.pen))


def _dig(actor: Actor) -> None:
    pen = actor.pen
    actor.shadow(-4, 1, 18)
    props.pit(pen)
    pose = Pose(lean=12, hip=(-7, -27), hands=((11, -28), (5, -42)), feet=((-12, 0), (2, 0)), elbows=(-1, -1))
    actor.figure(pose).draw(pen, held=lambda: props.shovel(pen))
    props.pit_rim(pen)
    props.flying_earth(pen)


def _carry(actor: Actor) -> None:
    actor.shadow(0, 1, 20)
    step = 7 + actor.shake(1.5)
    pose = Pose(hands=((-17, -30), (17, -30)), feet=((-step, -1), (step, 0)), elbows=(1, -1))
    figure = actor.figure(pose, look=1)
    figure.draw(actor.pen)
    props.box(actor.pen)
    figure.draw_hand(actor.pen, (-17.5, -29))
    figure.draw_hand(actor.pen, (17.5, -29))


def _read(actor: Actor) -> None:
    actor.shadow(0, 1, 34)
    props.armchair(actor.pen, CLOTHES[int(actor.rng.random() * len(CLOTHES))])
    pose = Pose(
        hip=(0, -26),
        hands=((-19, -27), (19, -27)),
        feet=((-8, 0), (8, 0)),
        elbows=(1, -1),
        knees=(1, -1),
        arms_in_front=True,
    )
    actor.figure(pose, look=0).draw(actor.pen, held=lambda: props.book(actor.pen))


def _run(actor: Actor) -> None:
    pen = actor.pen
    actor.shadow(0, 2, 22)
    stride = actor.shake(2)
    for y, length in ((-58, 18), (-42, 24), (-26, 18)):
        pen.stroke([(-36 - length, y), (-36, y)], 2.4, FRAME)
    for x, r in ((-30, 4.0), (-37, 2.8)):
        pen.circle(x, -2, r, FRAME)
    pose = Pose(
        lean=20,
        hip=(-4, -29),
        hands=((-16, -32), (27, -38 + stride)),
        feet=((-25, -15 + stride), (16, -6)),
        elbows=(1, -1),
        knees=(-1, -1),
    )
    actor.figure(pose, mouth_open=True).draw(pen)


def _eat(actor: Actor) -> None:
    pen = actor.pen
    actor.shadow(0, 1, 42)
    meal = props.MEALS[int(actor.rng.random() * len(props.MEALS))]

    def held() -> None:
        props.fork(pen, -29, -44)
        props.spoon(pen, 29, -44)

    def cover() -> None:
        props.table(pen)
        meal(pen)

    pose = replace(_behind_desk(), hands=((-28, -41), (28, -41)), elbows=(1, -1))
    actor.figure(pose, look=0, mouth_open=True).draw(pen, cover=cover, held=held)


_ACTS: tuple[Callable[[Actor], None], ...] = (
    _soccer, _drive, _skate, _walk, _swim, _jump, _type, _write, _dig, _carry, _read, _run, _eat,
)  # fmt: skip
