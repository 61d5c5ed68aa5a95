"""Textures painted from noise: wood, marble, weave, bubbles, clouds of colour, stained glass."""

from __future__ import annotations

from random import Random

import numpy as np

from sketchmark.worlds.paint import ONE, Canvas, Colour, Ints, blend, colour, fractal, noise, ramp, stretch, vary

_PALETTES = tuple(
    tuple(colour(code) for code in codes.split())
    for codes in (
        "0b132b 1c2541 3a506b 5bc0be f0fff1",
        "2d1e2f 7a3e48 d9734e f2b880 fff3e2",
        "10302a 2a6f4e 6fb98f e8e2b0 fdf6e3",
        "1a1423 3d314a 684756 96705b e6c79c",
        "03045e 0077b6 00b4d8 90e0ef fefae0",
        "3c1642 086375 2fa89a b5d08a fbf6df",
        "3a0ca3 7209b7 f72585 ff9e6d ffe5b4",
        "283618 606c38 dda15e bc6c25 fefae0",
    )
)


def _palette(rng: Random) -> list[Colour]:
    stops = [vary(rng, stop, 14) for stop in _PALETTES[rng.randrange(len(_PALETTES))]]
    return stops[::-1] if rng.randrange(2) else stops


def _mesh(height: int, width: int) -> tuple[Ints, Ints]:
    """The number of each row, as a column, and of each column, as a row."""
    return np.arange(height, dtype=np.int32)[:, None], np.arange(width, dtype=np.int32)[None]


