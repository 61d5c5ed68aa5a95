"""Test doubles for Sketchmark's own tests and for the tests of plug-ins: nothing here is random.

* Images: `colour`, `flat`, `from_pixels`, and boards drawn from a map: `maze_board`, `maze_sample`, `sliding_sample`.
* `tone`: a sound.
* `episode`: a finished episode, for the test of a scorer.
* Models: `Recorder` keeps every call, `Judge` always gives the same reply.
* `serving`: a server on a free port that speaks OpenAI's API for any model.
* `played`: a run that is executed once and shared by all tests that ask for the same settings.

A scorer's test needs no model:

    from sketchmark import Grading, Sample
    from sketchmark.testing import episode

    scores = my_scorer(Sample("s", target={"answer": "B"}), episode("The answer is B"), Grading())

A run that several tests read is made once per session, also with pytest-xdist, by this fixture:

    @pytest.fixture(scope="session")
    def shared_runs(tmp_path_factory):
        base = tmp_path_factory.getbasetemp()
        return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def test_drawing_helps(shared_runs):
        folder = played(shared_runs, "player/solver", "maze", mode="direct,visual_cot", limit=2)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchmark.episode import Episode, Failure, Turn
from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Context, Sample
from sketchmark.media import Picture
from sketchmark.media.sound import Sound
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.sliding import board as sliding

if TYPE_CHECKING:
    from sketchmark.folder import RunFolder

CELL = 40
"""Pixels of a cell of `maze_board`."""


def colour(name: str, size: tuple[int, int] = (16, 16)) -> Picture:
    """Make an image of one colour."""
    return Picture.from_image(Image.new("RGB", size, name))


def solid(red: int, green: int, blue: int, size: tuple[int, int] = (16, 16)) -> Picture:
    return Picture.from_image(Image.new("RGB", size, (red, green, blue)))


def flat(level: int, size: tuple[int, int] = (16, 16)) -> Picture:
    """Make an image of one grey."""
    return solid(level, level, level, size)


def from_pixels(pixels: NDArray[np.uint8]) -> Picture:
    return Picture.from_image(Image.fromarray(pixels))


BLANK = flat(255, (3 * CELL, 3 * CELL))
"""A white image: no board can be read from it."""


def maze_board(*rows: str) -> Picture:
    """Draw a maze from a map, with a dark outline on white: `#` wall, space, `S` start, `G` goal, `B` both in one
    cell, `?` half a wall."""
    height, width = len(rows) * CELL, len(rows[0]) * CELL
    page = Image.new("RGB", (width + 24, height + 24), maze.PAGE)
    page.paste(maze.WALL, (10, 10, width + 14, height + 14))
    for row, line in enumerate(rows):
        for col, mark in enumerate(line):
            left, top = 12 + col * CELL, 12 + row * CELL
            page.paste(maze.WALL if mark == "#" else maze.FLOOR, (left, top, left + CELL, top + CELL))
            if mark == "?":
                page.paste(maze.WALL, (left, top, left + CELL, top + CELL // 2))
            if mark in "GB":
                page.paste(maze.GOAL, (left, top, left + CELL, top + CELL))
            if mark in "SB":
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
    """Draw a sliding board whose last cell has two colours, half and half: that cell cannot be read."""
    image = sliding.render(state).image()
    width, height = image.size
    cell = width // (sliding.side_of(state) + 1)
    image.paste(sliding.COLOURS[1], (width - cell, height - cell, width - cell // 2, height - cell // 4))
    return Picture.from_image(image)


def tone(hertz: float = 440, *, rate: int = 16000, seconds: float = 0.25) -> Sound:
    """Make a WAV of a sine wave; by default 8,044 bytes."""
    wave = np.sin(np.arange(int(rate * seconds)) * (2 * np.pi * hertz / rate)) * 0.5
    return Sound.from_samples(np.asarray(wave, np.float32), rate)


def moves_answer(*moves: str) -> str:
    """Write moves as the prompts of maze and sliding ask for them."""
    return f"<ANSWER_JSON>{json.dumps(moves)}</ANSWER_JSON>"


def choice_answer(choice: Any) -> str:
    """Write a choice as the prompts of jigsaw ask for it."""
    return f"<FINAL_ANSWER_JSON>{json.dumps({'choice': choice})}</FINAL_ANSWER_JSON>"


def episode(
    *says: str, drawings: Sequence[Picture | None] = (), failed: bool = False, settings: dict[str, str] | None = None
) -> Episode:
    """Make a finished episode: first the drawings (None: the model returned no image), then what the model said."""
    drawn = [Turn("draw", reply=Reply(picture=drawing)) for drawing in drawings]
    said = [Turn("say", reply=Reply(text=text)) for text in says]
    failure = Failure("timeout", "gone") if failed else None
    return Episode(Sample("x"), (*drawn, *said), failure, settings=settings or {})


class Recorder(Model):
    """A model that replies by functions of the call's number and context, and keeps every call."""

    def __init__(
        self,
        answer: Callable[[int, Context], str] = lambda i, _: f"said {i}",
        drawing: Callable[[int, Context], Reply] = lambda i, _: Reply(picture=colour("red")),
    ) -> None:
        super().__init__("recorder")
        self.calls: list[tuple[str, Context, Options]] = []
        self._answer, self._drawing = answer, drawing

    async def say(self, context: Context, options: Options) -> Reply:
        self.calls.append(("say", context, options))
        return Reply(text=self._answer(len(self.calls), context))

    async def draw(self, context: Context, options: Options) -> Reply:
        self.calls.append(("draw", context, options))
        return self._drawing(len(self.calls), context)


class Judge(Model):
    """A judge that always gives the same reply, and keeps the questions and contexts."""

    def __init__(self, reply: str) -> None:
        super().__init__("judge")
        self._reply = reply
        self.asked: list[str] = []
        self.shown: list[Context] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.asked.append(context.texts[-1])
        self.shown.append(context)
        return Reply(text=self._reply)


def serving(model: Model, **settings: Any) -> AbstractContextManager[str]:
    """Serve a model as `sketchmark serve` does, in a thread, and give its base URL: `with serving(model) as url:`."""
    from sketchmark import serve

    return serve.serving(model, **settings)


def played(base: Path, model: str, tasks: str, **settings: Any) -> RunFolder:
    """Execute a run below `base`, or return its folder if a test has done so with equal settings. Tests must not
    write to it. Processes with the same `base` wait for each other."""
    from filelock import FileLock

    from sketchmark.api import run
    from sketchmark.folder import RunFolder

    asked = json.dumps([model, tasks, settings], sort_keys=True, default=str)
    path = base / f"played-{hashlib.sha256(asked.encode()).hexdigest()[:16]}"
    base.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        if not path.with_suffix(".done").exists():
            run(model, tasks, output_path=path, **{"no_cache": True, **settings})
            path.with_suffix(".done").touch()
    return RunFolder.open(path)
