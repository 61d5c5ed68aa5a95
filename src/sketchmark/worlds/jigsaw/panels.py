"""Jigsaws: a picture cut into 2x2 cells, the bottom-right one hidden, and two patches of which one belongs there.

What you see: the panel with a grey cell, and two candidates. What you may do: choose 0 or 1. The right patch
continues the picture across both inner edges; the wrong one comes from another scene (easy), from elsewhere in the
same scene or is the right one mirrored (medium), or is shifted by only a part of a cell or mirrored (hard).

The scenes are our own, full of detail, and for a seed the same to the pixel on every machine. One patch is right. Two
ground-truth images show the panel with each patch. There are always two, so a level is not a number of steps here.

Levels: the wrong patch has ever more in common with the right one. Level 1: it comes from another scene, so its
colours differ. Level 2: from another part of the same scene, with the same colours. Level 3: the right patch
mirrored, so its upper edge has the same colours in another order. Level 4: shifted by a quarter to half a cell. Level
5: shifted by an eighth to a quarter of a cell, so that only the lines at the edges decide.

Looks: nine kinds of scenes.

Corrupt step: each panel is filled with the other patch.

Chance: one in two.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sketchmark.errors import BadInput, BadPicture, UnknownName
from sketchmark.media import Picture
from sketchmark.media.pixels import Recent
from sketchmark.worlds.jigsaw import scenes
from sketchmark.worlds.jigsaw.paint import Canvas

if TYPE_CHECKING:
    from PIL import Image


KINDS: dict[str, Callable[[Random, int, int], Canvas]] = {
    **{view.__name__: view for view in (scenes.landscape, scenes.seascape, scenes.city)},
    **{texture.__name__: texture for texture in (scenes.wood, scenes.marble, scenes.weave)},
    **{texture.__name__: texture for texture in (scenes.bubbles, scenes.nebula, scenes.glass)},
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


Pixels = NDArray[np.uint8]

HIDDEN = 128
"""The grey of the hidden cell."""

WRONG_KINDS: dict[str, tuple[str, ...]] = {
    "easy": ("other scene",),
    "medium": ("elsewhere", "mirrored"),
    "hard": ("neighbouring", "mirrored"),
}
LEVEL_KINDS = ("other scene", "elsewhere", "mirrored", "neighbouring", "nearby")
_PICTURES = {".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
_SCENES_TRIED, _PATCHES_TRIED = 24, 12


@dataclass(frozen=True)
class Jigsaw:
    """`candidates[label]` is right; `wrong_kind` says what the other one is."""

    ref: Picture
    candidates: tuple[Picture, Picture]
    label: int
    wrong_kind: str


def generate(
    seed: int, difficulty: str = "medium", folder: Path | None = None, size: int = 224, level: int = 0
) -> Jigsaw:
    """A jigsaw whose panel is `size` pixels wide, from a self-made scene or from a picture in the user's folder. The
    wrong patch must fit visibly worse than the right one at the seams; where it does not (a cloudless sky looks the
    same everywhere) another patch, and then another scene, is taken."""
    if difficulty not in WRONG_KINDS:
        raise BadInput(f"{difficulty!r} is not a difficulty of jigsaws", ", ".join(WRONG_KINDS))
    if not 32 <= size <= 1024:
        raise BadInput(f"a jigsaw {size} pixels wide cannot be made", "32 to 1024")
    kinds = (LEVEL_KINDS[level - 1],) if level else WRONG_KINDS[difficulty]
    return _own(seed, kinds, size) if folder is None else _cut(seed, kinds, _from_folder(folder, size // 2))


@lru_cache(maxsize=64)
def _own(seed: int, kinds: tuple[str, ...], size: int) -> Jigsaw:
    """Cached, because the modes of a run use the same samples, and a scene takes long to paint."""
    return _cut(seed, kinds, _own_scenes(size // 2))


def _cut(seed: int, kinds: tuple[str, ...], draw: Draw) -> Jigsaw:
    rng = Random(seed)
    for _ in range(_SCENES_TRIED):
        scene, name = draw(rng, "")
        cell = scene.shape[0] // 2
        other = draw(rng, name)[0] if "other scene" in kinds else scene
        left = rng.randrange(cell + 1)
        panel = scene[:, left : left + 2 * cell]
        right = panel[cell:, cell:]
        for _ in range(_PATCHES_TRIED):
            kind = kinds[rng.randrange(len(kinds))]
            wrong = _wrong_patch(rng, kind, scene, other, left + cell)
            if wrong is not None and _fits_worse(panel, wrong):
                label = rng.randrange(2)
                pair = (_picture(right), _picture(wrong))
                return Jigsaw(_hidden(panel), pair if label == 0 else pair[::-1], label, kind)
    raise BadInput("no jigsaw could be cut: the images are too plain to distinguish a right patch from a wrong one")


Draw = Callable[[Random, str], tuple[Pixels, str]]
"""A random scene other than the named one, and its name: three cells wide and two high, to have room to cut."""


def _own_scenes(cell: int) -> Draw:
    def draw(rng: Random, but: str) -> tuple[Pixels, str]:
        kind = pick_kind(rng, but)
        return pixels(rng.getrandbits(48), kind, 2 * cell, 3 * cell), kind

    return draw


def _from_folder(folder: Path, cell: int) -> Draw:
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder of images")
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
    if kind == "nearby":
        aside = rng.choice((-1, 1)) * rng.randint(cell // 8, cell // 4)
        return scene[cell:, at + aside : at + aside + cell] if at + aside <= 2 * cell else None
    top, left = cell - rng.randrange(cell // 3), at + rng.randint(-cell // 2, cell // 2)
    near = abs(left - at) + cell - top < cell // 4
    return scene[top : top + cell, left : left + cell] if not near and left <= 2 * cell else None


def _fits_worse(panel: Pixels, wrong: Pixels) -> bool:
    """Return whether the seams decide: a wrong patch must cost clearly more than the right one."""
    cell = panel.shape[0] // 2
    filled = panel.copy()
    filled[cell:, cell:] = wrong
    return seam_cost(filled) > 1.3 * seam_cost(panel) + 2


def _hidden(panel: Pixels) -> Picture:
    """The panel with its last cell flat grey, a darker line around it."""
    cell = panel.shape[0] // 2
    hidden = panel.copy()
    hidden[cell:, cell:] = HIDDEN - 32
    hidden[cell + 2 : -2, cell + 2 : -2] = HIDDEN
    return _picture(hidden)


def _picture(values: Pixels) -> Picture:
    from PIL import Image

    return Picture.from_image(Image.fromarray(values))


_COMPLETED: Recent[Picture] = Recent(64)
"""By panel and candidate: who draws them right, the oracle and the scorer all ask for the same ones."""


def complete(ref: Picture, candidate: Picture) -> Picture:
    """The panel with a candidate in its bottom-right cell (scaled to the cell if need be), all else untouched."""
    key = (ref.identity, candidate.identity)
    return _COMPLETED.get(key) or _COMPLETED.keep(key, _picture(_filled(ref, candidate)))


def _filled(ref: Picture, candidate: Picture) -> Pixels:
    panel = ref.values.copy()
    top, left = panel.shape[0] // 2, panel.shape[1] // 2
    panel[top:, left:] = _sized(candidate, (panel.shape[1] - left, panel.shape[0] - top))
    return panel


def _sized(picture: Picture, size: tuple[int, int]) -> Pixels:
    return picture.values if picture.size == size else np.asarray(picture.image().resize(size))


def frames(jigsaw: Jigsaw) -> list[Picture]:
    """The panel completed with candidate 0 and with candidate 1."""
    return [complete(jigsaw.ref, candidate) for candidate in jigsaw.candidates]


def seam_cost_with(ref: Picture, candidate: Picture) -> float:
    """Return the seam cost of a panel that is completed in thought only."""
    return seam_cost(_filled(ref, candidate))


def seam_cost(panel: Picture | Pixels) -> float:
    """Return how badly the bottom-right cell continues its neighbours: mean colour step (0..255) across its seams."""
    panel = panel.values if isinstance(panel, Picture) else panel
    top, left = panel.shape[0] // 2, panel.shape[1] // 2
    across = np.abs(panel[top:, left].astype(np.int16) - panel[top:, left - 1]).mean()
    down = np.abs(panel[top, left:].astype(np.int16) - panel[top - 1, left:]).mean()
    return float(across + down) / 2


def seams_as_text(puzzle: Jigsaw) -> str:
    """Write the colours on both sides of the seams for the mode text_input, each the mean of a few pixels."""
    panel = puzzle.ref.values
    top, left = panel.shape[0] // 2, panel.shape[1] // 2
    lines = [_neighbours(panel)]
    for number, candidate in enumerate(puzzle.candidates):
        patch = _sized(candidate, (panel.shape[1] - left, panel.shape[0] - top))
        lines.append((f"CANDIDATE_{number}", patch[:, 0], patch[0]))
    return _written(lines)


def panel_as_text(picture: Picture) -> str | None:
    """Write the colours next to the hidden cell as `seams_as_text` does; None if no cell is hidden."""
    panel = picture.values
    top, left = panel.shape[0] // 2, panel.shape[1] // 2
    inside = panel[top + top // 8 : -top // 8, left + left // 8 : -left // 8].astype(float)
    if not inside.size or abs(inside - HIDDEN).mean() > _NOT_GREY:
        return None
    return _written([_neighbours(panel)])


def _neighbours(panel: Pixels) -> tuple[str, Pixels, Pixels]:
    top, left = panel.shape[0] // 2, panel.shape[1] // 2
    return "NEIGHBOURS", panel[top:, left - 1], panel[top - 1, left:]


def _written(seams: list[tuple[str, Pixels, Pixels]]) -> str:
    return "\n".join(
        f"{name} {side}: {_hex(edge)}" for name, *edges in seams for side, edge in zip(_SIDES, edges, strict=True)
    )


_SIDES = ("left seam, top to bottom", "upper seam, left to right")
_SEAM = re.compile(r"^(\w+) (?:left|upper) seam, .*?: ((?:#[0-9a-f]{6} ?)+)$", re.MULTILINE)
_COLOURS_PER_SEAM = 28
_NOT_GREY = 12
"""Mean difference (0..255) from the hidden cell's grey."""


