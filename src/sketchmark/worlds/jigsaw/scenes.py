"""Scenes to cut up: textures painted from noise (wood, marble, weave, bubbles, clouds of colour, stained glass) and
views painted from far to near (a landscape, a seascape, a city at night).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sketchmark.errors import BadPicture, UnknownName
from sketchmark.media import Picture
from sketchmark.worlds.jigsaw.paint import (
    ONE,
    Canvas,
    Colour,
    Ints,
    blend,
    colour,
    fractal,
    line,
    noise,
    palette_of,
    ramp,
    stops_of,
    stretch,
    vary,
)

if TYPE_CHECKING:
    from PIL import Image


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
    palette = palette_of(rng)
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
    palette = palette_of(rng)
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
    palette = palette_of(rng)
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
            glint = shape.square_distance(row - radius // 2, col - radius // 2)
            shape.lay(glint * 25 <= radius * radius, (255, 255, 250))
    return canvas


def nebula(rng: Random, height: int, width: int) -> Canvas:
    """Clouds of colour, one noise bent by another."""
    rows, cols = _mesh(height, width)
    reach = height // 3
    bend = [fractal(rng.getrandbits(30), height, width, height // 2, height // 2, 3) for _ in range(2)]
    field = fractal(rng.getrandbits(30), height + reach, width + reach, height // 3, height // 3, 6)
    bent = field[rows + bend[0] * reach // ONE, cols + bend[1] * reach // ONE]
    canvas = Canvas(ramp(stretch(bent, 70, 190), palette_of(rng)))
    canvas.lay(stretch(bend[0], 120, 230) * 90 // ONE, vary(rng, (230, 120, 160), 60))
    return canvas


def glass(rng: Random, height: int, width: int) -> Canvas:
    """Stained glass: each pixel belongs to the nearest of some points, with lead between."""
    rows, cols = _mesh(height, width)
    palette = palette_of(rng)
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


_SKIES = stops_of("3f7fc4 8fc1ea e8f1f5", "2b3a67 b56576 f7b267", "5b86b0 c9d6df fbe8d3", "31447a e57f84 fcd5a0")
_NIGHTS = stops_of("060a1f 14204a 3d3b73", "0a0f1e 1b2a41 5c4b6e", "0b0b24 2a1a4a 7a3b69")


def _sky(rng: Random, height: int, width: int, stops: tuple[Colour, ...], reach: int) -> Canvas:
    tones = [vary(rng, stop, 12) for stop in stops]
    fall = np.arange(height, dtype=np.int32)[:, None] * (ONE - 1) // reach
    canvas = Canvas(ramp(fall.clip(0, ONE - 1), tones).repeat(width, axis=1))
    cover = fractal(rng.getrandbits(30), height, width, height // 5, height // 2, 5)
    canvas.lay(stretch(cover, rng.randint(110, 140), 215) * 170 // ONE, blend(tones[-1], (255, 255, 255), 120))
    return canvas


def _below(canvas: Canvas, skyline: Ints) -> NDArray[np.bool_]:
    return np.arange(canvas.height, dtype=np.int32)[:, None] >= skyline[None, :]


def _mountains(rng: Random, canvas: Canvas, base: int, rise: int, rock: Colour, haze: Colour, snow: bool) -> None:
    height, width = canvas.height, canvas.width
    above = max(0, base - rise)
    canvas, base = Canvas(canvas.pixels[above : base + height // 12]), base - above
    skyline = base - line(rng.getrandbits(30), width, height // 2, 7) * rise // ONE
    rough = fractal(rng.getrandbits(30), canvas.height, width, height // 10, height // 16, 4)
    rows = np.arange(canvas.height, dtype=np.int32)[:, None]
    body = ramp(stretch(rough, 60, 200), [blend(rock, (0, 0, 0), 90), rock, blend(rock, haze, 110)])
    if snow:
        line_of_snow = base - rise * 55 // 100 + rough * height // (9 * ONE)
        white = ramp(stretch(rough, 60, 200), [(186, 200, 220), (244, 247, 250)])
        body = np.where((rows < line_of_snow)[..., None], white, body)
    depth = ((rows - skyline[None, :]) * 256 // max(1, rise)).clip(0, 200)
    body += (np.array(haze, np.int32) - body) * depth[..., None] >> 8
    canvas.lay(_below(canvas, skyline), body)


def _meadow(rng: Random, canvas: Canvas, base: int, rise: int, grass: Colour) -> Ints:
    height, width = canvas.height, canvas.width
    field = Canvas(canvas.pixels[base - rise : base + 2 * rise])
    skyline = rise - line(rng.getrandbits(30), width, height * 2 // 3, 3) * rise // ONE
    tufts = fractal(rng.getrandbits(30), field.height, width, height // 24, height // 8, 4)
    patches = noise(rng.getrandbits(30), field.height, width, height // 4, height // 3)
    tones = [blend(grass, (10, 30, 10), 120), grass, blend(grass, (235, 220, 120), 110)]
    field.lay(_below(field, skyline), ramp(stretch((tufts + patches) // 2, 60, 195), tones))
    return skyline + base - rise


def _fir(rng: Random, canvas: Canvas, row: int, col: int, tall: int) -> None:
    green = vary(rng, (34, 84, 52), 16)
    canvas.rectangle(row - tall // 8, col - tall // 30, tall // 8, max(2, tall // 15), (84, 58, 40))
    light = blend(green, (190, 220, 120), 60)
    for tier in range(4):
        top, half = row - tall // 8 - tall * (tier + 2) // 6, tall * (11 - 2 * tier) // 40
        canvas.triangle(top, col, tall // 3, half, light, green)


def _leafy(rng: Random, canvas: Canvas, row: int, col: int, tall: int) -> None:
    leaf = vary(rng, ((70, 122, 50), (168, 96, 40), (112, 138, 54))[rng.randrange(3)], 18)
    canvas.rectangle(row - tall // 2, col - tall // 24, tall // 2, max(2, tall // 12), (92, 64, 44))
    for _ in range(9):
        up, aside = rng.randint(tall * 45 // 100, tall * 9 // 10), rng.randint(-tall // 4, tall // 4)
        canvas.disc(row - up, col + aside, rng.randint(tall // 9, tall // 5), vary(rng, leaf, 22))


def _house(rng: Random, canvas: Canvas, row: int, col: int, tall: int) -> None:
    wall = vary(rng, ((226, 208, 176), (196, 120, 92), (210, 220, 226))[rng.randrange(3)], 14)
    wide = tall * rng.randint(9, 14) // 10
    roof = vary(rng, ((142, 62, 46), (74, 82, 98), (112, 78, 52))[rng.randrange(3)], 14)
    canvas.rectangle(row - tall, col - wide // 2, tall, wide // 2, wall)
    canvas.rectangle(row - tall, col, tall, wide // 2, blend(wall, (40, 40, 70), 50))
    canvas.triangle(row - tall * 17 // 10, col, tall * 7 // 10, wide * 6 // 10, roof, blend(roof, (20, 20, 40), 70))
    pane = max(3, tall // 4)
    for left in (-wide * 3 // 10, wide * 3 // 10 - pane):
        canvas.rectangle(row - tall * 3 // 4, col + left, pane, pane, (252, 226, 140))
    canvas.rectangle(row - tall // 2, col - pane // 2, tall // 2, pane, blend(roof, (0, 0, 0), 60))


def landscape(rng: Random, height: int, width: int) -> Canvas:
    """Sky and sun, mountains in the haze, meadows with trees and houses, flowers in front."""
    horizon = height * rng.randint(42, 52) // 100
    sky = _SKIES[rng.randrange(len(_SKIES))]
    canvas = _sky(rng, height, width, sky, horizon)
    sun = rng.randint(height // 10, height // 3), rng.randrange(width)
    canvas.disc(*sun, height // 18, (255, 244, 200), height // 3)
    haze = sky[-1]
    ranges = rng.randint(1, 3)
    for layer in range(ranges, 0, -1):
        rock = blend(vary(rng, (86, 92, 112), 16), haze, 40 * layer)
        base, rise = horizon + height // 10 - layer * height // 24, height * (16 + 9 * layer) // 100
        _mountains(rng, canvas, base, rise, rock, haze, snow=layer == ranges > 1)
    grass = vary(rng, (96, 138, 62), 26)
    for layer in range(4):
        base = horizon + height // 9 + layer * height // 7
        ground = _meadow(rng, canvas, base, height // 8, blend(grass, haze, 75 - 25 * layer))
        for _ in range(rng.randint(2, 3 + layer)):
            col = rng.randrange(width)
            _house(rng, canvas, int(ground[col]) + height // 40, col, height * (9 + 3 * layer) // 200)
        for _ in range(width * rng.randint(4, 9) // height):
            col = rng.randrange(width)
            row = int(ground[col]) + rng.randrange(height // 30, height // 8)
            tree = _fir if rng.randrange(3) else _leafy
            tree(rng, canvas, row, col, height * rng.randint(9, 12 + 4 * layer) // 100)
    petals = [vary(rng, tone, 20) for tone in ((240, 90, 90), (250, 214, 90), (245, 245, 240), (170, 110, 210))]
    for _ in range(width * 90 // height):
        row = rng.randrange(height * 82 // 100, height)
        col, radius = rng.randrange(width), rng.randint(2, 2 + (row - height * 3 // 4) // 24)
        canvas.disc(row, col, radius, petals[rng.randrange(4)])
    return canvas


def _water(rng: Random, canvas: Canvas, horizon: int, far: Colour, near: Colour) -> None:
    """Waves that grow towards the viewer: noise looked up at distances that shrink with depth."""
    height, width = canvas.height, canvas.width
    depth = np.arange(height - horizon, dtype=np.int32)
    waves = noise(rng.getrandbits(30), 600, width, 6, height // 9)
    small = noise(rng.getrandbits(30), 600, width, 3, height // 22)
    at = depth * 599 // (depth + height // 5) * 599 // max(1, int(depth[-1] * 599 // (depth[-1] + height // 5)))
    swell = (waves[at] * 2 + small[at]) // 3
    base = ramp((depth * (ONE - 1) // max(1, height - horizon))[:, None], [far, near])
    canvas.pixels[horizon:] = base + ((swell - ONE // 2) // 620)[..., None]
    foam = stretch(swell, 160, 220) * (60 + depth * 150 // height)[:, None] // ONE
    below = Canvas(canvas.pixels[horizon:])
    below.lay(foam, blend(far, (255, 255, 255), 190))


def _boat(rng: Random, canvas: Canvas, row: int, col: int, tall: int) -> None:
    hull = vary(rng, ((150, 60, 50), (60, 76, 110), (120, 84, 50))[rng.randrange(3)], 16)
    sail = vary(rng, ((246, 240, 226), (232, 120, 84), (236, 196, 96))[rng.randrange(3)], 8)
    canvas.triangle(row - tall, col, tall * 9 // 10, tall * 4 // 10, sail, blend(sail, (60, 60, 90), 70))
    canvas.rectangle(row - tall, col - 1, tall, max(2, tall // 30), (70, 52, 40))
    if shape := canvas.shape(row - tall // 10, col - tall // 2, tall // 5, tall):
        shape.lay(np.abs(shape.cols - col) + (shape.rows - row) * 2 <= tall * 2 // 5, hull)


def seascape(rng: Random, height: int, width: int) -> Canvas:
    """Sky and low sun with its path on the water, islands, boats, sometimes a beach."""
    horizon = height * rng.randint(38, 50) // 100
    sky = _SKIES[rng.randrange(len(_SKIES))]
    canvas = _sky(rng, height, width, sky, horizon)
    sun_col, sun = rng.randrange(width), blend(sky[-1], (255, 240, 190), 180)
    canvas.disc(horizon - rng.randint(height // 20, height // 4), sun_col, height // 14, sun, height // 2)
    island = blend(vary(rng, (70, 84, 88), 16), sky[-1], 90)
    _mountains(rng, canvas, horizon + height // 16, height * 3 // 10, island, sky[-1], snow=False)
    far, near = blend(vary(rng, (52, 112, 150), 22), sky[-1], 100), vary(rng, (18, 62, 92), 20)
    _water(rng, canvas, horizon, far, near)
    rows, cols = np.arange(height, dtype=np.int32)[:, None], np.arange(width, dtype=np.int32)[None]
    glints = fractal(rng.getrandbits(30), height, width, height // 50, height // 12, 3)
    spread = (rows - horizon).clip(1) // 3 + height // 12
    path = (256 - np.abs(cols - sun_col) * 256 // spread).clip(0) * stretch(glints, 110, 170) // ONE
    canvas.lay(np.where(rows >= horizon, path * 220 >> 8, 0).astype(np.int32), sun)
    for _ in range(rng.randint(5, 8)):
        row = rng.randrange(horizon + height // 30, height * 92 // 100)
        _boat(rng, canvas, row, rng.randrange(width), height // 16 + (row - horizon) // 3)
    if rng.randrange(2):
        shore = height * 92 // 100 - line(rng.getrandbits(30), width, height, 4) * height // (5 * ONE)
        grains = fractal(rng.getrandbits(30), height, width, height // 20, height // 9, 6)
        canvas.lay(_below(canvas, shore - height // 50), (240, 244, 240))
        canvas.lay(_below(canvas, shore), ramp(stretch(grains, 70, 190), [(186, 150, 104), (234, 206, 158)]))
    return canvas


def city(rng: Random, height: int, width: int) -> Canvas:
    """Towers with lit windows under moon and stars, mirrored in a river."""
    night = _NIGHTS[rng.randrange(len(_NIGHTS))]
    quay = height * rng.randint(66, 84) // 100
    canvas = _sky(rng, height, width, night, quay)
    for _ in range(width * 60 // height):
        canvas.disc(rng.randrange(quay), rng.randrange(width), rng.randrange(1, 3), (236, 236, 250))
    moon = rng.randint(height // 10, height // 4), rng.randrange(width)
    canvas.disc(*moon, height // 16, (244, 238, 214), height // 3)
    for layer in range(3):
        tone = blend(night[2], (8, 10, 24), 60 + 75 * layer)
        col = -rng.randrange(height // 10)
        while col < width:
            wide = height * rng.randint(7, 15) // 100
            tall = height * rng.randint(34 - 9 * layer, 62 - 15 * layer) // 100
            _tower(rng, canvas, quay, col, tall, wide, vary(rng, tone, 9), layer)
            col += wide + rng.randrange(-height // 60, height // 14)
    mirror = canvas.pixels[max(0, 2 * quay - height) : quay][::-1][: height - quay]
    ripple = noise(rng.getrandbits(30), height - quay, width, 7, height // 10)
    cols = (np.arange(width, dtype=np.int32)[None, :] + (ripple - ONE // 2) * height // (20 * ONE)) % width
    rows = np.arange(height - quay, dtype=np.int32)[:, None] % len(mirror)
    canvas.pixels[quay:] = mirror[rows, cols] * 170 + np.array(night[1], np.int32) * 86 >> 8
    Canvas(canvas.pixels[quay:]).lay(stretch(ripple, 170, 240) * 50 // ONE, night[2])
    canvas.rectangle(quay - height // 90, 0, height // 60, width, (14, 14, 26))
    for col in range(rng.randrange(height // 12), width, height // 9):
        canvas.disc(quay - height // 22, col, height // 120, (255, 220, 150), height // 22, 190)
    return canvas


def _tower(rng: Random, canvas: Canvas, quay: int, col: int, tall: int, wide: int, tone: Colour, layer: int) -> None:
    top = quay - tall
    canvas.rectangle(top, col, tall, wide * 6 // 10, blend(tone, (120, 120, 170), 30))
    canvas.rectangle(top, col + wide * 6 // 10, tall, wide - wide * 6 // 10, tone)
    if rng.randrange(3) == 0:
        canvas.triangle(top - tall // 6, col + wide // 2, tall // 6, wide // 3, blend(tone, (90, 90, 130), 60), tone)
    pane, gap = canvas.height // 110 + layer, canvas.height // 55 + layer
    lit = [(255, 214, 120), (255, 236, 180), (190, 220, 255), (255, 180, 100)][rng.randrange(4)]
    for row in range(top + gap, quay - gap, gap + pane):
        for left in range(col + gap // 2, col + wide - pane, gap):
            if rng.randrange(5) < 2:
                canvas.rectangle(row, left, pane + pane // 2, pane, vary(rng, lit, 24))


KINDS: dict[str, Callable[[Random, int, int], Canvas]] = {
    one.__name__: one for one in (landscape, seascape, city, wood, marble, weave, bubbles, nebula, glass)
}


def pick_kind(rng: Random, but: str = "") -> str:
    """A kind of scene at random; views are more frequent than textures."""
    names = [name for name in (*KINDS, "landscape", "seascape", "city", "landscape") if name != but]
    return names[rng.randrange(len(names))]


def pixels(seed: int, kind: str, height: int, width: int) -> NDArray[np.uint8]:
    """A scene as (height, width, 3)."""
    if kind not in KINDS:
        raise UnknownName(f"there is no scene called {kind!r}", ", ".join(KINDS))
    return KINDS[kind](Random(seed), 2 * height, 2 * width).halved()


def paint(seed: int, kind: str | None = None, size: int | tuple[int, int] = 256) -> Image.Image:
    """A scene as an image of `size` (one side, or width and height)."""
    from PIL import Image as images

    width, height = (size, size) if isinstance(size, int) else size
    return images.fromarray(pixels(seed, kind or pick_kind(Random(seed)), height, width))


def fitted(path: Path, cell: int) -> NDArray[np.uint8]:
    """A picture cut and scaled to three by two cells."""
    from PIL import Image, ImageOps

    try:
        image = Picture.from_file(path).image()
    except BadPicture as error:
        raise BadPicture(f"{path.name}: {error}") from error
    return np.asarray(ImageOps.fit(image, (3 * cell, 2 * cell), Image.Resampling.LANCZOS))
