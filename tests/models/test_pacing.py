"""Retries and rates: when a call is made, retried or given up; places are never lost, doubled or overtaken."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest

from sketchmark import Options
from sketchmark.episode.sample import of
from sketchmark.models import call as calling
from sketchmark.models import failures
from sketchmark.models.call import Call, Pace, Slot
from sketchmark.models.providers.openai import OpenAI
from tests.models.asking import failure
from tests.models.fake_server import FarEnd, Fault


def model(far: FarEnd, **args: Any) -> OpenAI:
    return OpenAI("m", **{"base_url": f"{far.url}/v1", **args})


# Retries; `test_faults.py` has every status for every adapter.


@pytest.mark.parametrize("headers", [{"Retry-After": "0.2"}, {"retry-after-ms": "200"}])
async def test_a_retry_waits_at_least_as_long_as_the_server_asks(far: FarEnd, headers: dict[str, str]) -> None:
    far.faults = [Fault(429, headers)]
    await model(far).say(of("Hm?"), Options())
    assert 0.2 <= far.seen[1].at - far.seen[0].at < 20


def test_retry_after_is_read_as_seconds_or_as_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 55 < (failures.retry_after({"retry-after": later}) or 0) <= 60
    assert failures.retry_after({"retry-after": "7"}) == 7
    for odd in ("soon", "", "²", "-5", "nan", f"{later[:-3]}+99999999999999", "Wed, 21 Oct 99999 07:28:00 GMT"):
        assert failures.retry_after({"retry-after": odd}) is None, odd
    assert failures.retry_after({}) is None


async def test_a_wait_of_an_hour_is_refused_and_the_message_names_it(far: FarEnd) -> None:
    far.faults = [Fault(429, {"Retry-After": "3600"})]
    assert "asks to wait 3600 s" in str(await failure(model(far)))


async def test_an_outer_timeout_cancels_the_call_and_frees_its_place(far: FarEnd) -> None:
    far.faults = [Fault(delay=1)]
    asked = model(far, max_concurrent=1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await asked.say(of("Hm?"), Options())
    assert (await asked.say(of("Hm?"), Options())).text == "left"


async def test_a_bug_of_ours_is_not_taken_for_a_failed_call() -> None:
    async def attempt(_: Call) -> None:
        raise KeyError("bug")

    with pytest.raises(KeyError):
        await calling.Caller("m", Pace(), timeout=1, max_retries=5)(attempt)


async def test_many_calls_through_a_faulty_server_all_come_through(far: FarEnd) -> None:
    far.faults = [Fault(429 if i % 3 else 500) for i in range(12)]
    asked = model(far)
    replies = await asyncio.gather(*(asked.say(of(f"{i}?"), Options()) for i in range(40)))
    assert [reply.text for reply in replies] == ["left"] * 40
    assert len(far.seen) == 52


# Rates


async def test_a_run_widens_the_default_limit_but_not_one_that_was_given(far: FarEnd) -> None:
    far.meet = 24
    wide = model(far)
    wide.expect(24)
    await asyncio.gather(*(wide.say(of(f"{i}?"), Options()) for i in range(24)))
    assert far.load.most == 24
    far.reset()
    far.meet, far.delay = 3, 0.03
    narrow = model(far, max_concurrent=3)
    narrow.expect(24)
    await asyncio.gather(*(narrow.say(of(f"{i}?"), Options()) for i in range(12)))
    assert far.load.most == narrow.pace.most == 3


async def test_requests_start_no_faster_than_the_rate_asked_for(far: FarEnd) -> None:
    asked, began = OpenAI("m", base_url=f"{far.url}/v1", max_requests_per_minute=600), time.monotonic()
    await asyncio.gather(*(asked.say(of(f"{i}?"), Options()) for i in range(6)))
    assert far.seen[-1].at - began >= 0.5


async def test_starts_are_spread_evenly_and_a_pause_is_not_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, waits, mine, slept = [100.0], [], asyncio.current_task(), asyncio.sleep

    async def sleep(seconds: float) -> None:
        if asyncio.current_task() is not mine:  # a server in another thread
            await slept(seconds)
            return
        waits.append(seconds)

    monkeypatch.setattr(calling, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(asyncio, "sleep", sleep)
    pace = Pace(per_minute=120)
    for now in (100.0, 100.0, 100.25, 110.0, 110.0):
        clock[0] = now
        async with pace.turn():
            pass
    assert waits == [0, 0.5, 0.75, 0, 0.5]
    async with Pace().turn():
        assert len(waits) == 5, "without a rate no start waits"


# Places


async def _through(pace: Pace) -> None:
    async with asyncio.timeout(5), pace.turn():
        pass


async def _settle() -> None:
    """Let every task run as far as it can get."""
    for _ in range(10):
        await asyncio.sleep(0)


class Caller:
    """A call that holds its place until it is let go."""

    def __init__(self, pace: Pace) -> None:
        self.inside = False
        self._pace, self._go = pace, asyncio.Event()
        self.task = asyncio.create_task(self._call())

    async def _call(self) -> None:
        async with self._pace.turn():
            self.inside = True
            await self._go.wait()
        self.inside = False

    async def finish(self) -> None:
        self._go.set()
        await self.task


async def _callers(pace: Pace, count: int) -> list[Caller]:
    callers = []
    for _ in range(count):
        callers.append(Caller(pace))
        await _settle()
    return callers


@pytest.mark.parametrize("followed", [False, True])
async def test_a_place_given_to_a_wait_that_is_cancelled_in_the_same_moment_goes_to_the_next(followed: bool) -> None:
    pace = Pace(1)
    async with pace.turn():
        waiting = asyncio.create_task(_through(pace))
        await _settle()
        after: list[Any] = [asyncio.create_task(_through(pace)) for _ in range(followed)]
        await _settle()
    waiting.cancel()  # leaving has just given it the place, and it has not woken up yet
    await asyncio.gather(*(after or [_through(pace)]))
    assert waiting.cancelled()


async def test_a_wait_that_is_cancelled_before_its_turn_frees_no_place_that_it_never_had() -> None:
    pace = Pace(1)
    first, second, third = await _callers(pace, 3)
    second.task.cancel()
    await _settle()
    assert first.inside and not third.inside
    await first.finish()
    await _settle()
    assert third.inside
    await third.finish()


async def test_a_call_cancelled_while_it_waits_for_its_start_gives_its_place_back() -> None:
    pace = Pace(1, per_minute=1)
    await _through(pace)
    held_back = asyncio.create_task(_through(pace))
    await _settle()
    held_back.cancel()
    await _settle()
    pace.per_minute = None
    await _through(pace)


async def test_a_call_that_raises_gives_its_place_back() -> None:
    pace = Pace(1)
    with pytest.raises(ZeroDivisionError):
        async with pace.turn():
            raise ZeroDivisionError
    await _through(pace)


async def test_places_are_given_in_the_order_of_asking() -> None:
    pace = Pace(2)
    callers = await _callers(pace, 4)
    assert [caller.inside for caller in callers] == [True, True, False, False]
    await callers[1].finish()
    late = Caller(pace)
    await _settle()
    assert [caller.inside for caller in callers] == [True, False, True, False] and not late.inside
    for caller in (callers[0], callers[2], callers[3], late):
        await caller.finish()


async def test_no_call_starts_while_more_run_than_the_lowered_limit_allows() -> None:
    pace = Pace(4)
    callers = await _callers(pace, 6)
    pace.slow_down(Slot(0))
    await callers[0].finish()
    await callers[1].finish()
    await _settle()
    assert pace.limit == 2 and [caller.inside for caller in callers[2:]] == [True, True, False, False]
    await callers[2].finish()
    await _settle()
    assert [caller.inside for caller in callers[3:]] == [True, True, False]
    await callers[3].finish()
    await callers[4].finish()
    pace.slow_down(Slot(1))
    late = Caller(pace)
    await _settle()
    assert pace.limit == 1 and callers[5].inside and not late.inside
    pace.succeeded()
    await _settle()
    assert pace.limit == 2 and late.inside, "a limit that grows lets the next one in at once"
    await callers[5].finish()
    await late.finish()


async def test_the_limit_falls_by_half_and_grows_by_one_after_as_many_successes_as_it_allows_calls() -> None:
    pace = Pace(16)
    for epoch in range(2):
        pace.slow_down(Slot(epoch))
    assert pace.limit == 4
    for _ in range(4):
        pace.succeeded()
    assert 4.8 < pace.limit <= 5
    for _ in range(500):
        pace.succeeded()
    assert pace.limit == 16
    for epoch in range(2, 9):
        pace.slow_down(Slot(epoch))
    assert pace.limit == 1


async def test_calls_that_are_refused_together_halve_the_limit_once() -> None:
    pace = Pace(16)
    async with pace.turn() as old, pace.turn() as beside:
        pace.slow_down(old)
        pace.slow_down(beside)
        async with pace.turn() as new:
            pace.slow_down(old)
            assert pace.limit == 8
            pace.slow_down(new)
            assert pace.limit == 4


def test_room_is_made_for_more_calls_and_never_taken_away() -> None:
    pace = Pace(4)
    pace.widen(9)
    assert (pace.most, pace.limit) == (9, 9)
    pace.widen(3)
    assert (pace.most, pace.limit) == (9, 9)
    assert Pace().most == 16
