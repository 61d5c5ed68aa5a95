"""Servers that answer for the same model: which one is asked next, and which is left alone for how long."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sketchmark.errors import CallFailed
from sketchmark.models.base import Model
from sketchmark.models.endpoint import Endpoint

IN_A_ROW = 3
"""So many failures without an answer between them, and a server is set aside; one is enough where it says that no
call will work (a refused key, an unknown model)."""

FIRST_REST, LONGEST_REST = 5.0, 120.0
"""Seconds until one call finds out whether a server that was set aside is back; twice as long after each time that
it is not."""

_LONGEST_REASON = 200


@dataclass(eq=False)
class Server:
    """One address, and how it has been doing."""

    address: str
    model: Model
    running: int = 0
    answered: int = 0
    failures: int = 0
    """In a row."""

    why: CallFailed | None = None
    """Why it is set aside; None: it is not."""

    times_aside: int = 0
    aside_since: float = 0.0
    rest: float = 0.0
    not_before: float = 0.0
    """The time until which it is left alone."""

    @property
    def free(self) -> int:
        """Calls that it could take now; its pace has fallen if it asked to be slower."""
        most = int(self.model.pace.limit) if isinstance(self.model, Endpoint) else 1
        return most - self.running

    @property
    def refuses_all(self) -> bool:
        return self.why is not None and self.why.stops_run

    def told(self) -> str:
        """How it did in this run, in words."""
        aside = ""
        if self.times_aside:
            times = "once" if self.times_aside == 1 else f"{self.times_aside} times"
            aside = f", set aside {times}{'' if self.why is None else f', last: {reason(self.why)}'}"
        return f"{self.address} answered {self.answered} calls{aside}"


class Servers:
    """Hands out the server with the most free places, and keeps away from those that fail."""

    def __init__(self, servers: Sequence[Server], first_rest: float = FIRST_REST) -> None:
        self.all = list(servers)
        self._first_rest = first_rest
        self._changed = asyncio.Event()

    async def next(self, tried: Collection[Server]) -> Server | None:
        """The server to ask now, once it has a place; None when all that are worth it were `tried`.

        A server whose rest is over gets one call, ahead of the others. While no server is up they are all asked, as
        a single one would be: then there is nobody to spare them for.
        """
        while True:
            now = time.monotonic()
            left = [server for server in self.all if server not in tried]
            for server in left:
                if server.why and server.not_before <= now and not server.running:
                    return server
            up = [server for server in left if server.why is None]
            if not up:
                somebody_is_up = any(server.why is None for server in self.all)
                return None if somebody_is_up else min(left, key=lambda one: one.not_before, default=None)
            ready = [server for server in up if server.free > 0 and server.not_before <= now]
            if ready:
                return max(ready, key=lambda one: one.free)
            await self._wait(min((one.not_before for one in up if one.not_before > now), default=now + 1) - now)

    async def _wait(self, most: float) -> None:
        """Until a call ended somewhere, or a server's rest is over."""
        try:
            async with asyncio.timeout(most):
                await self._changed.wait()
        except TimeoutError:
            pass

    def begin(self, server: Server) -> float:
        """When the call began, for `answered`."""
        server.running += 1
        return time.monotonic()

    def end(self, server: Server) -> None:
        server.running -= 1
        self._changed.set()
        self._changed = asyncio.Event()

    def answered(self, server: Server, began: float) -> None:
        """An answer to a call from before the server was set aside does not say that it is back."""
        server.answered += 1
        if began < server.aside_since:
            return
        server.failures, server.rest = 0, 0.0
        if server.why is not None:
            server.why = None
            _say(f"{server.address} answers again and is used again")

    def failed(self, server: Server, error: CallFailed) -> None:
        """One that is only busy is left alone for as long as it asks."""
        now = time.monotonic()
        if not error.stops_run and (error.kind == "rate_limited" or error.retry_after is not None):
            server.not_before = max(server.not_before, now + (error.retry_after or 0.0))
            return
        server.failures += 1
        if server.why is None and not error.stops_run and server.failures < IN_A_ROW:
            return
        if server.why is None:
            server.times_aside, server.aside_since = server.times_aside + 1, now
            _say(f"{server.address} is set aside and tried again later: {reason(error)}")
        elif now < server.not_before:  # it was under way when the server was set aside
            return
        server.why = error
        server.rest = min(LONGEST_REST, 2 * server.rest or self._first_rest)
        server.not_before = now + server.rest


def reason(error: CallFailed) -> str:
    text = str(error)
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + "…"


def _say(words: str) -> None:
    logging.getLogger("sketchmark").warning(words)
