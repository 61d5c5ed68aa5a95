"""Engines play many jobs at once. They know nothing of protocols, models or run folders: one can replace another.

Plays many episodes at once on one machine.

An engine takes jobs and returns what became of each, in any order. It knows nothing of protocols, models or run
folders, so that another engine (a cluster) can take its place.

The event loop of a command or a call from Python, for work that people interrupt.

A signal is handled by Python when the main thread runs Python again. One that another thread is given, or that comes
in the moment before the event loop falls asleep, would be heard when something else wakes the loop: with a server
that does not answer, never. So every signal also writes a byte that the loop waits for.

The order in which jobs are handed out.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import signal
import socket
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import Any, TypeVar

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")

_AT_LEAST = 0.002
"""Seconds that jobs are drawn for before those that are there begin."""


async def play_all(
    jobs: Iterator[Job | None], play: Callable[[Job], Awaitable[Outcome]], concurrency: int
) -> AsyncGenerator[Outcome, None]:
    """At most `concurrency` jobs are in memory at any time; the next one is made only when a place is free.

    Jobs are drawn in a worker thread: making a sample (decoding a row, painting a puzzle) must not hold up the calls
    that are under way. For as many places as are free, several come at once where that takes no time: a thread costs
    more than reading a row. A supply that looks through much that needs no playing yields None for each, so that
    whoever ends the run does not wait until it is through.
    """
    running: set[asyncio.Task[Outcome]] = set()
    done: asyncio.Queue[asyncio.Task[Outcome]] = asyncio.Queue()  # asyncio.wait would look at every job for each one
    ended = threading.Event()

    def draw(places: int) -> tuple[list[Job], bool]:
        """Jobs, and whether there may be more."""
        drawn: list[Job] = []
        until = time.monotonic() + _AT_LEAST
        for job in jobs:
            if job is not None:
                drawn.append(job)
            if ended.is_set() or len(drawn) == places or time.monotonic() > until:
                return drawn, True
        return drawn, False

    more = True
    try:
        while more or running:
            if more and len(running) < concurrency:
                drawn, more = await asyncio.to_thread(draw, concurrency - len(running))
                for job in drawn:
                    task = asyncio.ensure_future(play(job))
                    task.add_done_callback(done.put_nowait)
                    running.add(task)
                await asyncio.sleep(0)  # a job that has just been drawn begins, whatever has ended meanwhile
            while running and (not done.empty() or not more or len(running) == concurrency):
                task = await done.get()
                running.discard(task)  # the others stay: where several failed at once, each is looked at below
                yield task.result()
    finally:
        ended.set()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


T = TypeVar("T")

_LOOKS_EVERY = 0.2
"""Seconds until an interrupt is noticed."""


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run`; every signal wakes the loop."""

    async def heard() -> T:
        with _woken_by_signals(asyncio.get_running_loop()):
            return await work

    return asyncio.run(heard())


@contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Only the main thread is told of signals, and only it may ask to be."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    there, here = socket.socketpair()
    with there, here:
        there.setblocking(False)
        here.setblocking(False)
        loop.add_reader(here, here.recv, 4096)
        before = signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(here)


def finish(work: Coroutine[Any, Any, T]) -> T:
    """Run the work to its end, wherever this is called.

    A notebook has an event loop of its own running, and so has a script within `asyncio.run`; there the work goes
    to another thread, and interrupting the cell or the script ends it in order.

    While this waits, nothing else of that loop runs. So a task of it that is cancelled meanwhile was cancelled by
    Ctrl-C: under `asyncio.run` that is all that Ctrl-C does the first time.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_async(work)
    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []
    interrupted = threading.Event()

    async def told() -> T:
        task = asyncio.ensure_future(work)
        begun.append((asyncio.get_running_loop(), task))
        if interrupted.is_set():
            task.cancel()
        return await task

    def cancelled() -> int:
        return sum(task.cancelling() for task in asyncio.all_tasks())

    before = cancelled()
    with ThreadPoolExecutor(max_workers=1) as aside:
        done = aside.submit(copy_context().run, asyncio.run, told())
        try:
            while not wait([done], _LOOKS_EVERY).done:
                if cancelled() > before:
                    raise KeyboardInterrupt
            return done.result()
        except KeyboardInterrupt:
            interrupted.set()
            for loop, task in begun:
                with suppress(RuntimeError):  # it has ended meanwhile
                    loop.call_soon_threadsafe(task.cancel)
            raise


def longest_first(
    jobs: Iterator[Job | None], length: Callable[[Job], float | None], ahead: int
) -> Iterator[Job | None]:
    """The longest of the next `ahead` jobs comes first, so that a long one does not begin when all others are done.

    No more than `ahead` jobs are held back, and the look-ahead grows by one with each job that is given: whoever
    waits for the first one does not wait until many are made. Jobs of equal length keep their order; one whose length
    nobody knows, and None, passes through.
    """
    held: list[tuple[float, int, Job]] = []
    number = itertools.count()
    room = 0
    for job in jobs:
        known = length(job) if job is not None else None
        if job is None or known is None:
            yield job
            continue
        heapq.heappush(held, (-known, next(number), job))
        if len(held) > room:
            room = min(ahead, room + 1)
            yield heapq.heappop(held)[2]
    while held:
        yield heapq.heappop(held)[2]
