"""Plays many episodes at once on one machine.

An engine takes jobs and returns what became of each, in any order. It knows nothing of protocols, models or run
folders, so that another engine (a cluster) can take its place.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import TypeVar

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")


async def play_all(
    jobs: Iterator[Job | None], play: Callable[[Job], Awaitable[Outcome]], concurrency: int
) -> AsyncGenerator[Outcome, None]:
    """At most `concurrency` jobs are in memory at any time; the next one is made only when a place is free.

    Jobs are drawn in a worker thread, one at a time: making a sample (decoding a row, painting a puzzle) must not
    hold up the calls that are under way. A supply that looks through much that needs no playing yields None for
    each, so that whoever ends the run does not wait until it is through.
    """
    running: set[asyncio.Task[Outcome]] = set()
    done: asyncio.Queue[asyncio.Task[Outcome]] = asyncio.Queue()  # asyncio.wait would look at every job for each one
    ended = threading.Event()

    def draw() -> list[Job]:
        for job in jobs:
            if ended.is_set():
                break
            if job is not None:
                return [job]
        return []

    more = True
    try:
        while more or running:
            while more and len(running) < concurrency:
                drawn = await asyncio.to_thread(draw)
                if drawn:
                    task = asyncio.ensure_future(play(drawn[0]))
                    task.add_done_callback(done.put_nowait)
                    running.add(task)
                else:
                    more = False
            if running:
                await asyncio.sleep(0)  # a job that has just been drawn begins, whatever has ended meanwhile
                task = await done.get()
                running.discard(task)  # the others stay: where several failed at once, each is looked at below
                yield task.result()
    finally:
        ended.set()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
