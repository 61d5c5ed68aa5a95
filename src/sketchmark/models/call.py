"""Calls to an HTTP endpoint: rate limits, attempts and retries, and the base class of the adapters."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from sketchmark.episode.model import CallNotes, Model, Usage
from sketchmark.errors import CallFailed, SketchmarkError
from sketchmark.models.arguments import Arguments
from sketchmark.models.diagnosis import shown_address
from sketchmark.models.failures import FailedTry, failure_of
from sketchmark.models.http_bodies import Encoder
from sketchmark.secrets import address_digests, without_credentials

LARGEST_TEXT = 16_000_000
LARGEST_DRAWING = 64_000_000
"""Bytes of a whole reply with its images in base64, or of one downloaded image."""
LARGEST_FILE = 512_000_000
"""A batch's results: up to 50,000 replies."""


@dataclass(eq=False)
class Call:
    """One call, passed down to the code that sends its requests."""

    notes: CallNotes | None = None
    address: str = ""
    """URL of the attempt's last request. The exception of a failed connection does not always name the server."""
    most: int = LARGEST_TEXT
    """Size limit of the reply in bytes."""
    answered: bool = False
    """The server began to reply to the attempt with success. The provider bills it, also if the reply is lost."""
    used: Usage | None = None
    """Usage of the attempt, once its reply was read so far."""

    def up_to(self, most: int) -> Call:
        """Set the size limit."""
        self.most = most
        return self

    @property
    def shown_address(self) -> str:
        """The address without secrets; empty if no request was sent."""
        return shown_address(self.address)

    def failed(self, words: str) -> None:
        if self.notes is not None:
            self.notes.failed(words)

    def retried(self) -> None:
        if self.notes is not None:
            self.notes.retries += 1

    def begin(self) -> None:
        """Forget the attempt before."""
        self.address, self.answered, self.used = "", False, None

    def may_go_on(self) -> bool:
        """Count a failed attempt that is billed. False: the cost limit allows no further one."""
        if not self.answered or self.notes is None:
            return True
        return self.notes.billed(self.used or Usage(uncounted=1))


@dataclass(frozen=True)
class Slot:
    """Permission for one request, with the limit under which it was given."""

    epoch: int


class Pace:
    """Rate limit shared by all calls to one model.

    The limit on concurrent calls halves when the provider asks to slow down and grows by one after that many
    successes (additive increase, multiplicative decrease: what TCP does, for the same reason). A burst of requests
    turned away together counts as one signal, or sixteen refusals would take the limit from 16 to 1.
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
    async def turn(self) -> AsyncIterator[Slot]:
        """Wait for one request's turn. Leaving it lets the next one in."""
        await self._enter()
        try:
            await self._wait_for_start()
            yield Slot(self._epoch)
        finally:
            self._leave()

    def widen(self, most: int) -> None:
        """Allow more concurrent calls. For use before the first call."""
        self.most = max(self.most, most)
        self.limit = float(self.most)

    def slow_down(self, turn: Slot) -> None:
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
        """Spread the requests evenly: providers enforce a rate per minute over windows shorter than a minute."""
        if self.per_minute is None:
            return
        now = time.monotonic()
        start = max(now, self._next_start)
        self._next_start = start + 60 / self.per_minute
        await asyncio.sleep(start - now)


T = TypeVar("T")

Attempt = Callable[[Call], Awaitable[T]]

FIRST_WAIT = 0.5
LONGEST_BACK_OFF = 30.0
_PIECE = 0.5


