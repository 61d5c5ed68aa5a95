"""The pen of the built-in images, their palette, and the features that all heads share.

The pen draws flat shapes in local coordinates, several times too large, so that edges come out smooth.

The colour families in KEYS identify a subject (fur, hair, the boy's cap), those in GROUNDS and PROPS an action. They
keep a clear distance from each other and from all other colours, so that people can distinguish the images and
`reader` can read them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image


Point = tuple[float, float]
Colour = tuple[int, int, int]

SUPERSAMPLING = 3


class Pen:
    """Shapes go through a similarity transform (move, scale, turn, mirror), so circles stay circles. Coordinates are
    picture pixels at first, y downwards; `at` opens a local frame for a figure or a prop."""

    def __init__(self, size: int, ground: Colour) -> None:
        from PIL import Image, ImageDraw

        self._image = Image.new("RGB", (size * SUPERSAMPLING, size * SUPERSAMPLING), ground)
        self._draw = ImageDraw.Draw(self._image)
        self._scale = float(SUPERSAMPLING)
        self._matrix = (self._scale, 0.0, 0.0, 0.0, self._scale, 0.0)

    def finish(self) -> Image.Image:
        return self._image.reduce(SUPERSAMPLING)

    @contextmanager
    def at(self, x: float, y: float, scale: float = 1.0, turn: float = 0.0, mirror: bool = False) -> Iterator[None]:
        """A local frame: origin at (x, y), turned clockwise by degrees, mirrored left to right if asked."""
        before, before_scale = self._matrix, self._scale
        a, b, c, d, e, f = before
        cos, sin = math.cos(math.radians(turn)) * scale, math.sin(math.radians(turn)) * scale
        flip = -1.0 if mirror else 1.0
        self._matrix = (
            (a * cos + b * sin) * flip, -a * sin + b * cos, a * x + b * y + c, (d * cos + e * sin) * flip,
            -d * sin + e * cos, d * x + e * y + f,
        )  # fmt: skip
        self._scale = before_scale * scale
        try:
            yield
        finally:
            self._matrix, self._scale = before, before_scale

    def _to_pixels(self, points: Sequence[Point]) -> list[Point]:
        a, b, c, d, e, f = self._matrix
        return [(a * x + b * y + c, d * x + e * y + f) for x, y in points]

    def polygon(self, points: Sequence[Point], colour: Colour) -> None:
        self._draw.polygon(self._to_pixels(points), fill=colour)

    def circle(self, x: float, y: float, radius: float, colour: Colour) -> None:
        ((px, py),) = self._to_pixels([(x, y)])
        r = radius * self._scale
        self._draw.ellipse((px - r, py - r, px + r, py + r), fill=colour)

    def oval(self, x: float, y: float, rx: float, ry: float, colour: Colour, turn: float = 0.0) -> None:
        cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        edge = [(dx * rx, dy * ry) for dx, dy in _UNIT_CIRCLE]
        self.polygon([(x + u * cos - v * sin, y + u * sin + v * cos) for u, v in edge], colour)

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour, corner: float = 0.0) -> None:
        """A rectangle, with round corners if asked."""
        r = min(corner, (right - left) / 2, (bottom - top) / 2)
        if r <= 0:
            self.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], colour)
            return
        x0, x1, y0, y1 = left + r, right - r, top + r, bottom - r
        corners = ((x1, y0, 270), (x1, y1, 0), (x0, y1, 90), (x0, y0, 180))
        turns = [(x, y, math.radians(start + step)) for x, y, start in corners for step in range(0, 91, 15)]
        self.polygon([(x + r * math.cos(angle), y + r * math.sin(angle)) for x, y, angle in turns], colour)

    def stroke(self, points: Sequence[Point], width: float, colour: Colour) -> None:
        """A line with round ends and joints."""
        pixels = self._to_pixels(points)
        r = width * self._scale / 2
        for (x1, y1), (x2, y2) in pairwise(pixels):
            length = math.hypot(x2 - x1, y2 - y1)
            if length > 0:
                nx, ny = (y1 - y2) / length * r, (x2 - x1) / length * r
                corners = [(x1 + nx, y1 + ny), (x2 + nx, y2 + ny), (x2 - nx, y2 - ny), (x1 - nx, y1 - ny)]
                self._draw.polygon(corners, fill=colour)
        if r > 1:
            for x, y in pixels:
                self._draw.ellipse((x - r, y - r, x + r, y + r), fill=colour)

    def arc(
        self, x: float, y: float, rx: float, ry: float, start: float, end: float, width: float, colour: Colour
    ) -> None:
        """Part of an oval's edge; angles in degrees, clockwise from the right."""
        steps = max(4, int(abs(end - start) / 12))
        angles = [math.radians(start + (end - start) * step / steps) for step in range(steps + 1)]
        self.stroke([(x + rx * math.cos(at), y + ry * math.sin(at)) for at in angles], width, colour)

    def blob(self, points: Sequence[Point], colour: Colour) -> None:
        """A closed smooth curve through the points (Catmull-Rom)."""
        self.polygon(_smooth(points), colour)


