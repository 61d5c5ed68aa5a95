"""Boards in images: find one and cut it into cells (docs/benchmarks/uni-mmmu.md, "Finding the board").

For images in several looks: which look one has, and the colours at its points. There, places are proportions of the
image's width and height, so that a reader works at any size, and distances of colours are Euclidean, in 0..255 per
channel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sketchmark.errors import BadInput
from sketchmark.media import Picture
from sketchmark.media.pixels import Recent, Runs

Colours = NDArray[np.float32]
"""Rows of RGB in 0..1."""
Edges = tuple[list[int], list[int]]
"""Edges of rows and of columns, in pixels."""

Kind = TypeVar("Kind", np.bool_, np.intp)
Position = tuple[int, int]

MOVES: dict[str, Position] = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
"""Row and column change of each move, in the order in which solvers try them."""

_NEARER_BY = np.float32(0.01)
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


class Pixels:
    """A picture as its runs of one colour: a drawn board has few, so that little is to be looked at."""

    def __init__(self, runs: Runs) -> None:
        self.height, self.width, self._runs = runs.height, runs.width, runs
        self.colours = runs.rgb.astype(np.float32) / np.float32(255)

    def distances(self, colours: Colours) -> Colours:
        """Euclidean distance of each colour to each run's, in float32 like the evaluator's."""
        red, green, blue = np.ascontiguousarray(self.colours.T)
        return np.stack([np.sqrt((red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2) for r, g, b in colours])

    def spread(self, found: NDArray[Kind]) -> NDArray[Kind]:
        """Return the value of each run for each of its pixels."""
        return self._runs.spread(found)


def pixels_of(picture: Picture) -> Pixels:
    """Return the pixels of an image. Those of the newest are kept: a reader looks at them several times."""
    return _PIXELS.get(picture.digest) or _PIXELS.keep(picture.digest, Pixels(picture.runs))


_PIXELS: Recent[Pixels] = Recent(2)


def nearest(pixels: Pixels, colours: Colours) -> NDArray[np.intp]:
    """The number of the nearest colour of each pixel, the first where two are equally near."""
    return pixels.spread(pixels.distances(colours).argmin(axis=0))


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
    is_content = pixels.spread(
        pixels.distances(content).min(axis=0) + _NEARER_BY < pixels.distances(page).min(axis=0)
    )
    first_row, last_row = _extent(np.count_nonzero(is_content, axis=1) / width > share)
    first_column, last_column = _extent(np.count_nonzero(is_content, axis=0) / height > share)
    if not square:
        return Box(first_row, first_column, last_row + 1, last_column + 1)
    side = max(last_row - first_row, last_column - first_column) + 1
    end_of_rows, end_of_columns = published or (height, width)
    top, bottom = _centred(first_row, last_row, side, end_of_rows)
    left, right = _centred(first_column, last_column, side, end_of_columns)
    return Box(top, left, bottom, right) if published else Box(max(0, top), max(0, left), bottom, right)


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


def cell_shares(labels: NDArray[np.intp], edges: Edges, kinds: int) -> NDArray[np.float32]:
    """The share of each label 0..kinds-1 among the pixels of each cell: (rows, cols, kinds). A cell without pixels (a
    picture with fewer pixels than cells) has share 0 of everything."""
    down, across = edges
    shares = np.zeros((len(down) - 1, len(across) - 1, kinds), np.float32)
    for r, c in np.ndindex(shares.shape[:2]):
        cell = labels[down[r] : down[r + 1], across[c] : across[c + 1]]
        if cell.size:
            shares[r, c] = np.bincount(cell.reshape(-1), minlength=kinds) / cell.size
    return shares


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


def painted(places: NDArray[np.uint8], palette: NDArray[np.uint8]) -> Picture:
    """The picture whose pixels are these places in a palette of RGB rows."""
    from PIL import Image

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

_AROUND = np.array([(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)], np.float64)
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
    around = np.asarray(places, np.float64)[:, None] + (spread * _AROUND if spread else 0.0)
    x, y = ((around[..., axis] * side).astype(int).clip(0, side - 1) for axis, side in ((0, width), (1, height)))
    near = values.reshape(-1, 3)[y * width + x]
    near.partition(len(near[0]) // 2, axis=1)
    found: NDArray[np.float64] = near[:, len(near[0]) // 2].astype(np.float64)
    return found


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
