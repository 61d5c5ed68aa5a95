"""One call to an endpoint: tried, judged, waited for and tried again, a bounded number of times."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from sketchmark.errors import CallFailed, SketchmarkError
from sketchmark.models.failures import FailedTry, failure_of
from sketchmark.models.pacing import Pace

T = TypeVar("T")

FIRST_WAIT = 0.5
LONGEST_BACK_OFF = 30.0


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

    async def __call__(self, attempt: Callable[[], Awaitable[T]]) -> T:
        tries = 0
        while True:
            tries += 1
            outcome = await self._try(attempt)
            if not isinstance(outcome, FailedTry):
                return outcome[0]
            wait = self._wait(outcome, tries)
            if wait is None:
                # Raised out here, not inside an `except`: the SDK's exception must not hang on ours as its context,
                # where a printed traceback would show the request and what the server echoed of it.
                raise self.failed(outcome, tries)
            await asyncio.sleep(wait)

    async def _try(self, attempt: Callable[[], Awaitable[T]]) -> tuple[T] | FailedTry:
        async with self._pace.turn() as turn:
            try:
                # The SDKs' time-outs are per read; a server that trickles bytes would never meet them.
                async with asyncio.timeout(self._timeout):
                    result = await attempt()
            except SketchmarkError:
                raise
            except Exception as error:
                failure = failure_of(error)
                if failure is None:
                    raise
                if failure.slow_down:
                    self._pace.slow_down(turn)
                return failure
            self._pace.succeeded()
            return (result,)

    def _wait(self, failure: FailedTry, tries: int) -> float | None:
        if not failure.retry or tries > self._max_retries:
            return None
        if failure.retry_after is not None:
            return failure.retry_after + 0.1 * self._jitter()
        step: float = min(LONGEST_BACK_OFF, FIRST_WAIT * 2 ** (tries - 1))
        return step * (0.5 + 0.5 * self._jitter())

    def failed(self, failure: FailedTry, tries: int = 1) -> CallFailed:
        """The failure as it is raised and recorded, in one line."""
        words = [f"{self._owner}: {failure.kind}: {failure.message}"]
        if failure.kind == "timeout":
            words.append(f"limit {self._timeout:g} s")
        if tries > 1:
            words.append(f"tried {tries} times")
        hint = failure.remedy.replace("{keys}", self._keys)
        return CallFailed(
            failure.kind, ", ".join(words), stops_run=bool(hint), hint=hint, retry_after=failure.retry_after
        )
