"""The fourteen heads: eight animals that differ in fur, ears, muzzle and cheeks, six people that differ in hair, cap,
beard, glasses and bun. Each has its frame: centre (0, 0), about 20 units in radius, y downwards.

Heads face the viewer in every pose, turned a little to where the figure is going: people look at a face first, and it
must show the subject at thumbnail size.
"""

from __future__ import annotations

from collections.abc import Callable

from sketchmark.worlds.voila.bank.pen import (
    BEAR_MUZZLE,
    BOY_HAIR,
    CAT_LIGHT,
    CREAM,
    DOG_EAR,
    GLASSES,
    INK,
    KEYS,
    LIPS,
    MONKEY_FACE,
    PINK,
    SKIN_LIGHT,
    TONGUE,
    WHITE,
    WOLF_DARK,
    WOLF_LIGHT,
    Colour,
    Face,
    Pen,
    blush,
    eyes,
    mouth,
)


def cat(pen: Pen, face: Face, fur: Colour) -> None:
    for side in (-1, 1):
        pen.polygon([(side * 4, -14), (side * 17, -28), (side * 20, -5)], fur)
        pen.polygon([(side * 9, -14), (side * 16, -23), (side * 17, -9)], PINK)
    pen.blob([(-21, 4), (-18, -10), (-8, -17), (8, -17), (18, -10), (21, 4), (14, 15), (0, 18), (-14, 15)], fur)
    for x in (-5, 0, 5):
        pen.stroke([(x, -15), (x * 0.8, -10)], 1.8, CAT_LIGHT)
    look = face.look
    eyes(pen, look, 0, gap=8, size=3.1, iris=(158, 222, 96))
    pen.oval(look - 3.4, 9, 4.4, 3.8, WHITE)
    pen.oval(look + 3.4, 9, 4.4, 3.8, WHITE)
    pen.polygon([(look - 2.2, 5), (look + 2.2, 5), (look, 7.8)], PINK)
    for side in (-1, 1):
        for y in (7, 10):
            pen.stroke([(look + side * 8, y), (look + side * 23, y - 2 + (y - 7))], 0.9, WHITE)
    if face.mouth_open:
        pen.oval(look, 13, 2.8, 2.6, TONGUE)


def dog(pen: Pen, face: Face, fur: Colour) -> None:
    pen.blob([(-18, 2), (-16, -12), (-6, -18), (6, -18), (16, -12), (18, 2), (13, 15), (0, 19), (-13, 15)], fur)
    look = face.look
    pen.blob([(look - 2.2, -17.5), (look + 2.2, -17.5), (look, -8)], CREAM)
    pen.oval(look, 9.6, 8.8, 7.8, CREAM)
    for side in (-1, 1):
        ear = ((10, -17), (19, -16), (26, -2), (25, 13), (18, 12), (15, -4))
        pen.blob([(side * x, y) for x, y in ear], DOG_EAR)
    eyes(pen, look, -2, gap=7.5, size=2.7)
    pen.oval(look, 4.4, 4, 3, INK)
    pen.circle(look - 1.2, 3.6, 0.9, WHITE)
    pen.stroke([(look, 6), (look, 10)], 1.1, INK)
    pen.arc(look - 3.2, 9.5, 3.2, 2.4, 0, 150, 1.1, INK)
    pen.arc(look + 3.2, 9.5, 3.2, 2.4, 30, 180, 1.1, INK)
    pen.blob([(look - 2.8, 12), (look + 2.8, 12), (look + 2.4, 18), (look - 2.4, 18)], TONGUE)


def fox(pen: Pen, face: Face, fur: Colour) -> None:
    for side in (-1, 1):
        pen.polygon([(side * 3, -13), (side * 15, -31), (side * 20, -4)], fur)
        pen.polygon([(side * 12.4, -26), (side * 15, -31), (side * 16.2, -24)], INK)
        pen.polygon([(side * 8, -13), (side * 14, -23), (side * 16, -8)], CREAM)
    pen.blob([(-24, 4), (-17, -9), (-7, -16), (7, -16), (17, -9), (24, 4), (13, 12), (0, 20), (-13, 12)], fur)
    look = face.look
    for side in (-1, 1):
        inner = (look + side * 3.4, 8), (look * 0.6, 19)
        pen.blob([(side * 23, 4.5), (side * 12, 3.5), *inner, (side * 11, 12.6)], WHITE)
    eyes(pen, look, -1, gap=8, size=2.5)
    pen.oval(look * 0.8, 17, 3.6, 2.8, INK)
    pen.circle(look * 0.8 - 1, 16.2, 0.8, WHITE)
    if face.mouth_open:
        pen.oval(look * 0.8, 21, 2.6, 2, TONGUE)


