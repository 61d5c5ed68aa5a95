"""What a server says is wrong, out of the body of its answer: every framework has a place of its own for it.

What is likely wrong about a server's address, where nobody or the wrong one answers there.
"""

from __future__ import annotations

import html
import re
import socket
import ssl
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, urlsplit

from sketchmark.secrets import redacted

_WHERE = ("error", "detail", "message", "msg", "error_description", "error_msg", "errors", "title")
"""OpenAI and its imitators `{"error": {"message"}}` or `{"error": "text"}`, FastAPI `{"detail"}`, others the rest."""

_DEEPEST = 5
_MOST = 3
_LONGEST_PAGE = 5_000
_LETTER = re.compile(r"[^\W\d_]")
"""A page whose title is the number alone says nothing."""
_TAG = re.compile(r"<[^<>]*>?")
_UNSEEN = (("<script", "</script>"), ("<style", "</style>"), ("<!--", "-->"))


def told(status: int, body: Any) -> str:
    """`404: no such model`: the status, and the words that came with it or what the status means."""
    words = words_in(body)
    return f"HTTP {status}: {words if _LETTER.search(words) else _phrase(status)}"


def words_in(body: Any, depth: int = 0) -> str:
    """The sentence in it; all of it where no place is known. Empty where nothing was said."""
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
    """FastAPI says beside it which field it means (`loc`), and OpenAI which kind of error it is (`code`)."""
    place = body.get("loc")
    if isinstance(place, list | tuple):
        return f"{'.'.join(map(str, place))}: {words}"
    code = body.get("code")
    return f"{words} ({code})" if isinstance(code, str) and code and code not in words else words


def _out_of_page(page: str) -> str:
    """The title of a proxy's error page, or what is to be read on it."""
    page = page[:_LONGEST_PAGE]
    start = page.lower().find("<title")
    if start >= 0:
        page = page[start:].partition("</title")[0]
    for opening, closing in _UNSEEN:
        page = _without(page, opening, closing)
    return html.unescape(" ".join(_TAG.sub(" ", page).split()))


def _without(page: str, opening: str, closing: str) -> str:
    """All but what stands between the two; what is never closed goes on to the end. Each character is looked at once:
    a page may be made to be read for ever."""
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
    """An address without what may be secret in it; empty where there is none."""
    parts = urlsplit(str(url or ""))
    return redacted(f"{_place(parts)}{parts.path}") if parts.netloc else ""


def place_of(address: str) -> str:
    """The server of an address, without the path."""
    parts = urlsplit(address)
    return _place(parts) if parts.netloc else ""


def mistake_in_path(url: object, sent: str) -> str:
    """What to try where a server is there and knows no such path, or no such model."""
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
    """What to try where a website answers: its pages may stand at every path."""
    found = mistake_in_path(url, "")
    return "a website is there, and no model's API: check host, port and path" if found == CHECK_NAME else found


def wants_https(sent: str) -> str:
    """What to try where a server complains of plain HTTP; empty where it does not."""
    return "the server wants https: write https:// in its address" if _HTTPS_WANTED.search(sent) else ""


def wants_http(chain: Iterable[BaseException]) -> str:
    """What to try where a server does not know TLS."""
    for link in chain:
        if isinstance(link, ssl.SSLError) and getattr(link, "reason", None) in _NO_TLS:
            return "no TLS is spoken there: write http:// in its address, or another port"
    return ""


def unreachable(chain: Iterable[BaseException]) -> tuple[str, str]:
    """Why no connection came about at all, and what to look at; empty where one did, and broke."""
    for link in chain:
        if isinstance(link, ConnectionRefusedError):
            return "nothing listens there", "start the server, or check host and port of its address"
        if isinstance(link, socket.gaierror):
            return "no such host", "check the host in its address, and the network"
        if type(link).__name__ in ("ClientConnectorError", "ConnectError", "ConnectTimeout"):
            return _refused_below(link)
    return "", ""


def _refused_below(error: BaseException) -> tuple[str, str]:
    """HTTP libraries keep only the text of what the system said."""
    inner = getattr(error, "os_error", None)
    text = f"{error} {inner or ''}"
    if isinstance(inner, ConnectionRefusedError) or "refused" in text or "All connection attempts failed" in text:
        return unreachable([ConnectionRefusedError()])
    if isinstance(inner, socket.gaierror) or "Name or service not known" in text:
        return unreachable([socket.gaierror()])
    return "it cannot be reached", "check its address, and the network"


def _place(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
