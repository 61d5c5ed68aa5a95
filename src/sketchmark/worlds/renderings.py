"""Strict comparison of an image with a rendering of what was read in it: nothing else may be there.

A reader looks at a few places. An image counts as read only if the rendering explains the rest of it, too. Blur,
scaling, compression and recolouring are not held against an image: an even change of the colours and a blur are
estimated and applied to the rendering first, mainly from the blocks that agree: otherwise a part of another scene
would pass for a recolouring or a blur. What they leave is small where the rendering is flat and larger at its edges,
and it is about equally large everywhere. So each block is judged by the edges near it and by the typical block of the
same image. A double exposure, which shows a second scene in part, differs in a few blocks by more than that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchmark.media.pixels import reduced

Blocks = NDArray[np.float32]
"""Mean colours of blocks: RGB in 0..255, rows, columns."""

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
_EQUAL = np.ones((BLOCKS, BLOCKS), np.float32)
_CLEAR = 30.0
"""Difference of colours from which on a block is at an edge."""
_TRACE, _WEIGHED, _DISTINCT = 0.07, 40.0, 4000.0
"""Greatest part of the way to another scene that an image may be; the difference of colours from which on a block has
no more weight, and the sum of these differences from which on two scenes are compared so. Honest images were at most
0.05 of the way."""


def blocks_of(image: Image.Image) -> Blocks:
    """Return the mean colours of an image's blocks. Every image is first reduced to the size at which it is read: a
    size that is no multiple of it leaves the same traces in a rendering."""
    return _planes(_reduced(image))


def _reduced(image: Image.Image) -> NDArray[np.uint8]:
    whole = image if image.mode == "RGB" else image.convert("RGB")
    if whole.width % READ_AT:
        whole = reduced(whole, READ_AT)
    return np.asarray(reduced(whole, BLOCKS))


def _planes(values: NDArray[np.uint8]) -> Blocks:
    """Return pixels as one plane per channel: numpy is several times as fast along rows of 64 as of three."""
    return np.ascontiguousarray(values.transpose(2, 0, 1), np.float32)


class Rendering:
    """A rendering as its blocks and its colours, small enough to be kept. It is painted again if its colours have to
    be clipped."""

    def __init__(self, paint: Callable[[], Image.Image]) -> None:
        image, self.paint = paint(), paint
        self._blocks, self.ends = _reduced(image), _extremes(image)

    @property
    def blocks(self) -> Blocks:
        return _planes(self._blocks)

    @property
    def nbytes(self) -> int:
        return self._blocks.nbytes + self.ends.nbytes + 500


def explain(
    rendered: Iterable[tuple[Rendering, Iterable[Rendering]]],
    seen: Blocks,
    trust: Blocks | None = None,
    most: float = _MOST,
) -> bool:
    """Return whether an image, given as its blocks, shows a scene and nothing else. The scene is rendered at several
    sizes, which round edges differently. The size whose typical block fits best tells how distorted the image is.
    With each rendering are those, of the same size, of other scenes of which the image may have no trace. `trust` is
    how much each block may tell about recolouring and distortion, `most` the limit of any difference."""
    typical = most
    for one, rivals in rendered:
        fit = _fit(one, seen, _EQUAL if trust is None else trust)
        typical = min(typical, fit.typical)
        if fit.worst <= min(most, *(least + more * typical for least, more in _LIMITS)):
            return not any(_has_trace(fit, rival) for rival in rivals)
    return False


class _Fit(NamedTuple):
    """How a rendering, brought nearest to an image, differs from it: in each block, in the worst one, and in the
    median block at an edge."""

    rendered: Blocks
    gain: Blocks
    blur: float
    apart: Blocks
    worst: float
    typical: float


def _fit(rendered: Rendering, seen: Blocks, trust: Blocks) -> _Fit:
    drawn = rendered.blocks
    gain, offset = first, _ = _recolouring(drawn, seen, trust)
    ends = rendered.ends * gain[:, 0] + offset[:, 0]
    if ends.min() < -_SPARE or ends.max() > 255 + _SPARE:  # a block may be darkened in part: each pixel is clipped
        drawn = blocks_of(_with_colours(rendered.paint(), gain, offset))
        gain, offset = _recolouring(drawn, seen, trust)
    drawn *= gain[..., None]
    drawn += offset[..., None]
    around, apart = _around(drawn), seen - drawn
    weighted = around / (_BLUR_EXACT + np.abs(apart))
    blur = np.vdot(weighted, apart) / max(np.vdot(weighted, around), 1e-6)
    blur = min(max(float(blur), _BLUR[0]), _BLUR[1])
    around *= blur
    drawn += around
    np.clip(drawn, 0, 255, out=drawn)
    edges = _spread(drawn).max(axis=0)
    apart = seen - drawn
    away = np.abs(apart).max(axis=0) / (_FLAT + _EDGE * edges)
    at_edges = away[(edges > _CLEAR) & (trust == 1)]
    typical = _median(at_edges) if at_edges.size else 0.0
    return _Fit(rendered.blocks, first, blur, apart, float(away.max()), typical)


def _has_trace(fit: _Fit, rival: Rendering) -> bool:
    """Return whether an image differs from a rendering in the direction of another scene. What a distortion leaves
    has no direction, so this finds a double exposure that is too faint for the limit of a block."""
    way = rival.blocks - fit.rendered
    way *= fit.gain[..., None]
    way += fit.blur * _around(way)
    limited = way.clip(-_WEIGHED, _WEIGHED)  # a great difference of colours does not outweigh many small ones
    length = float(np.vdot(limited, way))
    return length >= _DISTINCT and float(np.vdot(limited, fit.apart)) > _TRACE * length


def _median(values: Blocks) -> float:
    """Return what `np.median` does, in a fifth of the time."""
    middle = len(values) // 2
    low = middle - 1 + len(values) % 2
    values.partition((low, middle))
    return float(values[low] + values[middle]) / 2


def _recolouring(drawn: Blocks, seen: Blocks, trust: Blocks) -> tuple[Blocks, Blocks]:
    some = [one.reshape(3, -1)[:, ::_EVERY] for one in (drawn, seen)]
    return recolouring(some[0], some[1], trust.reshape(-1)[::_EVERY])


def recolouring(drawn: Blocks, seen: Blocks, trust: Blocks | float = 1.0) -> tuple[Blocks, Blocks]:
    """Return the gain and offset per channel that bring a rendering nearest to an image, within limits. Both are
    three rows, one per channel, as are the results. Colours that the image shows black or white do not tell how much
    it is. What differs from most others has little weight, so that a part of another scene cannot pass for a
    recolouring."""
    tells = ((seen > _BLACK) & (seen < _WHITE)) * np.float32(1) * trust
    middle = drawn.mean(axis=1, keepdims=True)  # sums of squares far from zero lose digits
    x, y = drawn - middle, seen - middle
    terms, weights = np.stack((np.ones_like(x), x, y, x * x, x * y), axis=1), tells
    for _ in range(_ROUNDS):
        fits = [_line(*sums) for sums in np.einsum("ijk,ik->ij", terms, weights).tolist()]
        gain, offset = np.array(fits, np.float32).T[..., None]
        offset = (offset + middle - gain * middle).clip(-_OFFSET, _OFFSET)
        weights = drawn * gain
        weights += offset
        weights -= seen
        np.abs(weights, out=weights)
        weights += np.float32(_EXACT)
        np.divide(tells, weights, out=weights)
    return gain, offset


def _line(count: float, x: float, y: float, xx: float, xy: float) -> tuple[float, float]:
    """Return gain and offset of the line nearest to weighted points, by their sums; of one colour, gain 1."""
    count = max(count, 1e-6)
    spread = xx - x * x / count
    slope = (xy - x * y / count) / max(spread, 1e-6)
    gain = min(max(slope, _GAIN[0]), _GAIN[1]) if spread > count else 1.0
    return gain, (y - gain * x) / count


def _extremes(image: Image.Image) -> Blocks:
    """Return the least and the greatest value of each channel, or the colours of a palette."""
    found = image.getpalette() if image.mode == "P" else np.transpose(image.getextrema())
    return np.asarray(found, np.float32).reshape(-1, 3)


def _with_colours(image: Image.Image, gain: Blocks, offset: Blocks) -> Image.Image:
    """Return an image recoloured and clipped."""
    tables = [(np.arange(256) * gain[n, 0] + offset[n, 0]).clip(0, 255).round().astype(np.uint8) for n in range(3)]
    if image.mode != "P":
        return image.point(np.concatenate(tables).tolist())
    changed, palette = image.copy(), np.array(image.getpalette(), np.uint8).reshape(-1, 3)
    changed.putpalette(np.stack([table[palette[:, n]] for n, table in enumerate(tables)], axis=1).tobytes())
    return changed


def _around(values: Blocks) -> Blocks:
    """Return how far the mean of each block and its eight neighbours is from the block. Those beyond the edge are as
    the block at the edge."""
    wide = _widened(values)
    rows = wide[:, :-2] + wide[:, 1:-1]
    rows += wide[:, 2:]
    found: Blocks = rows[..., :-2] + rows[..., 1:-1]
    found += rows[..., 2:]
    found /= 9
    found -= values
    return found


def _spread(values: Blocks) -> Blocks:
    """Return the difference of the greatest and the least value among each block and its eight neighbours."""
    wide = _widened(values)
    ends = []
    for most in (np.maximum, np.minimum):
        rows = most(most(wide[:, :-2], wide[:, 1:-1]), wide[:, 2:])
        ends.append(most(most(rows[..., :-2], rows[..., 1:-1]), rows[..., 2:]))
    found: Blocks = ends[0] - ends[1]
    return found


def _widened(values: Blocks) -> Blocks:
    """Return blocks with those at the edge repeated around them."""
    channels, height, width = values.shape
    wide = np.empty((channels, height + 2, width + 2), np.float32)
    wide[:, 1:-1, 1:-1] = values
    wide[:, 0, 1:-1], wide[:, -1, 1:-1] = values[:, 0], values[:, -1]
    wide[..., 0], wide[..., -1] = wide[..., 1], wide[..., -2]
    return wide
