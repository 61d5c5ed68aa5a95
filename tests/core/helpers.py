"""Small models and samples that the core's tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PIL import Image

from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Context
from sketchmark.errors import CallFailed
from sketchmark.folder import RunFolder
from sketchmark.folder.format import EpisodeLine
from sketchmark.media import Picture


def colour(name: str, size: tuple[int, int] = (16, 16)) -> Picture:
    return Picture.from_image(Image.new("RGB", size, name))


class Recorder(Model):
    """Answers by a function of the call's number and remembers every context it was given."""

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


class Flaky(Model):
    """Fails on the samples whose first picture's digest it was told, until it is healed."""

    def __init__(self, inner: Model, every: int) -> None:
        super().__init__("flaky")
        self.inner, self.every, self.broken = inner, every, True

    def _check(self, context: Context) -> None:
        if self.broken and int(context.pictures[0].digest, 16) % self.every == 0:
            raise CallFailed("connection", "the line went dead")

    async def say(self, context: Context, options: Options) -> Reply:
        self._check(context)
        return await self.inner.say(context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        self._check(context)
        return await self.inner.draw(context, options)


def without_times(line: EpisodeLine) -> EpisodeLine:
    """An episode as it must be the same in every run: all but how long it took."""
    line.started = line.seconds = 0.0
    for turn in line.turns:
        turn.seconds = None
    return line


def episodes(path: Path, cell: str) -> list[EpisodeLine]:
    found = [without_times(line) for line in RunFolder(path).episodes(cell)]
    return sorted(found, key=lambda line: line.index)
