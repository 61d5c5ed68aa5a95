"""HTTP client of our own adapters: one connection pool, prepared bodies, responses of limited size.

It is built on aiohttp (docs/dependencies.md, "Decisions"), which no other module imports. It decides itself how much
of a response is read, whether a key follows a redirect, and whose certificates are trusted.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import platform
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, quote, urlencode, urljoin, urlsplit, urlunsplit

import msgspec
import pybase64

from sketchmark import __version__
from sketchmark.errors import BadInput, CallFailed
from sketchmark.media import Picture
from sketchmark.models.call import LARGEST_DRAWING, Call
from sketchmark.models.diagnosis import proxy_of
from sketchmark.models.failures import BadReply, ErrorStatus, NoConnection, refuse_page
from sketchmark.models.http_bodies import Body, picture_from_bytes
from sketchmark.models.http_bounds import (
    ACCEPTED,
    ByteCount,
    is_address,
    read_counted,
    refuse_elsewhere,
    refuse_no_address,
)
from sketchmark.secrets import redact, remember, without_credentials

if TYPE_CHECKING:
    import aiohttp
    from aiohttp import payload
    from aiohttp.abc import AbstractStreamWriter
    from yarl import URL


Headers = Mapping[str, str]
Authorise = Callable[[], Awaitable[Headers]]

_KEPT_ALIVE = 4.0
"""Seconds that an idle connection is kept. Many servers close theirs after 5: a request could meet the closing."""

_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True)
class Answer:
    """One response. Names of `headers` are case-insensitive."""

    status: int
    headers: Headers
    data: bytes
    url: str


class HttpClient:
    """Client of one server. `authorise` returns the headers for each request; they are not stored."""

    def __init__(self, base_url: str, authorise: Authorise, query: Mapping[str, str] | None = None) -> None:
        refuse_no_address(base_url)
        parts = urlsplit(base_url)
        self._base = parts._replace(netloc=parts.netloc.rpartition("@")[2], path=parts.path.rstrip("/"), fragment="")
        self._basic = _basic(parts)
        self._query = "&".join(filter(None, (parts.query, urlencode(query or {}))))
        self._authorise = authorise
        self._loop: asyncio.AbstractEventLoop | None = None
        self._session: aiohttp.ClientSession | None = None
        self._proxy: str | None = None

    async def post(self, path: str, body: Body, call: Call, headers: Headers | None = None) -> Answer:
        return await self._ask("POST", path, body, {}, call, "application/json", headers)

    async def get(
        self, path: str, call: Call, query: Mapping[str, str] | None = None, *, accept: str = "application/json"
    ) -> Answer:
        return await self._ask("GET", path, None, query or {}, call, accept)

    async def close(self) -> None:
        session, self._session, self._loop = self._session, None, None
        if session is not None:
            await session.close()

    async def _ask(
        self,
        method: str,
        path: str,
        body: Body | None,
        query: Mapping[str, str],
        call: Call,
        accept: str,
        more: Headers | None = None,
    ) -> Answer:
        asked = "&".join(filter(None, (self._query, urlencode(query)))) if query else self._query
        url = _address(self._base, path, asked)
        headers = {**await self._authorise(), **self._basic, **(more or {}), "Accept": accept}
        for name, value in headers.items():
            if not value.isprintable():
                raise BadInput(f"the header {name} would hold a line end or another control character")
        session = self._opened()
        for _ in range(_MOST_REDIRECTS + 1):
            answer = await _exchange(session, method, url, headers, body, call, proxy=self._proxy)
            there = answer.headers.get("location")
            if answer.status not in _REDIRECTS or not there:
                return _accepted(answer)
            there = _joined(url, there)
            refuse_elsewhere(url, there)
            url = there
            if answer.status not in (307, 308) and method != "GET":
                method, body = "GET", None
        raise NoConnection(f"the server redirects more than {_MOST_REDIRECTS} times")

    def _opened(self) -> aiohttp.ClientSession:
        """Return the pool of the running loop: two runs with one model have two loops."""
        loop = asyncio.get_running_loop()
        if self._session is None or self._loop is not loop:
            self._session, self._loop = _open_session(self._base.scheme == "https"), loop
            self._proxy = _proxy_for(urlunsplit(self._base))
        return self._session


@lru_cache(maxsize=100)
def _address(base: SplitResult, path: str, query: str) -> str:
    return urlunsplit(base._replace(path=base.path + path, query=query))


def _open_session(secure: bool) -> aiohttp.ClientSession:
    import aiohttp

    # The caller limits the rate and the time of calls. Keys in ~/.netrc must not be sent.
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEPT_ALIVE, ssl=trusted() if secure else True)
    return aiohttp.ClientSession(
        connector=connector,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
        headers={"User-Agent": f"sketchmark/{__version__}", "Accept-Encoding": ACCEPTED},
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
    )


async def _exchange(
    session: aiohttp.ClientSession,
    method: str,
    url: str,
    headers: Headers,
    body: Body | None,
    call: Call,
    *,
    proxy: str | None = None,
    server_hostname: str | None = None,
) -> Answer:
    """Send one request and return the response, whatever its status. Redirects are not followed.

    `server_hostname` is the name for the certificate if the URL holds an IP address.
    """
    import aiohttp
    from yarl import URL

    call.address = url
    try:
        async with session.request(
            method,
            URL(url, encoded=True),
            data=_payload_type()(body) if body else None,
            headers=headers,
            allow_redirects=False,
            proxy=proxy,
            server_hostname=server_hostname,
        ) as response:
            call.answered = call.answered or (method == "POST" and 200 <= response.status < 300)
            return Answer(response.status, response.headers, await _read(response, call.most), url)
    except (aiohttp.ClientError, OSError) as error:
        if isinstance(error, TimeoutError):
            raise
        raise NoConnection("Connection error.", url) from error


async def _read(response: aiohttp.ClientResponse, most: int) -> bytes:
    encoding = response.headers.get("content-encoding", "")
    if not encoding:
        ByteCount(most).refuse_beyond(response.content_length)
        if response.content_length is not None:
            return await response.read()
    return await read_counted(response.content.iter_any(), encoding, most)


def _accepted(answer: Answer) -> Answer:
    """Return a successful response, else raise ErrorStatus with the server's error."""
    if 200 <= answer.status < 300:
        refuse_page(answer.data)
        return answer
    code = f"Error code: {answer.status}"
    try:
        body = read_json(answer.data)
    except ValueError:
        text = answer.data.decode("utf-8", "replace").strip()
        raise ErrorStatus(text or code, answer.status, text, answer) from None
    said = body.get("error", body) if isinstance(body, dict) else body
    raise ErrorStatus(f"{code} - {body}", answer.status, said, answer)


