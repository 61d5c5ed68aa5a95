"""Plays many episodes at once on one machine.

An engine takes jobs and returns what became of each, in any order. It knows nothing of protocols, models or run
folders, so that another engine (a cluster) can take its place.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import TypeVar

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