def hamster(pen: Pen, face: Face, fur: Colour) -> None:
    for side in (-1, 1):
        pen.circle(side * 14, -14, 6, fur)
        pen.circle(side * 14, -14, 3.6, PINK)
    pen.blob([(-24, 6), (-19, -9), (-8, -17), (8, -17), (19, -9), (24, 6), (17, 17), (0, 19), (-17, 17)], fur)
    look = face.look
    for side in (-1, 1):
        pen.oval(look * 0.5 + side * 10.5, 9.5, 9.5, 7.4, WHITE)
    pen.oval(look, 8, 6, 5, WHITE)
    pen.blob([(-3, -17), (3, -17), (2, -6), (-2, -6)], (206, 160, 90))
    eyes(pen, look, -1, gap=9, size=3.0)
    pen.oval(look, 4.6, 2.2, 1.6, PINK)
    pen.arc(look - 2, 7, 2, 1.8, 0, 160, 0.9, INK)
    pen.arc(look + 2, 7, 2, 1.8, 20, 180, 0.9, INK)
    pen.box(look - 1.7, 8.6, look + 1.7, 11.6, CREAM, 0.6)
    blush(pen, look, 8, 16)


def monkey(pen: Pen, face: Face, fur: Colour) -> None:
    for side in (-1, 1):
        pen.circle(side * 21, 1, 8, fur)
        pen.circle(side * 21, 1, 5, MONKEY_FACE)
    pen.circle(0, 0, 19, fur)
    pen.blob([(-4, -18), (-2, -25), (1, -20), (5, -25), (6, -17)], fur)
    look = face.look * 0.8
    for side in (-1, 1):
        pen.oval(look + side * 6.2, -3, 6.9, 7.4, MONKEY_FACE)
    pen.oval(look, 8.4, 12, 8.0, MONKEY_FACE)
    eyes(pen, look, -2, gap=5.8, size=2.4)
    for side in (-1, 1):
        pen.oval(look + side * 1.8, 5, 0.9, 1.2, (150, 90, 70))
    if face.mouth_open:
        mouth(pen, Face(look=look, mouth_open=True), 9.5, 5)
    else:
        pen.arc(look, 7, 8, 5.6, 15, 165, 1.4, INK)


def wolf(pen: Pen, face: Face, fur: Colour) -> None:
    for side in (-1, 1):
        pen.polygon([(side * 4, -14), (side * 15, -31), (side * 19, -5)], fur)
        pen.polygon([(side * 9, -14), (side * 14.4, -24), (side * 16, -9)], WOLF_DARK)
    pen.polygon(
        [
            (-16, -12), (-6, -18), (6, -18), (16, -12), (19, -2), (27, 4), (20, 6), (24, 13),
            (14, 13), (8, 19), (-8, 19), (-14, 13), (-24, 13), (-20, 6), (-27, 4), (-19, -2),
        ],
        fur,
    )  # fmt: skip
    look = face.look
    pen.blob([(look - 3, -17), (look + 3, -17), (look + 2, -4), (look - 2, -4)], WOLF_DARK)
    for side in (-1, 1):
        outer = (side * 14, 2), (side * 16, 9), (side * 7, 17)
        pen.blob([(look + side * 3, 3), *outer, (look, 19), (look, 8)], WOLF_LIGHT)
    pen.blob([(look - 6, 4), (look, 1), (look + 6, 4), (look + 7, 14), (look, 20), (look - 7, 14)], WOLF_LIGHT)
    eyes(pen, look, -2, gap=7.6, size=2.3, iris=(250, 208, 70))
    for side in (-1, 1):
        pen.stroke([(look + side * 4.4, -5), (look + side * 11, -8)], 2.0, WOLF_DARK)
    pen.oval(look, 7.4, 4, 3, INK)
    pen.stroke([(look, 9), (look, 13)], 1.1, INK)
    pen.arc(look, 11, 5.4, 3.4, 10, 170, 1.2, INK)
    for side in (-1, 1):
        pen.polygon([(look + side * 2.6, 14), (look + side * 4.6, 13.6), (look + side * 3.4, 17)], WHITE)


def bear(pen: Pen, face: Face, fur: Colour) -> None:
    for side in (-1, 1):
        pen.circle(side * 15.5, -15, 7.4, fur)
        pen.circle(side * 15.5, -15, 4.2, BEAR_MUZZLE)
    pen.oval(0, 0, 21, 19.5, fur)
    look = face.look
    pen.oval(look, 8, 10, 8.4, BEAR_MUZZLE)
    eyes(pen, look, -2, gap=8, size=2.4)
    pen.oval(look, 4.2, 4.4, 3.2, INK)
    pen.circle(look - 1.4, 3.2, 1, WHITE)
    pen.stroke([(look, 6), (look, 9.6)], 1.2, INK)
    if face.mouth_open:
        mouth(pen, face, 10.4, 4)
    else:
        pen.arc(look, 8.6, 4.4, 3, 10, 170, 1.2, INK)


