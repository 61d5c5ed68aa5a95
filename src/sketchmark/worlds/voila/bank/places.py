"""The backdrops: sky or wall behind, ground in front, one kind for each action."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

from sketchmark.worlds.voila.bank.pen import (
    CLOTHES,
    CLOUD,
    FLOORS,
    FRAME,
    GROUNDS,
    HILLS,
    LEAVES,
    PROPS,
    RIPPLE,
    SKIES,
    SUN,
    TRUNK,
    WALLS,
    WHITE,
    Colour,
    Pen,
    Point,
)

SIZE = 512

Backdrop = Callable[[Pen, random.Random, float], Colour]


def draw_place(pen: Pen, action: int, rng: random.Random, horizon: float) -> Colour:
    """Everything behind the figures, down from `horizon` the ground, whose colour is returned."""
    return _PLACES[action](pen, rng, horizon)


def _pick(rng: random.Random, colours: tuple[Colour, ...]) -> Colour:
    return colours[int(rng.random() * len(colours))]


def _spot(rng: random.Random, top: float) -> Point:
    return rng.random() * SIZE, top + rng.random() * (SIZE - top - 6)


def _sky(pen: Pen, rng: random.Random, horizon: float) -> None:
    pen.box(0, 0, SIZE, horizon, _pick(rng, SKIES))
    pen.circle(60 + rng.random() * 390, 45 + rng.random() * 30, 26, SUN)
    for _ in range(2 + int(rng.random() * 2)):
        _cloud(pen, rng.random() * SIZE, 30 + rng.random() * horizon * 0.35, 0.7 + rng.random() * 0.6)


def _cloud(pen: Pen, x: float, y: float, scale: float) -> None:
    with pen.at(x, y, scale):
        for dx, dy, r in ((-26, 4, 14), (-8, -6, 20), (16, -2, 17), (32, 6, 11)):
            pen.circle(dx, dy, r, CLOUD)
        pen.box(-38, 4, 42, 17, CLOUD, 8)


def _hills(pen: Pen, rng: random.Random, horizon: float) -> None:
    colour = _pick(rng, HILLS)
    for _ in range(3):
        x = rng.random() * SIZE
        pen.oval(x, horizon + 10, 150 + rng.random() * 60, 50 + rng.random() * 40, colour)


def _tree(pen: Pen, rng: random.Random, x: float, y: float, scale: float) -> None:
    leaves = _pick(rng, LEAVES)
    with pen.at(x, y, scale):
        pen.box(-5, -36, 5, 0, TRUNK)
        for dx, dy, r in ((-16, -44, 18), (14, -46, 19), (0, -64, 21)):
            pen.circle(dx, dy, r, leaves)


def _pine(pen: Pen, x: float, y: float, scale: float) -> None:
    with pen.at(x, y, scale):
        pen.box(-4, -12, 4, 0, TRUNK)
        for top, half in ((-84, 15), (-62, 21), (-40, 27)):
            pen.polygon([(0, top), (half, top + 32), (-half, top + 32)], LEAVES[1])
            pen.polygon([(0, top), (half * 0.45, top + 14), (-half * 0.45, top + 14)], CLOUD)


def _trees(pen: Pen, rng: random.Random, horizon: float, count: int) -> None:
    for place in range(count):
        x = (place + 0.2 + rng.random() * 0.6) * SIZE / count
        _tree(pen, rng, x, horizon + 4, 0.8 + rng.random() * 0.5)


def _ground(pen: Pen, rng: random.Random, horizon: float, kind: str) -> Colour:
    colour = _pick(rng, GROUNDS[kind])
    pen.box(0, horizon, SIZE, SIZE, colour)
    return colour


def _pitch(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    _sky(pen, rng, horizon)
    _trees(pen, rng, horizon, 4)
    light, dark = GROUNDS["pitch"]
    depth = SIZE - horizon
    edges = [horizon + depth * share for share in (0, 0.1, 0.24, 0.42, 0.68, 1)]
    for band, (top, bottom) in enumerate(pairwise(edges)):
        pen.box(0, top, SIZE, bottom, (light, dark)[band % 2])
    x = 90 + rng.random() * 330
    with pen.at(x, horizon + 8):
        for column in range(-60, 61, 12):
            pen.stroke([(column, -62), (column, 0)], 1.2, FRAME)
        for row in range(-62, 1, 12):
            pen.stroke([(-64, row), (64, row)], 1.2, FRAME)
        pen.stroke([(-66, 2), (-66, -64), (66, -64), (66, 2)], 5, WHITE)
    pen.stroke([(0, horizon + 12), (SIZE, horizon + 12)], 3, WHITE)
    return light


def _road(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    _sky(pen, rng, horizon)
    if rng.random() < 0.5:
        _houses(pen, rng, horizon)
    else:
        _hills(pen, rng, horizon)
        _trees(pen, rng, horizon, 4)
    colour = _ground(pen, rng, horizon, "road")
    pen.box(0, horizon, SIZE, horizon + 10, HILLS[0])
    pen.box(0, horizon + 10, SIZE, horizon + 15, FRAME)
    y = (horizon + SIZE) / 2 + 40
    shift = rng.random() * 60
    for x in range(-90, SIZE, 90):
        pen.box(x + shift, y, x + shift + 50, y + 7, WHITE)
    return colour


def _ice(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    _sky(pen, rng, horizon)
    for place in range(6):
        _pine(pen, (place + rng.random() * 0.8) * SIZE / 6, horizon, 0.8 + rng.random() * 0.4)
    colour = _ground(pen, rng, horizon, "ice")
    for place in range(7):
        pen.oval(place * 90 - 10 + rng.random() * 20, horizon + 1, 64, 13, CLOUD)
    for _ in range(9):
        x, y = _spot(rng, horizon + 30)
        pen.arc(x, y, 40 + rng.random() * 40, 8, 200, 320, 1.8, (182, 216, 234))
    return colour


def _park(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    _sky(pen, rng, horizon)
    _hills(pen, rng, horizon)
    pen.box(0, horizon - 6, SIZE, horizon + 22, HILLS[2])
    _trees(pen, rng, horizon + 6, 4)
    top = horizon + 18
    colour = _ground(pen, rng, top, "path")
    x = 40 + rng.random() * 430
    pen.stroke([(x, top + 2), (x, top - 76)], 5, PROPS["tyre"])
    pen.circle(x, top - 80, 10, SUN)
    light = (236, 206, 198) if colour == GROUNDS["path"][0] else (226, 194, 186)
    for _ in range(14):
        pen.oval(*_spot(rng, top + 14), 16 + rng.random() * 8, 5, light)
    return colour


def _water(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    _sky(pen, rng, horizon)
    if rng.random() < 0.5:
        pen.oval(rng.random() * SIZE, horizon + 6, 120, 42, HILLS[0])
        pen.oval(rng.random() * SIZE, horizon + 6, 90, 30, HILLS[1])
    else:
        pen.box(0, horizon - 26, SIZE, horizon, FRAME)
        for x in range(0, SIZE, 32):
            pen.box(x, horizon - 12, x + 16, horizon, (176, 214, 226))
    colour = _ground(pen, rng, horizon, "water")
    for _ in range(26):
        with pen.at(*_spot(rng, horizon + 10)):
            pen.stroke([(-16, 0), (-8, -3), (0, 0), (8, -3), (16, 0)], 2.2, RIPPLE)
    return colour


def _meadow(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    _sky(pen, rng, horizon)
    _hills(pen, rng, horizon)
    colour = _ground(pen, rng, horizon, "meadow")
    for bush in range(-20, SIZE + 40, 70):
        pen.circle(bush + rng.random() * 30, horizon + 2, 20 + rng.random() * 10, LEAVES[2])
    pen.box(0, horizon + 8, SIZE, SIZE, colour)
    for _ in range(16):
        x, y = _spot(rng, horizon + 30)
        petal = (WHITE, (236, 110, 96), (176, 118, 190))[int(rng.random() * 3)]
        for dx, dy in ((-4, 0), (4, 0), (0, -4), (0, 4)):
            pen.circle(x + dx, y + dy, 3, petal)
        pen.circle(x, y, 2.4, SUN)
    return colour


def _garden(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    _sky(pen, rng, horizon)
    _trees(pen, rng, horizon - 4, 4)
    for x in range(8, SIZE, 34):
        board = ((0, 4), (0, -44), (11, -54), (22, -44), (22, 4))
        pen.polygon([(x + dx, horizon + dy) for dx, dy in board], FRAME)
    for y in (-36, -14):
        pen.box(0, horizon + y, SIZE, horizon + y + 7, FRAME)
    colour = _ground(pen, rng, horizon, "soil")
    line = (colour[0] - 16, colour[1] - 14, colour[2] - 12)
    for row in range(1, 7):
        furrow = horizon + (SIZE - horizon) * row / 6.5
        pen.stroke([(0, furrow), (SIZE, furrow + 6)], 2.4, line)
    for _ in range(14):
        pen.oval(*_spot(rng, horizon + 14), 5, 3, line)
    return colour


def _track(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    _sky(pen, rng, horizon)
    seats = (148, 158, 190)
    pen.box(0, horizon - 74, SIZE, horizon, seats)
    for row in range(3):
        for x in range(10, SIZE, 26):
            pen.circle(x + row * 9 % 26, horizon - 60 + row * 18, 6, _pick(rng, CLOTHES))
    pen.box(0, horizon - 12, SIZE, horizon, FRAME)
    colour = _ground(pen, rng, horizon, "track")
    for share in (0.06, 0.2, 0.4, 0.66, 0.97):
        y = horizon + (SIZE - horizon) * share
        pen.box(0, y, SIZE, y + 2 + 4 * share, FRAME)
    return colour


def _street(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    _sky(pen, rng, horizon)
    _houses(pen, rng, horizon)
    colour = _ground(pen, rng, horizon, "paving")
    line = (colour[0] - 18, colour[1] - 18, colour[2] - 18)
    for share in (0.12, 0.32, 0.6, 0.9):
        y = horizon + (SIZE - horizon) * share
        pen.box(0, y, SIZE, y + 2.4, line)
    for x in range(-600, SIZE + 600, 110):
        pen.stroke([(256 + (x - 256) * 0.5, horizon), (x, SIZE)], 2.2, line)
    return colour


def _houses(pen: Pen, rng: random.Random, horizon: float) -> None:
    x = -20 - rng.random() * 50
    while x < SIZE:
        width, height = 90 + rng.random() * 50, 90 + rng.random() * 60
        wall = _pick(rng, WALLS)
        pen.box(x, horizon - height, x + width, horizon, wall)
        roof = _pick(rng, ((182, 106, 112), (126, 116, 172), (150, 120, 140)))
        top = horizon - height
        pen.polygon([(x - 8, top), (x + width + 8, top), (x + width / 2, top - 40)], roof)
        for wx in (0.16, 0.6):
            left = x + width * wx
            pen.box(left, top + 20, left + width * 0.24, top + 46, FRAME)
            pen.box(left + 3, top + 23, left + width * 0.24 - 3, top + 43, PROPS["glass"])
        pen.box(x + width * 0.4, horizon - 42, x + width * 0.64, horizon, roof)
        x += width + 14


def _room(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    pen.box(0, 0, SIZE, horizon, _pick(rng, WALLS))
    floor = _pick(rng, FLOORS)
    pen.box(0, horizon, SIZE, SIZE, floor)
    pen.box(0, horizon - 8, SIZE, horizon, FRAME)
    return floor


def _window(pen: Pen, x: float, y: float) -> None:
    pen.box(x - 52, y - 46, x + 52, y + 46, FRAME, 3)
    pen.box(x - 46, y - 40, x + 46, y + 40, SKIES[0])
    pen.circle(x + 22, y - 16, 12, SUN)
    pen.oval(x - 10, y + 38, 34, 14, HILLS[0])
    pen.box(x - 46, y + 40, x + 46, y + 46, FRAME)
    pen.box(x - 3, y - 40, x + 3, y + 40, FRAME)


def _shelf(pen: Pen, rng: random.Random, x: float, top: float, rows: int, width: float = 150) -> None:
    pen.box(x, top, x + width, top + rows * 50 + 8, TRUNK, 3)
    for row in range(rows):
        floor = top + 8 + row * 50 + 42
        pen.box(x + 8, floor - 42, x + width - 8, floor, (134, 110, 104))
        at = x + 11
        while at < x + width - 24:
            thick, tall = 9 + rng.random() * 8, 24 + rng.random() * 14
            pen.box(at, floor - tall, at + thick, floor, _pick(rng, CLOTHES))
            at += thick + 2


def _office(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    floor = _room(pen, rng, horizon)
    x = 90 + rng.random() * 60
    _window(pen, x, 88)
    left = 300 + rng.random() * 60
    pen.box(left, 50, left + 130, 122, WHITE, 3)
    pen.stroke([(left + 14, 108), (left + 44, 88), (left + 72, 96), (left + 112, 64)], 4, (236, 110, 96))
    pen.stroke([(left + 10, 60), (left + 10, 114), (left + 120, 114)], 2.4, PROPS["tyre"])
    return floor


def _classroom(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    floor = _room(pen, rng, horizon)
    x = 130 + rng.random() * 70
    pen.box(x - 90, 30, x + 150, 136, TRUNK, 3)
    pen.box(x - 83, 37, x + 143, 129, (62, 104, 94))
    for row, end in ((58, 40), (80, 90), (102, 10)):
        points = [(x - 66 + step * 12.0, row + (5 if step % 2 else -5)) for step in range(int((end + 66) / 12))]
        pen.stroke(points, 2.4, FRAME)
    pen.circle(440, 74, 30, FRAME)
    pen.circle(440, 74, 25, WHITE)
    pen.stroke([(440, 58), (440, 74), (452, 80)], 3, PROPS["tyre"])
    return floor


def _kitchen(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    floor = _room(pen, rng, horizon)
    tile = (186, 224, 200)
    for column in range(0, SIZE, 64):
        pen.box(column + 2, horizon - 60, column + 62, horizon - 10, tile)
    _window(pen, 130 + rng.random() * 250, 74)
    cupboard = _pick(rng, ((150, 176, 168), (160, 150, 180), (196, 160, 150)))
    for x in (0, 452):
        pen.box(x, 20, x + 60, 110, cupboard, 3)
        pen.circle(x + (50 if x == 0 else 10), 92, 4, FRAME)
    return floor


def _library(pen: Pen, rng: random.Random, horizon: float) -> Colour:
    floor = _room(pen, rng, horizon)
    rows = max(2, int((horizon - 40) / 50))
    _shelf(pen, rng, 20 + rng.random() * 40, horizon - rows * 50 - 8, rows)
    _shelf(pen, rng, 330 + rng.random() * 20, horizon - rows * 50 - 8, rows)
    _window(pen, 262, 80)
    rug = _pick(rng, ((150, 190, 176), (170, 190, 206)))
    pen.oval(256, (horizon + SIZE) / 2 + 60, 240, (SIZE - horizon) / 2 - 30, rug)
    return floor


_PLACES: tuple[Backdrop, ...] = (
    *(_pitch, _road, _ice, _park, _water, _meadow, _office, _classroom, _garden),
    *(_street, _library, _track, _kitchen),
)
