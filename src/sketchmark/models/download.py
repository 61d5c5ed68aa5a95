"""Fetching a picture that an image API returned as a URL."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import TYPE_CHECKING
from urllib.request import getproxies, proxy_bypass

from sketchmark.models.bounded_http import LARGEST_DRAWING, at_most, read_bounded
from sketchmark.models.encoding import picture_from_bytes
from sketchmark.models.failures import BadReply
from sketchmark.parts import Picture

if TYPE_CHECKING:
    import httpx2

_MOST_REDIRECTS = 3
_PORTS = {"http": 80, "https": 443}
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


async def download(url: str, server: str | None, *, timeout: float, most: int = LARGEST_DRAWING) -> Picture:
    """The URL is the word of `server` (the endpoint's address), which could name whatever this machine can reach. So
    at every hop it must be http(s), on that server itself or at a public address; no key is sent; and no more than
    `most` bytes are read."""
    import httpx2

    own = await _places(httpx2.URL(server)) if server else []
    here = httpx2.URL()
    for _ in range(_MOST_REDIRECTS + 1):
        try:
            here = here.join(url)
        except httpx2.InvalidURL as error:
            raise BadReply(f"the returned picture's address is none: {error}", retry=False) from None
        with at_most(most):
            response = await _get(here, own, timeout)
        if response.has_redirect_location:
            url = response.headers["location"]
            continue
        if response.status_code != 200:
            raise BadReply(f"the returned picture's address answered {response.status_code}")
        return await picture_from_bytes(response.content)
    raise BadReply(f"the returned picture's address redirects more than {_MOST_REDIRECTS} times")


async def _get(url: httpx2.URL, own: list[tuple[str, int]], timeout: float) -> httpx2.Response:
    """From the place that was looked at, not from where the name points a moment later. Only through a proxy the name
    is sent, since a machine behind one may know no others: where it points then is the proxy's to look after."""
    import httpx2

    if url.scheme not in _PORTS:
        raise BadReply(f"a picture at a {url.scheme or 'relative'} address is not fetched", retry=False)
    places = await _places(url)
    for place in places:
        if place not in own and not is_public(place[0]):
            raise BadReply(
                f"a picture at {url.host} ({place[0]}) is not fetched: neither the endpoint nor a public address",
                retry=False,
            )
    proxy = _proxy_for(url)
    transport = httpx2.AsyncHTTPTransport(proxy=proxy)
    hooks = {"response": [read_bounded]}
    async with httpx2.AsyncClient(transport=transport, timeout=timeout, event_hooks=hooks) as client:
        if proxy:
            return await client.get(url)
        failure: Exception = BadReply(f"the returned picture's host {url.host} cannot be found")
        for address, _ in places:
            request = client.build_request("GET", url, extensions={"sni_hostname": url.raw_host.decode("ascii")})
            request.url = url.copy_with(host=address)
            try:
                return await client.send(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
        raise failure


async def _places(url: httpx2.URL) -> list[tuple[str, int]]:
    """Where the URL's host is: (address, port); none if it cannot be found. Whatever else may stand for an address
    (`127.1`, `0x7f000001`, `localhost.`) is one here."""
    port = url.port or _PORTS.get(url.scheme, 0)
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


def _proxy_for(url: httpx2.URL) -> str | None:
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(url.host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