class Caller:
    """Runs attempts within the model's rate limit. The SDKs' retries are off: they do not know the limit."""

    def __init__(self, owner: str, pace: Pace, *, timeout: float, max_retries: int, keys: Sequence[str] = ()) -> None:
        """`keys` are the variables that the key is read from, for the message when it is refused."""
        self._owner = owner
        self._keys = " or ".join(keys) or "its variable"
        self._pace = pace
        self._timeout = timeout
        self._max_retries = max_retries
        # It decides only waiting times. A seed would make all workers of a run retry in step.
        self._jitter: Callable[[], float] = random.SystemRandom().random
        self._under_way = 0
        self._was_there = False
        """The server has responded, if only with an error."""
        self._given_up = False
        """A call gave up on a server that never responded: other calls need not wait either."""

    async def __call__(self, attempt: Attempt[T], notes: CallNotes | None = None) -> T:
        """Call `attempt` until it succeeds or a retry cannot help. Failures are reported to `notes`."""
        self._under_way += 1
        try:
            return await self._tried(attempt, Call(notes))
        finally:
            self._under_way -= 1
            if not self._under_way:  # a later run may find the server started
                self._given_up = False

    async def _tried(self, attempt: Attempt[T], call: Call) -> T:
        tries = 0
        while True:
            tries += 1
            outcome = await self._try(attempt, call)
            if not isinstance(outcome, FailedTry):
                return outcome[0]
            wait = self._wait(outcome, tries)
            if wait is None:
                # Raised outside `except`: the SDK's exception must not be the context of ours, because a printed
                # traceback would show the request and what the server echoed of it.
                raise self.failed(outcome, tries)
            call.retried()
            await self._rest(wait)

    async def _try(self, attempt: Attempt[T], call: Call) -> tuple[T] | FailedTry:
        async with self._pace.turn() as turn:
            call.begin()
            try:
                # The SDKs' timeouts are per read, so a server that trickles bytes would never reach them.
                async with asyncio.timeout(self._timeout):
                    result = await attempt(call)
            except SketchmarkError:
                raise
            except Exception as error:
                failure = failure_of(error, call.shown_address, self._timeout)
                if failure is None:
                    raise
                if failure.slow_down:
                    self._pace.slow_down(turn)
                self._was_there = self._was_there or not failure.if_never_there
                call.failed(f"{failure.kind}: {failure.message}")
                if not failure.nobody_to_wait_for and not call.may_go_on():  # a web page is not a model's reply
                    raise CallFailed(
                        "cost_limit", f"{self._owner}: {failure.message}; not tried again: the cost limit is reached"
                    ) from None
                return failure
            self._pace.succeeded()
            self._was_there = True
            return (result,)

    def _wait(self, failure: FailedTry, tries: int) -> float | None:
        if not failure.retry or tries > self._max_retries:
            return None
        if failure.if_never_there and not self._was_there and (self._given_up or failure.nobody_to_wait_for):
            return None
        if failure.retry_after is not None:
            return failure.retry_after + 0.1 * self._jitter()
        step: float = min(LONGEST_BACK_OFF, FIRST_WAIT * 2 ** (tries - 1))
        return step * (0.5 + 0.5 * self._jitter())

    async def _rest(self, wait: float) -> None:
        """Sleep, in short pieces while the server has never responded: one call that gives up does so for all."""
        if self._was_there:
            await asyncio.sleep(wait)
            return
        until = time.monotonic() + wait
        while not self._given_up and (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, _PIECE))

    def failed(self, failure: FailedTry, tries: int = 1) -> CallFailed:
        """Return the exception to raise, with a one-line message.

        A server that never responded stops the run, because its address is probably wrong. One that did respond may
        come back.
        """
        words = [f"{self._owner}: {failure.kind}: {failure.message}"]
        if tries > 1:
            words.append(f"tried {tries} times")
        hint = failure.remedy.replace("{keys}", self._keys)
        waited = self._max_retries or failure.nobody_to_wait_for
        if failure.if_never_there and not self._was_there and waited:
            self._given_up, hint = True, failure.if_never_there
        return CallFailed(
            failure.kind, ", ".join(words), stops_run=bool(hint), hint=hint, retry_after=failure.retry_after
        )


class Endpoint(Model):
    """Base class of the adapters. A subclass converts a context to its provider's request, and the reply back."""

    provider: ClassVar[str]
    key_variables: ClassVar[tuple[str, ...]] = ()
    """Variables that may hold the key, unless `api_key_env` names another."""
    formats: ClassVar[frozenset[str]] = frozenset({"png", "jpeg", "webp", "gif"})

    def __init__(self, name: str, args: Arguments) -> None:
        super().__init__(f"{self.provider}/{name}" if name else self.provider)
        self.base_url = args.text("base_url")
        self.api_key_env = args.text("api_key_env")
        self.timeout = args.above_zero("timeout") or 300.0
        self.max_retries = args.whole("max_retries", 6)
        self._limit_is_given = args.text("max_concurrent") is not None
        self.pace = Pace(args.whole("max_concurrent", 16, least=1), args.above_zero("max_requests_per_minute"))
        self.keys = (self.api_key_env,) if self.api_key_env else self.key_variables
        self._call = Caller(self.name, self.pace, timeout=self.timeout, max_retries=self.max_retries, keys=self.keys)
        self._encoder = Encoder(self.formats)

    def expect(self, at_once: int) -> None:
        """Allow as many calls as there are concurrent episodes, unless `max_concurrent` is given."""
        if not self._limit_is_given:
            self.pace.widen(at_once)

    def identity(self) -> dict[str, Any]:
        return dict(self._identity)

    @cached_property
    def _identity(self) -> dict[str, Any]:
        """Computed once: every call's cache key needs it."""
        where = self.base_url or ""
        url = without_credentials(where) if where else None
        known = {"name": self.name, "base_url": url, **address_digests({"base_url": where}), **self._settings()}
        return {key: value for key, value in known.items() if value is not None}

    def _settings(self) -> dict[str, Any]:
        """Return what the subclass adds to the identity, without None values."""
        return {}
