"""One model behind several servers (`base_url=a|b|c`), for example the five servers of a lab.

Each address has a separate adapter with a separate rate limit. A call goes to the server with most free places. A
call that fails is tried on the others before it counts as failed. A server that keeps failing is set aside and tried
again later, so a run continues as long as one server responds.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sketchmark.episode.model import Abilities, CallNotes, Listing, Model, Options, Reply
from sketchmark.episode.sample import Context
from sketchmark.errors import BadInput, CallFailed
from sketchmark.models import call as calling
from sketchmark.models.arguments import Arguments
from sketchmark.models.call import Endpoint, Pace
from sketchmark.models.http_bounds import is_address
from sketchmark.secrets import without_credentials

_IN_A_ROW = 3
"""Consecutive failures after which a server is set aside. One is enough if no call can work (a refused key)."""

FIRST_REST, LONGEST_REST = 5.0, 120.0
"""Seconds until one call tests whether a server is back, doubled each time it is not."""

_LONGEST_REASON = 200


@dataclass(eq=False)
class Server:
    """One address, with its state."""

    address: str
    model: Model
    running: int = 0
    answered: int = 0
    failures: int = 0
    """Consecutive ones."""

    why: CallFailed | None = None
    """Reason for which it is set aside. None if it is not."""

    times_aside: int = 0
    aside_since: float = 0.0
    rest: float = 0.0
    not_before: float = 0.0
    """Time until which it gets no call."""

    @property
    def free(self) -> int:
        """Return the number of calls that it could take now. Its limit is lower if it asked to slow down."""
        most = int(self.model.pace.limit) if isinstance(self.model, Endpoint) else 1
        return most - self.running

    @property
    def refuses_all(self) -> bool:
        return self.why is not None and self.why.stops_run

    def told(self) -> str:
        """Describe how it did in this run."""
        aside = ""
        if self.times_aside:
            times = "once" if self.times_aside == 1 else f"{self.times_aside} times"
            aside = f", set aside {times}{'' if self.why is None else f', last: {reason(self.why)}'}"
        return f"{self.address} answered {self.answered} calls{aside}"


class Servers:
    """Chooses the server with the most free places, and avoids those that fail."""

    def __init__(self, servers: Sequence[Server], first_rest: float = FIRST_REST) -> None:
        self.all = list(servers)
        self._first_rest = first_rest
        self._changed = asyncio.Event()

    async def next(self, tried: Collection[Server]) -> Server | None:
        """Wait for a free server and return it. None if all usable ones were `tried`.

        A server whose rest is over gets one call, before the others. While no server is up, all of them are tried,
        as a single one would be.
        """
        while True:
            now = time.monotonic()
            left = [server for server in self.all if server not in tried]
            for server in left:
                if server.why and server.not_before <= now and not server.running:
                    return server
            up = [server for server in left if server.why is None]
            if not up:
                one_is_up = any(server.why is None for server in self.all)
                return None if one_is_up else min(left, key=lambda one: one.not_before, default=None)
            ready = [server for server in up if server.free > 0 and server.not_before <= now]
            if ready:
                return max(ready, key=lambda one: one.free)
            await self._wait(min((one.not_before for one in up if one.not_before > now), default=now + 1) - now)

    async def _wait(self, most: float) -> None:
        """Wait until a call has ended, or a server's rest is over."""
        try:
            async with asyncio.timeout(most):
                await self._changed.wait()
        except TimeoutError:
            pass

    def begin(self, server: Server) -> float:
        """Return the time at which the call began, for `answered`."""
        server.running += 1
        return time.monotonic()

    def end(self, server: Server) -> None:
        server.running -= 1
        self._changed.set()
        self._changed = asyncio.Event()

    def answered(self, server: Server, began: float) -> None:
        """Note a reply. A call from before the server was set aside does not show that it is back."""
        server.answered += 1
        if began < server.aside_since:
            return
        server.failures, server.rest = 0, 0.0
        if server.why is not None:
            server.why = None
            _say(f"{server.address} answers again and is used again")

    def failed(self, server: Server, error: CallFailed) -> None:
        """Note a failure. A busy server gets no calls for as long as it asks."""
        now = time.monotonic()
        if not error.stops_run and (error.kind == "rate_limited" or error.retry_after is not None):
            server.not_before = max(server.not_before, now + (error.retry_after or 0.0))
            return
        server.failures += 1
        if server.why is None and not error.stops_run and server.failures < _IN_A_ROW:
            return
        if server.why is None:
            server.times_aside, server.aside_since = server.times_aside + 1, now
            _say(f"{server.address} is set aside and tried again later: {reason(error)}")
        elif now < server.not_before:  # the call began before the server was set aside
            return
        server.why = error
        server.rest = min(LONGEST_REST, 2 * server.rest or self._first_rest)
        server.not_before = now + server.rest


