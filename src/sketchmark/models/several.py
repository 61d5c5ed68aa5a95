"""One model behind several servers (`base_url=a|b|c`): a lab's five vLLM servers used as one.

Each address gets an adapter of its own, with a pace of its own; no adapter knows of the others. A call goes where
most places are free. One that fails is tried elsewhere before it counts as failed, and a server that keeps failing is
set aside and tried again later, so a run goes on as long as one answers.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from sketchmark.errors import BadInput, CallFailed
from sketchmark.models import calling
from sketchmark.models.arguments import Arguments
from sketchmark.models.base import Abilities, CallNotes, Model, Options, Reply
from sketchmark.models.pacing import Pace
from sketchmark.models.secrets import without_credentials
from sketchmark.models.servers import FIRST_REST, Server, Servers, reason
from sketchmark.parts import Context

BETWEEN = "|"
ADDRESSES = ("azure_endpoint", "base_url")
_WORTH_ANOTHER_SERVER = ("connection", "timeout", "server_error", "bad_reply", "rate_limited", "conflict")
"""Kinds of failures that another server may not have. A request that is wrong in itself (`bad_request`) is wrong
everywhere."""

_NO_LIMIT = 1_000_000
Make = Callable[[Mapping[str, Any]], Model]


def make_several(name: str, settings: Mapping[str, Any], make: Make) -> Several:
    """The model of these settings at each of the addresses in them."""
    where = next(key for key in ADDRESSES if BETWEEN in str(settings.get(key, "")))
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
