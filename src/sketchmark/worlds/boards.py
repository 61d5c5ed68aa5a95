"""Boards in images: find one and cut it into cells (docs/benchmarks/uni-mmmu.md, "Finding the board").

For images in several looks: which look one has, and the colours at its points. There, places are proportions of the
image's width and height, so that a reader works at any size, and distances of colours are Euclidean, in 0..255 per
channel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchmark.errors import BadInput
from sketchmark.media import Picture
from sketchmark.worlds.colours import NEAR as NEAR
from sketchmark.worlds.colours import Bits, bits_for, is_content, within
from sketchmark.worlds.colours import Colours as Colours
from sketchmark.worlds.colours import Pixels as Pixels
from sketchmark.worlds.colours import distances as distances
from sketchmark.worlds.colours import nearest as nearest
from sketchmark.worlds.colours import pixels_of as pixels_of

Edges = tuple[list[int], list[int]]
"""Edges of rows and of columns, in pixels."""

Position = tuple[int, int]

MOVES: dict[str, Position] = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
"""Row and column change of each move, in the order in which solvers try them."""

_GROW, _LARGEST = 2, 4096


class Box(NamedTuple):
    """Rows `top` to `bottom` and columns `left` to `right` of a picture, the ends exclusive."""

    top: int
    left: int
    bottom: int
    right: int


def rgb8(*colours: str) -> NDArray[np.uint8]:
    """Colours such as `#1f2937` as rows of RGB in 0..255."""
    return np.array([list(bytes.fromhex(colour.removeprefix("#"))) for colour in colours], np.uint8)


def rgb01(*colours: str) -> Colours:
    """Colours such as `#1f2937` as rows of RGB in 0..1."""
    return rgb8(*colours).astype(np.float32) / np.float32(255)


def find_board(
    pixels: Pixels,
    content: Colours,
    page: Colours,
    share: float,
    square: bool = True,
    published: tuple[int, int] | None = None,
) -> Box:
    """Return the place of the board: the extent of the content colours, grown by two pixels and made square.

    A row or column counts when more than `share` of its pixels are nearer to a content colour than to a page colour.
    Each axis is clipped by its own length, and a side longer than an axis takes the whole axis, so that a wide or
    tall picture is read like the same board on a square page. `square=False` keeps the extent as it is, for boards
    with unequal numbers of rows and columns.

    `published` is where the published evaluator ends rows and columns. It knows square pictures only, on which the
    two agree; for a side longer than an axis it makes a negative beginning, which numpy counts from the far end
    (docs/benchmarks/uni-mmmu.md, "Wide and tall pictures").
    """
    height, width = pixels.height, pixels.width
    shown = pixels.told(is_content, content, page)
    rows, columns = pixels.kept((content.tobytes(), page.tobytes()), lambda: _counts(shown))
    first_row, last_row = _extent(rows / width > share)
    first_column, last_column = _extent(columns / height > share)
    if not square:
        return Box(first_row, first_column, last_row + 1, last_column + 1)
    side = max(last_row - first_row, last_column - first_column) + 1
    end_of_rows, end_of_columns = published or (height, width)
    top, bottom = _centred(first_row, last_row, side, end_of_rows)
    left, right = _centred(first_column, last_column, side, end_of_columns)
    return Box(top, left, bottom, right) if published else Box(max(0, top), max(0, left), bottom, right)


def _counts(mask: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return how many pixels count in each row and column."""
    ones = mask.astype(np.float32)  # sums of these take a fifth of the time
    rows, columns = np.einsum("ij->i", ones), np.einsum("ij->j", ones)
    return rows.astype(np.intp), columns.astype(np.intp)


def _extent(counts: NDArray[np.bool_]) -> tuple[int, int]:
    """First and last line that counts, grown; all of them if none does."""
    found = np.flatnonzero(counts)
    if not len(found):
        return 0, len(counts) - 1
    return max(0, int(found[0]) - _GROW), min(len(counts) - 1, int(found[-1]) + _GROW)