def read_json(data: bytes) -> Any:
    """Decode JSON, or raise ValueError. Python's decoder also accepts NaN, which some servers send."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return _read_slowly(data)


def _read_slowly(data: bytes) -> Any:
    import json

    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("JSON that is nested too deeply") from error


def read_object(answer: Answer) -> dict[str, Any]:
    """Decode a JSON object. A response with status 200 may still be truncated."""
    try:
        body = read_json(answer.data)
    except ValueError:
        body = answer.data[:10_000].decode("utf-8", "replace")
    if not isinstance(body, dict):  # redacted first: a truncated key would not be found
        raise BadReply(f"the server sent no JSON object but {redact(str(body))[:80]!r}")
    return body


def trusted() -> ssl.SSLContext:
    """Trust the certificates of SSL_CERT_FILE or SSL_CERT_DIR if one is set, else the system's."""
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if not file and not folder and platform.system() in ("Windows", "Darwin"):
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return ssl.create_default_context(cafile=file or None, capath=None if file else folder or None)
    except OSError as error:
        raise BadInput(f"SSL_CERT_FILE={file} cannot be read: {error.strerror or error}") from error


def _proxy_for(url: str) -> str | None:
    """Return the proxy for an address, if there is one."""
    proxy = proxy_of(url)
    if proxy is None:
        return None
    without_credentials(proxy.url)  # this remembers its secrets
    if not is_address(proxy.url):
        raise CallFailed("connection", f"{proxy} is not an http proxy", stops_run=True, hint=proxy.remedy)
    return proxy.url


def _joined(here: str, there: str) -> str:
    try:
        return urljoin(here, quote(there, safe="%/:=&?~#+!$,;'@()*[]"))
    except ValueError:
        raise BadReply("the server redirects to an address that is none", retry=False) from None


