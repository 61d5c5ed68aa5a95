"""What a failed try means: its kind, whether another try can help, and whether any other call would escape it."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from sketchmark.models.diagnosis import (
    CHECK_NAME,
    mistake_behind_page,
    mistake_in_path,
    place_of,
    shown_address,
    told,
    unreachable,
    wants_http,
    wants_https,
    words_in,
)
from sketchmark.secrets import redacted

LONGEST_ASKED_WAIT = 300.0
"""A Retry-After beyond this (a daily quota, say) stops the run: waiting for hours is the user's decision."""

_LONGEST_MESSAGE = 600
_LONGEST_TITLE = 80
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
    """The server answered 200 with something that is not the answer: half a JSON, a broken picture.

    `retry` is False where the same question would bring the same again, and `remedy` is there where every other
    question would.
    """

    def __init__(self, message: str, *, retry: bool = True, remedy: str = "") -> None:
        super().__init__(message)
        self.retry = retry
        self.remedy = remedy


class PageInstead(BadReply):
    """The server answered 200 with a page for people: there is a website at the address, or a proxy in between that
    has lost its server for a while."""

    def __init__(self, page: bytes) -> None:
        words = redacted(words_in(page))[:_LONGEST_TITLE]
        super().__init__(f"a web page came instead of an answer{words and f' ({words!r})'}")


def refuse_page(data: bytes) -> None:
    """By its first character, which no JSON has: some servers call JSON a page, and pages plain text."""
    if data[:100].lstrip()[:1] == b"<":
        raise PageInstead(data)


class NoConnection(Exception):
    """Our own HTTP client did not get an answer; what stood in the way is its cause."""

    def __init__(self, message: str, url: str = "") -> None:
        super().__init__(message)
        self.url = url


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
    `{keys}` stands for the variables that the model's key is read from. `if_never_there` is the remedy where nobody
    has ever answered at that address: what was there may come back, what never was is likely a mistake. It is one
    for certain with `nobody_to_wait_for`: somebody else is there.
    """

    kind: str
    message: str
    retry: bool = False
    slow_down: bool = False
    retry_after: float | None = None
    remedy: str = ""
    if_never_there: str = ""
    nobody_to_wait_for: bool = False


def failure_of(error: Exception, asked: str, limit: float) -> FailedTry | None:
    """What a call's exception means; None when it is not about the call at all (a bug of ours, say). `asked` is the
    address that the last request went to, which not every exception knows, and `limit` is how long was waited.

    The SDKs and our own client share their shape (a status code, a response with headers, httpx transport errors
    under different package names), so this goes by shape and class names and needs none of them installed.
    """
    if isinstance(error.__cause__, BadReply):
        error = error.__cause__  # raised while the reply arrived: an SDK takes it for a broken connection
    names = {kind.__name__ for kind in type(error).__mro__}
    message = _message(error)
    if names & {"APITimeoutError", "TimeoutException", "TimeoutError"}:
        return FailedTry("timeout", f"no answer from {asked or 'the server'} within {limit:g} s", retry=True)
    if "ClientAuthenticationError" in names:  # azure-identity found nobody who is signed in
        return FailedTry("auth", message, remedy=_SIGN_IN)
    status = _status(error)
    if status is not None:
        return _failure_of_status(error, status, message, asked)
    if names & _BROKEN_CONNECTIONS:
        return _broken_connection(error, message, asked)
    if names & _NO_REPLIES:
        return _no_reply(error, message, asked)
    return None


def _no_reply(error: Exception, message: str, asked: str) -> FailedTry:
    retry, remedy = getattr(error, "retry", True), getattr(error, "remedy", "")
    if not remedy:  # one that has a remedy names the place it is about
        message = _at(message, asked)
    if isinstance(error, PageInstead):
        mistake = mistake_behind_page(asked)
        return FailedTry("bad_reply", message, retry=True, if_never_there=mistake, nobody_to_wait_for=True)
    return FailedTry("bad_reply", message, retry=retry, remedy=remedy)


def _broken_connection(error: Exception, message: str, asked: str) -> FailedTry:
    chain = list(_chain(error))
    server = place_of(next(filter(None, map(_address, chain)), "") or asked) or "the server"
    where = f"no connection to {server}"
    words = _one_line(str(error.__cause__ or "")) or message
    if any(isinstance(link, ssl.SSLCertVerificationError) for link in chain):
        return FailedTry("connection", f"{where}: {words}", remedy=_TRUST)
    if remedy := wants_http(chain):
        return FailedTry("connection", f"{where}: {words}", remedy=remedy)
    why, mistake = unreachable(chain)
    message = f"{where}: {why}" if why else f"the connection to {server} broke: {words}"
    return FailedTry("connection", message, retry=True, if_never_there=mistake)


def _failure_of_status(error: Exception, status: int, message: str, asked: str) -> FailedTry:
    sent, address = _sent(error), _address(error) or asked
    message = _at(message, address)
    lasting = lasting_failure(status, str(sent), message, address)
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
_NO_SUCH_PATH = (404, 405)
"""The second is what a page that can only be looked at answers to a question."""


def lasting_failure(status: int, sent: str, message: str, address: str = "") -> FailedTry | None:
    """A failure that every other call would meet too, told by its status and by what was sent with it."""
    if status >= 500:
        return None
    if status == 402 or _EMPTY_ACCOUNT.search(sent):
        return FailedTry("quota", message, remedy=_ADD_CREDIT)
    if _NO_SUCH_MODEL.search(sent):
        return FailedTry("not_found", message, remedy=CHECK_NAME)
    if status in _NO_SUCH_PATH:
        return FailedTry("not_found", message, remedy=mistake_in_path(address, sent))
    if status == 400 and (remedy := wants_https(sent)):
        return FailedTry("connection", message, remedy=remedy)
    if status == 401 or "API_KEY_INVALID" in sent:  # Google answers 400 to a wrong key
        return FailedTry("auth", message, remedy=_CHECK_KEY)
    if status == 403:
        # No provider's API answers with a page: it is a firewall's, and may be about what one prompt says.
        return FailedTry("auth", message, remedy="" if "<html" in sent.lower() else _CHECK_KEY)
    return None


def _at(message: str, address: str) -> str:
    return f"{message} at {address}" if address else message


def _status(error: Exception) -> int | None:
    for name in ("status_code", "code"):
        value = vars(error).get(name)
        if isinstance(value, int) and 100 <= value < 600:
            return value
    return None


def _sent(error: Exception) -> Any:
    """The body of the answer, by either SDK's name for it."""
    return getattr(error, "body", None) or getattr(error, "details", None) or ""


def _address(error: BaseException) -> str:
    """Where the request went, without what may be secret in an address."""
    known = vars(error)
    for holder in (error, getattr(error, "response", None), known.get("request"), known.get("_request")):
        if address := shown_address(getattr(holder, "url", "")):
            return address
    return ""


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
    """In the server's words where it has any: an SDK may leave them out, or show the JSON around them."""
    status = _status(error)
    text = str(error) if status is None else told(status, _sent(error))
    return _one_line(text) or type(error).__name__


def _one_line(text: str) -> str:
    """Redacted before it is cut: a key cut in two would no longer be recognised."""
    text = " ".join(redacted(text).split())
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"
