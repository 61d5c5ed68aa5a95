"""A pen that draws flat shapes in local coordinates, several times too large, so that edges come out smooth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

Point = tuple[float, float]
Colour = tuple[int, int, int]

SUPERSAMPLING = 3


class Pen:
    """Shapes go through a similarity transform (move, scale, turn, mirror), so circles stay circles.

    Coordinates are picture pixels at first, y downwards; `at` opens a local frame for a figure or a prop.
    """

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
            (a * cos + b * sin) * flip,
            -a * sin + b * cos,
            a * x + b * y + c,
            (d * cos + e * sin) * flip,
            -d * sin + e * cos,
            d * x + e * y + f,
        )
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
        points = []
        for dx, dy in _UNIT_CIRCLE:
            u, v = dx * rx, dy * ry
            points.append((x + u * cos - v * sin, y + u * sin + v * cos))
        self.polygon(points, colour)

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour, corner: float = 0.0) -> None:
        """A rectangle, with round corners if asked."""
        r = min(corner, (right - left) / 2, (bottom - top) / 2)
        if r <= 0:
            self.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], colour)
            return
        points = []
        for cx, cy, start in (
            (right - r, top + r, 270),
            (right - r, bottom - r, 0),
            (left + r, bottom - r, 90),
            (left + r, top + r, 180),
        ):
            for step in range(0, 91, 15):
                angle = math.radians(start + step)
                points.append((cx + r * math.cos(angle), cy + r * math.sin(angle)))
        self.polygon(points, colour)

    def stroke(self, points: Sequence[Point], width: float, colour: Colour) -> None:
        """A line with round ends and joints."""
        pixels = self._to_pixels(points)
        thick = width * self._scale
        r = thick / 2
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
        points = []
        for step in range(steps + 1):
            angle = math.radians(start + (end - start) * step / steps)
            points.append((x + rx * math.cos(angle), y + ry * math.sin(angle)))
        self.stroke(points, width, colour)

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