def _centred(first: int, last: int, side: int, length: int) -> tuple[int, int]:
    begin = max(0, (first + last) // 2 - side // 2)
    end = min(length, begin + side)
    return end - side, end


def cells(box: Box, rows: int, cols: int) -> tuple[list[int], list[int]]:
    """Row edges (rows + 1 of them) and column edges, in the picture's pixels; halves are rounded to even."""
    height, width = box.bottom - box.top, box.right - box.left
    return (
        [box.top + round(i * (height / rows)) for i in range(rows + 1)],
        [box.left + round(j * (width / cols)) for j in range(cols + 1)],
    )


def cell_shares(labels: NDArray[np.uint8], edges: Edges, kinds: int) -> NDArray[np.float32]:
    """The share of each label 0..kinds-1 among the pixels of each cell: (rows, cols, kinds). A cell without pixels (a
    picture with fewer pixels than cells) has share 0 of everything."""
    down, across = edges
    counts = np.zeros((len(down) - 1, len(across) - 1, kinds), np.intp)
    high, wide = np.diff(down), np.diff(across)
    narrow = np.uint8 if high.max() < 256 else np.uint32
    for kind in range(kinds):
        is_kind = (labels == kind).view(np.uint8)
        for row, ends in enumerate(pairwise(down)):
            sums = np.add.reduce(is_kind[slice(*ends)], axis=0, dtype=narrow).cumsum(dtype=np.intp)
            counts[row, :, kind] = np.diff(np.append(0, sums)[across])
    sizes = np.maximum(high[:, None] * wide, 1)[..., None]
    shares: NDArray[np.float32] = (counts / sizes).astype(np.float32)
    return shares


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
    allowed = np.zeros(shape, bits_for(len(look.palette)))

    def allow(top: int, left: int, bottom: int, right: int, colours: Iterable[int]) -> None:
        window = allowed[max(0, top) : max(0, bottom), max(0, left) : max(0, right)]
        window |= allowed.dtype.type(_bits(tuple(colours)))

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
    strange = (allowed & near(pixels, look)) == 0
    if not strange.any():
        return np.zeros((rows, cols), np.bool_)
    _explain_blends(pixels, strange, allowed, look.palette)
    most = np.array([[_STRANGE[len(content) > 2] for content in row] for row in contents])
    return _cells_with_marks(strange, edges, slack, finest, most)


@lru_cache(maxsize=256)
def _bits(colours: tuple[int, ...]) -> int:
    return sum(1 << colour for colour in colours)


def near(pixels: Pixels, look: Look) -> Bits:
    """Return which colours of a look are near each pixel's, as bits."""
    return pixels.told(within, look.palette)


def _explain_blends(pixels: Pixels, strange: NDArray[np.bool_], allowed: Bits, palette: Colours) -> None:
    """Clear the pixels whose colour is a blend of two that are allowed there."""
    at = np.flatnonzero(strange)
    shown = pixels.colours(at)
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
        full = _filled(_filled(strange, finest).T, finest).T
        y, x = np.nonzero(full)
        r, c = (np.searchsorted(ends, at + finest // 2, "right") - 1 for ends, at in ((down, y), (across, x)))
        found[r.clip(0, len(down) - 2), c.clip(0, len(across) - 2)] = True
    return found


def _filled(mask: NDArray[np.bool_], length: int) -> NDArray[np.bool_]:
    """Return where this many pixels of a column begin that all count."""
    done = 1
    while done < length:
        more = min(done, length - done)
        mask = mask[:-more] & mask[more:]
        done += more
    return mask


def within_frame(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the smallest part of a mask that has all its pixels."""
    for _ in range(2):  # rows, then columns
        ends = np.flatnonzero(mask.any(axis=1))
        mask = mask[ends[0] : ends[-1] + 1].T if len(ends) else mask[:0].T
    return mask


def is_one_mark(mask: NDArray[np.bool_], filled: float) -> bool:
    """Test whether pixels are in one piece, about as high as wide, and fill so much of their frame."""
    mark = within_frame(mask)
    if not mark.size:
        return False
    (high, wide), count = mark.shape, int(np.count_nonzero(mark))
    if not 2 * high <= 3 * wide + 4 or not 2 * wide <= 3 * high + 4 or count < filled * high * wide:
        return False
    piece, columns, lines = np.zeros_like(mark), _runs_along(mark), _runs_along(mark.T)
    piece.reshape(-1)[np.flatnonzero(mark)[count // 2]] = True
    while True:
        grown = _reached(_reached(piece.T, lines).T & mark, columns) & mark
        if np.array_equal(grown, piece):
            return int(np.count_nonzero(piece)) >= 0.97 * count
        piece = grown


def _runs_along(mark: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return for each pixel the number of its run in its column. A run begins behind a pixel that is not marked."""
    runs = np.zeros(mark.shape, np.intp)
    np.cumsum(~mark, axis=0, out=runs)
    runs *= mark.shape[1]
    runs += np.arange(mark.shape[1])
    return runs


def _reached(piece: NDArray[np.bool_], runs: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return the runs of which a piece has a pixel."""
    reached = np.zeros((len(runs) + 1) * runs.shape[1], np.bool_)
    reached[runs[piece]] = True
    return reached[runs]


def is_round(mask: NDArray[np.bool_]) -> bool:
    """Test whether pixels fill a disc, and nothing else; an uneven edge of one to two pixels does not count."""
    mark = within_frame(mask)
    if not mark.size:
        return False
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
    packed, found = pixels.packed(), np.zeros((len(down), len(across), 3), np.float32)
    for row, rows in enumerate(down):
        for channel in range(3):
            line = (packed[rows] >> np.uint32(8 * channel) & np.uint32(255)).sum(axis=0, dtype=np.uint32)
            for col, place in enumerate(across):
                count = 255 * (place.stop - place.start) * (rows.stop - rows.start)
                found[row, col, channel] = line[place].sum() / max(count, 1)
    return found


def _middle(begin: int, end: int, part: float) -> slice:
    spare = round((end - begin) * (1 - part) / 2)
    return slice(begin + spare, max(begin + spare, end - spare))


def towards(shown: Colours, own: Colours, other: Colours) -> Colours:
    """Return how far colours are on the way from their own to another one: 0 is their own, 1 the other."""
    line = other - own
    found: Colours = ((shown - own) * line).sum(axis=-1) / np.maximum((line * line).sum(axis=-1), 1e-6)
    return found


def painted(places: NDArray[np.uint8], palette: NDArray[np.uint8]) -> Picture:
    """The picture whose pixels are these places in a palette of RGB rows."""

    image = Image.fromarray(places)
    image.putpalette(palette.tobytes())
    return Picture.from_image(image)


def check_grid(rows: int, cols: int, most: int) -> None:
    if not (1 <= rows <= most and 1 <= cols <= most):
        raise BadInput(f"a board of {rows}x{cols} cells cannot be used", f"1x1 to {most}x{most}")


Values = NDArray[np.uint8]
"""Pixels of an image: height, width, RGB."""
Places = NDArray[np.float64]
"""Rows of (x, y), each a proportion of the image."""

_AROUND = np.array([(-1.0,), (0.0,), (1.0,)])
_STRIP = 0.02


def page_of(values: Values) -> NDArray[np.float64]:
    """Return the colour at the edge of an image: the median of a thin frame."""
    height, width, _ = values.shape
    y, x = (max(1, round(_STRIP * length)) for length in (height, width))
    strips = (values[:y], values[-y:], values[:, :x], values[:, -x:])
    frame = np.concatenate([strip.reshape(-1, 3)[::7] for strip in strips])
    frame.partition(len(frame) // 2, axis=0)
    found: NDArray[np.float64] = frame[len(frame) // 2].astype(np.float64)
    return found


class Palette(Protocol):
    """The colours of a look."""

    @property
    def page(self) -> str: ...


def palette(names: Sequence[str], colours: str) -> dict[str, str]:
    return dict(zip(names, colours.split(), strict=True))


def look_of(values: Values, looks: Mapping[str, Palette]) -> str:
    """Return the look whose page colour is nearest to that of the image."""
    away = apart(page_of(values)[None], *(look.page for look in looks.values()))
    return list(looks)[int(away.argmin())]


def look_in(picture: Picture, looks: Mapping[str, Palette]) -> str:
    """Return the look of an image, whatever its size."""
    return look_of(np.asarray(picture.reduced(64)), looks)


def cell_for(size: int, cells: int, around: Callable[[int], int]) -> int:
    """Return the pixels per cell of the largest image that is at most `size` pixels wide and high; 0: none fits."""
    if not 0 < size <= _LARGEST:
        raise BadInput(f"images of {size} pixels a side cannot be made", f"1 to {_LARGEST}")
    fits = (cell for cell in range(size // cells, 0, -1) if cells * cell + 2 * around(cell) <= size)
    return next(fits, 0)


def colours_at(values: Values, places: Places | Sequence[tuple[float, float]], spread: float) -> NDArray[np.float64]:
    """Return the colour at each place: the median of nine pixels, the outer ones `spread` away from it, or with no
    spread one pixel."""
    height, width, _ = values.shape
    x, y = np.asarray(places, np.float64).T
    pixels: Values = values.reshape(-1, 3)
    if not spread:
        pixels = pixels[_pixel(y, height) * width + _pixel(x, width)]
        return pixels.astype(np.float64)
    columns, rows = (_pixel(at + spread * _AROUND, side) for at, side in ((x, width), (y, height)))
    near = pixels.take(rows[:, None] * width + columns, axis=0)
    low, middle, high = _ordered(*near)
    found: Values = _ordered(low.max(axis=0), _ordered(*middle)[1], high.min(axis=0))[1]
    return found.astype(np.float64)


def _pixel(at: Places, side: int) -> NDArray[np.intp]:
    return (at * side).astype(np.intp).clip(0, side - 1)


def _ordered(one: Values, two: Values, three: Values) -> tuple[Values, Values, Values]:
    """Return the least, the middle and the greatest of each three values. The median of nine is the middle one of the
    greatest least, the middle middle and the least greatest of three rows: a fifth of the time of sorting them."""
    least, most = np.minimum(one, two), np.maximum(one, two)
    return np.minimum(least, three), np.maximum(least, np.minimum(most, three)), np.maximum(most, three)


def apart(colours: NDArray[np.float64], *others: str) -> NDArray[np.float64]:
    """Return the distance of each colour in the rows to each of the others."""
    away = colours[:, None] - _floats(others)
    found: NDArray[np.float64] = np.sqrt(np.einsum("ijk,ijk->ij", away, away))
    return found


@lru_cache(maxsize=1024)
def _floats(colours: tuple[str, ...]) -> NDArray[np.float64]:
    return rgb8(*colours).astype(np.float64)


def named(colours: NDArray[np.float64], palette: Mapping[str, str], most: float = 90) -> list[str | None]:
    """Return the name of the nearest colour of the palette for each row; None if none is within `most`."""
    away, names = apart(colours, *palette.values()), list(palette)
    near = away.min(axis=1) <= most
    return [
        names[at] if known else None for at, known in zip(away.argmin(axis=1).tolist(), near.tolist(), strict=True)
    ]


@lru_cache(maxsize=4096)
def mixed(one: str, other: str, part: float) -> str:
    """Return the colour `part` of the way from one colour to another."""
    ends = rgb8(one, other).astype(float)
    return "#" + bytes((ends[0] + part * (ends[1] - ends[0])).round().astype(np.uint8)).hex()
