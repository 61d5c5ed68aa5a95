"""The six human heads: told apart by hair, cap, beard, glasses and bun."""

from __future__ import annotations

from sketchmark.worlds.voila.bank.faces import Face, blush, eyes, mouth
from sketchmark.worlds.voila.bank.palette import (
    BOY_HAIR,
    GLASSES,
    INK,
    LIPS,
    SKIN_LIGHT,
    WHITE,
)
from sketchmark.worlds.voila.bank.pen import Colour, Pen

_WOMAN_STRAND: Colour = (168, 70, 98)


def _human_face(pen: Pen, face: Face) -> None:
    for x in (-17, 17):
        pen.circle(x, 2, 3.4, face.skin)
    pen.oval(0, 0, 17, 17.5, face.skin)


def _glasses(pen: Pen, look: float, y: float) -> None:
    for x in (look - 7, look + 7):
        pen.arc(x, y, 5.4, 5.2, 0, 360, 1.4, GLASSES)
    pen.stroke([(look - 1.6, y - 0.6), (look + 1.6, y - 0.6)], 1.4, GLASSES)


def girl(pen: Pen, face: Face, hair: Colour) -> None:
    for side in (-1, 1):
        pen.blob([(side * 15, -4), (side * 24, -6), (side * 31, 4), (side * 28, 18), (side * 22, 12)], hair)
    pen.oval(0, -2, 20, 19.5, hair)
    _human_face(pen, face)
    pen.blob(
        [(-18, 2), (-19, -12), (-8, -20), (8, -20), (19, -12), (18, 2), (13, -6), (4, -10), (-6, -9), (-13, -5)], hair
    )
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
    pen.blob(
        [
            (-19, 3),
            (-20, -11),
            (-10, -21),
            (5, -22),
            (17, -17),
            (19, 3),
            (15, -1),
            (14, -8),
            (-2, -10),
            (-14, -7),
            (-15, -1),
        ],
        hair,
    )
    pen.blob(
        [(-18.5, 0), (-16, 2), (-10, 7), (0, 6), (10, 7), (16, 2), (18.5, 0), (16, 14), (8, 21), (-8, 21), (-16, 14)],
        hair,
    )
    eyes(pen, face.look, 0, size=2.4)
    for x in (face.look - 7, face.look + 7):
        pen.stroke([(x - 3.2, -5), (x + 3.2, -5.6)], 1.8, hair)
    pen.oval(face.look, 5, 2.4, 1.8, (238, 176, 158) if face.skin == SKIN_LIGHT else (176, 112, 90))
    if face.mouth_open:
        mouth(pen, face, 10.5, 4.5)
    else:
        pen.oval(face.look, 11.2, 4.6, 1.9, LIPS)


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
    if face.mouth_open:
        mouth(pen, face, 10)
    else:
        pen.oval(face.look, 11, 3.6, 1.8, LIPS)


def senior_man(pen: Pen, face: Face, hair: Colour) -> None:
    for side in (-1, 1):
        pen.blob([(side * 13, -12), (side * 21, -8), (side * 23, 2), (side * 20, 8), (side * 14, 4)], hair)
    _human_face(pen, face)
    pen.oval(-4, -12, 5, 2.4, WHITE, turn=-20)
    pen.blob(
        [
            (-19.5, -2),
            (-16, 2),
            (-11, 8),
            (0, 7),
            (11, 8),
            (16, 2),
            (19.5, -2),
            (18, 14),
            (10, 24),
            (0, 28),
            (-10, 24),
            (-18, 14),
        ],
        hair,
    )
    eyes(pen, face.look, 0, size=2.2)
    _glasses(pen, face.look, 0)
    for x in (face.look - 7, face.look + 7):
        pen.stroke([(x - 3.4, -7), (x + 3.4, -7.4)], 2.2, hair)
    pen.oval(face.look, 5, 2.6, 2.0, (238, 166, 150) if face.skin == SKIN_LIGHT else (176, 112, 90))
    if face.mouth_open:
        mouth(pen, face, 12, 4)
    else:
        pen.oval(face.look, 12.6, 3.6, 1.5, LIPS)


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
        pen.arc(
            face.look + side * 12, 4, 3, 3, 150 if side < 0 else -30, 210 if side < 0 else 30, 0.8, (214, 150, 136)
        )
        pen.circle(side * 17.5, 7, 1.8, WHITE)
    if face.mouth_open:
        mouth(pen, face, 10)
    else:
        pen.oval(face.look, 11.4, 3.2, 1.5, LIPS)
