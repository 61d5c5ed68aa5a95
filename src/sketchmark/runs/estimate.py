"""What a run would cost, without asking anyone: the protocols are played against a counter."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

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
            for sample, donor in cell.pairs():
                await play(tally, cell, sample, donor)
                tally.usage["episodes"] += 1
            counts[cell.name] = dict(tally.usage)
        return counts

    return asyncio.run(count())


def print_estimate(cells: list[Cell], price: Callable[[dict[str, int]], float] | None) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="A dry run: nothing was asked. At most:", title_justify="left")
    columns = ("episodes", "calls", "pictures_in", "pictures_out", "tokens_in", "tokens_out")
    table.add_column("task.mode")
    for name in columns:
        table.add_column(name.replace("_", " "), justify="right")
    if price:
        table.add_column("cost", justify="right")
    total: Counter[str] = Counter()
    for name, usage in estimate(cells).items():
        total.update(usage)
        table.add_row(name, *_row(usage, columns, price))
    table.add_section()
    table.add_row("total", *_row(total, columns, price))
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def _row(
    usage: dict[str, Any], columns: tuple[str, ...], price: Callable[[dict[str, int]], float] | None
) -> list[str]:
    cells = [f"{usage.get(name, 0):,}" for name in columns]
    return [*cells, f"{price(usage):.2f}"] if price else cells


def _white() -> Picture:
    from PIL import Image

    return Picture.from_image(Image.new("RGB", (8, 8), "white"))
