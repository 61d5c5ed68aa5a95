"""The props of the figures. Each draws itself in the figure's frame: feet at (0, 0), walking to the right."""

from __future__ import annotations

from sketchmark.worlds.voila.bank.pen import CLOUD, INK, LEAVES, LIPS, PINK, PROPS, WHITE, Colour, Pen


def ball(pen: Pen, x: float, y: float) -> None:
    pen.circle(x, y, 8.4, INK)
    pen.circle(x, y, 7.6, WHITE)
    pen.polygon([(x, y - 3.4), (x + 3.2, y - 1), (x + 2, y + 2.8), (x - 2, y + 2.8), (x - 3.2, y - 1)], INK)
    for dx, dy in ((0, -7), (6.6, -2), (4, 5.8), (-4, 5.8), (-6.6, -2)):
        pen.circle(x + dx * 0.94, y + dy * 0.94, 1.7, INK)


def car_back(pen: Pen, paint: Colour) -> None:
    """Draw what is behind the driver: the far door and the seat."""
    pen.box(-34, -36, 22, -16, _shade(paint), 4)
    pen.box(-30, -48, -19, -20, PROPS["tyre"], 4)


def car_front(pen: Pen, paint: Colour) -> None:
    pen.polygon([(19, -29), (24, -29), (17, -46), (14, -45)], PROPS["glass"])
    pen.stroke([(23, -29), (16, -46)], 1.8, PROPS["chrome"])
    rear = [(-41, -9), (-45, -12), (-45, -25), (-38, -30), (-20, -30)]
    pen.polygon([*rear, (22, -30), (34, -27), (44, -22), (46, -12), (40, -9)], paint)
    pen.stroke([(-41, -11), (42, -11)], 4, paint)
    pen.stroke([(-14, -26), (-14, -14), (12, -14), (12, -26)], 1.0, _shade(paint))
    pen.stroke([(-10, -22), (-4, -22)], 1.6, PROPS["chrome"])
    pen.oval(43, -20, 3, 3.6, (255, 244, 190))
    pen.oval(-44, -21, 1.8, 3, (206, 60, 84))
    pen.stroke([(-46, -11), (46, -11)], 2.6, PROPS["chrome"])
    for x in (-26, 27):
        pen.circle(x, -8.6, 9.2, PROPS["tyre"])
        pen.circle(x, -8.6, 4.8, PROPS["chrome"])
        pen.circle(x, -8.6, 1.6, PROPS["tyre"])


def steering_wheel(pen: Pen) -> None:
    pen.arc(13, -36, 2.4, 7, 0, 360, 2.0, INK)


def desk(pen: Pen) -> None:
    """Top seen from a little above, so that there is room for things on it."""
    pen.box(-36, -24, 36, 0, PROPS["desk dark"], 1)
    pen.box(-31, -20, -4, -3, PROPS["desk"], 2)
    pen.box(4, -20, 31, -3, PROPS["desk"], 2)
    for x in (-17, 17):
        pen.stroke([(x - 3, -12), (x + 3, -12)], 2, PROPS["chrome"])
    pen.polygon([(-33, -37), (33, -37), (38, -24), (-38, -24)], PROPS["desk"])


def laptop(pen: Pen) -> None:
    """The back of an open lid, with the keyboard's edge beneath it."""
    pen.polygon([(-19, -27), (19, -27), (21, -23.5), (-21, -23.5)], PROPS["laptop dark"])
    pen.box(-18, -50, 18, -26, PROPS["laptop"], 2.4)
    pen.stroke([(-14.5, -47.6), (14.5, -47.6)], 1.1, WHITE)
    pen.circle(0, -38, 3.8, WHITE)


def mug(pen: Pen, colour: Colour) -> None:
    pen.arc(31.5, -33, 3, 3, 0, 360, 1.4, colour)
    pen.box(24.5, -38, 31, -28, colour, 1.2)


def paper(pen: Pen) -> None:
    pen.polygon([(-17, -36), (11, -36), (12, -25.4), (-19, -25.4)], PROPS["paper"])
    for row, end in ((-33.6, 6), (-31.2, 8), (-28.8, -1)):
        pen.stroke([(-14, row), (end, row)], 0.9, (92, 112, 190))


def pencil(pen: Pen) -> None:
    """Point on the paper, end in the air."""
    with pen.at(1, -28.6, turn=52):
        pen.box(-3, -32, 3, -6, PROPS["pencil"])
        pen.box(-3, -37, 3, -32, PINK, 1)
        pen.polygon([(-3, -6), (3, -6), (0, 0)], (250, 220, 180))
        pen.polygon([(-1.2, -2.4), (1.2, -2.4), (0, 0)], INK)


def table(pen: Pen) -> None:
    """A table under a checked cloth."""
    cloth = PROPS["cloth"]
    for x in (-28, 26):
        pen.box(x - 2, -12, x + 3, 0, PROPS["desk dark"])
    pen.polygon([(-33, -37), (33, -37), (38, -25), (-38, -25)], cloth)
    pen.box(-38, -25, 38, -9, cloth)
    light = (250, 196, 210)
    for column in range(-5, 6, 2):
        pen.box(column * 7 - 3.5, -25, column * 7 + 3.5, -17, light)
    for column in range(-4, 5, 2):
        pen.box(column * 7 - 3.5, -17, column * 7 + 3.5, -9, light)
    pen.stroke([(-37, -25), (37, -25)], 1.6, (206, 60, 100))