def _hex(edge: Pixels) -> str:
    parts = np.array_split(edge.astype(float), min(_COLOURS_PER_SEAM, len(edge)))
    return " ".join("#" + bytes(part.mean(axis=0).round().astype(np.uint8)).hex() for part in parts)


def better_in_text(text: str) -> int | None:
    """Return the candidate whose colours continue the neighbours', in what `seams_as_text` wrote; None without it."""
    seams: dict[str, list[int]] = {}
    for name, colours in _SEAM.findall(text):
        seams.setdefault(name, []).extend(bytes.fromhex(colours.replace("#", "")))
    if {len(of) for of in seams.values()} != {len(seams.get("NEIGHBOURS", ()))} or len(seams) != 3:
        return None
    around, *candidates = (seams[name] for name in ("NEIGHBOURS", "CANDIDATE_0", "CANDIDATE_1"))
    costs = [sum(abs(a - b) for a, b in zip(around, of, strict=True)) for of in candidates]
    return costs.index(min(costs))


def similarity(one: Picture, two: Picture) -> float:
    """Return the similarity of two images, 0 to 1, without weights: mean structural similarity over the channels.
    Wang et al. 2004 with the usual constants, but plain 7x7 windows. The second picture is scaled to the first one's
    size. Identical pictures have exactly 1; negative similarity (inverted structure) counts as 0."""
    return 1.0 if one.pixel_digest == two.pixel_digest else _likeness(one.values, _sized(two, one.size))