_UNIT_CIRCLE = [(math.cos(math.tau * i / 40), math.sin(math.tau * i / 40)) for i in range(40)]


def _smooth(points: Sequence[Point], steps: int = 7) -> list[Point]:
    curve = []
    count = len(points)
    for i in range(count):
        (x0, y0), (x1, y1) = points[i - 1], points[i]
        (x2, y2), (x3, y3) = points[(i + 1) % count], points[(i + 2) % count]
        for step in range(steps):
            t = step / steps
            t2, t3 = t * t, t * t * t
            a, b = -t3 + 2 * t2 - t, 3 * t3 - 5 * t2 + 2
            c, d = -3 * t3 + 4 * t2 + t, t3 - t2
            curve.append(((a * x0 + b * x1 + c * x2 + d * x3) / 2, (a * y0 + b * y1 + c * y2 + d * y3) / 2))
    return curve


INK: Colour = (42, 38, 46)
WHITE: Colour = (255, 255, 255)
PINK: Colour = (244, 150, 170)
BLUSH: Colour = (247, 172, 165)
LIPS: Colour = (206, 60, 84)
TONGUE: Colour = (232, 96, 118)

SKIN_LIGHT: Colour = (255, 212, 188)
SKIN_TAN: Colour = (204, 140, 114)

KEYS: dict[int, Colour] = {
    0: (245, 197, 66), 1: (58, 34, 24), 2: (123, 35, 64), 3: (201, 209, 218), 4: (185, 169, 207),
    5: (78, 65, 102), 6: (200, 150, 60), 7: (238, 122, 35), 8: (242, 213, 138), 9: (165, 72, 47),
    10: (110, 127, 147), 11: (45, 91, 209), 12: (110, 74, 44), 13: (251, 218, 230),
}  # fmt: skip
"""Colours that identify each subject, by its place in SUBJECTS."""

BOY_HAIR: Colour = (142, 96, 66)
DOG_EAR: Colour = (142, 96, 50)
CREAM: Colour = (253, 241, 219)
MONKEY_FACE: Colour = (246, 196, 158)
BEAR_MUZZLE: Colour = (206, 168, 128)
WOLF_LIGHT: Colour = (222, 228, 234)
WOLF_DARK: Colour = (70, 92, 112)
CAT_LIGHT: Colour = (150, 136, 176)
GLASSES: Colour = (92, 72, 60)
SILVER: Colour = (176, 186, 194)
FRAME: Colour = (236, 238, 240)

CLOTHES: tuple[Colour, ...] = ((64, 170, 160), (236, 110, 96), (120, 140, 220), (176, 118, 190), (146, 176, 84))
TROUSERS: tuple[Colour, ...] = ((62, 78, 128), (96, 106, 84), (126, 92, 110))
SHOES: Colour = (112, 60, 96)
DRESS: tuple[Colour, ...] = ((240, 118, 166), (176, 118, 190), (236, 110, 96))

SHAWL: Colour = (214, 92, 120)

SKIES: tuple[Colour, ...] = ((158, 214, 244), (178, 224, 236), (186, 204, 246), (252, 206, 176))
CLOUD: Colour = (248, 252, 255)
SUN: Colour = (255, 238, 158)
HILLS: tuple[Colour, ...] = ((140, 200, 160), (126, 186, 170), (160, 206, 150))
LEAVES: tuple[Colour, ...] = ((86, 156, 100), (70, 140, 112), (112, 168, 92))
TRUNK: Colour = (140, 100, 80)

