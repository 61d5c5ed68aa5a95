"""Calls are counted where they are made, for whoever looks on."""

from __future__ import annotations

from pathlib import Path

import pytest

from sketchmark.episode.model import Model, Options, Reply, Usage
from sketchmark.episode.sample import Context, of
from sketchmark.models import call as calling
from sketchmark.models.cache import with_cache
from sketchmark.models.providers.openai import OpenAI
from sketchmark.models.wrappers import CallCount, CountedModel, together
from tests.models.fake_server import FarEnd, Fault


class Teller(Model):
    def __init__(self, tally: CallCount) -> None:
        super().__init__("teller")
        self.tally = tally
        self.seen: list[int] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.seen.append(self.tally.under_way)
        if context.texts[0] == "break":
            raise OSError("no line, sk-planted-0123456789abcdef")
        return Reply("yes", usage=Usage(tokens_in=10, tokens_out=3))

    async def draw(self, context: Context, options: Options) -> Reply:
        return Reply(usage=Usage(tokens_in=1, tokens_out=2, pictures_out=1))


async def test_calls_tokens_and_pictures_are_added_up_and_what_the_cache_says_stands_apart(tmp_path: Path) -> None:
    tally = CallCount()
    teller = Teller(tally)
    model = CountedModel(with_cache(teller, tmp_path), tally)
    for _ in range(3):
        await model.say(of("a"), Options())
    await model.draw(of("b"), Options())
    assert (tally.answered, tally.from_cache, tally.under_way, teller.seen) == (2, 2, 0, [1])
    assert tally.usage == {"tokens_in": 11, "tokens_out": 5, "pictures_out": 1}
    assert model.identity() == teller.identity() and model.abilities == teller.abilities


async def test_what_breaks_is_told_without_keys_until_somebody_answers() -> None:
    tally = CallCount()
    model = CountedModel(Teller(tally), tally)
    with pytest.raises(OSError, match="no line"):
        await model.say(of("break"), Options())
    assert (tally.error, tally.silent, tally.under_way) == ("no line, [key]", 1, 0)
    await model.say(of("a"), Options())
    assert (tally.silent, tally.error) == (0, "no line, [key]")


async def test_retries_are_counted_for_whom_they_are_made(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "FIRST_WAIT", 0.001)
    shared = OpenAI("m", base_url=f"{far.url}/v1")
    model, judge = CallCount(), CallCount()
    far.faults = [Fault(503), Fault(500)]
    await CountedModel(shared, model).say(of("Hm?"), Options())
    far.faults = [Fault(500)]
    await CountedModel(shared, judge).say(of("Hm?"), Options())
    await shared.close()
    assert (model.retries, judge.retries) == (2, 1)
    said = f"server_error: HTTP 500: planned 500 at {far.url}/v1/chat/completions"
    assert model.error == said and model.silent == 0


def test_together_they_are_one() -> None:
    one = CallCount(under_way=2, answered=5, tokens_in=7, error="slow", silent=0)
    other = CallCount(under_way=1, answered=1, retries=3, error="dead", silent=4)
    total = together([one, other])
    assert (total.under_way, total.answered, total.tokens_in, total.retries) == (3, 6, 7, 3)
    assert (total.error, total.silent) == ("dead", 4)
    assert together([]) == CallCount()