_ALIKE, _FARTHEST, _MARKS = 0.85, 20, {28: 48, 56: 65}
"""Least similarity of each cell of a right drawing; greatest mean difference (0..255) of all its pixels, and of any
window of a twenty-eighth or a fifty-sixth of its width. JPEG of quality 80 and scaling stay within these."""


def shows(drawn: Picture, true: Picture, other: Picture) -> bool:
    """Test whether a drawing is the completion `true` and nothing else.

    Three cells are given, so the filled one decides: it must be more like `true` than like the completion with the
    `other` candidate.
    """
    if drawn.pixel_digest == true.pixel_digest:
        return True
    wanted, rival, got = true.values, _sized(other, true.size), _sized(drawn, true.size)
    away = np.abs(wanted.astype(np.int32) - got).sum(axis=2)
    for part, most in _MARKS.items():
        side = min(max(3, len(away) // part), *away.shape)
        if _window_sums(_window_sums(away, side).swapaxes(0, 1), side).max() > 3 * side * side * most:
            return False
    if away.mean() > 3 * _FARTHEST:
        return False
    row, col = len(away) // 2, away.shape[1] // 2
    parts = [np.s_[:row, :col], np.s_[:row, col:], np.s_[row:, :col], np.s_[row:, col:]]
    alike = [_likeness(wanted[part], got[part]) for part in parts if wanted[part].size]
    return min(alike) >= _ALIKE and alike[-1] > _likeness(rival[parts[-1]], got[parts[-1]])


def _likeness(one: Pixels, two: Pixels) -> float:
    x, y = one.astype(np.int32), two.astype(np.int32)
    mean_x, mean_y = _window_means(x), _window_means(y)
    spread = _window_means(x * x) - mean_x * mean_x + (_window_means(y * y) - mean_y * mean_y)
    shared = _window_means(x * y) - mean_x * mean_y
    light, detail = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    map_ = (2 * mean_x * mean_y + light) * (2 * shared + detail)
    map_ /= (mean_x * mean_x + mean_y * mean_y + light) * (spread + detail)
    return min(1.0, max(0.0, float(map_.mean())))


def _window_means(values: NDArray[np.int32]) -> NDArray[np.float64]:
    """The mean of every 7x7 window (smaller where the picture is smaller), from whole sums; columns first."""
    height, width = (min(7, length) for length in values.shape[:2])
    sums = _window_sums(_window_sums(values, height).swapaxes(0, 1), width)
    means: NDArray[np.float64] = sums / (height * width)
    return means


def _window_sums(values: NDArray[np.int32], window: int) -> NDArray[np.int32]:
    """Of every `window` neighbours along the first axis."""
    count = len(values) - window + 1
    total = values[:count].copy(order="K")
    for place in range(1, window):
        total += values[place : place + count]
    return total
