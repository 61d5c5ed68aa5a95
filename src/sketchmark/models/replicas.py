"""Servers that answer for the same model: which one is asked next, and which is left alone for how long.

One model behind several servers (`base_url=a|b|c`): a lab's five vLLM servers used as one.

Each address gets an adapter of its own, with a pace of its own; no adapter knows of the others. A call goes where
most places are free. One that fails is tried elsewhere before it counts as failed, and a server that keeps failing is
set aside and tried again later, so a run goes on as long as one answers.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sketchmark.episode.model import Abilities, CallNotes, Model, Options, Reply
from sketchmark.episode.sample import Context
from sketchmark.errors import BadInput, CallFailed
from sketchmark.models import call as calling
from sketchmark.models.arguments import Arguments
from sketchmark.models.call import Endpoint, Pace
from sketchmark.secrets import without_credentials

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


BETWEEN = "|"
_WORTH_ANOTHER_SERVER = ("connection", "timeout", "server_error", "bad_reply", "rate_limited", "conflict")
"""Kinds of failures that another server may not have. A request that is wrong in itself (`bad_request`) is wrong
everywhere."""

_NO_LIMIT = 1_000_000
Make = Callable[[Mapping[str, Any]], Model]


def make_several(name: str, where: str, settings: Mapping[str, Any], make: Make) -> Several:
    """The model of these settings at each of the addresses that the setting `where` holds."""
    addresses = [address.strip() for address in str(settings[where]).split(BETWEEN)]
    for number, address in enumerate(addresses, start=1):  # not shown: there may be a password in it
        if not _is_address(address):
            raise BadInput(f"model {name!r}: address {number} of {where} is no http(s) address", f"{where}=URL|URL")
    shown = [without_credentials(address) for address in addresses]
    if len(set(shown)) < len(shown):
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
    """Its identity is the first server's: the list may grow and shrink behind it, and whatever was played or cached
    with the first alone stays good."""

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
        """Of all servers together: the limit is the account's or the person's, not a server's."""
        self._jitter: Callable[[], float] = random.SystemRandom().random

    @property
    def abilities(self) -> Abilities:
        return self._first.abilities

    def identity(self) -> dict[str, Any]:
        return self._first.identity()

    def expect(self, at_once: int) -> None:
        """Each may get all of them: the others may be down."""
        for server in self._servers.all:
            server.model.expect(at_once)

    def forget(self, context: Context, options: Options) -> None:
        for server in self._servers.all:
            server.model.forget(context, options)

    async def retirements(self) -> dict[str, str]:
        return await self._first.retirements()

    async def close(self) -> None:
        await asyncio.gather(*(server.model.close() for server in self._servers.all))

    def told(self) -> list[str]:
        """How each server did, in words."""
        return [server.told() for server in self._servers.all]

    async def say(self, context: Context, options: Options) -> Reply:
        return await self._ask(lambda model: model.say(context, options), options.notes)

    async def draw(self, context: Context, options: Options) -> Reply:
        return await self._ask(lambda model: model.draw(context, options), options.notes)

    async def _ask(self, call: Callable[[Model], Any], notes: CallNotes | None) -> Reply:
        """In rounds: each server once, then a wait, as long as a single one would be waited for."""
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
        """Who failed, and how; the kind and the remedy are those of the last."""
        last = list(failures.values())[-1]
        told = "; ".join(f"{server.address}: {reason(error)}" for server, error in failures.items())
        stops = all(server.refuses_all for server in self._servers.all) or self._never_there(failures)
        return CallFailed(last.kind, f"no server answers: {told}", stops_run=stops)

    def _never_there(self, failures: Mapping[Server, CallFailed]) -> bool:
        """None of them, in as many rounds as there may be: then it is the addresses, or nothing is started yet."""
        nobody = not any(server.answered for server in self._servers.all)
        return nobody and self._max_retries > 0 and all(error.kind == "connection" for error in failures.values())


def _is_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def _refuse_another_model(name: str, first: Server, other: Server) -> None:
    """The same name is drawn with differently on OpenAI's server and on one of your own, for instance."""
    one, two = ({k: v for k, v in server.model.identity().items() if k != "base_url"} for server in (first, other))
    differing = sorted(key for key in {*one, *two} if one.get(key) != two.get(key))
    if differing:
        raise BadInput(
            f"model {name!r} is not the same at {first.address} and {other.address}: {', '.join(differing)} differ",
            "say which you mean with --model_args",
        )
