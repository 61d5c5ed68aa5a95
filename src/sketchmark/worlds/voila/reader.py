"""Image reader of VOILA: number, subject and action from the pixels of a built-in image.

It sorts pixels into the colour families of the bank's palette (fur and hair, grounds, props). Then it searches for
heads: it lays a freshly drawn head of each likely subject over the image in every size and position and counts where
fur or hair agrees. That gives subject and number. The ground and the props give the action. The reader ignores file
names and metadata, and nothing is hidden in the images: anyone's similar drawing is read the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sketchmark.media import Picture
from sketchmark.media.pixels import Recent
from sketchmark.worlds.voila.bank.figure import SIZES
from sketchmark.worlds.voila.bank.heads import draw_head
from sketchmark.worlds.voila.bank.pen import FLOORS, GROUNDS, KEYS, OTHERS, PROPS, Colour, Face, Pen
from sketchmark.worlds.voila.scenes import ACTIONS, NUMBERS, Scene

if TYPE_CHECKING:
    from PIL import Image


SIDE = 384
"""Every picture is looked at in this size."""

COARSE = 128
"""Heads are looked for on a grid of this size, each cell the share of 3 x 3 pixels of one family."""

TOLERANCE = 28
"""Greatest distance (Euclidean, RGB) of a pixel from the nearest colour of the palette in its family."""

SCALES = (3.65, 3.2, 2.8, 2.45, 2.15, 1.9, 1.72, 1.56)
"""Sizes in which figures occur, in picture pixels of a 512-pixel picture per unit of the figure's frame."""

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Heads:
    """Position of one subject's head."""

    subject: int
    agreement: float
    count: int


_FAMILIES: list[tuple[str, Colour]] = [
    *((f"subject {subject}", colour) for subject, colour in KEYS.items()),
    *((name, colour) for name, colours in GROUNDS.items() for colour in colours),
    *(("floor", colour) for colour in FLOORS),
    *((name, colour) for name, colour in PROPS.items()),
    *(("other", colour) for colour in OTHERS),
]
_NAMES = sorted({name for name, _ in _FAMILIES})


@cache
def _lookup() -> NDArray[np.uint8]:
    """Family of every colour, at 6 bits a channel; 0 is none."""
    levels = (np.arange(64, dtype=np.float32) * 4) + 2
    best = np.full((64, 64, 64), TOLERANCE**2, dtype=np.float32)
    family = np.zeros((64, 64, 64), dtype=np.uint8)
    for name, (red, green, blue) in _FAMILIES:
        reds, greens, blues = ((levels - value) ** 2 for value in (red, green, blue))
        distance = reds[:, None, None] + greens[None, :, None] + blues[None, None, :]
        closer = distance < best
        best[closer] = distance[closer]
        family[closer] = _NAMES.index(name) + 1
    return family


def _families(image: Image.Image) -> NDArray[np.uint8]:
    from PIL import Image as images

    return _family_of(np.asarray(image.resize((SIDE, SIDE), images.Resampling.BILINEAR)))


