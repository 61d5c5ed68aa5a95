"""One call to an endpoint: tried, judged, waited for and tried again, a bounded number of times."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from sketchmark.errors import CallFailed, SketchmarkError
from sketchmark.models.base import CallNotes
from sketchmark.models.call import Call
from sketchmark.models.failures import FailedTry, failure_of
from sketchmark.models.pacing import Pace

T = TypeVar("T")

Attempt = Callable[[Call], Awaitable[T]]

FIRST_WAIT = 0.5
LONGEST_BACK_OFF = 30.0
_PIECE = 0.5


class Caller:
    """Runs attempts at the model's pace. The SDKs' own retries are off: they know neither the pace nor the limit."""

    def __init__(self, owner: str, pace: Pace, *, timeout: float, max_retries: int, keys: Sequence[str] = ()) -> None:
        """`keys` are the variables that the key is read from, for telling what to do when it is refused."""
        self._owner = owner
        self._keys = " or ".join(keys) or "its variable"
        self._pace = pace
        self._timeout = timeout
        self._max_retries = max_retries
        # Only waiting times come from it, never an answer; a seed would make all workers of a run retry in step.
        self._jitter: Callable[[], float] = random.SystemRandom().random
        self._under_way = 0
        self._was_there = False
        """Somebody has answered, be it with an error."""
        self._given_up = False
        """Nobody ever did, for as long as a call waits: the others that are under way need not wait either."""

    async def __call__(self, attempt: Attempt[T], notes: CallNotes | None = None) -> T:
        """Call `attempt` until it succeeds or there is no use in another; failures are reported to `notes`."""
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
                # Raised out here, not inside an `except`: the SDK's exception must not hang on ours as its context,
                # where a printed traceback would show the request and what the server echoed of it.
                raise self.failed(outcome, tries)
            call.retried()
            await self._rest(wait)

    async def _try(self, attempt: Attempt[T], call: Call) -> tuple[T] | FailedTry:
        async with self._pace.turn() as turn:
            call.address = ""
            try:
                # The SDKs' time-outs are per read; a server that trickles bytes would never meet them.
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
        """In small pieces while nobody has ever answered: one call that gives up does so for all."""
        if self._was_there:
            await asyncio.sleep(wait)
            return
        until = time.monotonic() + wait
        while not self._given_up and (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, _PIECE))

    def failed(self, failure: FailedTry, tries: int = 1) -> CallFailed:
        """The failure as it is raised and recorded, in one line. A server that has never been there, though it was
        waited for where that can help, stops the run: its address is likely wrong. One that was there may come
        back."""
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