def burger(pen: Pen) -> None:
    _plate(pen)
    pen.blob([(-10, -37), (-9, -43), (0, -46), (9, -43), (10, -37)], (222, 150, 70))
    pen.stroke([(-9.4, -36.4), (9.4, -36.4)], 2.4, LEAVES[0])
    pen.stroke([(-9, -34), (9, -34)], 2.6, (112, 64, 48))
    pen.stroke([(-8.6, -31.8), (8.6, -31.8)], 2.8, (222, 150, 70))
    for x, y in ((-4, -42), (1, -43.4), (5, -41.4)):
        pen.oval(x, y, 1, 0.7, (255, 244, 214))


def soup(pen: Pen) -> None:
    _plate(pen)
    pen.blob([(-11, -38), (11, -38), (8, -30), (-8, -30)], (96, 160, 196))
    pen.oval(0, -38, 11, 2.8, (240, 150, 60))
    for x in (-4, 2):
        pen.arc(x, -45, 1.6, 3, 90, 270, 1.1, CLOUD)


def spaghetti(pen: Pen) -> None:
    _plate(pen)
    pen.blob([(-11, -32), (-7, -39), (0, -41), (7, -39), (11, -32), (0, -30)], (255, 224, 100))
    for x in (-6, -2, 2, 6):
        pen.arc(x, -35, 3, 3.4, 180, 360, 0.9, (222, 170, 70))
    pen.blob([(-5, -38), (0, -42), (5, -38), (0, -36)], (204, 60, 52))


def _plate(pen: Pen) -> None:
    pen.oval(0, -30, 15, 3.8, (180, 186, 196))
    pen.oval(0, -31, 14, 3.2, PROPS["plate"])


MEALS = (burger, soup, spaghetti)


def fork(pen: Pen, x: float, y: float) -> None:
    pen.stroke([(x, y + 8), (x, y - 8)], 1.6, PROPS["steel"])
    pen.stroke([(x - 2.6, y - 14), (x - 2.6, y - 9), (x + 2.6, y - 9), (x + 2.6, y - 14)], 1.3, PROPS["steel"])
    pen.stroke([(x, y - 14), (x, y - 9)], 1.3, PROPS["steel"])


def spoon(pen: Pen, x: float, y: float) -> None:
    pen.stroke([(x, y + 8), (x, y - 8)], 1.6, PROPS["steel"])
    pen.oval(x, y - 12, 2.8, 4, PROPS["steel"])


def shovel(pen: Pen) -> None:
    """Handle at the hands, blade in the pit."""
    with pen.at(21, -6, turn=-24):
        pen.stroke([(0, -42), (0, 0)], 3.0, PROPS["wood"])
        pen.stroke([(-4.5, -43), (4.5, -43)], 3.2, PROPS["wood"])
        pen.blob([(-6.5, -5), (6.5, -5), (6, 6), (0, 12), (-6, 6)], PROPS["steel"])


def pit(pen: Pen) -> None:
    pen.oval(25, 0, 21, 7.5, PROPS["earth"])
    pen.oval(25, 1, 17.5, 5.4, PROPS["pit"])


def pit_rim(pen: Pen) -> None:
    """The near edge and the heap, over the blade."""
    pen.blob([(8, 3), (16, 6), (30, 6.4), (42, 3), (44, 7), (30, 10.6), (12, 9)], PROPS["earth"])
    pen.blob([(-40, 4), (-34, -6), (-27, -14), (-20, -6), (-13, 4), (-27, 6)], PROPS["earth"])
    pen.blob([(-33, 1), (-28, -8), (-22, 1)], (154, 110, 86))


def flying_earth(pen: Pen) -> None:
    for x, y, r in ((8, -14, 2.4), (35, -14, 2.8), (40, -22, 1.9), (30, -24, 2.2)):
        pen.circle(x, y, r, PROPS["earth"])


def box(pen: Pen) -> None:
    edge = PROPS["box dark"]
    pen.polygon([(-17, -49), (-12, -55), (21, -55), (17, -49)], PROPS["tape"])
    pen.polygon([(17, -49), (21, -55), (21, -30), (17, -23)], edge)
    pen.box(-17, -49, 17, -23, PROPS["box"])
    outline = [(-17, -49), (-12, -55), (21, -55), (21, -30), (17, -23), (-17, -23), (-17, -49), (17, -49), (17, -23)]
    pen.stroke(outline, 1.3, INK)
    pen.stroke([(17, -49), (21, -55)], 1.3, INK)
    pen.box(-4, -48.4, 4, -39, LIPS)
    pen.box(4, -34, 14, -27, WHITE, 0.6)
    for y in (-32, -29.4):
        pen.stroke([(6, y), (12, y)], 0.9, PROPS["tyre"])


def armchair(pen: Pen, colour: Colour) -> None:
    pen.box(-25, -58, 25, -4, _shade(colour), 10)
    pen.box(-22, -26, 22, -6, colour, 5)
    for x in (-27, 27):
        pen.box(x - 6, -36, x + 6, -4, colour, 5)
    for x in (-24, 24):
        pen.box(x - 2, -5, x + 2, 0, PROPS["desk dark"])


def book(pen: Pen) -> None:
    """Open towards the viewer as much as to the reader, so that its pages show."""
    cover, page = PROPS["book"], PROPS["paper"]
    pen.polygon([(-23, -51), (0, -45), (23, -51), (23, -27), (0, -21), (-23, -27)], cover)
    for side in (-1, 1):
        pen.polygon([(side * 20.5, -48), (0, -43), (0, -25), (side * 20.5, -30)], page)
        for row in range(4):
            y = -42.5 + row * 3.9
            pen.stroke([(side * 17.5, y - 1.6), (side * 4, y + 1.6)], 1.0, (170, 176, 188))
    pen.stroke([(0, -44), (0, -23)], 1.4, cover)


def _shade(colour: Colour) -> Colour:
    red, green, blue = colour
    return red * 4 // 5, green * 4 // 5, blue * 4 // 5
