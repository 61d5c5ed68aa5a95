"""How scripted players draw by code: the drawing that they have in mind as SVG, pixel by pixel the same.

They draw on the picture that is most like it, as a person would: another picture where it fits, and rectangles for
the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sketchmark.parts import Context
from sketchmark.picture import Picture

_ASKS = "Write your drawing as SVG code."
_Pixels = NDArray[np.uint8]
_Mask = NDArray[np.bool_]


def without_asking_for_code(context: Context) -> Context | None:
    """What stands before the words that ask for SVG; None where nothing does."""
    for place, part in enumerate(context.parts):
        if part.by == "task" and _ASKS in (part.text or ""):
            return Context(context.parts[:place])
    return None


def as_svg(drawing: Picture, pictures: Sequence[Picture]) -> str:
    """`pictures` are those that the player was shown, in their order."""
    width, height = drawing.size
    wanted, page, inner = drawing.values, np.full_like(drawing.values, 255), []
    for number, picture in enumerate(pictures, start=1):
        if picture.size == drawing.size and _unlike(picture.values, wanted).sum() <= _unlike(page, wanted).sum():
            page, inner = picture.values, [_image(number, 0, 0, picture)]
    left = _unlike(page, wanted)
    for number, picture in enumerate(pictures, start=1):
        if left.any() and (place := _fits(picture.values, wanted, left)) is not None:
            inner.append(_image(number, *place, picture))
            left[place[1] : place[1] + picture.size[1], place[0] : place[0] + picture.size[0]] = False
    inner += _rectangles(wanted, left)
    size = f'width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} shape-rendering="crispEdges">{"".join(inner)}</svg>'


def _unlike(one: _Pixels, other: _Pixels) -> _Mask:
    found: _Mask = (one != other).any(axis=2)
    return found


def _image(number: int, x: int, y: int, picture: Picture) -> str:
    width, height = picture.size
    return f'<image href="picture:{number}" x="{x}" y="{y}" width="{width}" height="{height}"/>'


def _fits(patch: _Pixels, wanted: _Pixels, left: _Mask) -> tuple[int, int] | None:
    """Where a picture covers all that is left to draw, in its lower right corner, and shows just that."""
    rows, columns = np.flatnonzero(left.any(axis=1)), np.flatnonzero(left.any(axis=0))
    height, width = patch.shape[:2]
    x, y = int(columns[-1]) + 1 - width, int(rows[-1]) + 1 - height
    covers = 0 <= x <= columns[0] and 0 <= y <= rows[0]
    return (x, y) if covers and np.array_equal(wanted[y : y + height, x : x + width], patch) else None


def _rectangles(wanted: _Pixels, left: _Mask) -> Iterator[str]:
    """Runs of one colour, line by line; lines alike share a rectangle."""
    colours = wanted.astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
    colours[~left] = -1
    open_: dict[tuple[int, int, int], int] = {}
    for y, line in enumerate([*colours, np.full(colours.shape[1], -1)]):
        ends = np.append(np.flatnonzero(line[1:] != line[:-1]) + 1, len(line))
        runs = zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)
        here = {(start, end, int(line[start])) for start, end in runs if line[start] >= 0}
        for run in [run for run in open_ if run not in here]:
            (start, end, colour), top = run, open_.pop(run)
            at = f'x="{start}" y="{top}" width="{end - start}" height="{y - top}"'
            yield f'<rect {at} fill="#{colour:06x}"/>'
        for run in here:
            open_.setdefault(run, y)
