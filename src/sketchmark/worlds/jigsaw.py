"""Jigsaws: a picture cut into 2x2 cells, the bottom-right one hidden, and two patches of which one belongs there.

What you see: the panel with a grey cell, and two candidates. What you may do: choose 0 or 1. The right patch
continues the picture across both inner edges; the wrong one comes from another scene (easy), from elsewhere in the
same scene or is the right one mirrored (medium), or lies only a part of a cell beside the right one or is mirrored
(hard).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from sketchmark.errors import BadInput, BadPicture
from sketchmark.parts import Picture
from sketchmark.worlds import png, scenes

Pixels = NDArray[np.uint8]

HIDDEN = 128
"""The grey of the hidden cell."""

WRONG_KINDS: dict[str, tuple[str, ...]] = {
    "easy": ("other scene",),
    "medium": ("elsewhere", "mirrored"),
    "hard": ("neighbouring", "mirrored"),
}
_PICTURES = {".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
_SCENES_TRIED, _PATCHES_TRIED = 24, 12


@dataclass(frozen=True)
class Jigsaw:
    """`candidates[label]` is right; `wrong_kind` says what the other one is."""

    ref: Picture
    candidates: tuple[Picture, Picture]
    label: int
    wrong_kind: str


def generate(seed: int, difficulty: str = "medium", folder: Path | None = None, size: int = 224) -> Jigsaw:
    """A jigsaw whose panel is `size` pixels wide, from a self-made scene or from a picture in the user's folder.

    The wrong patch must fit visibly worse than the right one at the seams; where it does not (a cloudless sky looks
    the same everywhere) another patch, and then another scene, is taken.
    """
    if difficulty not in WRONG_KINDS:
        raise BadInput(f"{difficulty!r} is no difficulty of jigsaws", ", ".join(WRONG_KINDS))
    if not 32 <= size <= 1024:
        raise BadInput(f"a jigsaw {size} pixels wide cannot be made", "32 to 1024")
    rng, cell = Random(seed), size // 2
    draw = _from_folder(folder, cell) if folder else _own_scenes(cell)
    kinds = WRONG_KINDS[difficulty]
    for _ in range(_SCENES_TRIED):
        scene, name = draw(rng, "")
        other = draw(rng, name)[0] if difficulty == "easy" else scene
        left = rng.randrange(cell + 1)
        panel = scene[:, left : left + 2 * cell]
        right = panel[cell:, cell:]
        for _ in range(_PATCHES_TRIED):
            kind = kinds[rng.randrange(len(kinds))]
            wrong = _wrong_patch(rng, kind, scene, other, left + cell)
            if wrong is not None and _fits_worse(panel, wrong):
                label = rng.randrange(2)
                pair = (png.rgb(right), png.rgb(wrong))
                return Jigsaw(_hidden(panel), pair if label == 0 else pair[::-1], label, kind)
    raise BadInput("no jigsaw could be cut: the pictures are too plain to tell a right patch from a wrong one")


Draw = Callable[[Random, str], tuple[Pixels, str]]
"""A random scene other than the named one, and its name: three cells wide and two high, to have room to cut."""


def _own_scenes(cell: int) -> Draw:
    def draw(rng: Random, but: str) -> tuple[Pixels, str]:
        kind = scenes.pick_kind(rng, but)
        return scenes.pixels(rng.getrandbits(48), kind, 2 * cell, 3 * cell), kind

    return draw


def _from_folder(folder: Path, cell: int) -> Draw:
    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder of pictures")
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in _PICTURES)
    if not paths:
        raise BadInput(f"there are no pictures in {folder}", "PNG, JPEG, WebP, GIF, BMP or TIFF")

    def draw(rng: Random, but: str) -> tuple[Pixels, str]:
        choices = [path for path in paths if path.name != but]
        if not choices:
            raise BadInput(f"{folder} has only one picture", "easy jigsaws need two")
        path = choices[rng.randrange(len(choices))]
        return _fitted(path, cell), path.name

    return draw


def _fitted(path: Path, cell: int) -> Pixels:
    """A picture cut and scaled to three by two cells."""
    from PIL import Image, ImageOps

    try:
        image = Picture.from_file(path).image()
    except BadPicture as error:
        raise BadPicture(f"{path.name}: {error}") from error
    return np.asarray(ImageOps.fit(image, (3 * cell, 2 * cell), Image.Resampling.LANCZOS))


def _wrong_patch(rng: Random, kind: str, scene: Pixels, other: Pixels, at: int) -> Pixels | None:
    """A patch that does not belong at column `at` of the scene's lower half; None if the scene has no room for it."""
    cell = scene.shape[0] // 2
    if kind == "mirrored":
        return scene[cell:, at : at + cell][:, ::-1]
    if kind == "other scene":
        left = rng.randrange(2 * cell + 1)
        return other[cell:, left : left + cell]
    if kind == "elsewhere":
        top, left = rng.randrange(cell // 2, cell + 1), rng.randrange(2 * cell + 1)
        return scene[top : top + cell, left : left + cell] if abs(left - at) > cell // 2 else None
    top, left = cell - rng.randrange(cell // 3), at + rng.randint(-cell // 2, cell // 2)
    near = abs(left - at) + cell - top < cell // 4
    return scene[top : top + cell, left : left + cell] if not near and left <= 2 * cell else None


def _fits_worse(panel: Pixels, wrong: Pixels) -> bool:
    """Whether the seams tell: a wrong patch must cost clearly more than the right one."""
    cell = panel.shape[0] // 2
    filled = panel.copy()
    filled[cell:, cell:] = wrong
    return _seam_cost(filled) > 1.3 * _seam_cost(panel) + 2


def _hidden(panel: Pixels) -> Picture:
    """The panel with its last cell flat grey, a darker line around it."""
    cell = panel.shape[0] // 2
    hidden = panel.copy()
    hidden[cell:, cell:] = HIDDEN - 32
    hidden[cell + 2 : -2, cell + 2 : -2] = HIDDEN
    return png.rgb(hidden)


def complete(ref: Picture, candidate: Picture) -> Picture:
    """The panel with a candidate in its bottom-right cell (scaled to the cell if need be), all else untouched."""
    panel, patch = np.array(ref.image()), candidate.image()
    top, left = panel.shape[0] // 2, panel.shape[1] // 2
    room = panel.shape[1] - left, panel.shape[0] - top
    panel[top:, left:] = np.asarray(patch if patch.size == room else patch.resize(room))
    return png.rgb(panel)


def frames(jigsaw: Jigsaw) -> list[Picture]:
    """The panel completed with candidate 0 and with candidate 1."""
    return [complete(jigsaw.ref, candidate) for candidate in jigsaw.candidates]


def seam_cost(completed: Picture) -> float:
    """How badly the bottom-right cell continues its neighbours: mean step in colour (0..255) across its two seams."""
    return _seam_cost(np.asarray(completed.image()))


def _seam_cost(panel: Pixels) -> float:
    top, left = panel.shape[0] // 2, panel.shape[1] // 2
    lines = panel.astype(np.int16)
    across = np.abs(lines[top:, left] - lines[top:, left - 1]).mean()
    down = np.abs(lines[top, left:] - lines[top - 1, left:]).mean()
    return float(across + down) / 2


def similarity(one: Picture, two: Picture) -> float:
    """How alike two pictures are, 0 to 1, without weights: mean structural similarity over red, green and blue.

    Wang et al. 2004 with the usual constants, but plain 7x7 windows. The second picture is scaled to the first one's
    size. Identical pictures have exactly 1; negative similarity (inverted structure) counts as 0.
    """
    first, second = one.image(), two.image()
    if second.size != first.size:
        second = second.resize(first.size)
    x, y = np.asarray(first, np.float64), np.asarray(second, np.float64)
    mean_x, mean_y = _window_means(x), _window_means(y)
    spread = _window_means(x * x) - mean_x * mean_x + (_window_means(y * y) - mean_y * mean_y)
    shared = _window_means(x * y) - mean_x * mean_y
    light, detail = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    map_ = (2 * mean_x * mean_y + light) * (2 * shared + detail)
    map_ /= (mean_x * mean_x + mean_y * mean_y + light) * (spread + detail)
    return min(1.0, max(0.0, float(map_.mean())))


def _window_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of every 7x7 window (smaller where the picture is smaller), from running sums."""
    for axis in (0, 1):
        window = min(7, values.shape[axis])
        sums = np.concatenate([np.zeros_like(values.take([0], axis)), np.cumsum(values, axis=axis)], axis=axis)
        last, first = np.arange(window, sums.shape[axis]), np.arange(sums.shape[axis] - window)
        values = (sums.take(last, axis) - sums.take(first, axis)) / window
    return values
