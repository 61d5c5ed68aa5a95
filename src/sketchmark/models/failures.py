"""Classification of failed attempts: the kind, whether a retry can help, and whether every other call would fail too.

A gateway passes on the errors of any provider behind it. So all known forms are recognised here for all providers.
"""

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
    proxy_of,
    shown_address,
    told,
    unreachable,
    wants_http,
    wants_https,
    words_in,
)
from sketchmark.secrets import redacted

_LONGEST_ASKED_WAIT = 300.0
"""Seconds. A longer Retry-After (a daily quota) stops the run: waiting for hours is the user's decision."""

_LONGEST_MESSAGE = 600
_LONGEST_TITLE = 80
_BROKEN_CONNECTIONS = {
    "NoConnection",
    "APIConnectionError",
    "RequestError",  # httpx, which SDKs let through
    "ServiceRequestError",  # a library that fetches tokens
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
    r"insufficient_quota|billing_hard_limit_reached|billing_not_active"
    r"|credit balance is too low|specified (workspace )?API usage limits"
    r"|quotaId': '\w*PerDay|credits are depleted|spending cap|FAILED_PRECONDITION"
    r"|Out of call volume quota",
    re.IGNORECASE,
)
"""Messages of an empty account, under several statuses, where waiting does not help. Quotas of a minute are named
`…PerMinute…` and pass by themselves. FAILED_PRECONDITION asks for billing to be enabled."""


_NO_IMAGES = re.compile(
    r"image input is not supported"  # llama.cpp, with status 500
    r"|at most 0 images?(?:\(s\))? may be provided|is not a multimodal model"  # vLLM
    r"|image_url is only supported by certain models|unknown variant `image_url`"
    r"|no endpoints found that support image input"  # OpenRouter, with status 404
    r"|model does not support (?:image|vision)|missing data required for image input",
    re.IGNORECASE,
)
"""Messages of servers whose model takes text only. Every call with an image fails so, and none without."""

_NEEDS_IMAGE = re.compile(r"missing preprocess images?\b", re.IGNORECASE)
"""Message of vLLM-Omni, with status 500, when a pipeline that edits images is given none."""

_TOO_MANY_IMAGES = re.compile(r"at most ([1-9]\d{0,2}) images? (?:is|are) supported by this model", re.IGNORECASE)
"""Message of vLLM-Omni, with status 500."""

_RETIRED = re.compile(
    r"\bmodels?\b.{0,120}?(?:(?:has been|have been|is|are|was|were) (?:now |been )?(?:deprecated|retired|shut ?down"
    r"|sunset|decommissioned|discontinued)|no longer (?:available|supported))|model_(?:decommissioned|retired)",
    re.IGNORECASE,
)

USE_BLIND = "this model takes text only: --mode blind asks the questions without their images"
SHOW_IMAGE = "this model edits an image it is shown: for drawings without one name another drawer"
_FEWER_IMAGES = "edit_pictures={} sends the newest {}"
_CHOOSE_ANOTHER = "this model is retired: name one that its provider lists now"


class BadReply(Exception):
    """A response with status 200 that is not a reply: half a JSON text, a broken image.

    `retry` is False if the same request would get the same response. `remedy` is given if every other request would
    get it too.
    """

    def __init__(self, message: str, *, retry: bool = True, remedy: str = "") -> None:
        super().__init__(message)
        self.retry = retry
        self.remedy = remedy


class PageInstead(BadReply):
    """A web page with status 200: the address is a website's, or a proxy has lost its server for a while."""

    def __init__(self, page: bytes) -> None:
        words = redacted(words_in(page))[:_LONGEST_TITLE]
        super().__init__(f"a web page came instead of an answer{words and f' ({words!r})'}")


def refuse_page(data: bytes) -> None:
    """Raise PageInstead for a web page, recognised by its first character: content types are often wrong."""
    if data[:100].lstrip()[:1] == b"<":
        raise PageInstead(data)


class NoConnection(Exception):
    """Our HTTP client got no response; the reason is the exception's cause."""

    def __init__(self, message: str, url: str = "") -> None:
        super().__init__(message)
        self.url = url


class ErrorStatus(Exception):
    """An error status in a response to our HTTP client, in the shape of the SDKs' exceptions.

    `body` is the server's error, `response` has the headers and the address.
    """

    def __init__(self, message: str, status_code: int, body: Any, response: Any) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.body = body
        self.response = response


