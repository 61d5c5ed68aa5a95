"""Estimates of calls and tokens, without a call: protocols run with a counting model."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sketchmark.episode import Grading
from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Context, Part
from sketchmark.media import Picture
from sketchmark.models.code_drawing import ByCode, request_for, taken_from
from sketchmark.models.wrappers import CHARACTERS_A_TOKEN, TOKENS_A_REPLY, tokens_of
from sketchmark.results import grade
from sketchmark.runs.episodes import play
from sketchmark.runs.jobs import CellProgress
from sketchmark.runs.plan import Cell
from sketchmark.terminal import counted

_TAG = re.compile(r"</([A-Z_]{1,40})>")


class CountingModel(Model):
    """Answers with as much as it may, so that the count is the most a run can ask for.

    `shown` is what else a call may carry, in tokens: a judge reads answers that do not exist yet. `by_code` is
    how drawings are written, where they are.
    """

    hears = True

    def __init__(self, shown: int = 0, by_code: ByCode | None = None) -> None:
        super().__init__("tally")
        self.usage: Counter[str] = Counter()
        self._shown, self._by_code = shown, by_code
        self._blank = _white()

    async def say(self, context: Context, options: Options) -> Reply:
        self._count(context)
        self.usage["tokens_out"] += options.max_new_tokens or TOKENS_A_REPLY
        return Reply(text=_in_tags("x" * 40, context.texts))

    async def draw(self, context: Context, options: Options) -> Reply:
        if self._by_code:
            return self._write(context, self._by_code)
        self._count(context)
        self.usage["pictures_out"] += 1
        return Reply(picture=self._blank)

    def _write(self, context: Context, how: ByCode) -> Reply:
        for failed in range(1 + how.retries):
            self._count(Context((*context, Part(request_for(context.pictures)))))
            self.usage["tokens_in"] += failed * how.tokens
            self.usage["tokens_out"] += how.tokens
        return Reply(text="x" * (how.tokens * CHARACTERS_A_TOKEN), picture=self._blank)

    def _count(self, context: Context) -> None:
        self.usage["calls"] += 1
        self.usage["pictures_in"] += len(context.pictures)
        self.usage["tokens_in"] += tokens_of(context) + self._shown


def _in_tags(text: str, asked: Sequence[str]) -> str:
    """In the tags that the prompt asks for: some judges are asked only about an answer in its form."""
    tag = next((found[1] for one in asked if (found := _TAG.search(one))), "")
    return f"<{tag}>{text}</{tag}>" if tag else text


@dataclass(frozen=True)
class Estimate:
    """Calls, pictures and tokens (at most) of one cell: the model's, and the judge's."""

    usage: Mapping[str, int]
    judge: Mapping[str, int]


def estimate(cells: list[Cell], scorings: Sequence[str] = ()) -> dict[str, Estimate]:
    """Count the calls of each cell. `scorings` are those that need the judge; none: there is no judge. Samples
    are read or made for it, so a progress bar is shown."""

    async def count() -> dict[str, Estimate]:
        counts = {}
        for cell in cells:
            by_code = taken_from(dict(cell.settings.model_args), cell.settings.model)
            tally, judge = (
                CountingModel(by_code=by_code),
                CountingModel(cell.mode.saying.max_new_tokens or TOKENS_A_REPLY),
            )
            with counted(cell.pairs(), CellProgress(cell).most, cell.name) as pairs:
                for index, (draft, donor) in enumerate(pairs):
                    if not cell.shard.plays(index):
                        continue
                    episode = await play(tally, cell, draft.sample, donor.sample if donor else None)
                    tally.usage["episodes"] += 1
                    await asyncio.sleep(0)  # nothing else waits here, and a signal must be able to end it
                    for scoring in scorings:
                        await grade(cell.task, episode, index, Grading(scoring, judge))
            counts[cell.name] = Estimate(dict(tally.usage), dict(judge.usage))
        return counts

    return asyncio.run(count())


def _white() -> Picture:
    from PIL import Image

    return Picture.from_image(Image.new("RGB", (8, 8), "white"))
