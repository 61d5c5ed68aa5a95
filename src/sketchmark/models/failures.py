"""What a failed try means: its kind, whether another try can help, and whether any other call would escape it."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from sketchmark.models.secrets import redact

LONGEST_ASKED_WAIT = 300.0
"""A Retry-After beyond this (a daily quota, say) stops the run: waiting for hours is the user's decision."""

_LONGEST_MESSAGE = 600
_BROKEN_CONNECTIONS = {
    "NoConnection",
    "APIConnectionError",  # anthropic
    "RequestError",  # httpx, which google-genai lets through
    "ServiceRequestError",  # azure-core, when a token is fetched
    "ConnectionError",
}
_NO_REPLIES = {"BadReply", "APIResponseValidationError", "UnknownApiResponseError", "JSONDecodeError"}

_CHECK_KEY = "check the key in {keys}; api_key_env=NAME names another variable"
_SIGN_IN = "set {keys}, or sign in with `az login`"
_CHECK_NAME = "check the name of the model or deployment, and the server's address"
_ADD_CREDIT = "add credit or raise the limit with the provider, then give the same command again"
_COME_BACK = "give the same command again after that"
_TRUST = "SSL_CERT_FILE=FILE names the certificate authority of a server of your own"

_NO_SUCH_MODEL = re.compile(r"model_not_found|DeploymentNotFound")
_EMPTY_ACCOUNT = re.compile(
    r"insufficient_quota|billing_hard_limit_reached|billing_not_active"  # OpenAI and Azure
    r"|credit balance is too low|specified (workspace )?API usage limits"  # Anthropic
    r"|quotaId': '\w*PerDay|credits are depleted|spending cap|FAILED_PRECONDITION"  # Google
    r"|Out of call volume quota",  # Azure
    re.IGNORECASE,
)
"""What providers say, under several statuses, when waiting will not help. Google's quotas of a minute are named
`…PerMinute…` and pass by themselves; its FAILED_PRECONDITION asks for billing to be enabled."""


class BadReply(Exception):
    """The server answered 200 with something that is not the answer: an HTML page, half a JSON, a broken picture.

    `retry` is False where the same question would bring the same again.
    """

    def __init__(self, message: str, *, retry: bool = True) -> None:
        super().__init__(message)
        self.retry = retry


class NoConnection(Exception):
    """Our own HTTP client did not get an answer; what stood in the way is its cause."""


class ErrorStatus(Exception):
    """The server answered our own HTTP client with an error. It has the shape of the SDKs' exceptions: `body` is what
    the server says is wrong, `response` has the headers and the address."""

    def __init__(self, message: str, status_code: int, body: Any, response: Any) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.body = body
        self.response = response


@dataclass(frozen=True)
class FailedTry:
    """One failed attempt, in the words of the run's failure table.

    `remedy` is there where no other call would escape: such a failure stops the run, and says what to do. In it,
    `{keys}` stands for the variables that the model's key is read from.
    """

    kind: str
    message: str
    retry: bool = False
    slow_down: bool = False
    retry_after: float | None = None
    remedy: str = ""


def failure_of(error: Exception) -> FailedTry | None:
    """What a call's exception means; None when it is not about the call at all (a bug of ours, say).

    The SDKs and our own client share their shape (a status code, a response with headers, httpx transport errors
    under different package names), so this goes by shape and class names and needs none of them installed.
    """
    if isinstance(error.__cause__, BadReply):
        error = error.__cause__  # raised while the reply arrived: an SDK takes it for a broken connection
    names = {kind.__name__ for kind in type(error).__mro__}
    message = _message(error)
    if names & {"APITimeoutError", "TimeoutException", "TimeoutError"}:
        return FailedTry("timeout", message, retry=True)
    if "ClientAuthenticationError" in names:  # azure-identity found nobody who is signed in
        return FailedTry("auth", message, remedy=_SIGN_IN)
    status = _status(error)
    if status is not None:
        return _failure_of_status(error, status, message)
    if names & _BROKEN_CONNECTIONS:
        cause = error.__cause__
        message = f"{message}: {_one_line(str(cause))}" if cause else message
        if any(isinstance(link, ssl.SSLCertVerificationError) for link in _chain(error)):
            return FailedTry("connection", message, remedy=_TRUST)
        return FailedTry("connection", message, retry=True)
    if names & _NO_REPLIES:
        return FailedTry("bad_reply", message, retry=getattr(error, "retry", True))
    return None


