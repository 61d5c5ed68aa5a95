"""Models and samples that a run elsewhere gets by --include. Nothing of the tests is in reach there but this file."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image

from sketchmark import Context, Model, Options, Picture, Reply, Sample, Scores
from sketchmark.models.players import Sketcher


def _picture(shade: int, side: int = 16) -> Picture:
    return Picture.from_image(Image.new("RGB", (side, side), (shade % 256, 80, 120)))


def samples(*, seed: int, data: Path | None, count: int = 6) -> Iterator[Sample]:
    """Rows of a dataset: they are read, not made, and hold what JSON would not give back as it was."""
    for i in range(count):
        yield Sample(
            f"row-{i}",
            {"picture": _picture(i), "more": [_picture(100 + i), _picture(200 + i)]},
            {"question": f"what is {i}?"},
            target={"shade": i, "pair": (i, i + 1), "at": Path("somewhere")},
            groups={"parity": i % 2},
            steps=1 + i % 3,
            frames=lambda i=i: [_picture(50 + i, 16 + n) for n in range(1 + i % 3)],  # type: ignore[misc]
        )


def right(sample: Sample, episode: Any, grading: Any) -> Scores:
    frames = sample.frames() if sample.frames else []
    drawn = [drawing.size == frame.size for drawing, frame in zip(episode.drawings, frames, strict=False)]
    return Scores({"right": float(episode.answer == f"row {sample.target['shade']}"), "drawn": float(sum(drawn))})


class Painter(Model):
    """Answers by the shade that it sees, and draws what it saw last."""

    def __init__(self, name: str = "") -> None:
        super().__init__(name)

    async def say(self, context: Context, options: Options) -> Reply:
        return Reply(f"row {context.pictures[0].image().getpixel((0, 0))[0]}", raw={"odd": {1, 2}})  # type: ignore[index]

    async def draw(self, context: Context, options: Options) -> Reply:
        return Reply(picture=_picture(len(context.pictures), context.pictures[-1].size[0]))


class Copyist(Painter):
    """The painter, of one image."""

    max_pictures = 1


class Slow(Model):
    """The sketcher, at a pace that does not depend on the machine."""

    def __init__(self, name: str = "", seconds: float = 0.05) -> None:
        super().__init__(name)
        self._inner, self._seconds = Sketcher(), seconds

    def identity(self) -> dict[str, Any]:
        return {"name": type(self).__name__.lower()}

    async def say(self, context: Context, options: Options) -> Reply:
        await asyncio.sleep(self._seconds)
        return await self._inner.say(context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        await asyncio.sleep(self._seconds)
        return await self._inner.draw(context, options)


class Deadly(Slow):
    """The sketcher, but one puzzle is the death of the process that looks at it: `deaths` times, as the files in
    `folder` count them. `victim` is how the digest of its first picture begins."""

    def __init__(self, name: str = "", victim: str = "-", folder: str = "", deaths: int = 1) -> None:
        super().__init__(name, 0)
        self._victim, self._folder, self._deaths = victim, Path(folder), deaths

    async def say(self, context: Context, options: Options) -> Reply:
        here = context.pictures[0].digest.startswith(self._victim)
        if here and len(list(self._folder.iterdir())) < self._deaths:
            (self._folder / os.urandom(8).hex()).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().say(context, options)


class Greedy(Slow):
    """The sketcher, but one puzzle takes more memory than there is."""

    def __init__(self, name: str = "", victim: str = "-", megabytes: int = 0) -> None:
        super().__init__(name, 0)
        self._victim, self._megabytes = victim, megabytes

    async def say(self, context: Context, options: Options) -> Reply:
        taken = []
        if context.pictures[0].digest.startswith(self._victim):
            for _ in range(self._megabytes // 100):
                taken.append(os.urandom(1_000_000) * 100)
                await asyncio.sleep(0.05)
        return await super().say(context, options)