@dataclass(frozen=True)
class FailedTry:
    """One failed attempt, with the kind and message for the run's failure table.

    A `remedy` is given if every other call would fail too. It stops the run. In it, `{keys}` stands for the variables
    that the model's key is read from. `if_never_there` is the remedy for an address that never responded: a server
    that did respond may come back. `nobody_to_wait_for` is set if another service responds at that address.
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
    """Classify the exception of an attempt. None if it is not about the call (a bug in our code, for example).

    `asked` is the address of the last request, which not every exception holds. `limit` is the timeout in seconds.

    The exceptions of the SDKs and of our client have one shape (a status code, a response with headers, httpx errors
    under several package names). So this uses shapes and class names, and no SDK needs to be installed.
    """
    if isinstance(error.__cause__, BadReply):
        error = error.__cause__  # raised while the reply arrived, which an SDK reports as a broken connection
    names = {kind.__name__ for kind in type(error).__mro__}
    message = _message(error)
    if names & {"APITimeoutError", "TimeoutException", "TimeoutError"}:
        return FailedTry("timeout", f"no answer from {asked or 'the server'} within {limit:g} s", retry=True)
    if "ClientAuthenticationError" in names:  # no user is signed in
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
    if not remedy:  # a message with a remedy names its address
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
    if (proxy := proxy_of(asked)) and (why or any("Proxy" in type(link).__name__ for link in chain)):
        # Behind a proxy every connection is to it: nothing is known of the server.
        message = f"no connection to {server} through {proxy}: {why or words}"
        return FailedTry("connection", message, retry=True, if_never_there=proxy.remedy)
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
    if wait is not None and wait > _LONGEST_ASKED_WAIT:
        kind = "quota" if kind == "rate_limited" else kind
        return FailedTry(kind, f"{message}, the server asks to wait {wait:.0f} s", remedy=_COME_BACK)
    return FailedTry(kind, message, retry=True, slow_down=status in (429, 503, 529), retry_after=wait)


_PASSING = {408: "timeout", 409: "conflict", 429: "rate_limited"}
_NO_SUCH_PATH = (404, 405)
"""405 is the response of a static page to a POST request."""


def lasting_failure(status: int, sent: str, message: str, address: str = "") -> FailedTry | None:
    """Return a failure that every other call would meet too, judged by its status and response body."""
    if _NO_IMAGES.search(sent):
        return FailedTry("no_images", message, remedy=USE_BLIND)
    if _NEEDS_IMAGE.search(sent):
        return FailedTry("needs_image", message, remedy=SHOW_IMAGE)
    if most := most_images(sent):
        return FailedTry("too_many_images", message, remedy=_FEWER_IMAGES.format(most, most))
    if status >= 500:
        return None
    if status in (400, 404, 410) and _RETIRED.search(sent):
        return FailedTry("retired", message, remedy=_CHOOSE_ANOTHER)
    if status == 402 or _EMPTY_ACCOUNT.search(sent):
        return FailedTry("quota", message, remedy=_ADD_CREDIT)
    if _NO_SUCH_MODEL.search(sent):
        return FailedTry("not_found", message, remedy=CHECK_NAME)
    if status in _NO_SUCH_PATH:
        return FailedTry("not_found", message, remedy=mistake_in_path(address, sent))
    if status == 400 and (remedy := wants_https(sent)):
        return FailedTry("connection", message, remedy=remedy)
    if status == 401 or "API_KEY_INVALID" in sent:  # some answer 400 to a wrong key
        return FailedTry("auth", message, remedy=_CHECK_KEY)
    if status == 403:
        # An API does not respond with a page: it is a firewall's, and may be about the text of one prompt.
        return FailedTry("auth", message, remedy="" if "<html" in sent.lower() else _CHECK_KEY)
    return None


def most_images(said: str) -> int:
    """Return the number of images that a server says it takes in a call; 0 if it says nothing about it."""
    found = _TOO_MANY_IMAGES.search(said)
    return int(found[1]) if found else 0


def _at(message: str, address: str) -> str:
    return f"{message} at {address}" if address else message


def _status(error: Exception) -> int | None:
    for name in ("status_code", "code"):
        value = vars(error).get(name)
        if isinstance(value, int) and 100 <= value < 600:
            return value
    return None


def _sent(error: Exception) -> Any:
    """Return the body of the response, under either name that SDKs have for it."""
    return getattr(error, "body", None) or getattr(error, "details", None) or ""


def _address(error: BaseException) -> str:
    """Return the address of the request, without possible secrets."""
    known = vars(error)
    for holder in (error, getattr(error, "response", None), known.get("request"), known.get("_request")):
        if address := shown_address(getattr(holder, "url", "")):
            return address
    return ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    for _ in range(10):  # deeper than any SDK nests, and safe against cycles
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait: `retry-after-ms`, or `Retry-After` as seconds or as a date."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        if value.strip().replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except Exception:  # an untrusted header: the parser of dates raises whatever its parts raise
        return None


def _retry_info(sent: Any) -> float | None:
    """Return the wait that a body asks for (`RetryInfo.retryDelay: "12s"`) in place of a header."""
    found = re.search(r"retryDelay': '(\d+(?:\.\d+)?)s'", str(sent))
    return float(found[1]) if found else None


def _message(error: Exception) -> str:
    """Return the server's message if there is one: an SDK may omit it, or show the JSON around it."""
    status = _status(error)
    text = str(error) if status is None else told(status, _sent(error))
    return _one_line(text) or type(error).__name__


def _one_line(text: str) -> str:
    """Join to one line, redact, then truncate: a truncated key would no longer be recognised."""
    text = " ".join(redacted(text).split())
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"