def _family_of(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    bits = (pixels >> 2).astype(np.int32)
    return _lookup().reshape(-1).take(bits[..., 0] << 12 | bits[..., 1] << 6 | bits[..., 2])


def _shares(families: NDArray[np.uint8]) -> dict[str, float]:
    """Return the proportion of the image that each family fills."""
    counts = np.bincount(families.ravel(), minlength=len(_NAMES) + 1)[1:] / families.size
    return dict(zip(_NAMES, counts.tolist(), strict=True))


def _coarse(mask: NDArray[np.bool_]) -> Array:
    cell = SIDE // COARSE
    rows = np.add.reduce([mask[place::cell] for place in range(cell)], dtype=np.uint8)
    counts = np.add.reduce([rows[:, place::cell] for place in range(cell)], dtype=np.uint8)
    shares: Array = counts / np.float32(cell * cell)
    return shares


def _key_mask(families: NDArray[np.uint8], subject: int) -> Array:
    return _coarse(families == _NAMES.index(f"subject {subject}") + 1)


@cache
def _template(subject: int, scale: float) -> NDArray[np.complex64]:
    """A head as a filter, ready for correlation: fur or hair counts for, bare parts and surroundings count against.
    What is below the chin is left out: shoulders, a book or a box may be there."""
    nowhere = (0, 255, 0)
    pen = Pen(SIDE, nowhere)
    unit = scale * SIZES.get(subject, 1.0)
    with pen.at(SIDE / 2, SIDE / 2, unit * SIDE / 512):
        draw_head(pen, subject, Face())
    pixels = np.asarray(pen.finish())
    key = _key_mask(_family_of(pixels), subject)
    head = _coarse((pixels != nowhere).any(axis=2))
    around = _grown(head, round(unit * 5 * COARSE / 512)) - head
    against = around + np.clip(head - key, 0, 1)
    key[COARSE // 2 + round(unit * 14 * COARSE / 512) :] = 0
    against[COARSE // 2 + round(unit * 6 * COARSE / 512) :] = 0
    canvas = np.zeros((_PADDED, _PADDED), dtype=np.float32)
    canvas[:COARSE, :COARSE] = key / key.sum() - against / against.sum()
    centred = np.roll(canvas, (-COARSE // 2, -COARSE // 2), axis=(0, 1))
    return np.conj(np.fft.rfft2(centred)).astype(np.complex64)


_PADDED = 192
"""Room for a head that sticks out of the picture, so that correlation does not wrap around."""


def _grown(mask: Array, radius: int) -> Array:
    grown = mask
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            if dx * dx + dy * dy <= radius * radius:
                grown = np.maximum(grown, np.roll(mask, (dy, dx), axis=(0, 1)))
    return grown


def _find_heads(families: NDArray[np.uint8], subject: int) -> Heads:
    """The size at which heads of this subject agree best with the picture, and how many do."""
    best = Heads(subject, 0.0, 0)
    mask = _key_mask(families, subject)
    if not mask.any():
        return best
    canvas = np.zeros((_PADDED, _PADDED), dtype=np.float32)
    canvas[:COARSE, :COARSE] = mask
    spectrum = np.fft.rfft2(canvas)
    for scale in SCALES:
        response = np.fft.irfft2(spectrum * _template(subject, scale), s=canvas.shape)[:COARSE, :COARSE]
        agreement = float(response.max())
        if agreement > best.agreement:
            peaks = _peaks(response, scale * SIZES.get(subject, 1.0) * COARSE / 512)
            best = Heads(subject, agreement, sum(peak > agreement * ALIKE for peak in peaks))
    return best


MOST = len(NUMBERS)

ALIKE = 0.56
"""Heads of one picture agree about equally well; less than this share of the best is something else."""

SURE = 0.25
"""Below this agreement no head was found at all."""


def _peaks(response: NDArray[np.float64], unit: float) -> list[float]:
    """Agreement of the best places, best first. Below a head there is its body, where no other head is looked for."""
    left = response.copy()
    peaks = []
    for _ in range(MOST + 1):
        y, x = divmod(int(left.argmax()), left.shape[1])
        peaks.append(float(left[y, x]))
        above, below, aside = (round(part * unit) for part in (22, 84, 38))
        left[max(0, y - above) : y + below + 1, max(0, x - aside) : x + aside + 1] = 0
    return peaks


def _heads(families: NDArray[np.uint8]) -> Heads | None:
    shares = _shares(families)
    likely = sorted(KEYS, key=lambda subject: -shares[f"subject {subject}"])[:3]
    best = max((_find_heads(families, subject) for subject in likely), key=lambda heads: heads.agreement)
    return best if best.agreement >= SURE and best.count <= MOST else None


_ACTION_BY_GROUND = {
    "pitch": "playing soccer", "road": "driving a car", "ice": "ice-skating", "path": "walking",
    "water": "swimming", "meadow": "jumping", "soil": "digging a hole", "paving": "carrying something",
    "track": "running",
}  # fmt: skip

_MUST_SHOW = {"driving a car": "tyre", "digging a hole": "pit", "carrying something": "box"}
"""The thing without which an action did not happen, wherever the figures are."""


def _action(families: NDArray[np.uint8]) -> int | None:
    lower = _shares(families[SIDE * 55 // 100 :])
    shares = _shares(families)
    ground = max((*_ACTION_BY_GROUND, "floor"), key=lambda name: lower[name])
    if lower[ground] < 0.15:
        return None
    name = _indoors(shares) if ground == "floor" else _ACTION_BY_GROUND[ground]
    if name is None or (name in _MUST_SHOW and shares[_MUST_SHOW[name]] < 0.001):
        return None
    return ACTIONS.index(name)


def _indoors(shares: dict[str, float]) -> str | None:
    """By what is on the table, or in the hands."""
    if shares["cloth"] > 0.01:
        return "eating food"
    if shares["desk"] > 0.015:
        return "typing" if shares["laptop"] > shares["desk"] / 8 else "writing"
    return "reading" if shares["book"] > 0.0004 else None


def read(picture: Picture) -> Scene | None:
    """Return the scene of a built-in image, or None if it shows no such scene. An animated one shows several."""
    if picture.is_animated:
        return None
    key = picture.identity
    return (_READINGS.get(key) or _READINGS.keep(key, (_read(picture.image()),)))[0]


_READINGS: Recent[tuple[Scene | None, ...]] = Recent(1024)
"""Readings of images and collages: a player and then the scorer ask for the same pixels."""


def _read(image: Image.Image) -> Scene | None:
    families = _families(image)
    heads = _heads(families)
    action = _action(families)
    if heads is None or action is None:
        return None
    return Scene(heads.count, heads.subject, action)


def read_collage(picture: Picture) -> list[Scene | None]:
    """The scenes of a collage, left to right; an empty list when it is not three pictures in a row."""
    key = ("collage", picture.identity)
    found = _READINGS.get(key)
    return list(_READINGS.keep(key, _read_cells(picture)) if found is None else found)


def _read_cells(picture: Picture) -> tuple[Scene | None, ...]:
    cells = _cells(picture.values)
    if len(cells) != 3:
        return ()
    image = picture.image()
    return tuple(_read(image.crop((left, 0, right, image.height))) for left, right in cells)


def _cells(pixels: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """Return (left, right) columns of the images in a collage (docs/benchmarks/voila.md, "The collage")."""
    height = pixels.shape[0]
    filled = (pixels.min(axis=2) < 235).sum(axis=0) > height * 0.02
    edges = np.flatnonzero(np.diff(np.concatenate(([False], filled, [False])).astype(np.int8)))
    runs = list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
    return [(left, right) for left, right in runs if right - left > height // 4]