def wood(rng: Random, height: int, width: int) -> Canvas:
    """Boards with grain that flows around knots."""
    rows, cols = _mesh(height, width)
    dark, pale = (vary(rng, colour(code), 18) for code in ("6b3e1e", "d9a566"))
    warp = fractal(rng.getrandbits(30), height, width, height // 5, width // 2, 3)
    grain = warp * rng.randint(9, 14) // 64 + rows * (ONE // height) * rng.randint(2, 4)
    for _ in range(rng.randint(2, 4)):
        row, col = rng.randrange(height), rng.randrange(width)
        away = (rows - row) ** 2 + ((cols - col) // 2) ** 2
        grain += (6 * ONE) // (1 + away * 20 // (height * height // 20))
    rings = grain // 6 % (ONE // 8) * 8
    folded = np.minimum(rings, ONE - 1 - rings) * 2
    fibre = noise(rng.getrandbits(30), height, width, 3, width // 4)
    canvas = Canvas(ramp((folded * 3 + fibre) // 4, [dark, blend(dark, pale, 150), pale, vary(rng, pale, 10)]))
    plank = height // rng.randint(3, 4)
    for top in range(plank - rng.randrange(plank // 2), height, plank):
        canvas.rectangle(top, 0, 4, width, blend(dark, (0, 0, 0), 130))
        canvas.rectangle(top + 4, 0, 3, width, blend(pale, (255, 255, 255), 60))
    return canvas


def marble(rng: Random, height: int, width: int) -> Canvas:
    """Veins where layers of noise cross their middle."""
    palette = _palette(rng)
    ground = fractal(rng.getrandbits(30), height, width, height // 2, height // 2, 5)
    canvas = Canvas(ramp(stretch(ground, 70, 190), palette[2:] if rng.randrange(2) else palette[:3]))
    for thickness in (5000, 3000, 2400, 1700, 1200):
        field = fractal(rng.getrandbits(30), height, width, height * 2 // 3, height * 2 // 3, 6)
        vein = (thickness - np.abs(field - ONE // 2)).clip(0) * 256 // thickness
        canvas.lay(vein * 200 >> 8, palette[rng.choice((0, 0, 4, 3))])
    return canvas


def weave(rng: Random, height: int, width: int) -> Canvas:
    """Broad bands over and under each other, in colours that change from band to band."""
    rows, cols = _mesh(height, width)
    band = height // rng.randint(9, 13)
    palette = _palette(rng)
    shine = fractal(rng.getrandbits(30), height, width, height // 2, height // 2, 4)
    threads = []
    for along, count in ((rows, height // band + 1), (cols, width // band + 1)):
        tones = np.array([vary(rng, palette[rng.randrange(1, 5)], 20) for _ in range(count)], np.int32)
        inside = along % band * 2 - band
        round_ = 256 - inside * inside * 150 // (band * band)
        threads.append(tones[along // band] * round_[..., None] >> 8)
    over = ((rows // band + cols // band) % 2 == 0)[..., None]
    edge = np.where(over[..., 0], np.abs(cols % band * 2 - band), np.abs(rows % band * 2 - band))
    shade = 256 - edge * edge * 90 // (band * band)
    mixed = np.where(over, threads[0], threads[1]) * shade[..., None] >> 8
    return Canvas((mixed * (190 + shine // 550)[..., None] >> 8).clip(0, 255))


def bubbles(rng: Random, height: int, width: int) -> Canvas:
    """Glassy balls of many sizes, the small ones behind."""
    palette = _palette(rng)
    ground = fractal(rng.getrandbits(30), height, width, height, height, 4)
    canvas = Canvas(ramp(ground, palette[:3]))
    sizes = sorted(rng.randint(height // 60, height // 7) for _ in range(width * height // 1800))
    for radius in sizes:
        row, col = rng.randrange(height), rng.randrange(width)
        tint = vary(rng, palette[rng.randrange(1, 5)], 24)
        if shape := canvas.shape(row - radius, col - radius, 2 * radius + 1, 2 * radius + 1):
            away = shape.square_distance(row, col)
            lit = shape.square_distance(row - radius // 3, col - radius // 3)
            glow = (256 - lit * 200 // (radius * radius)).clip(30, 256)
            ball = np.array(tint, np.int32) * glow[..., None] >> 8
            shape.lay(np.where(away <= radius * radius, 225, 0).astype(np.int32), ball)
            shape.lay(
                shape.square_distance(row - radius // 2, col - radius // 2) * 25 <= radius * radius, (255, 255, 250)
            )
    return canvas


def nebula(rng: Random, height: int, width: int) -> Canvas:
    """Clouds of colour, one noise bent by another."""
    rows, cols = _mesh(height, width)
    reach = height // 3
    bend = [fractal(rng.getrandbits(30), height, width, height // 2, height // 2, 3) for _ in range(2)]
    field = fractal(rng.getrandbits(30), height + reach, width + reach, height // 3, height // 3, 6)
    bent = field[rows + bend[0] * reach // ONE, cols + bend[1] * reach // ONE]
    canvas = Canvas(ramp(stretch(bent, 70, 190), _palette(rng)))
    canvas.lay(stretch(bend[0], 120, 230) * 90 // ONE, vary(rng, (230, 120, 160), 60))
    return canvas


def glass(rng: Random, height: int, width: int) -> Canvas:
    """Stained glass: each pixel belongs to the nearest of some points, with lead between."""
    rows, cols = _mesh(height, width)
    palette = _palette(rng)
    first = np.full((height, width), 1 << 30, np.int32)
    second, owner = first.copy(), np.zeros((height, width), np.int32)
    points = [(rng.randrange(height), rng.randrange(width)) for _ in range(rng.randint(40, 60))]
    for index, (row, col) in enumerate(points):
        away = (rows - row) ** 2 + (cols - col) ** 2
        np.copyto(owner, index, where=away < first)
        np.minimum(second, np.maximum(first, away), out=second)
        np.minimum(first, away, out=first)
    panes = np.array([vary(rng, palette[rng.randrange(1, 5)], 30) for _ in points], np.int32)
    light = 170 + fractal(rng.getrandbits(30), height, width, height // 3, height // 3, 5) // 500
    canvas = Canvas((panes[owner] * light[..., None] >> 8).clip(0, 255))
    canvas.lay((second - first) < height * 2 // 3, (28, 26, 30))
    return canvas