def rabbit(pen: Pen, face: Face, fur: Colour) -> None:
    for side in (-1, 1):
        pen.oval(side * 9, -30, 6, 18, fur, turn=side * 10)
        pen.oval(side * 9, -29, 3, 13, PINK, turn=side * 10)
    pen.blob([(-19, 4), (-16, -10), (-7, -16), (7, -16), (16, -10), (19, 4), (14, 15), (0, 18), (-14, 15)], fur)
    look = face.look
    eyes(pen, look, -1, gap=8, size=2.8)
    pen.oval(look - 3.2, 9, 4, 3.4, WHITE)
    pen.oval(look + 3.2, 9, 4, 3.4, WHITE)
    pen.blob([(look - 2.4, 5), (look + 2.4, 5), (look, 8)], PINK)
    pen.box(look - 2.4, 11.4, look + 2.4, 16, WHITE, 0.8)
    pen.stroke([(look, 11.6), (look, 15.6)], 0.7, (190, 170, 180))
    pen.arc(look, 10, 4.4, 2.6, 15, 165, 1.0, INK)
    blush(pen, look, 8, 13)


_WOMAN_STRAND: Colour = (168, 70, 98)


def _human_face(pen: Pen, face: Face) -> None:
    for x in (-17, 17):
        pen.circle(x, 2, 3.4, face.skin)
    pen.oval(0, 0, 17, 17.5, face.skin)


def _glasses(pen: Pen, look: float, y: float) -> None:
    for x in (look - 7, look + 7):
        pen.arc(x, y, 5.4, 5.2, 0, 360, 1.4, GLASSES)
    pen.stroke([(look - 1.6, y - 0.6), (look + 1.6, y - 0.6)], 1.4, GLASSES)


def _lips(pen: Pen, face: Face, opened: tuple[float, float], closed: tuple[float, float, float]) -> None:
    """An open mouth at (y, width), or closed lips at y with their two radii."""
    if face.mouth_open:
        mouth(pen, face, *opened)
    else:
        y, rx, ry = closed
        pen.oval(face.look, y, rx, ry, LIPS)


def girl(pen: Pen, face: Face, hair: Colour) -> None:
    for side in (-1, 1):
        pen.blob([(side * 15, -4), (side * 24, -6), (side * 31, 4), (side * 28, 18), (side * 22, 12)], hair)
    pen.oval(0, -2, 20, 19.5, hair)
    _human_face(pen, face)
    fringe = [(-18, 2), (-19, -12), (-8, -20), (8, -20), (19, -12), (18, 2), (13, -6), (4, -10), (-6, -9), (-13, -5)]
    pen.blob(fringe, hair)
    for side in (-1, 1):
        pen.blob([(side * 18, -4), (side * 23, -9), (side * 23, 1)], LIPS)
        pen.blob([(side * 18, -4), (side * 14, -9), (side * 14, 1)], LIPS)
    eyes(pen, face.look, 3, size=2.8)
    for x in (face.look - 10.4, face.look + 10.4):
        pen.stroke([(x, 0.4), (x + (1.6 if x > face.look else -1.6), -1.2)], 1.1, INK)
    blush(pen, face.look, 9)
    mouth(pen, face, 10)


def boy(pen: Pen, face: Face, cap: Colour) -> None:
    pen.oval(0, -2, 18.5, 17, BOY_HAIR)
    _human_face(pen, face)
    for side in (-1, 1):
        pen.blob([(side * 18.5, -8), (side * 19, 2), (side * 14.5, -1), (side * 13, -8)], BOY_HAIR)
    pen.blob([(-20, -5), (-19, -14), (-10, -22), (0, -24), (10, -22), (19, -14), (20, -5), (0, -8)], cap)
    brim = 1 if face.look >= 0 else -1
    pen.blob([(-9 * brim, -8.5), (10 * brim, -10), (31 * brim, -5.5), (30 * brim, -1.5), (12 * brim, -4)], cap)
    pen.circle(0, -23.5, 2.2, WHITE)
    pen.oval(0, -15, 4.5, 4, WHITE)
    eyes(pen, face.look, 3)
    blush(pen, face.look, 9)
    mouth(pen, face, 10, 5)
    for x in (-3, 0, 3):
        pen.circle(face.look + x, 7.4, 0.5, BOY_HAIR)


