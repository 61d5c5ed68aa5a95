"""What is likely wrong about a server's address, where nobody or the wrong one answers there."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from sketchmark.models.secrets import shown

CHECK_NAME = "check the name of the model or deployment, and the server's address"
_ENDS = re.compile(r"/(?:chat/completions|images/(?:edits|generations)|responses|messages|files|batches)$")
_VERSION = re.compile(r"/v\d")
_NAMES_MODEL = re.compile(r"\b(?:model|deployment|engine)s?\b|model_not_found|DeploymentNotFound", re.IGNORECASE)
_HTTPS_WANTED = re.compile(r"plain HTTP request was sent to HTTPS|HTTP request to an HTTPS server", re.IGNORECASE)
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")


def shown_address(url: object) -> str:
    """An address without what may be secret in it; empty where there is none."""
    parts = urlsplit(str(url or ""))
    return shown(f"{_place(parts)}{parts.path}") if parts.netloc else ""


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
