"""Code that does not end is stopped and named, whatever it does; other code is not disturbed."""

from __future__ import annotations

import asyncio
import re
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from sketchmark.engines import SECONDS, TooSlow, allowed, patient, settled_within, within

LIMIT = 0.1


def spins() -> None:
    while True:
        pass


def searches() -> object:
    return re.match(r"(a+)+$", "a" * 60 + "b")


def sleeps() -> None:
    time.sleep(60)


def catches_all() -> int:
    """Like task code with a bare `except`: it returns a number in spite of the deadline."""
    for _ in range(2):
        try:
            spins()
        except BaseException:
            continue
    return 7


async def waits() -> None:
    await asyncio.sleep(60)


async def spins_later() -> None:
    await asyncio.sleep(0)
    spins()


def in_a_thread(work: Callable[[], Any]) -> Any:
    found: list[Any] = []

    def call() -> None:
        try:
            found.append(work())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join(20)
    return found[0]


@pytest.mark.parametrize("code", [spins, searches, sleeps, catches_all])
def test_code_that_does_not_end_is_stopped_and_named(code: Callable[[], Any]) -> None:
    began = time.monotonic()
    with pytest.raises(TooSlow, match=rf"test_deadline\.{code.__name__} took longer than 0\.1 s and was stopped"):
        within(LIMIT, partial(code))
    assert time.monotonic() - began < 10
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


@pytest.mark.parametrize("code", [spins, catches_all])
def test_python_code_in_another_thread_is_stopped_too(code: Callable[[], Any]) -> None:
    assert isinstance(in_a_thread(lambda: within(LIMIT, code)), TooSlow)
    assert in_a_thread(lambda: [within(60, partial(int, n)) for n in range(50)]) == list(range(50))


@pytest.mark.parametrize("code", [waits, spins_later, sleeps])
async def test_coroutines_are_stopped_between_and_within_their_steps(code: Callable[[], Any]) -> None:
    with pytest.raises(TooSlow, match=code.__name__):
        await settled_within(LIMIT, code)


async def test_waiting_for_a_model_has_no_deadline_and_results_and_errors_pass() -> None:
    async def asks(seconds: float) -> Any:
        await asyncio.sleep(seconds)
        return "verdict"

    async def fails() -> Any:
        await asyncio.sleep(0)
        raise TimeoutError("its own")

    async def cleans_up() -> Any:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cleaned.append(True)
            raise

    cleaned: list[bool] = []
    assert await settled_within(0.01, asks, 0.1, waits=True) == "verdict"
    assert await settled_within(60, lambda: "at once") == "at once"
    with pytest.raises(TimeoutError, match="its own"):
        await settled_within(60, fails)
    task = asyncio.create_task(settled_within(60, cleans_up))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned == [True]


def test_the_timer_and_the_handler_of_others_are_kept() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 30)
        assert within(60, lambda: 3) == 3
        with pytest.raises(TooSlow, match=r"0\.02"):  # the limit of the call around it holds too
            within(0.02, lambda: within(60, spins))
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] < 30
        signal.raise_signal(signal.SIGALRM)
        assert heard == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_function_may_say_that_it_needs_longer() -> None:
    @patient(77)
    def loads() -> None: ...

    def own() -> None: ...

    own.seconds = 9  # type: ignore[attr-defined]
    found = [allowed(code) for code in (loads, partial(partial(loads)), own, spins, re.compile("").match)]
    assert found == [77, 77, 9, SECONDS, SECONDS]