GROUNDS: dict[str, tuple[Colour, ...]] = {
    "pitch": ((52, 162, 88), (64, 178, 102)), "road": ((160, 158, 160), (150, 150, 150)),
    "ice": ((214, 238, 248), (222, 242, 252)), "path": ((226, 192, 184), (216, 180, 172)),
    "water": ((52, 168, 206), (40, 150, 194)), "meadow": ((174, 212, 92), (186, 220, 108)),
    "soil": ((164, 132, 106), (150, 120, 98)), "track": ((214, 104, 90), (206, 96, 84)),
    "paving": ((198, 200, 168), (188, 190, 156)),
}  # fmt: skip

RIPPLE: Colour = (132, 208, 230)

WALLS: tuple[Colour, ...] = ((246, 232, 206), (212, 234, 206), (226, 220, 244), (252, 218, 190))
FLOORS: tuple[Colour, ...] = ((222, 190, 150), (194, 166, 146), (180, 178, 176))

PROPS: dict[str, Colour] = {
    "laptop": (150, 172, 204), "laptop dark": (92, 104, 134), "paper": (255, 254, 246), "pencil": (255, 214, 10),
    "desk": (186, 118, 74), "desk dark": (160, 98, 60), "cloth": (230, 80, 120), "plate": (250, 250, 252),
    "box": (216, 168, 116), "box dark": (176, 128, 84), "tape": (228, 186, 140), "book": (20, 124, 132),
    "pit": (88, 60, 66), "earth": (134, 92, 72), "steel": (132, 146, 160), "wood": (196, 136, 84),
    "tyre": (60, 68, 72), "glass": (206, 236, 244), "chrome": (220, 224, 228),
}  # fmt: skip
CARS: tuple[Colour, ...] = ((226, 68, 62), (44, 178, 164), (252, 160, 20), (148, 108, 200))

OTHERS: tuple[Colour, ...] = (
    *(INK, WHITE, PINK, BLUSH, LIPS, TONGUE, SKIN_LIGHT, SKIN_TAN, BOY_HAIR, DOG_EAR, CREAM, MONKEY_FACE),
    BEAR_MUZZLE,
    *(WOLF_LIGHT, WOLF_DARK, CAT_LIGHT, GLASSES, SILVER, FRAME, SHOES, SHAWL, CLOUD, SUN, TRUNK, RIPPLE),
    *(*CLOTHES, *TROUSERS, *DRESS, *SKIES, *HILLS, *LEAVES, *WALLS, *CARS),
)
"""Colours that give nothing away by themselves: what a pixel may be instead of a key, a ground or a prop."""


@dataclass(frozen=True)
class Face:
    """Changes from image to image: where the face looks, whether it chews or laughs, its skin."""

    look: float = 0.0
    mouth_open: bool = False
    skin: Colour = SKIN_LIGHT


def eyes(pen: Pen, look: float, y: float, gap: float = 7.0, size: float = 2.6, iris: Colour = INK) -> None:
    for x in (look - gap, look + gap):
        if iris != INK:
            pen.oval(x, y, size * 1.35, size * 1.45, iris)
            pen.oval(x, y, size * 0.7, size * 1.3, INK)
        else:
            pen.oval(x, y, size, size * 1.3, INK)
        pen.circle(x + 0.8, y - 1.2, size * 0.36, WHITE)


def mouth(pen: Pen, face: Face, y: float, width: float = 4.0) -> None:
    if face.mouth_open:
        pen.oval(face.look, y + 1.2, width * 0.8, width * 0.85, INK)
        pen.oval(face.look, y + 2.6, width * 0.5, width * 0.4, TONGUE)
    else:
        pen.arc(face.look, y - 1, width, 3.0, 20, 160, 1.3, INK)


def blush(pen: Pen, look: float, y: float, gap: float = 11.0) -> None:
    for x in (look * 0.6 - gap, look * 0.6 + gap):
        pen.oval(x, y, 2.8, 1.8, BLUSH)