def _failure_of_status(error: Exception, status: int, message: str) -> FailedTry:
    if status == 404:
        message += _address(error)
    sent = _sent(error)
    lasting = lasting_failure(status, str(sent), message)
    if lasting:
        return lasting
    wait = retry_after(getattr(getattr(error, "response", None), "headers", None) or {})
    if wait is None:
        wait = _retry_info(sent)
    kind = _PASSING.get(status) or ("server_error" if status >= 500 else "")
    if not kind:
        return FailedTry("bad_request" if status >= 400 else "bad_reply", message)
    if wait is not None and wait > LONGEST_ASKED_WAIT:
        kind = "quota" if kind == "rate_limited" else kind
        return FailedTry(kind, f"{message}, the server asks to wait {wait:.0f} s", remedy=_COME_BACK)
    return FailedTry(kind, message, retry=True, slow_down=status in (429, 503, 529), retry_after=wait)


_PASSING = {408: "timeout", 409: "conflict", 429: "rate_limited"}


def lasting_failure(status: int, sent: str, message: str) -> FailedTry | None:
    """A failure that every other call would meet too, told by its status and by what was sent with it."""
    if status >= 500:
        return None
    if status == 402 or _EMPTY_ACCOUNT.search(sent):
        return FailedTry("quota", message, remedy=_ADD_CREDIT)
    if status == 404 or _NO_SUCH_MODEL.search(sent):
        return FailedTry("not_found", message, remedy=_CHECK_NAME)
    if status == 401 or "API_KEY_INVALID" in sent:  # Google answers 400 to a wrong key
        return FailedTry("auth", message, remedy=_CHECK_KEY)
    if status == 403:
        # No provider's API answers with a page: it is a firewall's, and may be about what one prompt says.
        return FailedTry("auth", message, remedy="" if "<html" in sent.lower() else _CHECK_KEY)
    return None


def _status(error: Exception) -> int | None:
    for name in ("status_code", "code"):
        value = vars(error).get(name)
        if isinstance(value, int) and 100 <= value < 600:
            return value
    return None


def _sent(error: Exception) -> Any:
    """The body of the answer, by either SDK's name for it."""
    return getattr(error, "body", None) or getattr(error, "details", None) or ""


def _address(error: Exception) -> str:
    """Where the request went, without what may be secret in an address."""
    url = urlsplit(str(getattr(getattr(error, "response", None), "url", "")))
    return f" at {url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}" if url.netloc else ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    for _ in range(10):  # deeper than any SDK wraps, and no loop can catch us
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


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


def _retry_info(sent: Any) -> float | None:
    """Google asks for a wait in the body (`RetryInfo.retryDelay: "12s"`) instead of a header."""
    found = re.search(r"retryDelay': '(\d+(?:\.\d+)?)s'", str(sent))
    return float(found[1]) if found else None


def _message(error: Exception) -> str:
    """An SDK may leave out a body that is not in its own form, which is where other servers say what is wrong."""
    text = str(error)
    if re.fullmatch(r"Error code: \d+", text):
        text = f"{text} - {_sent(error)}".removesuffix(" - ")
    return _one_line(text) or type(error).__name__


def _one_line(text: str) -> str:
    """Redacted before it is cut: a key cut in two would no longer be recognised."""
    text = " ".join(redact(text).split())
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"
