"""Models and episodes that the core's tests share, in addition to `sketchmark.testing`."""

from __future__ import annotations

from pathlib import Path

from sketchmark import Context, Model, Options, Reply
from sketchmark.errors import CallFailed
from sketchmark.folder import RunFolder
from sketchmark.folder.format import EpisodeLine
from sketchmark.testing import Recorder, colour

__all__ = ["Flaky", "Recorder", "colour", "episodes", "without_times"]


class Flaky(Model):
    """A model that fails on one sample in `every`, by the digest of its first image, until `broken` is cleared."""

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
    """Return an episode without the times, which differ between runs."""
    line.started = line.seconds = 0.0
    for turn in line.turns:
        turn.seconds = None
    return line


def episodes(path: Path, cell: str) -> list[EpisodeLine]:
    found = [without_times(line) for line in RunFolder(path).episodes(cell)]
    return sorted(found, key=lambda line: line.index)
