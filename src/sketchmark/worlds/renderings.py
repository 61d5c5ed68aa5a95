"""Strict comparison of an image with a rendering of what was read in it: nothing else may be there.

A reader looks at a few places. An image counts as read only if the rendering explains the rest of it, too. Blur,
scaling, compression and recolouring are not held against an image: an even change of the colours and a blur are
estimated and applied to the rendering first, mainly from the blocks that agree: otherwise a part of another scene
would pass for a recolouring or a blur. What they leave is small where the rendering is flat and larger at its edges,
and it is about equally large everywhere. So each block is judged by the edges near it and by the typical block of the
same image. A double exposure, which shows a second scene in part, differs in a few blocks by more than that.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchmark.media.pixels import reduced

Blocks = NDArray[np.float32]
"""Mean colours of blocks: rows, columns, RGB in 0..255."""

READ_AT, BLOCKS = 256, 64
"""Pixels a side at which an image is read, and blocks a side in which it is compared."""
_GAIN, _OFFSET, _BLUR = (0.7, 1.3), 45.0, (-0.1, 0.5)
"""Limits of a recolouring, and of a blur as the part that a block takes from its neighbours."""
_BLACK, _WHITE, _SPARE = 4, 251, 3
_EVERY, _ROUNDS, _EXACT, _BLUR_EXACT = 3, 4, 0.5, 10.0
"""Blocks that are looked at for a recolouring, and how often; the differences, for a recolouring and for a blur, from
which on a block has less weight."""
_FLAT, _EDGE = 10.0, 0.1
"""Difference of a block that counts as one: where the rendering is flat, and per difference of colours around it."""
_LIMITS, _MOST = ((0.7, 24.0), (1.1, 10.0)), 2.8
"""Greatest difference of a block: if the median block has none, and what the median block adds. All hold."""
_EQUAL = np.ones((BLOCKS, BLOCKS, 1), np.float32)
_CLEAR = 30.0
"""Difference of colours from which on a block is at an edge."""


def blocks_of(image: Image.Image) -> Blocks:
    """Return the mean colours of an image's blocks. Every image is first reduced to the size at which it is read: a
    size that is no multiple of it leaves the same traces in a rendering."""
    whole = image.convert("RGB")
    if whole.width % READ_AT:
        whole = reduced(whole, READ_AT)
    return np.asarray(reduced(whole, BLOCKS), np.float32)


def explain(rendered: Iterable[Image.Image], seen: Blocks, trust: Blocks | None = None, most: float = _MOST) -> bool:
    """Return whether an image, given as its blocks, shows a scene and nothing else. The scene is rendered at several
    sizes, which round edges differently. The size whose typical block fits best tells how distorted the image is.
    `trust` is how much each block may tell about recolouring and distortion, `most` the limit of any difference."""
    typical = most
    for one in rendered:
        worst, median = _differences(one, seen, _EQUAL if trust is None else trust)
        typical = min(typical, median)
        if worst <= min(most, *(least + more * typical for least, more in _LIMITS)):
            return True
    return False


def _differences(rendered: Image.Image, seen: Blocks, trust: Blocks) -> tuple[float, float]:
    """Return the difference of the worst block, and of the median block at an edge."""
    drawn = blocks_of(rendered)
    gain, offset = _recolouring(drawn, seen, trust)
    ends = _extremes(rendered) * gain + offset
    if ends.min() < -_SPARE or ends.max() > 255 + _SPARE:  # a block may be darkened in part: each pixel is clipped
        drawn = blocks_of(_with_colours(rendered, gain, offset))
        gain, offset = _recolouring(drawn, seen, trust)
    drawn = drawn * gain + offset
    around, apart = _sums(drawn) / 9 - drawn, seen - drawn
    weighted = around / (_BLUR_EXACT + np.abs(apart))
    blur = np.vdot(weighted, apart) / max(np.vdot(weighted, around), 1e-6)
    drawn += np.clip(blur, *_BLUR) * around
    drawn = drawn.clip(0, 255)
    edges = (_most(drawn) + _most(-drawn)).max(axis=2)
    away = np.abs(seen - drawn).max(axis=2) / (_FLAT + _EDGE * edges)
    at_edges = away[(edges > _CLEAR) & (trust[..., 0] == 1)]
    return float(away.max()), float(np.median(at_edges)) if at_edges.size else 0.0


def _recolouring(drawn: Blocks, seen: Blocks, trust: Blocks) -> tuple[Blocks, Blocks]:
    some = (np.broadcast_to(one, seen.shape).reshape(-1, 3)[::_EVERY] for one in (drawn, seen, trust))
    return recolouring(*some)


def recolouring(drawn: Blocks, seen: Blocks, trust: Blocks | float = 1.0) -> tuple[Blocks, Blocks]:
    """Return the gain and offset per channel that bring a rendering nearest to an image, within limits. Both are rows
    of colours. Those that the image shows black or white do not tell how much it is. What differs from most others
    has little weight, so that a part of another scene cannot pass for a recolouring."""
    weights = tells = ((seen > _BLACK) & (seen < _WHITE)) * np.float32(1) * trust
    for _ in range(_ROUNDS):
        count = np.maximum(weights.sum(axis=0), 1e-6)
        means = [np.einsum("ij,ij->j", weights, one) / count for one in (drawn, seen)]
        apart = drawn - means[0]
        weighted = weights * apart
        spread = np.einsum("ij,ij->j", weighted, apart)
        slope = np.einsum("ij,ij->j", weighted, seen) / np.maximum(spread, 1e-6)
        gain = np.where(spread > count, slope, 1).clip(*_GAIN).astype(np.float32)
        offset = (means[1] - gain * means[0]).clip(-_OFFSET, _OFFSET)
        weights = tells / (_EXACT + np.abs(drawn * gain + offset - seen))
    return gain, offset


def _extremes(image: Image.Image) -> Blocks:
    """Return the least and the greatest value of each channel, or the colours of a palette."""
    found = image.getpalette() if image.mode == "P" else np.transpose(image.getextrema())
    return np.asarray(found, np.float32).reshape(-1, 3)


def _with_colours(image: Image.Image, gain: Blocks, offset: Blocks) -> Image.Image:
    """Return an image recoloured and clipped."""
    tables = [(np.arange(256) * gain[n] + offset[n]).clip(0, 255).round().astype(np.uint8) for n in range(3)]
    if image.mode != "P":
        return image.point(np.concatenate(tables).tolist())
    changed, palette = image.copy(), np.array(image.getpalette(), np.uint8).reshape(-1, 3)
    changed.putpalette(np.stack([table[palette[:, n]] for n, table in enumerate(tables)], axis=1).tobytes())
    return changed


def _sums(values: Blocks) -> Blocks:
    """Return the sum of each block and its eight neighbours. Those beyond the edge are as the block at the edge."""
    wide = np.pad(values, ((1, 1), (1, 1), (0, 0)), mode="edge")
    rows = wide[:-2] + wide[1:-1] + wide[2:]
    found: Blocks = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]
    return found


def _most(values: Blocks) -> Blocks:
    """Return the greatest value among each block and its eight neighbours."""
    wide = np.pad(values, ((1, 1), (1, 1), (0, 0)), mode="edge")
    rows = np.maximum(np.maximum(wide[:-2], wide[1:-1]), wide[2:])
    found: Blocks = np.maximum(np.maximum(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:])
    return found
