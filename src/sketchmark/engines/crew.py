"""Workers in other processes or on other machines: distribution of jobs, and replacement of workers that die.

A worker gets a job as bytes and returns its outcome as bytes. This module does not read them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Protocol

from sketchmark.errors import SketchmarkError

TRIES = 3
"""Attempts at a job whose worker died. In the last one it has a worker to itself, so that no other job is blamed."""

_HIRING_TRIES = 3
"""Consecutive workers that die before they are ready, after which the run stops."""

_NEWS_PATIENCE = 2.0


class WorkerLost(Exception):
    """The worker is gone, with its jobs."""


class JobLost(Exception):
    """A job that killed every worker that ran it."""


class Worker(Protocol):
    async def play(self, job: bytes) -> bytes:
        """Run a job. Raises WorkerLost if the worker is gone."""

    async def news(self) -> bytes:
        """Return its current state."""

    async def close(self, *, at_once: bool) -> None: ...


class _Member:
    """A worker, its number of jobs, and whether it is reserved for one job."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.news = b""
        self.busy = 0
        self.kept_free = False
        self.gone = asyncio.Event()


class Crew:
    """`size` workers with `places` each. The first job starts them, and a worker that dies is replaced."""

    def __init__(self, hire: Callable[[], Awaitable[Worker]], size: int, places: int) -> None:
        self.lost = 0
        """Workers that died."""
        self.again = 0
        """Jobs that were rerun for that reason."""
        self._hire, self._size, self._places = hire, size, places
        self._members: list[_Member] = []
        self._posts: list[asyncio.Task[None]] = []
        self._changed = asyncio.Condition()
        self._broken: Exception | None = None
        self._left: list[bytes] = []

    async def __aenter__(self) -> Crew:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        for post in self._posts:
            post.cancel()
        await asyncio.gather(*self._posts, return_exceptions=True)
        ends = [member.worker.close(at_once=error is not None or member.busy > 0) for member in self._members]
        await asyncio.gather(*ends, return_exceptions=True)

    async def play(self, job: bytes) -> bytes:
        """Return the outcome of a job, from any worker. Raises JobLost if there is none."""
        if not self._posts:
            self._posts = [asyncio.create_task(self._man_a_post()) for _ in range(self._size)]
        why = ""
        for attempt in range(TRIES):
            alone = attempt == TRIES - 1
            member = await self._place(alone)
            try:
                return await member.worker.play(job)
            except WorkerLost as error:
                why = str(error)
                self.again += attempt == 0
                member.gone.set()
            finally:
                await self._leave(member, alone)
        raise JobLost(f"its worker died {TRIES} times, the last time with nothing else to do: {why}")

    async def news(self) -> tuple[list[bytes], list[bytes]]:
        """Return the latest states of the workers, and of those that are gone. A busy worker is not waited for."""

        async def ask(member: _Member) -> None:
            with suppress(TimeoutError, WorkerLost, SketchmarkError):
                async with asyncio.timeout(_NEWS_PATIENCE):
                    member.news = await member.worker.news()

        await asyncio.gather(*map(ask, self._members))
        return [member.news for member in self._members], list(self._left)

    async def _man_a_post(self) -> None:
        """Keep one worker running until the crew is closed."""
        failed = 0
        while True:
            try:
                member = _Member(await self._hire())
            except WorkerLost as error:
                failed += 1
                self.lost += 1
                if failed == _HIRING_TRIES:
                    await self._give_up(SketchmarkError(f"workers die while they start: {error}"))
                    return
                continue
            except Exception as error:
                await self._give_up(error)
                return
            failed = 0
            self._members.append(member)
            await self._tell()
            await member.gone.wait()
            self.lost += 1
            self._members.remove(member)
            self._left.append(member.news)
            await member.worker.close(at_once=True)

    async def _give_up(self, error: Exception) -> None:
        self._broken = error
        await self._tell()

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _place(self, alone: bool) -> _Member:
        mine: _Member | None = None
        async with self._changed:
            while True:
                if self._broken is not None:
                    raise self._broken
                present = [member for member in self._members if not member.gone.is_set()]
                if mine not in present:
                    mine = min((m for m in present if not m.kept_free), key=lambda m: m.busy, default=None)
                    if alone and mine is not None:
                        mine.kept_free = True
                if mine is not None and mine.busy < (1 if alone else self._places):
                    mine.busy += 1
                    return mine
                mine = mine if alone else None
                await self._changed.wait()

    async def _leave(self, member: _Member, alone: bool) -> None:
        member.busy -= 1
        if alone:
            member.kept_free = False
        await self._tell()
