"""Fetching a picture that an image API returned as a URL."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from sketchmark.models.calling import BadReply
from sketchmark.models.encoding import LARGEST_REPLY, picture_from_bytes
from sketchmark.parts import Picture

_MOST_REDIRECTS = 3


async def download(url: str, *, timeout: float, most: int = LARGEST_REPLY) -> Picture:
    """The URL is the server's word: only http(s), at every hop; no key is sent; read no further than `most` bytes."""
    from openai import DefaultAsyncHttpxClient

    async with DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=False) as client:
        for _ in range(_MOST_REDIRECTS + 1):
            if urlsplit(url).scheme not in ("http", "https"):
                raise BadReply(f"a picture at a {urlsplit(url).scheme or 'relative'} address is not fetched")
            async with client.stream("GET", url) as response:
                if response.is_redirect:
                    url = urljoin(url, response.headers["location"])
                    continue
                if response.status_code != 200:
                    raise BadReply(f"the returned picture's address answered {response.status_code}")
                data = bytearray()
                async for chunk in response.aiter_bytes():
                    data += chunk
                    if len(data) > most:
                        raise BadReply(f"the returned picture is over the limit of {most} bytes")
                return picture_from_bytes(bytes(data))
    raise BadReply(f"the returned picture's address redirects more than {_MOST_REDIRECTS} times")
