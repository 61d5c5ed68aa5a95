"""Finished episodes, samples and painted boards for the tests of scorers: no model is played, nothing is random."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchmark.episode import Episode, Failure, Turn
from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Context, Sample
from sketchmark.media import Picture
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.sliding import board as sliding

CELL = 40
MIXED = "?"
BOTH = "B"
"""Start and goal in one cell, in the maps of `painted`."""


def episode(
    *says: str,
    drawings: Sequence[Picture | None] = (),
    failed: bool = False,
    settings: dict[str, str] | None = None,
) -> Episode:
    """What was drawn (None: asked, and nothing came), then what was said. Scorers look at nothing else."""
    drawn = [Turn("draw", reply=Reply(picture=drawing)) for drawing in drawings]
    said = [Turn("say", reply=Reply(text=text)) for text in says]
    failure = Failure("timeout", "gone") if failed else None
    return Episode(Sample("x"), (*drawn, *said), failure, settings=settings or {})


def moves_answer(*moves: str) -> str:
    return f"<ANSWER_JSON>{json.dumps(moves)}</ANSWER_JSON>"


def choice_answer(choice: Any) -> str:
    return f"<FINAL_ANSWER_JSON>{json.dumps({'choice': choice})}</FINAL_ANSWER_JSON>"


def solid(red: int, green: int, blue: int, size: tuple[int, int] = (16, 16)) -> Picture:
    return Picture.from_image(Image.new("RGB", size, (red, green, blue)))


def flat(level: int, size: tuple[int, int] = (16, 16)) -> Picture:
    """A picture of nothing but one grey."""
    return solid(level, level, level, size)


BLANK = flat(255, (3 * CELL, 3 * CELL))
"""A white page: no board can be read from it."""


def from_pixels(pixels: NDArray[np.uint8]) -> Picture:
    return Picture.from_image(Image.fromarray(pixels))


def painted(*rows: str) -> Picture:
    """A maze drawn from a map, on a white page with a dark outline: `#`, ` `, `S`, `G`, `B` both, `?` half a wall."""
    height, width = len(rows) * CELL, len(rows[0]) * CELL
    page = Image.new("RGB", (width + 24, height + 24), maze.PAGE)
    page.paste(maze.WALL, (10, 10, width + 14, height + 14))
    for row, line in enumerate(rows):
        for col, mark in enumerate(line):
            left, top = 12 + col * CELL, 12 + row * CELL
            ground = maze.WALL if mark == "#" else maze.FLOOR
            page.paste(ground, (left, top, left + CELL, top + CELL))
            if mark == MIXED:
                page.paste(maze.WALL, (left, top, left + CELL, top + CELL // 2))
            if mark in ("G", BOTH):
                page.paste(maze.GOAL, (left, top, left + CELL, top + CELL))
            if mark in ("S", BOTH):
                edge = CELL // 4
                page.paste(maze.START, (left + edge, top + edge, left + CELL - edge, top + CELL - edge))
    return Picture.from_image(page)


def maze_sample(picture: Picture, moves: Sequence[str] | None, rows: int, cols: int) -> Sample:
    target = {"moves": None if moves is None else list(moves), "rows": rows, "cols": cols}
    return Sample("maze", pictures={"initial": picture}, target=target)


def sliding_sample(state: sliding.State, moves: Sequence[str] | None, *, with_frames: bool = True) -> Sample:
    frames = sliding.frames(state, moves or ())
    return Sample(
        "sliding",
        pictures={"initial": sliding.render(state)},
        target={"moves": None if moves is None else list(moves), "n": sliding.side_of(state)},
        frames=(lambda: frames) if with_frames else None,
    )


def smeared(state: sliding.State) -> Picture:
    """The picture of a state whose last cell shows two colours, half of it each: that cell cannot be read."""
    image = sliding.render(state).image()
    width, height = image.size
    cell = width // (sliding.side_of(state) + 1)
    image.paste(sliding.COLOURS[1], (width - cell, height - cell, width - cell // 2, height - cell // 4))
    return Picture.from_image(image)


class Judge(Model):
    """Always gives the same reply, and keeps what it was asked."""

    def __init__(self, reply: str) -> None:
        super().__init__("judge")
        self._reply = reply
        self.asked: list[str] = []
        self.shown: list[Context] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.asked.append(context.texts[-1])
        self.shown.append(context)
        return Reply(text=self._reply)
