"""Fetching a picture that an image API returned as a URL."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import TYPE_CHECKING

from sketchmark.models.call import LARGEST_DRAWING, Call
from sketchmark.models.encoding import picture_from_bytes
from sketchmark.models.failures import BadReply, NoConnection
from sketchmark.models.http_client import Answer, exchange, open_session, proxy_for
from sketchmark.picture import Picture

if TYPE_CHECKING:
    from yarl import URL

_MOST_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


async def download(
    url: str, server: str | None, call: Call, *, timeout: float, most: int = LARGEST_DRAWING
) -> Picture:
    """The URL is the word of `server` (the endpoint's address), which could name whatever this machine can reach. So
    at every hop it must be http(s), on that server itself or at a public address; no key is sent; and no more than
    `most` bytes are read."""
    from yarl import URL

    own = await _places(URL(server)) if server else []
    here = URL()
    async with asyncio.timeout(timeout):
        for _ in range(_MOST_REDIRECTS + 1):
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
    raise BadReply(f"the returned picture's address redirects more than {_MOST_REDIRECTS} times")


async def _get(url: URL, own: list[tuple[str, int]], call: Call) -> Answer:
    """From the place that was looked at, not from where the name points a moment later. Only through a proxy the name
    is sent, since a machine behind one may know no others: where it points then is the proxy's to look after."""
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
    async with open_session(secure) as session:
        if proxy := proxy_for(str(url)):
            return await exchange(session, "GET", str(url), {}, None, call, proxy=proxy)
        failure: Exception = BadReply(f"the returned picture's host {url.host} cannot be found")
        named = {"Host": url.host_port_subcomponent or ""}
        for address, _ in places:
            there = str(url.with_host(address))
            try:
                return await exchange(
                    session, "GET", there, named, None, call, server_hostname=url.raw_host if secure else None
                )
            except NoConnection as error:
                failure = error
        raise failure


async def _places(url: URL) -> list[tuple[str, int]]:
    """Where the URL's host is: (address, port); none if it cannot be found. Whatever else may stand for an address
    (`127.1`, `0x7f000001`, `localhost.`) is one here."""
    port = url.port or 0
    try:
        found = await asyncio.get_running_loop().getaddrinfo(url.raw_host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        return []
    return [(str(place[0]), port) for *_, place in found]


def is_public(address: str) -> bool:
    """Not this machine, its network, or anything that stands for them in another notation."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner:
            return is_public(str(inner))
        return ip.is_global and ip in _GLOBAL_UNICAST
    return ip.is_global and not ip.is_multicast
