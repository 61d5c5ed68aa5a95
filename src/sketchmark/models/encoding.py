"""Pictures as the wire wants them: in a format that the provider reads, decoded once and off the event loop."""

from __future__ import annotations

import asyncio
import binascii
from collections import OrderedDict

import pybase64

from sketchmark.errors import BadPicture
from sketchmark.models.failures import BadReply
from sketchmark.picture import Picture

CACHE_BYTES = 16_000_000
_MOST_KNOWN = 10_000


class Encoder:
    """What is sent of recent pictures, by digest: a picture in a growing context is sent many times, looked at once,
    and made anew once where it has to be. Most go as they came, and of those nothing is held but their digest.

    Base64 is not kept: pybase64 makes it at several gigabytes a second, faster than it could be looked up and sent.
    """

    def __init__(self, formats: frozenset[str], cache_bytes: int = CACHE_BYTES) -> None:
        self._formats = formats
        self._room = cache_bytes
        self._cache: OrderedDict[str, Picture | None] = OrderedDict()
        self._held = 0
        self._under_way: dict[str, asyncio.Future[Picture]] = {}
        self.decoded = 0

    async def base64(self, picture: Picture) -> tuple[str, str]:
        """(media type, base64)."""
        sendable = await self.sendable(picture)
        return sendable.media_type, pybase64.b64encode_as_string(sendable.data)

    async def sendable(self, picture: Picture) -> Picture:
        """The picture itself where the provider reads its format and shows it as we do, else as PNG."""
        digest = picture.digest
        if digest in self._cache:
            self._cache.move_to_end(digest)
            return self._cache[digest] or picture
        if picture.format in self._formats and picture.is_plain:
            self._remember(digest, None)  # a look at the header costs less than a thread
            return picture
        # Of two calls with one picture, the second waits for the first one's work. Nothing here holds a lock, so that
        # neither the loop nor a thread that others need waits with them.
        work = self._under_way.get(digest)
        if work is None or work.get_loop() is not asyncio.get_running_loop():
            work = asyncio.ensure_future(asyncio.to_thread(self._make, picture))
            self._under_way[digest] = work
            work.add_done_callback(lambda done: self._keep(picture, done))
        return await asyncio.shield(work)

    def _make(self, picture: Picture) -> Picture:
        self.decoded += 1
        readable = picture.format in self._formats
        return picture.shown() if readable else Picture.from_image(picture.image())

    def _keep(self, picture: Picture, done: asyncio.Future[Picture]) -> None:
        self._under_way.pop(picture.digest, None)
        if done.cancelled() or done.exception() is not None:
            return
        made = done.result()
        self._remember(picture.digest, None if made is picture else made)

    def _remember(self, digest: str, made: Picture | None) -> None:
        self._cache[digest] = made
        self._held += len(made.data) if made else 0
        while len(self._cache) > 1 and (self._held > self._room or len(self._cache) > _MOST_KNOWN):
            oldest = self._cache.popitem(last=False)[1]
            self._held -= len(oldest.data) if oldest else 0


async def picture_from_base64(text: str) -> Picture:
    try:
        data = pybase64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadReply(f"a returned picture is not base64: {error}") from None
    return await picture_from_bytes(data)


async def picture_from_bytes(data: bytes) -> Picture:
    """Decoded to its last pixel before it counts, here where a broken one can still be asked for again."""
    try:
        picture = Picture.from_bytes(data)
        await asyncio.to_thread(picture.image)
    except BadPicture as error:
        raise BadReply(f"the server returned {error}") from None
    return picture
