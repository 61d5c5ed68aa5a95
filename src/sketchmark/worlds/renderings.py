"""Strict comparison of an image with what was read in it: nothing else may be there.

Scenes are compared with a rendering, block by block; boards, which are found anywhere on a page, by their colours.

A reader looks at a few places. An image counts as read only if the rendering explains the rest of it, too. Blur,
scaling, compression and recolouring are not held against an image: an even change of the colours and a blur are
estimated and applied to the rendering first, mainly from the blocks that agree: otherwise a part of another scene
would pass for a recolouring or a blur. What they leave is small where the rendering is flat and larger at its edges,
and it is about equally large everywhere. So each block is judged by the edges near it and by the typical block of the
same image. A double exposure, which shows a second scene in part, differs in a few blocks by more than that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchmark.media.pixels import reduced
from sketchmark.worlds.boards import Colours, Pixels

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


Edges = tuple[list[int], list[int]]
"""Edges of rows and of columns, in pixels."""

NEAR = np.float32(0.24)
"""Greatest distance of a pixel from the colour that it should have. Where all pixels have it, the mean difference per
channel is at most 35 of 255."""
_BLENDED = np.float32(0.2)
"""The same from the blends of two such colours: edges are blurred by scaling and compression."""
_FINEST = 20
"""A mark counts from this fraction of a cell on, and from three pixels on."""
_STRANGE = (0.004, 0.09)
"""Greatest share of a cell's pixels that compression may leave unexplained: without a mark in it, and with one."""
_UNEVEN = 0.04
"""Greatest share of the pixels around a dot that may be there, or missing, contrary to a disc."""


class Look(NamedTuple):
    """Colours of a board's cells, and where else they may be: around the board, in its outline, between cells."""

    palette: Colours
    outside: tuple[int, ...]
    outline: tuple[int, ...] = ()
    between: tuple[int, ...] = ()


def stained(
    pixels: Pixels, edges: Edges, contents: Sequence[Sequence[Sequence[int]]], look: Look
) -> NDArray[np.bool_]:
    """Return which cells show something else than their `contents`, colours of the palette by number. All do if
    something is drawn around the board.

    A board is not found to the pixel, so near its edge a cell may show what its neighbours may. A stain is a square
    of pixels that none of the allowed colours explains, nor a blend of two of them.
    """
    (down, across), shape = edges, (pixels.height, pixels.width)
    rows, cols = len(down) - 1, len(across) - 1
    cell = min((down[-1] - down[0]) / rows, (across[-1] - across[0]) / cols)
    slack, finest = round(cell / 24) + 3, max(3, round(cell / _FINEST))
    allowed = np.zeros(shape, np.int32)

    def allow(top: int, left: int, bottom: int, right: int, colours: Iterable[int]) -> None:
        window = allowed[max(0, top) : max(0, bottom), max(0, left) : max(0, right)]
        window |= sum(1 << colour for colour in colours)

    allow(0, 0, *shape, look.outside)
    rim = slack + round(cell / 16)  # blur spreads the outline
    allow(down[0] - rim, across[0] - rim, down[-1] + rim, across[-1] + rim, look.outline)
    allowed[down[0] + rim : down[-1] - rim, across[0] + rim : across[-1] - rim] = 0
    for r, c in np.ndindex(rows, cols):
        allow(down[r] - slack, across[c] - slack, down[r + 1] + slack, across[c + 1] + slack, contents[r][c])
    for line in down[1:-1]:
        allow(line - slack, across[0], line + slack, across[-1], look.between)
    for line in across[1:-1]:
        allow(down[0], line - slack, down[-1], line + slack, look.between)
    shown = pixels.distances(look.palette) <= NEAR
    bits = (shown << np.arange(len(look.palette), dtype=np.int32)[:, None]).sum(axis=0, dtype=np.int32)
    strange = (allowed & pixels.spread(bits)) == 0
    _explain_blends(pixels, strange, allowed, look.palette)
    most = np.array([[_STRANGE[len(content) > 2] for content in row] for row in contents])
    return _cells_with_marks(strange, edges, slack, finest, most)


def _explain_blends(pixels: Pixels, strange: NDArray[np.bool_], allowed: NDArray[np.int32], palette: Colours) -> None:
    """Clear the pixels whose colour is a blend of two that are allowed there."""
    at = np.flatnonzero(strange)
    shown = pixels.colours[pixels.spread(np.arange(len(pixels.colours))).reshape(-1)[at]]
    there = allowed.reshape(-1)[at]
    left = np.ones(len(at), np.bool_)
    for kind in np.unique(there):
        mine = np.flatnonzero(there == kind)
        for one, other in combinations([n for n in range(len(palette)) if kind >> n & 1], 2):
            line = palette[other] - palette[one]
            along = ((shown[mine] - palette[one]) @ line / (line @ line)).clip(0, 1)[:, None]
            left[mine] &= np.linalg.norm(shown[mine] - palette[one] - along * line, axis=1) > _BLENDED
    strange.reshape(-1)[at] = left


