"""Odd dots: a board of blue dots, except for one.

What you see: rows of dots on a white page, one of them in another colour. What you may do: say where that one is, or
paint it green.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random

from PIL import Image, ImageDraw

from sketchmark import Context, Episode, Grading, Picture, Sample, Scores
from sketchmark.worlds import Argument, Board, BoardReading, Making, Play, World, boards, in_words, numbered_seeds
from sketchmark.worlds.play import puzzle_in

COLOURS = {"blue": "#2563eb", "red": "#dc2626", "orange": "#f97316", "green": "#22c55e"}
CELL = 40


def render(rows: int, cols: int, place: tuple[int, int], colour: str) -> Picture:
    page = Image.new("RGB", (cols * CELL, rows * CELL), "white")
    pen = ImageDraw.Draw(page)
    for row in range(rows):
        for col in range(cols):
            left, top = col * CELL, row * CELL
            fill = COLOURS[colour if (row, col) == place else "blue"]
            pen.ellipse((left + 6, top + 6, left + CELL - 6, top + CELL - 6), fill=fill)
    return Picture.from_image(page)


def samples(*, seed: int, data: Path | None, rows: int, cols: int, odd: str) -> Iterator[Sample]:
    for number, own_seed in numbered_seeds(seed):
        dice = Random(own_seed)
        place = dice.randrange(rows), dice.randrange(cols)
        green = render(rows, cols, place, "green")
        yield Sample(
            id=f"dots-{seed}-{number:06d}",
            pictures={"initial": render(rows, cols, place, odd)},
            target={"world": "dots", "rows": rows, "cols": cols, "place": [place[0] + 1, place[1] + 1]},
            groups={"size": f"{rows}x{cols}"},
            steps=1,
            frames=partial(list[Picture], [green]),
        )


def edges(picture: Picture, rows: int, cols: int) -> tuple[list[int], list[int]]:
    width, height = picture.size
    return boards.cells(boards.Box(0, 0, height, width), rows, cols)


def read(picture: Picture, rows: int, cols: int) -> BoardReading:
    """Name the colour in the middle of each cell."""
    (down, across), names = edges(picture, rows, cols), list(COLOURS)
    nearest = boards.nearest(boards.pixels_of(picture), boards.rgb01(*COLOURS.values()))
    ys, xs = ([(begin + end) // 2 for begin, end in pairwise(lines)] for lines in (down, across))
    return BoardReading([[names[nearest[y, x]] for x in xs] for y in ys])


def corrupt(sample: Sample) -> list[Picture]:
    """Return the ground-truth image with another dot in green."""
    rows, cols, (row, col) = (sample.target[name] for name in ("rows", "cols", "place"))
    return [render(rows, cols, (row % rows, col - 1), "green")]


def caption(sample: Sample, drawing: Picture) -> str:
    return in_words(read(drawing, sample.target["rows"], sample.target["cols"]), str)


def score(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Score the answer, and the drawing as the image reader sees it."""
    found = re.search(r"ODD: row (\d+), column (\d+)", episode.answer)
    place = [int(found[1]), int(found[2])] if found else None
    right = sample.target["place"]
    values = {"dots_right": float(place == right)}
    if episode.draw_attempts:
        size = sample.target["rows"], sample.target["cols"]
        true = [read(frame, *size) for frame in (sample.frames() if sample.frames else [])]
        values["dots_img_exact"] = float([read(drawn, *size) for drawn in episode.drawings] == true)
    return Scores(values, {"answer": place, "expected": right}, unparsed=place is None)


class DotsPlay(Play):
    """The scripted players' answers and drawings. Like any model they see only the context."""

    def answer(self, context: Context) -> str | None:
        seen = self._look(context)
        return f"ODD: row {seen[2][0] + 1}, column {seen[2][1] + 1}" if seen else None

    def draw(self, context: Context) -> Picture | None:
        seen = self._look(context)
        return render(*seen, "green") if seen else None

    def guess(self, context: Context, rng: Random) -> str:
        return f"ODD: row {rng.randint(1, 3)}, column {rng.randint(1, 3)}"

    def _look(self, context: Context) -> tuple[int, int, tuple[int, int]] | None:
        shown = puzzle_in(context)
        if shown is None:
            return None
        cols, rows = (length // CELL for length in shown.initial.size)
        grid = read(shown.initial, rows, cols).grid
        odd = [(row, col) for row in range(rows) for col in range(cols) if grid[row][col] != "blue"]
        return (rows, cols, odd[0]) if odd else None


WORLD = World(
    name="dots",
    about=__doc__,
    told_by=("look for the odd dot",),
    play=DotsPlay(),
    making=Making(
        about="Boards of dots with an odd one.",
        samples=samples,
        arguments=(Argument("odd", "red", "Colour of the odd dot.", among=("red", "orange")),),
        answer="place",
    ),
    board=Board(size=(3, 3), legend="The colour of each cell's dot.", read=read, edges=edges),
    corrupt=corrupt,
    caption=caption,
    scorers={"score": score},
)