def reason(error: CallFailed) -> str:
    text = str(error)
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + "…"


def _say(words: str) -> None:
    logging.getLogger("sketchmark").warning(words)


BETWEEN = "|"
_WORTH_ANOTHER_SERVER = ("connection", "timeout", "server_error", "bad_reply", "rate_limited", "conflict")
"""Kinds of failures that another server may not have. A bad request (`bad_request`) fails on every server."""

_NO_LIMIT = 1_000_000
Make = Callable[[Mapping[str, Any]], Model]


def make_several(name: str, where: str, settings: Mapping[str, Any], make: Make) -> Several:
    """Make the model at each of the addresses in the setting `where`."""
    addresses = [address.strip() for address in str(settings[where]).split(BETWEEN)]
    for number, address in enumerate(addresses, start=1):  # not shown, because it may hold a password
        if not is_address(address):
            raise BadInput(
                f"model {name!r}: address {number} of {where} is not an http(s) address", f"{where}=URL|URL"
            )
    shown = [without_credentials(address) for address in addresses]
    if len({address.rstrip("/") for address in addresses}) < len(addresses):
        raise BadInput(f"model {name!r}: {where} names a server twice", "name every server once")
    keys = str(settings.get("api_key_env", "")).split(BETWEEN)
    if len(keys) not in (1, len(addresses)):
        raise BadInput(
            f"model {name!r}: api_key_env names {len(keys)} variables for {len(addresses)} servers",
            "one for all, or one for each in the same order",
        )
    args = Arguments(name, settings)
    tries, rate = args.whole("max_retries", 6), args.above_zero("max_requests_per_minute")
    shared = {key: value for key, value in settings.items() if key not in ("max_requests_per_minute", "api_key_env")}
    models = []
    for address, key in zip(addresses, keys * (len(addresses) // len(keys)), strict=True):
        own = {where: address, "max_retries": 0, **({"api_key_env": key} if key else {})}
        models.append(make({**shared, **own}))
    servers = [Server(address, model) for address, model in zip(shown, models, strict=True)]
    if models[0].abilities.native:
        raise BadInput(
            f"model {name!r}: history=native is what one server remembers, and {where} names several",
            "name one, or leave out history=native",
        )
    for server in servers[1:]:
        _refuse_another_model(name, servers[0], server)
    return Several(servers, max_retries=tries, per_minute=rate)


class Several(Model):
    """Several servers as one model.

    Its identity is the first server's. So the list may change, and episodes and cached replies of the first server
    stay valid.
    """

    def __init__(
        self,
        servers: Sequence[Server],
        *,
        max_retries: int = 6,
        per_minute: float | None = None,
        first_rest: float = FIRST_REST,
    ) -> None:
        first = servers[0].model
        super().__init__(first.name)
        self._first = first
        self.keys = tuple(dict.fromkeys(key for server in servers for key in server.model.keys))
        self._servers = Servers(servers, first_rest)
        self._max_retries = max_retries
        self._rate = Pace(_NO_LIMIT, per_minute)
        """For all servers together: the limit is the account's, not a server's."""
        self._jitter: Callable[[], float] = random.SystemRandom().random

    @property
    def abilities(self) -> Abilities:
        return self._first.abilities

    def identity(self) -> dict[str, Any]:
        return self._first.identity()

    def expect(self, at_once: int) -> None:
        """Pass the number on to each server: the others may be down."""
        for server in self._servers.all:
            server.model.expect(at_once)

    def receives(self, act: str) -> Collection[str] | None:
        return self._first.receives(act)

    def forget(self, context: Context, options: Options) -> None:
        for server in self._servers.all:
            server.model.forget(context, options)

    async def retirements(self) -> dict[str, str]:
        return await self._first.retirements()

    async def listing(self) -> Listing:
        return await self._first.listing()

    async def close(self) -> None:
        await asyncio.gather(*(server.model.close() for server in self._servers.all))

    def told(self) -> list[str]:
        """Describe how each server did."""
        return [server.told() for server in self._servers.all]

    async def say(self, context: Context, options: Options) -> Reply:
        return await self._ask(lambda model: model.say(context, options), options.notes)

    async def draw(self, context: Context, options: Options) -> Reply:
        return await self._ask(lambda model: model.draw(context, options), options.notes)

    async def _ask(self, call: Callable[[Model], Any], notes: CallNotes | None) -> Reply:
        """Try each server once per round, and wait between rounds as long as for a single server."""
        failures: dict[Server, CallFailed] = {}
        for turn in range(1 + self._max_retries):
            if turn:
                step = min(calling.LONGEST_BACK_OFF, calling.FIRST_WAIT * 2 ** (turn - 1))
                await asyncio.sleep(step * (0.5 + 0.5 * self._jitter()))
            tried: set[Server] = set()
            while server := await self._servers.next(tried):
                tried.add(server)
                outcome = await self._try(server, call)
                if isinstance(outcome, Reply):
                    return outcome
                failures[server] = outcome
                if notes is not None:
                    notes.retries += 1
            if all(server.refuses_all for server in self._servers.all):
                break
        raise self._failed(failures)

    async def _try(self, server: Server, call: Callable[[Model], Any]) -> Reply | CallFailed:
        began = self._servers.begin(server)
        try:
            async with self._rate.turn():
                reply: Reply = await call(server.model)
        except CallFailed as error:
            if error.kind not in _WORTH_ANOTHER_SERVER and not error.stops_run:
                raise
            self._servers.failed(server, error)
            return error
        finally:
            self._servers.end(server)
        self._servers.answered(server, began)
        return reply

    def _failed(self, failures: Mapping[Server, CallFailed]) -> CallFailed:
        """Return an exception that names all failures, with the kind of the last one."""
        last = list(failures.values())[-1]
        told = "; ".join(f"{server.address}: {reason(error)}" for server, error in failures.items())
        stops = all(server.refuses_all for server in self._servers.all) or self._never_there(failures)
        return CallFailed(last.kind, f"no server answers: {told}", stops_run=stops)

    def _never_there(self, failures: Mapping[Server, CallFailed]) -> bool:
        """Return whether no server ever responded: then the addresses are wrong, or no server is started."""
        never = not any(server.answered for server in self._servers.all)
        return never and self._max_retries > 0 and all(error.kind == "connection" for error in failures.values())


def _refuse_another_model(name: str, first: Server, other: Server) -> None:
    """Refuse servers whose models differ. One name may draw in different ways on two servers, for example."""
    where = ("base_url", "base_url_digest")
    one, two = ({k: v for k, v in server.model.identity().items() if k not in where} for server in (first, other))
    differing = sorted(key for key in {*one, *two} if one.get(key) != two.get(key))
    if differing:
        raise BadInput(
            f"model {name!r} is not the same at {first.address} and {other.address}: {', '.join(differing)} differ",
            "say which you mean with --model_args",
        )
