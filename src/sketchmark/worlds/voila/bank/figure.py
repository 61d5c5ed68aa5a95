"""Figures: one skeleton for all fourteen subjects, dressed and shaped by the subject, posed by the action.

Local frame: feet at (0, 0), y downwards, about 90 units tall, walking to the right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sketchmark.worlds.voila.bank.heads import draw_head
from sketchmark.worlds.voila.bank.pen import (
    BEAR_MUZZLE,
    CAT_LIGHT,
    CREAM,
    INK,
    KEYS,
    MONKEY_FACE,
    SHAWL,
    SHOES,
    SILVER,
    WHITE,
    WOLF_LIGHT,
    Colour,
    Face,
    Pen,
    Point,
)

TORSO = 24.0
NECK_TO_HEAD = 18.0
ARM = 13.0
LEG = 14.0

GIRL, MAN, WOMAN, SENIOR_MAN, SENIOR_WOMAN = range(5)
CAT, DOG, FOX, HAMSTER, MONKEY, WOLF, BOY, BEAR, RABBIT = range(5, 14)

HUMANS = (GIRL, MAN, WOMAN, SENIOR_MAN, SENIOR_WOMAN, BOY)

SIZES = {GIRL: 0.86, BOY: 0.88, HAMSTER: 0.84, RABBIT: 0.86, CAT: 0.92, BEAR: 1.04}
_WIDTHS = {HAMSTER: 1.35, BEAR: 1.35, SENIOR_MAN: 1.12, MAN: 1.12, WOMAN: 0.92, DOG: 1.08, WOLF: 1.08}
_BELLIES: dict[int, Colour] = {
    CAT: CAT_LIGHT, DOG: CREAM, FOX: WHITE, HAMSTER: WHITE, MONKEY: MONKEY_FACE, WOLF: WOLF_LIGHT,
    BEAR: BEAR_MUZZLE, RABBIT: WHITE,
}  # fmt: skip


@dataclass(frozen=True)
class Pose:
    """Positions of the joints. Pairs are (far, near): the near limb is drawn over the body, the far one behind it."""

    lean: float = 0.0
    hip: Point = (0.0, -27.0)
    hands: tuple[Point, Point] = ((-12.0, -28.0), (12.0, -28.0))
    feet: tuple[Point, Point] = ((-5.0, 0.0), (5.0, 0.0))
    elbows: tuple[float, float] = (1.0, -1.0)
    """Which way each elbow bends; +1 is towards the figure's back."""
    knees: tuple[float, float] = (-1.0, -1.0)
    tilt: float = 0.0
    arms_in_front: bool = False
    """Both arms over the body: for figures that face the viewer with something in hand."""
    footwear: Literal["shoes", "skates", "none"] = "shoes"
    legs: bool = True
    arm: float = ARM


@dataclass(frozen=True)
class Outfit:
    """Differences between two figures of one subject."""

    top: Colour
    bottom: Colour
    face: Face


