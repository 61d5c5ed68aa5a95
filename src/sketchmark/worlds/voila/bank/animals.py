"""The eight animal heads: told apart by fur, ears, muzzle and cheeks."""

from __future__ import annotations

from sketchmark.worlds.voila.bank.faces import Face, blush, eyes, mouth
from sketchmark.worlds.voila.bank.palette import (
    BEAR_MUZZLE,
    CAT_LIGHT,
    CREAM,
    DOG_EAR,
    INK,
    MONKEY_FACE,
    PINK,
    TONGUE,
    WHITE,
    WOLF_DARK,
    WOLF_LIGHT,
)
from sketchmark.worlds.voila.bank.pen import Colour, Pen


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
        pen.blob(
            [(side * 10, -17), (side * 19, -16), (side * 26, -2), (side * 25, 13), (side * 18, 12), (side * 15, -4)],
            DOG_EAR,
        )
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
        pen.blob(
            [(side * 23, 4.5), (side * 12, 3.5), (look + side * 3.4, 8), (look * 0.6, 19), (side * 11, 12.6)], WHITE
        )
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
            (-16, -12),
            (-6, -18),
            (6, -18),
            (16, -12),
            (19, -2),
            (27, 4),
            (20, 6),
            (24, 13),
            (14, 13),
            (8, 19),
            (-8, 19),
            (-14, 13),
            (-24, 13),
            (-20, 6),
            (-27, 4),
            (-19, -2),
        ],
        fur,
    )
    look = face.look
    pen.blob([(look - 3, -17), (look + 3, -17), (look + 2, -4), (look - 2, -4)], WOLF_DARK)
    for side in (-1, 1):
        pen.blob(
            [(look + side * 3, 3), (side * 14, 2), (side * 16, 9), (side * 7, 17), (look, 19), (look, 8)], WOLF_LIGHT
        )
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
