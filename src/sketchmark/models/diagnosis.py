"""Diagnosis of server errors: the message in a response body, and likely mistakes in an address."""

from __future__ import annotations

import html
import os
import re
import socket
import ssl
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from sketchmark.secrets import redacted

_WHERE = ("error", "detail", "message", "msg", "error_description", "error_msg", "errors", "title")
"""Keys that hold the message, by web framework: `{"error": {"message"}}`, `{"error": "text"}`, `{"detail"}`…"""

_DEEPEST = 5
_MOST = 3
_LONGEST_PAGE = 5_000
_LETTER = re.compile(r"[^\W\d_]")
"""A page whose title is only the status number has no message."""
_TAG = re.compile(r"<[^<>]*>?")
_UNSEEN = (("<script", "</script>"), ("<style", "</style>"), ("<!--", "-->"))


def told(status: int, body: Any) -> str:
    """Return the status with the server's message, or with the meaning of the status: `404: no such model`."""
    words = words_in(body)
    return f"HTTP {status}: {words if _LETTER.search(words) else _phrase(status)}"


def words_in(body: Any, depth: int = 0) -> str:
    """Return the message in a body, or the whole body if its form is unknown. Empty if there is none."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        return _out_of_page(body) if body.lstrip()[:1] == "<" else body.strip()
    if depth < _DEEPEST and isinstance(body, Mapping):
        for name in _WHERE:
            if body.get(name) and (words := words_in(body[name], depth + 1)):
                return _with_place(words, body)
    if depth < _DEEPEST and isinstance(body, list):
        return "; ".join(filter(None, (words_in(one, depth + 1) for one in body[:_MOST])))
    return str(body) if body else ""


def _with_place(words: str, body: Mapping[Any, Any]) -> str:
    """Add the field (`loc`) or the kind of error (`code`) that a body names next to its message."""
    place = body.get("loc")
    if isinstance(place, list | tuple):
        return f"{'.'.join(map(str, place))}: {words}"
    code = body.get("code")
    return f"{words} ({code})" if isinstance(code, str) and code and code not in words else words


def _out_of_page(page: str) -> str:
    """Return the title of a proxy's error page, or its visible text."""
    page = page[:_LONGEST_PAGE]
    start = page.lower().find("<title")
    if start >= 0:
        page = page[start:].partition("</title")[0]
    for opening, closing in _UNSEEN:
        page = _without(page, opening, closing)
    return html.unescape(" ".join(_TAG.sub(" ", page).split()))


def _without(page: str, opening: str, closing: str) -> str:
    """Remove everything between the two marks, up to the end if the second is missing.

    Each character is read once, so that a hostile page cannot take long.
    """
    kept, place, lowered = [], 0, page.lower()
    while (start := lowered.find(opening, place)) >= 0:
        kept.append(page[place:start])
        end = lowered.find(closing, start)
        place = len(page) if end < 0 else end + len(closing)
    return " ".join([*kept, page[place:]])


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "the server does not say why"


CHECK_NAME = "check the name of the model or deployment, and the server's address"
_ENDS = re.compile(r"/(?:chat/completions|images/(?:edits|generations)|responses|messages|files|batches)$")
_VERSION = re.compile(r"/v\d")
_NAMES_MODEL = re.compile(r"\b(?:model|deployment|engine)s?\b|model_not_found|DeploymentNotFound", re.IGNORECASE)
_HTTPS_WANTED = re.compile(r"plain HTTP request was sent to HTTPS|HTTP request to an HTTPS server", re.IGNORECASE)
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")


def shown_address(url: object) -> str:
    """Return an address without possible secrets, empty if it is none."""
    parts = urlsplit(str(url or ""))
    return redacted(f"{_place(parts)}{parts.path}") if parts.netloc else ""


def place_of(address: str) -> str:
    """Return the server of an address, without the path."""
    parts = urlsplit(address)
    return _place(parts) if parts.netloc else ""


def mistake_in_path(url: object, sent: str) -> str:
    """Return advice for a server that does not know the path or the model."""
    parts = urlsplit(str(url or ""))
    if not parts.netloc or _NAMES_MODEL.search(sent):
        return CHECK_NAME
    base = _ENDS.sub("", parts.path)
    if _ENDS.search(base):
        return f"the address ends too late: try base_url={_place(parts)}{_ENDS.sub('', base)}"
    if "/v1/v1" in parts.path:
        return f"`/v1` is there twice: try base_url={_place(parts)}{base.partition('/v1')[0]}"
    if base != parts.path and not _VERSION.search(base):
        return f"was `/v1` left out? try base_url={_place(parts)}{base.rstrip('/')}/v1"
    return CHECK_NAME


def mistake_behind_page(url: str) -> str:
    """Return advice for a website in place of an API. It may have pages at every path."""
    found = mistake_in_path(url, "")
    return "a website is there, and no model's API: check host, port and path" if found == CHECK_NAME else found


def wants_https(sent: str) -> str:
    """Return advice if a server refuses plain HTTP, else an empty text."""
    return "the server wants https: write https:// in its address" if _HTTPS_WANTED.search(sent) else ""


def wants_http(chain: Iterable[BaseException]) -> str:
    """Return advice if a server does not speak TLS, else an empty text."""
    for link in chain:
        if isinstance(link, ssl.SSLError) and getattr(link, "reason", None) in _NO_TLS:
            return "no TLS is spoken there: write http:// in its address, or another port"
    return ""


def unreachable(chain: Iterable[BaseException]) -> tuple[str, str]:
    """Return the reason for a missing connection, and advice. Both are empty if a connection broke."""
    for link in chain:
        if isinstance(link, ConnectionRefusedError):
            return "nothing listens there", "start the server, or check host and port of its address"
        if isinstance(link, socket.gaierror):
            return "no such host", "check the host in its address, and the network"
        if type(link).__name__ in ("ClientConnectorError", "ConnectError", "ConnectTimeout"):
            return _refused_below(link)
    return "", ""


class Proxy(NamedTuple):
    """A proxy, and the variable that names it."""

    url: str
    variable: str

    def __str__(self) -> str:
        return f"the proxy {place_of(self.url) or redacted(self.url)} that {self.variable} names"

    @property
    def remedy(self) -> str:
        return f"start it, correct or unset {self.variable}, or name the server in no_proxy"


def proxy_of(url: str) -> Proxy | None:
    """Return the proxy that https_proxy and similar variables name for an address, unless no_proxy names its host."""
    proxies, parts = getproxies(), urlsplit(url)
    scheme = parts.scheme if parts.scheme in proxies else "all"
    if not proxies.get(scheme) or proxy_bypass(parts.hostname or ""):
        return None
    found = proxies[scheme]
    names = (f"{scheme}_proxy", f"{scheme}_proxy".upper())
    variable = next((name for name in names if os.environ.get(name)), "the system")
    return Proxy(found if "://" in found else f"http://{found}", variable)


def _refused_below(error: BaseException) -> tuple[str, str]:
    """Find the reason in the text of an HTTP library's error, which holds no more of the system's error."""
    inner = getattr(error, "os_error", None)
    text = f"{error} {inner or ''}"
    if isinstance(inner, ConnectionRefusedError) or "refused" in text or "All connection attempts failed" in text:
        return unreachable([ConnectionRefusedError()])
    if isinstance(inner, socket.gaierror) or "Name or service not known" in text:
        return unreachable([socket.gaierror()])
    return "it cannot be reached", "check its address, and the network"


def _place(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
