"""What a run would cost, without asking anyone: the protocols are played against a counter."""

from __future__ import annotations

import asyncio
from collections import Counter

from sketchmark.models.base import Model, Options, Reply
from sketchmark.parts import Context, Picture
from sketchmark.runs.plan import Cell
from sketchmark.runs.play import play

_CHARACTERS_A_TOKEN = 4
_TOKENS_A_PICTURE = 765
"""A 1024-pixel picture as OpenAI counts it. An estimate says how it was made, and is no more than that."""


class Tally(Model):
    """Answers with as much as it may, so that the count is the most a run can ask for."""

    def __init__(self) -> None:
        super().__init__("tally")
        self.usage: Counter[str] = Counter()
        self._blank = _white()

    async def say(self, context: Context, options: Options) -> Reply:
        self._count(context)
        self.usage["tokens_out"] += options.max_new_tokens or 1024
        return Reply(text="x" * 40)

    async def draw(self, context: Context, options: Options) -> Reply:
        self._count(context)
        self.usage["pictures_out"] += 1
        return Reply(picture=self._blank)

    def _count(self, context: Context) -> None:
        self.usage["calls"] += 1
        self.usage["pictures_in"] += len(context.pictures)
        text = sum(len(text) for text in context.texts) // _CHARACTERS_A_TOKEN
        self.usage["tokens_in"] += text + _TOKENS_A_PICTURE * len(context.pictures)


def estimate(cells: list[Cell]) -> dict[str, dict[str, int]]:
    """Calls, pictures and tokens (at most) for each cell."""

    async def count() -> dict[str, dict[str, int]]:
        counts = {}
        for cell in cells:
            tally = Tally()
            for index, (draft, donor) in enumerate(cell.pairs()):
                if not cell.shard.plays(index):
                    continue
                await play(tally, cell, draft.sample, donor.sample if donor else None)
                tally.usage["episodes"] += 1
            counts[cell.name] = dict(tally.usage)
        return counts

    return asyncio.run(count())


def _white() -> Picture:
    from PIL import Image

    return Picture.from_image(Image.new("RGB", (8, 8), "white"))