def _basic(parts: SplitResult) -> dict[str, str]:
    """Return the header for a user and password in the address. They precede a key, as in every HTTP client."""
    if parts.username is None and parts.password is None:
        return {}
    from urllib.parse import unquote

    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {remember(pybase64.b64encode(pair.encode()).decode())}"}


_MOST_DOWNLOAD_REDIRECTS = 3
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


async def download(
    url: str, server: str | None, call: Call, *, timeout: float, most: int = LARGEST_DRAWING
) -> Picture:
    """Fetch an image that an image API returned as a URL.

    `server` (the endpoint's address) chose the URL, and could name anything that this machine can reach. So every
    hop must be http(s), on that server or at a public address. No key is sent. At most `most` bytes are read.
    """
    from yarl import URL

    own = await _places(URL(server)) if server else []
    here = URL()
    async with asyncio.timeout(timeout):
        for _ in range(_MOST_DOWNLOAD_REDIRECTS + 1):
            try:
                here = here.join(URL(url)) if here else URL(url)
            except ValueError as error:
                raise BadReply(f"the returned picture's address is none: {error}", retry=False) from None
            answer = await _get(here, own, call.up_to(most))
            if answer.status in _REDIRECTS and "location" in answer.headers:
                url = answer.headers["location"]
                continue
            if answer.status != 200:
                raise BadReply(f"the returned picture's address answered {answer.status}")
            return await picture_from_bytes(answer.data)
    raise BadReply(f"the returned picture's address redirects more than {_MOST_DOWNLOAD_REDIRECTS} times")


async def _get(url: URL, own: list[tuple[str, int]], call: Call) -> Answer:
    """Fetch from the addresses that were checked: the name may point elsewhere a moment later.

    Through a proxy the name is sent, because a machine behind a proxy may resolve no names. The proxy must check it.
    """
    if url.scheme not in ("http", "https") or not url.raw_host:
        raise BadReply(f"a picture at a {url.scheme or 'relative'} address is not fetched", retry=False)
    places = await _places(url)
    for place in places:
        if place not in own and not is_public(place[0]):
            raise BadReply(
                f"a picture at {url.host} ({place[0]}) is not fetched: neither the endpoint nor a public address",
                retry=False,
            )
    url = url.with_user(None).with_fragment(None)
    secure = url.scheme == "https"
    async with _open_session(secure) as session:
        if proxy := _proxy_for(str(url)):
            return await _exchange(session, "GET", str(url), {}, None, call, proxy=proxy)
        failure: Exception = BadReply(f"the returned picture's host {url.host} cannot be found")
        named = {"Host": url.host_port_subcomponent or ""}
        for address, _ in places:
            there = str(url.with_host(address))
            try:
                return await _exchange(
                    session, "GET", there, named, None, call, server_hostname=url.raw_host if secure else None
                )
            except NoConnection as error:
                failure = error
        raise failure


async def _places(url: URL) -> list[tuple[str, int]]:
    """Resolve the URL's host to (address, port), none if it cannot be found.

    This also resolves other notations of an address (`127.1`, `0x7f000001`, `localhost.`).
    """
    port = url.port or 0
    try:
        found = await asyncio.get_running_loop().getaddrinfo(url.raw_host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        return []
    return [(str(place[0]), port) for *_, place in found]


def is_public(address: str) -> bool:
    """Return False for this machine and its network, in any notation."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner:
            return is_public(str(inner))
        return ip.is_global and ip in _GLOBAL_UNICAST
    return ip.is_global and not ip.is_multicast


@cache
def _payload_type() -> type[payload.Payload]:
    """Return the type of bodies for aiohttp, which is imported only when the first request is made."""
    from aiohttp import payload

    class Payload(payload.Payload):
        """A body, written piece by piece as the connection takes it."""

        _autoclose = True

        def __init__(self, body: Body) -> None:
            super().__init__(None, content_type=body.content_type)
            self._body = body
            self._size = body.size

        def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
            return b"".join(self._body.chunks()).decode(encoding, errors)

        async def write(self, writer: AbstractStreamWriter) -> None:
            for chunk in self._body.chunks():
                await writer.write(chunk)

    return Payload