@dataclass(frozen=True)
class Figure:
    subject: int
    pose: Pose
    outfit: Outfit

    def draw(self, pen: Pen, held: Callable[[], None] | None = None, cover: Callable[[], None] | None = None) -> None:
        """`cover` goes over the body and under the near arms (a desk), `held` over that."""
        pose = self.pose
        if pose.lean < 40:
            self._tail(pen)
        if not pose.arms_in_front:
            self._arm(pen, 0)
        if pose.legs:
            self._leg(pen, 0)
            self._leg(pen, 1)
        self._torso(pen)
        self._head(pen)
        for thing in (cover, held):
            if thing:
                thing()
        for side in (0, 1) if pose.arms_in_front else (1,):
            self._arm(pen, side)

    @property
    def is_human(self) -> bool:
        return self.subject in HUMANS

    @property
    def _width(self) -> float:
        return _WIDTHS.get(self.subject, 1.0)

    @property
    def _fur(self) -> Colour:
        return KEYS[self.subject]

    def _up(self, along: float, across: float = 0.0) -> Point:
        """A point of the leaning trunk: so far above the hip, so far forward of the spine."""
        angle = math.radians(self.pose.lean)
        x, y = self.pose.hip
        return (
            x + along * math.sin(angle) + across * math.cos(angle),
            y - along * math.cos(angle) + across * math.sin(angle),
        )

    @property
    def head_at(self) -> Point:
        x, y = self._up(TORSO)
        angle = math.radians(self.pose.lean * 0.5)
        return x + NECK_TO_HEAD * math.sin(angle), y - NECK_TO_HEAD * math.cos(angle)

    def _head(self, pen: Pen) -> None:
        x, y = self.head_at
        with pen.at(x, y, turn=self.pose.tilt):
            draw_head(pen, self.subject, self.outfit.face)

    def _torso(self, pen: Pen) -> None:
        w = self._width
        if not self.is_human:
            spine = self._up(TORSO * 0.48)
            pen.oval(*spine, 11.5 * w, 16.5, self._fur, turn=self.pose.lean)
            round_belly = 1.25 if self.subject == HAMSTER else 1.0
            belly = _BELLIES[self.subject]
            middle = self._up(TORSO * 0.42, 1.5)
            pen.oval(*middle, 7.4 * w * round_belly, 11.5 * round_belly, belly, turn=self.pose.lean)
            return
        top, bottom = self.outfit.top, self.outfit.bottom
        pen.stroke([self._up(TORSO - 2), self._up(TORSO + 4)], 7, self.outfit.face.skin)
        flare = {GIRL: 17.0, WOMAN: 14.0, SENIOR_WOMAN: 15.0}.get(self.subject)
        if flare is not None:
            hem = -10.0 if self.subject != SENIOR_WOMAN else -16.0
            skirt = [self._up(8, -7.5 * w), self._up(8, 7.5 * w), self._up(hem, flare), self._up(hem, -flare)]
            pen.polygon(skirt, top if self.subject == GIRL else bottom)
        chest = [self._up(TORSO - 1, -9.5 * w), self._up(TORSO - 1, 9.5 * w), self._up(0, 8 * w), self._up(0, -8 * w)]
        pen.polygon(chest, top)
        pen.stroke([self._up(TORSO - 3, -6.5 * w), self._up(TORSO - 3, 6.5 * w)], 6, top)
        if flare is not None and self.subject != GIRL:
            pen.polygon([self._up(6, -8 * w), self._up(6, 8 * w), self._up(-2, 10), self._up(-2, -10)], bottom)
        if self.subject == GIRL:
            pen.stroke([self._up(7, -7.5), self._up(7, 7.5)], 2.4, WHITE)
        if self.subject == SENIOR_MAN:
            pen.stroke([self._up(2), self._up(TORSO - 4)], 2.0, WHITE)
        if self.subject == SENIOR_WOMAN:
            for side in (-1, 1):
                wrap = ((TORSO + 1, 0), (TORSO, 10), (TORSO - 12, 13), (TORSO - 10, 4), (6, 1))
                pen.polygon([self._up(along, side * across) for along, across in wrap], SHAWL)
            pen.circle(*self._up(TORSO - 7), 2.2, WHITE)
        if self.subject == BOY:
            pen.stroke([self._up(12, -8.5), self._up(12, 8.5)], 4, WHITE)
        if self.subject == MAN:
            pen.polygon([self._up(TORSO, -4), self._up(TORSO, 4), self._up(TORSO - 7, 0)], WHITE)

    def _tail(self, pen: Pen) -> None:
        x, y = self._up(3, -8 * self._width)
        fur = self._fur
        if self.subject == CAT:
            pen.stroke([(x, y), (x - 10, y + 3), (x - 17, y - 4), (x - 16, y - 14), (x - 20, y - 19)], 4.6, fur)
        elif self.subject == DOG:
            pen.stroke([(x, y), (x - 9, y - 4), (x - 13, y - 13)], 5.0, fur)
        elif self.subject in (FOX, WOLF):
            tip = WHITE if self.subject == FOX else WOLF_LIGHT
            brush = ((3, -3), (-9, -8), (-21, -20), (-27, -10), (-20, 5), (-6, 6))
            pen.blob([(x + dx, y + dy) for dx, dy in brush], fur)
            pen.blob([(x - 20, y - 14), (x - 21, y - 20), (x - 26, y - 17), (x - 27, y - 10), (x - 23, y - 6)], tip)
        elif self.subject == MONKEY:
            curl = ((0, 0), (-12, 4), (-20, -2), (-21, -12), (-15, -15), (-13, -10))
            pen.stroke([(x + dx, y + dy) for dx, dy in curl], 3.4, fur)
        elif self.subject == RABBIT:
            pen.circle(x - 3, y + 1, 5.6, WHITE)
        elif self.subject == BEAR:
            pen.circle(x - 2, y, 4, fur)

    def _arm(self, pen: Pen, side: int) -> None:
        across = (-8.0, 8.0)[side] * self._width if self.pose.arms_in_front or abs(self.pose.lean) < 40 else 0.0
        shoulder = self._up(TORSO - 4, across)
        elbow, hand = _bend(shoulder, self.pose.hands[side], self.pose.arm, self.pose.elbows[side])
        if self.is_human:
            skin, sleeve = self.outfit.face.skin, self.outfit.top
            pen.stroke([elbow, hand], 5.4, skin)
            is_far = side == 0 and not self.pose.arms_in_front
            pen.stroke([shoulder, elbow], 6.6, _darker(sleeve) if is_far else sleeve)
            if self.subject in (MAN, SENIOR_MAN, SENIOR_WOMAN):
                middle = ((elbow[0] + hand[0]) / 2, (elbow[1] + hand[1]) / 2)
                pen.stroke([elbow, middle], 6.4, sleeve)
        else:
            pen.stroke([shoulder, elbow, hand], 7.0, self._fur)
        self.draw_hand(pen, hand)

    def draw_hand(self, pen: Pen, at: Point) -> None:
        if self.is_human:
            pen.circle(*at, 3.4, self.outfit.face.skin)
        else:
            pen.circle(*at, 4.0, _PAWS.get(self.subject, self._fur))

    def _leg(self, pen: Pen, side: int) -> None:
        hip = self._up(1, (-4.0, 4.0)[side] * self._width)
        knee, foot = _bend(hip, self.pose.feet[side], LEG, self.pose.knees[side])
        if self.is_human:
            skin, cloth = self.outfit.face.skin, self.outfit.bottom
            if self.subject in (MAN, SENIOR_MAN):
                pen.stroke([hip, knee, foot], 7.4, cloth)
            elif self.subject == BOY:
                pen.stroke([knee, foot], 5.6, skin)
                pen.stroke([hip, knee], 8.2, cloth)
            else:
                pen.stroke([hip, knee, foot], 5.6, skin)
        else:
            pen.stroke([hip, knee, foot], 8.0, self._fur)
        self._foot(pen, knee, foot)

    def _foot(self, pen: Pen, knee: Point, foot: Point) -> None:
        angle = math.degrees(math.atan2(foot[0] - knee[0], foot[1] - knee[1])) * -0.5
        shoe = SHOES if self.is_human else _PAWS.get(self.subject, self._fur)
        with pen.at(*foot, turn=angle):
            if self.pose.footwear == "skates":
                pen.stroke([(-3, -4), (-3, -1), (4, -1)], 6.5, WHITE)
                pen.stroke([(-6, 4.4), (8, 4.4)], 1.7, INK)
                pen.stroke([(-3, 2), (-3, 4)], 1.4, SILVER)
                pen.stroke([(4, 2), (4, 4)], 1.4, SILVER)
            elif self.pose.footwear == "shoes":
                pen.stroke([(-1.5, -2), (4.5, -1.6)], 5.6, shoe)


_PAWS: dict[int, Colour] = {FOX: INK, CAT: WHITE, MONKEY: MONKEY_FACE, DOG: CREAM}


def _darker(colour: Colour) -> Colour:
    red, green, blue = colour
    return red * 7 // 8, green * 7 // 8, blue * 7 // 8


def _bend(start: Point, end: Point, length: float, side: float) -> tuple[Point, Point]:
    """Joint and end of a limb of two equal parts; a target out of reach is approached as far as the limb goes."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    distance = math.hypot(dx, dy) or 1e-6
    reach = min(distance, 2 * length * 0.995)
    ux, uy = dx / distance, dy / distance
    end = (start[0] + ux * reach, start[1] + uy * reach)
    height = math.sqrt(max(0.0, length * length - reach * reach / 4)) * side
    return (start[0] + ux * reach / 2 - uy * height, start[1] + uy * reach / 2 + ux * height), end
