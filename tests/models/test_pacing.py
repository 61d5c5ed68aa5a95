from __future__ import annotations

import asyncio
import time

import pytest

from sketchmark.episode.model import Options
from sketchmark.episode.sample import of
from sketchmark.models.call import Pace
from sketchmark.models.providers.openai import OpenAI
from tests.models.fake_server import FarEnd


async def test_no_more_calls_run_at_once_than_allowed(far: FarEnd) -> None:
    far.delay = 0.03
    asked = OpenAI("m", base_url=f"{far.url}/v1", max_concurrent=3)
    await asyncio.gather(*(asked.say(of(f"{i}?"), Options()) for i in range(12)))
    assert far.load.most == 3


async def test_a_run_of_many_episodes_at_once_is_not_held_to_the_default_unless_a_limit_is_given(far: FarEnd) -> None:
    far.delay = 0.3
    wide = OpenAI("m", base_url=f"{far.url}/v1")
    wide.expect(24)
    await asyncio.gather(*(wide.say(of(f"{i}?"), Options()) for i in range(24)))
    assert far.load.most == 24
    narrow = OpenAI("m", base_url=f"{far.url}/v1", max_concurrent=3)
    narrow.expect(24)
    assert narrow.pace.most == 3


async def test_requests_start_no_faster_than_the_rate_asked_for(far: FarEnd) -> None:
    asked = OpenAI("m", base_url=f"{far.url}/v1", max_requests_per_minute=600)
    await asyncio.gather(*(asked.say(of(f"{i}?"), Options()) for i in range(6)))
    assert far.seen[-1].at - far.seen[0].at >= 0.4


async def test_a_burst_turned_away_together_halves_the_limit_once() -> None:
    pace = Pace(16)
    async with pace.turn() as first, pace.turn() as second:
        pace.slow_down(first)
        pace.slow_down(second)
    assert pace.limit == 8


async def test_the_limit_never_falls_below_one_and_recovers_by_successes() -> None:
    pace = Pace(4)
    for _ in range(6):
        async with pace.turn() as turn:
            pace.slow_down(turn)
    assert pace.limit == 1
    for _ in range(20):
        pace.succeeded()
    assert pace.limit == 4


async def test_after_slowing_down_fewer_calls_run_at_once() -> None:
    pace = Pace(4)
    running = most = 0

    async def call() -> None:
        nonlocal running, most
        async with pace.turn():
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.01)
            running -= 1

    async with pace.turn() as turn:
        pace.slow_down(turn)
    await asyncio.gather(*(call() for _ in range(8)))
    assert most == 2


async def test_a_cancelled_wait_does_not_lose_a_place() -> None:
    pace = Pace(1)
    async with pace.turn():
        waiting = asyncio.create_task(_pass_through(pace))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    started = time.monotonic()
    await asyncio.wait_for(_pass_through(pace), 1)
    assert time.monotonic() - started < 0.5


async def _pass_through(pace: Pace) -> None:
    async with pace.turn():
        pass
