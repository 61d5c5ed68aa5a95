"""Jigsaws: a picture cut into 2x2 cells, the bottom-right one hidden, and two patches of which one belongs there.

What you see: the panel with a grey cell, and two candidates. What you may do: choose 0 or 1. The right patch
continues the picture across both inner edges; the wrong one comes from another scene (easy), from elsewhere in the
same scene or is the right one mirrored (medium), or is shifted by only a part of a cell or mirrored (hard).

The scenes are our own, and for a seed the same to the pixel on every machine. One patch is right. Two ground-truth
images show the panel with each patch. There are always two, so a level is not a number of steps here.

Levels: the wrong patch has ever more in common with the right one. Level 1: it comes from another scene, so its
colours differ. Level 2: from another part of the same scene, with the same colours. Level 3: the right patch
mirrored, so its upper edge has the same colours in another order. Level 4: shifted by a quarter to half a cell. Level
5: shifted by an eighth to a quarter of a cell, so that only the lines at the edges decide.

Looks: `paper` (hills of cut paper), `glass` (coloured panes) and `town` (a map) are prints of flat colours, in eight
palettes; a set with a level has them in turn. `painted`, the look without a level, has nine kinds of scenes full of
detail.

Corrupt step: each panel is filled with the other patch.

Chance: one in two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sketchmark.errors import BadInput
from sketchmark.media import Picture
from sketchmark.media.pixels import Recent
from sketchmark.worlds import boards, renderings
from sketchmark.worlds.jigsaw.paint import PRINTS, print_of
from sketchmark.worlds.jigsaw.scenes import fitted, pick_kind, pixels

Pixels = NDArray[np.uint8]
Reals = NDArray[np.float32]
Means = NDArray[np.float32] | NDArray[np.float64]

SIZE = 224
HIDDEN = 128
"""The grey of the hidden cell."""

WRONG_KINDS: dict[str, tuple[str, ...]] = {
    "easy": ("other scene",),
    "medium": ("elsewhere", "mirrored"),
    "hard": ("neighbouring", "mirrored"),
}
PAINTED = "painted"
PRINTED = tuple(PRINTS)
LOOKS = (*PRINTED, PAINTED)
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
    completed: tuple[Picture, ...] = field(default=(), compare=False, repr=False)
    """The panel with each candidate, if it is known."""


class Scene(NamedTuple):
    """Pixels to cut up: colours, or for a print the numbers of its colours."""

    values: Pixels
    name: str = ""
    palette: Pixels | None = None

    def picture(self, values: Pixels) -> Picture:
        return _picture(values) if self.palette is None else boards.painted(values, self.palette)


def generate(
    seed: int,
    difficulty: str = "medium",
    folder: Path | None = None,
    size: int = SIZE,
    level: int = 0,
    look: str = PAINTED,
) -> Jigsaw:
    """A jigsaw whose panel is `size` pixels wide, from a self-made scene or from a picture in the user's folder. The
    wrong patch must fit visibly worse than the right one at the seams; where it does not (a cloudless sky looks the
    same everywhere) another patch, and then another scene, is taken."""
    if difficulty not in WRONG_KINDS:
        raise BadInput(f"{difficulty!r} is not a difficulty of jigsaws", ", ".join(WRONG_KINDS))
    if not 32 <= size <= 1024:
        raise BadInput(f"a jigsaw {size} pixels wide cannot be made", "32 to 1024")
    if look not in LOOKS:
        raise BadInput(f"jigsaw has no look {look!r}", f"looks are {', '.join(LOOKS)}")
    kinds = (LEVEL_KINDS[level - 1],) if level else WRONG_KINDS[difficulty]
    return _own(seed, kinds, size, look) if folder is None else _cut(seed, kinds, _from_folder(folder, size // 2))


@lru_cache(maxsize=64)
def _own(seed: int, kinds: tuple[str, ...], size: int, look: str) -> Jigsaw:
    """Cached, because the modes of a run use the same samples, and a scene takes long to paint."""
    return _cut(seed, kinds, _own_scenes(size // 2) if look == PAINTED else _prints(size // 2, look))


def _cut(seed: int, kinds: tuple[str, ...], draw: Draw) -> Jigsaw:
    rng = Random(seed)
    for _ in range(_SCENES_TRIED):
        scene = draw(rng, None)
        cell = scene.values.shape[0] // 2
        other = draw(rng, scene) if "other scene" in kinds else scene
        left = rng.randrange(cell + 1)
        panel = scene.values[:, left : left + 2 * cell]
        for _ in range(_PATCHES_TRIED):
            kind = kinds[rng.randrange(len(kinds))]
            wrong = _wrong_patch(rng, kind, scene.values, other.values, left + cell)
            if wrong is None:
                continue
            filled = panel.copy()
            filled[cell:, cell:] = wrong
            costs = [seam_cost(one, other.palette) for one in (panel, filled)]
            if costs[1] > 1.3 * costs[0] + 2:  # the seams must decide
                label = rng.randrange(2)
                patches = [other.picture(whole[cell:, cell:].copy()) for whole in (panel, filled)]
                whole = [] if other.palette is None else [other.picture(one) for one in (panel.copy(), filled)]
                pair = patches if label == 0 else patches[::-1]
                done = whole if label == 0 else whole[::-1]
                return Jigsaw(_hidden(panel, other), (pair[0], pair[1]), label, kind, tuple(done))
    raise BadInput("no jigsaw could be cut: the images are too plain to distinguish a right patch from a wrong one")


Draw = Callable[[Random, Scene | None], Scene]
"""A random scene other than the given one: three cells wide and two high, to have room to cut."""


def _own_scenes(cell: int) -> Draw:
    def draw(rng: Random, but: Scene | None) -> Scene:
        kind = pick_kind(rng, but.name if but else "")
        return Scene(pixels(rng.getrandbits(48), kind, 2 * cell, 3 * cell), kind)

    return draw


def _prints(cell: int, look: str) -> Draw:
    def draw(rng: Random, but: Scene | None) -> Scene:
        """The colours of another print follow those of the first, so that one image can show both."""
        values, palette = print_of(rng.getrandbits(48), look, 2 * cell, 3 * cell)
        if but is None or but.palette is None:
            greys = np.array([[HIDDEN] * 3, [HIDDEN - 32] * 3], np.uint8)
            return Scene(values + np.uint8(len(greys)), look, np.concatenate([greys, palette]))
        return Scene(values + np.uint8(len(but.palette)), look, np.concatenate([but.palette, palette]))

    return draw


def _from_folder(folder: Path, cell: int) -> Draw:
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder of images")
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in _PICTURES)
    if not paths:
        raise BadInput(f"there are no pictures in {folder}", "PNG, JPEG, WebP, GIF, BMP or TIFF")

    def draw(rng: Random, but: Scene | None) -> Scene:
        choices = [path for path in paths if but is None or path.name != but.name]
        if not choices:
            raise BadInput(f"{folder} has only one picture", "easy jigsaws need two")
        path = choices[rng.randrange(len(choices))]
        return Scene(fitted(path, cell), path.name)

    return draw


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


def _hidden(panel: Pixels, scene: Scene) -> Picture:
    """The panel with its last cell flat grey, a darker line around it."""
    cell = panel.shape[0] // 2
    hidden = panel.copy()
    hidden[cell:, cell:] = HIDDEN - 32 if scene.palette is None else 1
    hidden[cell + 2 : -2, cell + 2 : -2] = HIDDEN if scene.palette is None else 0
    return scene.picture(hidden)


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
    panel[top:, left:] = sized(candidate, (panel.shape[1] - left, panel.shape[0] - top))
    return panel


def sized(picture: Picture, size: tuple[int, int]) -> Pixels:
    if picture.size == size:
        return picture.values
    key = (picture.digest, size)
    found = _SIZED.get(key)
    return _SIZED.keep(key, np.asarray(picture.image().resize(size))) if found is None else found


_SIZED: Recent[Pixels] = Recent(4_000_000, lambda kept: kept.nbytes)


def frames(jigsaw: Jigsaw) -> list[Picture]:
    """The panel completed with candidate 0 and with candidate 1."""
    return list(jigsaw.completed) or [complete(jigsaw.ref, candidate) for candidate in jigsaw.candidates]


def seam_cost_with(ref: Picture, candidate: Picture) -> float:
    """Return the seam cost of a panel that is completed in thought only."""
    return seam_cost(_filled(ref, candidate))


def seam_cost(panel: Picture | Pixels, palette: Pixels | None = None) -> float:
    """Return how badly the bottom-right cell continues its neighbours: mean colour step (0..255) across its seams."""
    panel = panel.values if isinstance(panel, Picture) else panel
    top, left = panel.shape[0] // 2, panel.shape[1] // 2
    sides = panel[top:, left], panel[top:, left - 1], panel[top, left:], panel[top - 1, left:]
    one, two, three, four = sides if palette is None else (palette[side] for side in sides)
    return (_mean_step(one, two) + _mean_step(three, four)) / 2


def _mean_step(one: NDArray[Any], two: NDArray[Any]) -> float:
    """Return the mean difference (0..255) of two rows or images. Whole numbers stay whole: the same everywhere."""
    return float(np.abs(np.subtract(one, two, dtype=np.result_type(one, np.int16))).mean())


def similarity(one: Picture, two: Picture) -> float:
    """Return the similarity of two images, 0 to 1, without weights: mean structural similarity over the channels.
    Wang et al. 2004 with the usual constants, but plain 7x7 windows. The second picture is scaled to the first one's
    size. Identical pictures have exactly 1; negative similarity (inverted structure) counts as 0."""
    return 1.0 if one.pixel_digest == two.pixel_digest else _likeness(one.values, sized(two, one.size))


_ALIKE = 0.78
"""Least similarity of each cell of a right drawing. JPEG of quality 60 and scaling stay within it."""
_GIVEN, _MOST = np.ones((renderings.BLOCKS, renderings.BLOCKS), np.float32), 3.2
_GIVEN[renderings.BLOCKS // 2 :, renderings.BLOCKS // 2 :] = 0.1
"""How much the blocks tell about recolouring: those of the three given cells more than those of the filled one."""
_BLURS = (0.0, 0.0025, 0.0045)
"""Blurs that are not held against a drawing, as proportions of its width."""
_SHIFT, _SHIFTED = 8.0, 0.165
"""Greatest change of the mean colour that is not held against a drawing: so much of 255 and a part of the mean."""


def shows(drawn: Picture, true: Picture, other: Picture) -> bool:
    """Test whether a drawing is the completion `true` and nothing else.

    Each of its blocks must agree with `true`. Three cells are given, so the filled one decides: it must be more like
    `true` than like the completion with the `other` candidate. A little blur and an even change of the colours are
    applied to both before they are compared.
    """
    from PIL import Image

    if drawn.data == true.data:
        return True
    by = max(1.0, max(true.size) / renderings.READ_AT)
    size = max(1, round(true.size[0] / by)), max(1, round(true.size[1] / by))
    got, last = _at(drawn, size, 0), np.s_[size[1] // 2 :: 2, size[0] // 2 :: 2]
    mean = _mean(_at(true, size, 0))
    if (np.abs(_mean(got) - mean) > _SHIFT + _SHIFTED * mean).any():
        return False
    seen = renderings.blocks_of(Image.fromarray(got))
    rivals = (_rendering(other, size), _without_cell(true, size))
    if not renderings.explain([(_rendering(true, size), rivals)], seen, _GIVEN, _MOST):
        return False
    values = got.astype(np.float32)
    for blur in _BLURS:
        wanted, rival = (_at(one, size, blur) for one in (true, other))
        some = [np.ascontiguousarray(one[::4, ::4].reshape(-1, 3).T, np.float32) for one in (wanted, got)]
        colours = renderings.recolouring(some[0], some[1])
        here, there = (_mean_step(values[last], _recoloured(one[last], *colours)) for one in (wanted, rival))
        if here > there:
            return False
        half = np.s_[size[1] // 2 :, size[0] // 2 :]
        if _is_alike(_recoloured(wanted, *colours), _recoloured(rival[half], *colours), values):
            return True
    return False


def _mean(values: Pixels) -> Means:
    """Return the mean colour. Whole lines are added up first, in a tenth of the time."""
    height, width, channels = values.shape
    lines = values.reshape(height, -1).sum(axis=0, dtype=np.uint32)
    found: Means = lines.reshape(width, channels).sum(axis=0) / (height * width)
    return found


def _rendering(picture: Picture, size: tuple[int, int]) -> renderings.Rendering:
    from PIL import Image

    key = (picture.digest, size)
    return _RENDERED.get(key) or _RENDERED.keep(
        key, renderings.Rendering(lambda: Image.fromarray(_at(picture, size, 0)))
    )


def _without_cell(picture: Picture, size: tuple[int, int]) -> renderings.Rendering:
    """Return a completed panel whose filled cell is hidden, as in the input."""
    from PIL import Image

    def paint() -> Image.Image:
        values = _at(picture, size, 0).copy()
        values[size[1] // 2 :, size[0] // 2 :] = HIDDEN
        return Image.fromarray(values)

    key = (picture.digest, size, HIDDEN)
    return _RENDERED.get(key) or _RENDERED.keep(key, renderings.Rendering(paint))


_RENDERED: Recent[renderings.Rendering] = Recent(4_000_000, lambda kept: kept.nbytes)

_REDUCED: Recent[Pixels] = Recent(8_000_000, lambda kept: kept.nbytes)


def _at(picture: Picture, size: tuple[int, int], blur: float) -> Pixels:
    """Return the pixels of an image at a size, blurred. Those of the newest are kept."""
    from PIL import Image, ImageFilter

    key = (picture.digest, size, blur)
    kept = _REDUCED.get(key)
    if kept is None:
        if blur:
            image = Image.fromarray(_at(picture, size, 0)).filter(ImageFilter.GaussianBlur(blur * size[0]))
        else:  # whole pixels are averaged in a third of the time
            by = picture.size[0] // size[0]
            exact = size[0] == size[1] and by > 1 and picture.size == (by * size[0], by * size[1])
            image = picture.reduced(size[0]) if exact else Image.fromarray(sized(picture, size))
        kept = _REDUCED.keep(key, np.asarray(image))
    return kept


def _is_alike(true: Reals, rival: Reals, got: Reals) -> bool:
    """Test whether each cell of a drawing is like that of an image, and the last one more than the rival's."""
    (row, below), (col, right) = ((length // 2, length - length // 2) for length in got.shape[:2])
    blocks, down, across = _blocks_alike(true, got, (row, below), (col, right)), len(_starts(row)), len(_starts(col))
    cells = [cell for half in (blocks[:down], blocks[down:]) for cell in (half[:, :across], half[:, across:])]
    alike = [_share(cell) for cell in cells if cell.size]
    return min(alike) >= _ALIKE and alike[-1] > _share(_blocks_alike(rival, got[row:, col:], (below,), (right,)))


def _recoloured(values: Pixels, gain: Reals, offset: Reals) -> Reals:
    wide = values.reshape(len(values), -1).astype(np.float32)  # long rows take a third of the time
    wide *= np.tile(gain[:, 0], values.shape[1])
    wide += np.tile(offset[:, 0], values.shape[1])
    return wide.clip(0, 255).reshape(values.shape)


@lru_cache(maxsize=64)
def _starts(*parts: int) -> tuple[int, ...]:
    """Return where blocks of seven pixels begin in parts of a line. The last block of a part may be larger."""
    begins = [sum(parts[:number]) for number in range(len(parts))]
    found = (range(at, at + max(1, part - 3), 7) for at, part in zip(begins, parts, strict=True) if part)
    return tuple(chain.from_iterable(found))


def _blocks_alike(one: Reals, two: Reals, high: tuple[int, ...], wide: tuple[int, ...]) -> Means:
    """Return the structural similarity of blocks of 7x7 pixels that do not overlap, in each cell of an image."""
    height, width, channels = one.shape
    down, across = _starts(*high), _starts(*wide)
    count = np.diff([*down, height])[:, None] * np.diff([*across, width]).astype(np.float32)

    def means(values: Reals) -> Reals:
        lines = _line_sums(values.reshape(height, -1), high).reshape(len(down), width, channels)
        found: Reals = np.add.reduceat(lines, across, axis=1)
        found /= count[..., None]
        return found

    return _structural(*(means(values) for values in (one, two, one * one, two * two, one * two)))


def _line_sums(values: Reals, parts: tuple[int, ...]) -> Reals:
    """Return the sums of the lines of blocks. `np.add.reduceat` would take nine times as long."""
    found, at = [], 0
    for part in parts:
        whole = 7 * max(0, len(_starts(part)) - 1)
        found.append(values[at : at + whole].reshape(-1, 7, values.shape[1]).sum(axis=1))
        found.append(values[at + whole : at + part].sum(axis=0, keepdims=True)[: len(_starts(part))])
        at += part
    return np.concatenate(found)


def _likeness(one: Pixels, two: Pixels) -> float:
    x, y = one.astype(np.int32), two.astype(np.int32)
    return _share(_structural(*map(_window_means, (x, y, x * x, y * y, x * y))))


def _structural(x: Means, y: Means, xx: Means, yy: Means, xy: Means) -> Means:
    """Return the structural similarity of windows, given the means of two images, their squares and product."""
    light, detail = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    spread = xx - x * x + (yy - y * y)
    map_ = (2 * x * y + light) * (2 * (xy - x * y) + detail)
    map_ /= (x * x + y * y + light) * (spread + detail)
    found: Means = map_
    return found


def _share(alike: Means) -> float:
    return min(1.0, max(0.0, float(alike.mean())))


def _window_means(values: NDArray[np.int32]) -> NDArray[np.float64]:
    """The mean of every 7x7 window (smaller where the picture is smaller), from whole sums; columns first."""
    height, width = (min(7, length) for length in values.shape[:2])
    sums = _window_sums(_window_sums(values, height).swapaxes(0, 1), width)
    means: NDArray[np.float64] = sums / (height * width)
    return means


def _window_sums(values: NDArray[Any], window: int) -> NDArray[Any]:
    """Of every `window` neighbours along the first axis."""
    count = len(values) - window + 1
    if window == 7:  # three sums of pairs and fours instead of six
        twos: NDArray[Any] = values[:-1] + values[1:]
        total: NDArray[Any] = twos[:count] + twos[2 : count + 2]
        total += twos[4 : count + 4]
        total += values[6:]
        return total
    total = values[:count].copy(order="K")
    for place in range(1, window):
        total += values[place : place + count]
    return total