def man(pen: Pen, face: Face, hair: Colour) -> None:
    pen.oval(0, -1, 18.6, 19, hair)
    _human_face(pen, face)
    crown = [(-19, 3), (-20, -11), (-10, -21), (5, -22), (17, -17), (19, 3), (15, -1), (14, -8), (-2, -10)]
    pen.blob([*crown, (-14, -7), (-15, -1)], hair)
    beard = [(-18.5, 0), (-16, 2), (-10, 7), (0, 6), (10, 7), (16, 2), (18.5, 0), (16, 14), (8, 21), (-8, 21)]
    pen.blob([*beard, (-16, 14)], hair)
    eyes(pen, face.look, 0, size=2.4)
    for x in (face.look - 7, face.look + 7):
        pen.stroke([(x - 3.2, -5), (x + 3.2, -5.6)], 1.8, hair)
    pen.oval(face.look, 5, 2.4, 1.8, (238, 176, 158) if face.skin == SKIN_LIGHT else (176, 112, 90))
    _lips(pen, face, (10.5, 4.5), (11.2, 4.6, 1.9))


def woman(pen: Pen, face: Face, hair: Colour) -> None:
    for side in (-1, 1):
        lock = [(0, -22), (13, -20), (20, -8), (21, 6), (26, 16), (22, 24), (25, 32), (15, 34), (8, 26), (6, 0)]
        pen.blob([(side * x, y) for x, y in lock], hair)
        pen.stroke([(side * 18.4, 8), (side * 21, 16), (side * 18, 24)], 1.3, _WOMAN_STRAND)
        pen.stroke([(side * 14, 16), (side * 16, 22), (side * 14, 28)], 1.3, _WOMAN_STRAND)
    _human_face(pen, face)
    pen.blob([(3, -22), (-12, -20), (-20, -8), (-18.5, 6), (-15, 1), (-11, -6), (-2, -11), (5, -17)], hair)
    pen.blob([(3, -22), (13, -20), (20, -8), (18.5, 6), (15, 1), (12, -7), (7, -12), (4, -17)], hair)
    pen.arc(-3, -8, 13, 10, 205, 285, 1.3, _WOMAN_STRAND)
    pen.arc(8, -8, 9, 9, 285, 345, 1.3, _WOMAN_STRAND)
    eyes(pen, face.look, 2, size=2.5)
    for x, side in ((face.look - 7, -1), (face.look + 7, 1)):
        pen.stroke([(x + side * 2.4, -0.6), (x + side * 4.6, -2.4)], 1.2, INK)
        pen.arc(x, -3.5, 3.6, 2, 200, 340, 1.0, hair)
    blush(pen, face.look, 8)
    for side in (-1, 1):
        pen.circle(side * 17, 8, 1.8, (255, 214, 10))
    _lips(pen, face, (10, 4), (11, 3.6, 1.8))


def senior_man(pen: Pen, face: Face, hair: Colour) -> None:
    for side in (-1, 1):
        pen.blob([(side * 13, -12), (side * 21, -8), (side * 23, 2), (side * 20, 8), (side * 14, 4)], hair)
    _human_face(pen, face)
    pen.oval(-4, -12, 5, 2.4, WHITE, turn=-20)
    beard = [(-19.5, -2), (-16, 2), (-11, 8), (0, 7), (11, 8), (16, 2), (19.5, -2), (18, 14), (10, 24), (0, 28)]
    pen.blob([*beard, (-10, 24), (-18, 14)], hair)
    eyes(pen, face.look, 0, size=2.2)
    _glasses(pen, face.look, 0)
    for x in (face.look - 7, face.look + 7):
        pen.stroke([(x - 3.4, -7), (x + 3.4, -7.4)], 2.2, hair)
    pen.oval(face.look, 5, 2.6, 2.0, (238, 166, 150) if face.skin == SKIN_LIGHT else (176, 112, 90))
    _lips(pen, face, (12, 4), (12.6, 3.6, 1.5))


def senior_woman(pen: Pen, face: Face, hair: Colour) -> None:
    pen.circle(0, -24, 8.5, hair)
    pen.arc(0, -24, 5, 5, 200, 420, 1.2, (150, 134, 176))
    pen.oval(0, -2, 20, 19, hair)
    _human_face(pen, face)
    pen.blob([(-19, 4), (-20, -10), (-8, -20), (8, -20), (20, -10), (19, 4), (14, -4), (0, -12), (-14, -4)], hair)
    eyes(pen, face.look, 2, size=2.1)
    _glasses(pen, face.look, 2)
    blush(pen, face.look, 9)
    for side in (-1, 1):
        middle = 180 if side < 0 else 0
        pen.arc(face.look + side * 12, 4, 3, 3, middle - 30, middle + 30, 0.8, (214, 150, 136))
        pen.circle(side * 17.5, 7, 1.8, WHITE)
    _lips(pen, face, (10, 4), (11.4, 3.2, 1.5))


def draw_head(pen: Pen, subject: int, face: Face) -> None:
    _HEADS[subject](pen, face, KEYS[subject])


_HEADS: tuple[Callable[[Pen, Face, Colour], None], ...] = (
    *(girl, man, woman, senior_man, senior_woman, cat, dog, fox, hamster, monkey, wolf, boy, bear, rabbit),
)
