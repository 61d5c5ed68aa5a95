"""Who may call when: places are never lost, never doubled, and given in order."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from sketchmark.models import call as pacing
from sketchmark.models.call import Pace, Slot


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


async def test_a_place_given_to_a_wait_that_is_cancelled_in_the_same_moment_is_given_back() -> None:
    pace = Pace(1)
    async with pace.turn():
        waiting = asyncio.create_task(_through(pace))
        await _settle()
    waiting.cancel()  # leaving has just given it the place, and it has not woken up yet
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await _through(pace)


async def test_such_a_place_goes_to_the_next_in_line() -> None:
    pace = Pace(1)
    async with pace.turn():
        waiting = asyncio.create_task(_through(pace))
        await _settle()
        after = asyncio.create_task(_through(pace))
        await _settle()
    waiting.cancel()
    await after
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


async def test_places_are_given_in_the_order_of_asking_and_nobody_overtakes() -> None:
    pace = Pace(2)
    callers = await _callers(pace, 4)
    assert [caller.inside for caller in callers] == [True, True, False, False]
    await callers[1].finish()
    late = Caller(pace)
    await _settle()
    assert [caller.inside for caller in callers] == [True, False, True, False] and not late.inside
    for caller in (callers[0], callers[2], callers[3], late):
        await caller.finish()


async def test_nobody_is_let_in_while_more_are_running_than_the_lowered_limit_allows() -> None:
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
    for caller in callers[3:]:
        await caller.finish()


async def test_a_limit_that_grows_lets_the_next_one_in_at_once() -> None:
    pace = Pace(2)
    pace.slow_down(Slot(0))
    first, second = await _callers(pace, 2)
    assert not second.inside
    pace.succeeded()
    await _settle()
    assert pace.limit == 2 and first.inside and second.inside
    await first.finish()
    await second.finish()


async def test_the_limit_grows_by_one_after_as_many_successes_as_it_allows_calls() -> None:
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


async def test_a_refusal_of_a_call_from_before_the_last_slowing_down_is_no_news() -> None:
    pace = Pace(16)
    async with pace.turn() as old:
        pace.slow_down(old)
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


async def test_starts_are_spread_evenly_and_a_pause_is_not_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, waits = [100.0], []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(pacing, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(asyncio, "sleep", sleep)
    pace = Pace(per_minute=120)
    for now in (100.0, 100.0, 100.25, 110.0, 110.0):
        clock[0] = now
        async with pace.turn():
            pass
    assert waits == [0, 0.5, 0.75, 0, 0.5]


async def test_without_a_rate_no_start_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async def sleep(seconds: float) -> None:
        raise AssertionError("waited")

    monkeypatch.setattr(asyncio, "sleep", sleep)
    async with Pace().turn():
        pass
