"""How fast one model is asked: a number of calls at once that adapts, and a cap on requests per minute."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Permission for one request, and which limit it was given under."""

    epoch: int


class Pace:
    """Shared by all calls to one model.

    The limit on calls at once halves when the provider says to slow down and grows by one after that many successes
    (additive increase, multiplicative decrease: what TCP does, for the same reason). A burst of requests turned away
    together counts as one signal, or sixteen refusals would take the limit from 16 to 1.
    """

    def __init__(self, most: int = 16, per_minute: float | None = None) -> None:
        self.most = most
        self.limit = float(most)
        self.per_minute = per_minute
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._epoch = 0
        self._next_start = 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Place]:
        """One request's turn; leaving it lets the next one in."""
        await self._enter()
        try:
            await self._wait_for_start()
            yield Place(self._epoch)
        finally:
            self._leave()

    def widen(self, most: int) -> None:
        """Before the first call: room for more calls at once."""
        self.most = max(self.most, most)
        self.limit = float(self.most)

    def slow_down(self, turn: Place) -> None:
        if turn.epoch == self._epoch:
            self._epoch += 1
            self.limit = max(1.0, self.limit / 2)

    def succeeded(self) -> None:
        self.limit = min(float(self.most), self.limit + 1 / self.limit)
        self._let_in()

    async def _enter(self) -> None:
        if not self._waiting and self._running < int(self.limit):
            self._running += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave()
            raise

    def _leave(self) -> None:
        self._running -= 1
        self._let_in()

    def _let_in(self) -> None:
        while self._waiting and self._running < int(self.limit):
            place = self._waiting.popleft()
            if not place.done():
                self._running += 1
                place.set_result(None)

    async def _wait_for_start(self) -> None:
        """Starts are spread evenly: providers enforce a rate per minute over shorter windows than a minute."""
        if self.per_minute is None:
            return
        now = time.monotonic()
        start = max(now, self._next_start)
        self._next_start = start + 60 / self.per_minute
        await asyncio.sleep(start - now)
