"""What was drawn against what should have been drawn."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sketchmark.picture import Picture
from sketchmark.worlds import board_of

if TYPE_CHECKING:
    from PIL import Image

_MARK = (220, 38, 38)
_SIDE = 640
_TELLS = 24
"""Pixels that differ by less than this in every colour look the same: resampling and JPEG do that."""


@dataclass(frozen=True)
class PictureDifference:
    """`cells` where both pictures can be read as boards, each as (row, column, drawn, true); otherwise the share of
    pixels that differ."""

    kind: str
    cells: tuple[tuple[int, int, str, str], ...] = ()
    share: float = 0.0
    size: tuple[int, int] = (0, 0)

    def in_words(self) -> str:
        if self.kind == "pixels":
            return f"{self.share:.1%} of the pixels differ from the true picture"
        if not self.cells:
            return "every cell is as it should be"
        named = [f"row {r + 1}, column {c + 1}: {drawn}, not {true}" for r, c, drawn, true in self.cells[:4]]
        more = f" and {len(self.cells) - 4} more" if len(self.cells) > 4 else ""
        return f"{len(self.cells)} of {self.size[0] * self.size[1]} cells differ ({'; '.join(named)}{more})"


def difference(target: Mapping[str, Any], drawn: Picture, true: Picture) -> PictureDifference:
    found = board_of(target)
    if found is None:
        changed = _changed(drawn, true)
        return PictureDifference("pixels", share=float(changed.mean()))
    board, rows, cols = found
    seen, wanted = (board.read(picture, rows, cols).grid for picture in (drawn, true))
    cells = tuple(
        (r, c, board.name(seen[r][c]), board.name(wanted[r][c]))
        for r in range(rows)
        for c in range(cols)
        if seen[r][c] != wanted[r][c]
    )
    return PictureDifference("cells", cells, size=(rows, cols))


def overlay(target: Mapping[str, Any], drawn: Picture, true: Picture) -> bytes:
    """The drawing, paled, with what differs marked: a frame around each cell, or the pixels themselves."""
    from PIL import Image, ImageDraw

    found = difference(target, drawn, true)
    image, shown = drawn.image(), board_of(target)
    if shown is None:
        image.thumbnail((_SIDE, _SIDE))
        pale = Image.blend(image, Image.new("RGB", image.size, "white"), 0.65)
        mask = Image.fromarray(_changed(drawn, true)).convert("L").resize(image.size)
        pale.paste(_MARK, mask=mask)
        return _png(pale)
    pale = Image.blend(image, Image.new("RGB", image.size, "white"), 0.45)
    pen = ImageDraw.Draw(pale)
    board, rows, cols = shown
    down, across = board.edges(drawn, rows, cols)
    width = max(2, min(image.size) // 90)
    for row, col, _, _ in found.cells:
        box = (across[col], down[row], across[col + 1] - 1, down[row + 1] - 1)
        pale.paste(image.crop(box), box[:2])
        pen.rectangle(box, outline=_MARK, width=width)
    pale.thumbnail((_SIDE, _SIDE))
    return _png(pale)


def _changed(drawn: Picture, true: Picture) -> Any:
    """Where two pictures differ, after bringing the true one to the drawing's shape."""
    import numpy as np

    ours, theirs = drawn.image(), true.image()
    ours.thumbnail((_SIDE, _SIDE))
    a = np.asarray(ours, dtype=np.int16)
    b = np.asarray(theirs.resize(ours.size), dtype=np.int16)
    return np.abs(a - b).max(axis=2) >= _TELLS


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()
