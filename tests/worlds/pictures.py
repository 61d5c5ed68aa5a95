"""Pictures for the tests: boards built cell by cell, re-encoded pictures."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchmark.media import Picture
from sketchmark.worlds.maze import board as maze

CELL = 40


def from_pixels(pixels: NDArray[np.uint8]) -> Picture:
    return Picture.from_image(Image.fromarray(pixels))


def as_jpeg(picture: Picture, quality: int = 80) -> Picture:
    buffer = io.BytesIO()
    picture.image().save(buffer, "JPEG", quality=quality)
    return Picture.from_bytes(buffer.getvalue())


def on_page(picture: Picture, width: int, height: int, left: int, top: int) -> Picture:
    """The picture laid on a larger white page."""
    page = Image.new("RGB", (width, height), "white")
    page.paste(picture.image(), (left, top))
    return Picture.from_image(page)


def filled(cells: dict[tuple[int, int], list[tuple[str, int]]], ground: str = maze.FLOOR, n: int = 6) -> Picture:
    """A board that fills its picture, its corners walls: `cells` says how many pixels of which colours a cell has."""
    board = Image.new("RGB", (n * CELL, n * CELL), ground)
    corners = {(r, c): [(maze.WALL, CELL * CELL)] for r in (0, n - 1) for c in (0, n - 1)}
    for (row, col), colours in (corners | cells).items():
        spots = [(x, y) for y in range(row * CELL, (row + 1) * CELL) for x in range(col * CELL, (col + 1) * CELL)]
        for colour, count in colours:
            rgb = tuple(bytes.fromhex(colour[1:]))
            for spot in spots[:count]:
                board.putpixel(spot, rgb)
            del spots[:count]
    return Picture.from_image(board)
