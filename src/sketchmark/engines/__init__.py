"""Execution of many jobs at once, and the event loop for work that users interrupt.

An engine takes jobs and returns their outcomes in any order. It does not know protocols, models or run folders, so
that one engine can replace another.

Python handles a signal when the main thread runs Python again. A signal that another thread receives, or that arrives
just before the event loop sleeps, would be noticed when something else wakes the loop: never, if a server does not
respond. So every signal also writes a byte that the loop waits for.
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
"""Seconds for taking jobs before those taken begin."""


async def play_all(
    jobs: Iterator[Job | None], play: Callable[[Job], Awaitable[Outcome]], concurrency: int
) -> AsyncGenerator[Outcome, None]:
    """Run all jobs, at most `concurrency` at a time. The next job is made only when a place is free.

    Jobs are taken in a worker thread: making a sample (decoding a row, painting a puzzle) must not delay the running
    calls. Several are taken at once if that is fast, because a thread costs more than reading a row. A supply yields
    None for each job that it skips, so that a run can end while it skips many.
    """
    running: set[asyncio.Task[Outcome]] = set()
    done: asyncio.Queue[asyncio.Task[Outcome]] = asyncio.Queue()  # asyncio.wait would visit every job for each one
    ended = threading.Event()

    def draw(places: int) -> tuple[list[Job], bool]:
        """Return jobs, and whether there may be more."""
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
                await asyncio.sleep(0)  # a new job begins before the ended ones are handled
            while running and (not done.empty() or not more or len(running) == concurrency):
                task = await done.get()
                running.discard(task)  # the others stay: if several failed at once, each is handled below
                yield task.result()
    finally:
        ended.set()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


T = TypeVar("T")

_LOOKS_EVERY = 0.2
"""Seconds between checks for an interrupt."""


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Call `asyncio.run` with a loop that every signal wakes."""

    async def heard() -> T:
        with _woken_by_signals(asyncio.get_running_loop()):
            return await work

    return asyncio.run(heard())


@contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Wake the loop at signals. Only the main thread receives them, and only it may set this up."""
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

    A notebook already runs an event loop, and so does a script within `asyncio.run`. There the work goes to another
    thread, and interrupting the cell or the script ends it in order.

    While this waits, nothing else of that loop runs. So a task of it that is cancelled was cancelled by Ctrl-C: under
    `asyncio.run` the first Ctrl-C does only that.
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
                with suppress(RuntimeError):  # it has ended
                    loop.call_soon_threadsafe(task.cancel)
            raise


def longest_first(
    jobs: Iterator[Job | None], length: Callable[[Job], float | None], ahead: int
) -> Iterator[Job | None]:
    """Yield the longest of the next `ahead` jobs first, so that a long one does not begin when all others are done.

    At most `ahead` jobs are held back. The look-ahead grows by one with each job, so that the first one need not wait
    until many are made. Jobs of equal length keep their order. None, and jobs of unknown length, pass through.
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
