"""One call to an endpoint: tried, judged, waited for and tried again, a bounded number of times."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from sketchmark.errors import CallFailed, SketchmarkError
from sketchmark.models.pacing import Pace
from sketchmark.models.secrets import redact

T = TypeVar("T")

FIRST_WAIT = 0.5
LONGEST_BACK_OFF = 30.0
LONGEST_ASKED_WAIT = 300.0
"""A Retry-After beyond this (a daily quota, say) ends the call: waiting for hours is the user's decision."""
_LONGEST_MESSAGE = 600
_BROKEN_CONNECTIONS = {
    "APIConnectionError",  # openai, anthropic
    "TransportError",  # httpx, which google-genai lets through
    "ClientConnectionError",  # aiohttp, which google-genai uses where it is installed
    "ClientPayloadError",
    "ServiceRequestError",  # azure-core, when a token is fetched
    "ConnectionError",
}


class BadReply(Exception):
    """The server answered 200 with something that is not the answer: an HTML page, half a JSON, a broken picture.

    `retry` is False where the same question would bring the same again.
    """

    def __init__(self, message: str, *, retry: bool = True) -> None:
        super().__init__(message)
        self.retry = retry


@dataclass(frozen=True)
class FailedTry:
    """One failed attempt, in the words of the run's failure table."""

    kind: str
    message: str
    retry: bool = False
    slow_down: bool = False
    retry_after: float | None = None


def failure_of(error: Exception) -> FailedTry | None:
    """What an SDK's exception means; None when it is not about the call at all (a bug of ours, say).

    The three SDKs share their shape (a status code, a response with headers, httpx transport errors under different
    package names), so this goes by shape and class names and needs none of them installed.
    """
    if isinstance(error.__cause__, BadReply):
        error = error.__cause__  # raised while the reply arrived: an SDK takes it for a broken connection
    names = {kind.__name__ for kind in type(error).__mro__}
    message = _one_line(str(error)) or type(error).__name__
    if names & {"APITimeoutError", "TimeoutException", "TimeoutError"}:
        return FailedTry("timeout", message, retry=True)
    status = _status(error)
    if status is not None:
        return _failure_of_status(error, status, message)
    if "ClientAuthenticationError" in names:
        return FailedTry("auth", message)
    if names & _BROKEN_CONNECTIONS:
        cause = error.__cause__
        return FailedTry("connection", f"{message}: {_one_line(str(cause))}" if cause else message, retry=True)
    if names & {"BadReply", "APIResponseValidationError", "UnknownApiResponseError", "JSONDecodeError"}:
        return FailedTry("bad_reply", message, retry=getattr(error, "retry", True))
    return None


def _failure_of_status(error: Exception, status: int, message: str) -> FailedTry:
    wait = retry_after(getattr(getattr(error, "response", None), "headers", None) or {})
    if wait is None:
        wait = _retry_info(getattr(error, "details", None))
    if status == 429 and "insufficient_quota" in str(getattr(error, "body", "")):
        return FailedTry("quota", message)  # OpenAI's word for an empty account: waiting will not fill it
    if status == 429:
        return FailedTry("rate_limited", message, retry=True, slow_down=True, retry_after=wait)
    if status == 408:
        return FailedTry("timeout", message, retry=True, retry_after=wait)
    if status == 409:
        return FailedTry("conflict", message, retry=True, retry_after=wait)
    if status >= 500:
        overloaded = status in (503, 529)
        return FailedTry("server_error", message, retry=True, slow_down=overloaded, retry_after=wait)
    if status in (401, 403) or "API_KEY_INVALID" in message:  # Google answers 400 to a wrong key
        return FailedTry("auth", message)
    return FailedTry("not_found" if status == 404 else "bad_request", message)


def _status(error: Exception) -> int | None:
    for name in ("status_code", "code"):
        value = getattr(error, name, None)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks us to wait: `retry-after-ms`, or `Retry-After` as seconds or as an HTTP date."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        if value.strip().replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def _retry_info(details: Any) -> float | None:
    """Google asks for a wait in the body (`RetryInfo.retryDelay: "12s"`) instead of a header."""
    found = re.search(r"retryDelay': '(\d+(?:\.\d+)?)s'", str(details))
    return float(found[1]) if found else None


def _one_line(text: str) -> str:
    """Redacted before it is cut: a key cut in two would no longer be recognised."""
    text = " ".join(redact(text).split())
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"


class Caller:
    """Runs attempts at the model's pace. The SDKs' own retries are off: they know neither the pace nor the limit."""

    def __init__(self, owner: str, pace: Pace, *, timeout: float, max_retries: int) -> None:
        self._owner = owner
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
                raise CallFailed(outcome.kind, self._describe(outcome, tries))
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
            if failure.retry_after > LONGEST_ASKED_WAIT:
                return None
            return failure.retry_after + 0.1 * self._jitter()
        step: float = min(LONGEST_BACK_OFF, FIRST_WAIT * 2 ** (tries - 1))
        return step * (0.5 + 0.5 * self._jitter())

    def _describe(self, failure: FailedTry, tries: int) -> str:
        words = [f"{self._owner}: {failure.kind}: {failure.message}"]
        if failure.kind == "timeout":
            words.append(f"limit {self._timeout:g} s")
        if tries > 1:
            words.append(f"tried {tries} times")
        if failure.retry_after is not None and failure.retry_after > LONGEST_ASKED_WAIT:
            words.append(f"the server asks to wait {failure.retry_after:.0f} s")
        return ", ".join(words)