def _cells_with_marks(
    strange: NDArray[np.bool_], edges: Edges, slack: int, finest: int, most: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return the cells with a square of strange pixels, or with more than the share `most` of them away from their
    edges; all cells if there are such pixels around the board."""
    down, across = edges
    found = np.zeros(most.shape, np.bool_)
    for r, c in np.ndindex(found.shape):
        inner = strange[down[r] + slack + 1 : down[r + 1] - slack, across[c] + slack + 1 : across[c + 1] - slack]
        found[r, c] = bool(inner.size) and np.count_nonzero(inner) > most[r, c] * inner.size
    board = strange[max(0, down[0]) : down[-1], max(0, across[0]) : across[-1]]
    if np.count_nonzero(strange) - np.count_nonzero(board) > finest * finest:
        found[:] = True
    if min(strange.shape) >= finest and np.count_nonzero(strange) >= finest * finest:
        sums = np.pad(strange.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32), ((1, 0), (1, 0)))
        lower, upper = sums[finest:], sums[:-finest]
        full = lower[:, finest:] - upper[:, finest:] - lower[:, :-finest] + upper[:, :-finest] == finest * finest
        y, x = np.nonzero(full)
        r, c = (np.searchsorted(ends, at + finest // 2, "right") - 1 for ends, at in ((down, y), (across, x)))
        found[r.clip(0, len(down) - 2), c.clip(0, len(across) - 2)] = True
    return found


def is_one_mark(mask: NDArray[np.bool_], filled: float) -> bool:
    """Test whether pixels are in one piece, about as high as wide, and fill so much of their frame."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return False
    mark = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    (high, wide), count = mark.shape, int(np.count_nonzero(mark))
    if not 2 * high <= 3 * wide + 4 or not 2 * wide <= 3 * high + 4 or count < filled * high * wide:
        return False
    piece = np.zeros_like(mark)
    piece.reshape(-1)[np.flatnonzero(mark)[count // 2]] = True
    while True:
        grown = _along_columns(_along_columns(piece.T, mark.T).T, mark)
        if np.array_equal(grown, piece):
            return int(np.count_nonzero(piece)) >= 0.97 * count
        piece = grown


def _along_columns(piece: NDArray[np.bool_], mark: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a piece of a mark with all pixels that can be reached from it along columns."""
    runs = np.cumsum(~np.pad(mark, ((1, 0), (0, 0))), axis=0)[1:] * mark.shape[1] + np.arange(mark.shape[1])
    reached = np.zeros((mark.shape[0] + 2) * mark.shape[1], np.bool_)
    reached[runs[piece]] = True
    found: NDArray[np.bool_] = reached[runs] & mark
    return found


def is_round(mask: NDArray[np.bool_]) -> bool:
    """Test whether pixels fill a disc, and nothing else; an uneven edge of one to two pixels does not count."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return False
    mark = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    high, wide = mark.shape
    if 4 * max(high, wide) > 5 * min(high, wide) + 8:
        return False
    y, x = ((2 * np.arange(length) + 1 - length) / length for length in mark.shape)
    away, spare = np.hypot(y[:, None], x[None]), 3 / min(high, wide)
    wrong = np.where(mark, away > 1 + spare, away < 1 - spare)
    return bool(np.count_nonzero(wrong) <= _UNEVEN * mark.size)


def middles(pixels: Pixels, edges: Edges, part: float) -> Colours:
    """Return the mean colour in the middle of each cell, `part` of it wide and high: (rows, columns, RGB)."""
    down, across = ([_middle(*ends, part) for ends in pairwise(lines)] for lines in edges)
    number = pixels.spread(np.arange(len(pixels.colours)))
    found = np.zeros((len(down), len(across), 3), np.float32)
    for row, col in np.ndindex(found.shape[:2]):
        if (cell := number[down[row], across[col]]).size:
            found[row, col] = pixels.colours[cell].mean(axis=(0, 1))
    return found


def _middle(begin: int, end: int, part: float) -> slice:
    spare = round((end - begin) * (1 - part) / 2)
    return slice(begin + spare, end - spare)


def towards(shown: Colours, own: Colours, other: Colours) -> Colours:
    """Return how far colours are on the way from their own to another one: 0 is their own, 1 the other."""
    line = other - own
    found: Colours = ((shown - own) * line).sum(axis=-1) / np.maximum((line * line).sum(axis=-1), 1e-6)
    return found


def as_shown(palette: Colours, shown: Colours) -> Colours:
    """Return the colours of a palette after the even change, within limits, that brings them nearest to those that an
    image shows. Single colours that are off have little weight."""
    gain, offset = recolouring(palette * 255, shown * 255)
    found: Colours = (palette * gain + offset / 255).clip(0, 1)
    return found
