"""Pictures as the wire wants them: in a format the provider reads, in base64, made once and off the event loop."""

from __future__ import annotations

import asyncio
import base64
import binascii
import threading
from collections import OrderedDict

from sketchmark.errors import BadPicture
from sketchmark.models.failures import BadReply
from sketchmark.parts import Picture

CACHE_BYTES = 64_000_000


class Encoder:
    """Base64 of recent pictures, by digest: a picture in a growing context is sent many times and encoded once."""

    def __init__(self, formats: frozenset[str], cache_bytes: int = CACHE_BYTES) -> None:
        self._formats = formats
        self._room = cache_bytes
        self._cache: OrderedDict[str, tuple[Picture, str]] = OrderedDict()
        self._held = 0
        self._lock = threading.Lock()
        self.encoded = 0

    async def base64(self, picture: Picture) -> tuple[str, str]:
        """(media type, base64)."""
        sendable, text = await asyncio.to_thread(self._encode, picture)
        return sendable.media_type, text

    async def data_url(self, picture: Picture) -> str:
        media_type, text = await self.base64(picture)
        return f"data:{media_type};base64,{text}"

    async def sendable(self, picture: Picture) -> Picture:
        """The picture itself where the provider reads its format and shows it as we do, else as PNG."""
        return (await asyncio.to_thread(self._encode, picture))[0]

    def _encode(self, picture: Picture) -> tuple[Picture, str]:
        # The lock is held while encoding: of two calls with one picture, the second finds the first one's work.
        with self._lock:
            found = self._cache.get(picture.digest)
            if found is not None:
                self._cache.move_to_end(picture.digest)
                return found
            readable = picture.format in self._formats
            sendable = picture.shown() if readable else Picture.from_image(picture.image())
            entry = (sendable, base64.b64encode(sendable.data).decode("ascii"))
            self.encoded += 1
            self._cache[picture.digest] = entry
            self._held += _weight(entry)
            while self._held > self._room and len(self._cache) > 1:
                self._held -= _weight(self._cache.popitem(last=False)[1])
            return entry


def _weight(entry: tuple[Picture, str]) -> int:
    return len(entry[0].data) + len(entry[1])


async def picture_from_base64(text: str) -> Picture:
    try:
        data = await asyncio.to_thread(base64.b64decode, text, validate=True)
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
