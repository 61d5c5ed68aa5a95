"""Estimates of calls and tokens, without a call: protocols run with a counting model."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sketchmark.answers.extractor import opinion
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Context, Part
from sketchmark.media import Picture
from sketchmark.models import paired
from sketchmark.models.cache import call_key
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

    def __init__(self, shown: int = 0, by_code: ByCode | None = None, seen: set[str] | None = None) -> None:
        super().__init__("tally")
        self.usage: Counter[str] = Counter()
        self.repeated: Counter[str] = Counter()
        """The part of `usage` that repeats earlier calls, of this model or another with the same `seen`."""
        self._shown, self._by_code = shown, by_code
        self._seen = set() if seen is None else seen

    async def say(self, context: Context, options: Options) -> Reply:
        self._count("say", context, options, tokens_out=options.max_new_tokens or TOKENS_A_REPLY)
        return Reply(text=_in_tags("x" * 40, context.texts))

    async def draw(self, context: Context, options: Options) -> Reply:
        if self._by_code:
            return self._write(context, options, self._by_code)
        return Reply(picture=_drawing(self._count("draw", context, options, pictures_out=1)))

    def _write(self, context: Context, options: Options, how: ByCode) -> Reply:
        key = ""
        for failed in range(1 + how.retries):
            asked = Context((*context, Part(request_for(context.pictures)), *[Part("again")] * failed))
            tokens = how.tokens
            key = self._count("say", asked, options, tokens_in=failed * tokens, tokens_out=tokens)
        return Reply(text="x" * (how.tokens * CHARACTERS_A_TOKEN), picture=_drawing(key))

    def _count(self, act: str, context: Context, options: Options, tokens_in: int = 0, **more: int) -> str:
        """Count a call and return its key in the cache."""
        tokens_in += tokens_of(context) + self._shown
        used = {"calls": 1, "pictures_in": len(context.pictures), "tokens_in": tokens_in, **more}
        self.usage.update(used)
        key = call_key(self, act, context, options)
        if key in self._seen:
            self.repeated.update(used)
        self._seen.add(key)
        return key


def _in_tags(text: str, asked: Sequence[str]) -> str:
    """In the tags that the prompt asks for: some judges are asked only about an answer in its form."""
    tag = next((found[1] for one in asked if (found := _TAG.search(one))), "")
    return f"<{tag}>{text}</{tag}>" if tag else text


@dataclass(frozen=True)
class Estimate:
    """Calls, pictures and tokens (at most) of one cell: the model's, with its drawer's part marked, the judge's and
    the extractor's.

    `repeated` is the part of the model's that repeats earlier calls of the run, such as the first drawing on another
    canvas. The cache answers these without a charge, unless both are under way at the same time.
    """

    usage: Mapping[str, int]
    judge: Mapping[str, int]
    extractor: Mapping[str, int]
    repeated: Mapping[str, int]


def estimate(cells: list[Cell], scorings: Sequence[str] = (), *, extracts: bool = False) -> dict[str, Estimate]:
    """Count the calls of each cell. `scorings` are those that need the judge; none: there is no judge. `extracts`:
    an extractor may be asked about every reply. Samples are read or made for it, so a progress bar is shown."""

    async def count() -> dict[str, Estimate]:
        counts = {}
        seen: set[str] = set()
        for cell in cells:
            by_code = taken_from(dict(cell.settings.model_args), cell.settings.model)
            tally, shown = (
                CountingModel(by_code=by_code, seen=seen),
                cell.mode.saying.max_new_tokens or TOKENS_A_REPLY,
            )
            drawer = None
            if cell.settings.drawer:
                by_code = taken_from(dict(cell.settings.drawer_args), cell.settings.drawer)
                drawer = CountingModel(by_code=by_code, seen=seen)
            asked = paired(tally, drawer)
            judge, extractor = CountingModel(shown), CountingModel(shown)
            with counted(cell.pairs(), CellProgress(cell).most, cell.name) as pairs:
                for index, (draft, donor) in enumerate(pairs):
                    if not cell.shard.plays(index):
                        continue
                    episode = await play(asked, cell, draft.sample, donor.sample if donor else None)
                    tally.usage["episodes"] += 1
                    await asyncio.sleep(0)  # nothing else waits here, and a signal must be able to end it
                    for scoring in scorings:
                        await grade(cell.task, episode, index, Grading(scoring, judge))
                    if extracts:
                        await opinion(extractor, episode, _unparsed)
            if drawer:
                tally.usage.update(_of_drawer(drawer.usage))
                tally.repeated.update(_of_drawer(drawer.repeated))
            used = (tally.usage, judge.usage, extractor.usage, tally.repeated)
            counts[cell.name] = Estimate(*map(dict, used))
        return counts

    return asyncio.run(count())


def _of_drawer(usage: Mapping[str, int]) -> dict[str, int]:
    """Return usage with its marks as a drawer's, as `Usage.of_drawer` does."""
    return {**usage, **{f"drawer_{name}": count for name, count in usage.items()}}


async def _unparsed(episode: Episode) -> Scores:
    return Scores({}, unparsed=True)


def _drawing(key: str) -> Picture:
    """Make an image that differs from call to call, as a model's drawings do."""
    from PIL import Image

    return Picture.from_image(Image.frombytes("RGB", (2, 5), bytes.fromhex(key[:60])))
