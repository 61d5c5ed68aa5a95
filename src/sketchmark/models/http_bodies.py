"""Request bodies: images in a format that the provider reads, spliced into JSON or forms as base64.

Most of a body is one image. Only its text is encoded as JSON. The image's base64 is made while the body is written,
so a hundred concurrent calls hold a hundred images, not three hundred.
"""

from __future__ import annotations

import asyncio
import binascii
import secrets
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pybase64

from sketchmark.errors import BadPicture
from sketchmark.media import Picture
from sketchmark.media.sound import Sound
from sketchmark.models.failures import BadReply

_CACHE_BYTES = 16_000_000
_MOST_KNOWN = 10_000


class Encoder:
    """Cache of recent images in a format that the provider reads, by digest.

    An image in a growing context is sent many times, but checked once and converted at most once. For an image that
    needs no conversion only the digest is held. Base64 is not kept: pybase64 makes several gigabytes per second.
    """

    def __init__(self, formats: frozenset[str], cache_bytes: int = _CACHE_BYTES) -> None:
        self._formats = formats
        self._room = cache_bytes
        self._cache: OrderedDict[str, Picture | None] = OrderedDict()
        self._held = 0
        self._under_way: dict[str, asyncio.Future[Picture]] = {}
        self.decoded = 0

    async def base64(self, picture: Picture) -> tuple[str, str]:
        """Return (media type, base64)."""
        sendable = await self.sendable(picture)
        return sendable.media_type, pybase64.b64encode_as_string(sendable.data)

    async def sendable(self, picture: Picture) -> Picture:
        """Return the image itself if the provider reads its format and shows it as we do, else a PNG."""
        digest = picture.digest
        if digest in self._cache:
            self._cache.move_to_end(digest)
            return self._cache[digest] or picture
        if picture.format in self._formats and picture.is_plain:
            self._remember(digest, None)  # reading the header costs less than a thread
            return picture
        # If two calls send one image, the second waits for the first one's result. No lock is held, so neither the
        # loop nor a shared thread has to wait.
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
    """Decode the whole image before it counts: a broken one can still be requested again here."""
    try:
        picture = Picture.from_bytes(data)
        await asyncio.to_thread(picture.image)
    except BadPicture as error:
        raise BadReply(f"the server returned {error}") from None
    return picture


_STEP = 3 * 2**15
"""Bytes of an image that are encoded at once: a multiple of three, so that the pieces fit together."""

_MARK = secrets.token_hex(16).encode()
"""Placeholder of an image. It is random, so no prompt can hold it."""


class Base64:
    """An image or sound as base64."""

    head = ""
    """Text before it, in the same quotes."""

    def __init__(self, shown: Picture | Sound) -> None:
        self.shown = shown

    @property
    def size(self) -> int:
        return (len(self.shown.data) + 2) // 3 * 4

    def chunks(self) -> Iterator[bytes]:
        data = memoryview(self.shown.data)
        for start in range(0, len(data), _STEP):
            yield pybase64.b64encode(data[start : start + _STEP])


class DataUrl(Base64):
    """An image as `data:image/png;base64,…`."""

    def __init__(self, shown: Picture) -> None:
        super().__init__(shown)
        self.head = f"data:{shown.media_type};base64,"


@dataclass(frozen=True)
class Body:
    """A request body of known size. It can be sent any number of times."""

    content_type: str
    pieces: tuple[bytes | Base64, ...]

    @property
    def size(self) -> int:
        return sum(len(piece) if isinstance(piece, bytes) else piece.size for piece in self.pieces)

    def chunks(self) -> Iterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, bytes):
                yield piece
            else:
                yield from piece.chunks()


def json_body(value: Any) -> Body:
    """Encode a value as JSON. Images in it, at any depth, are spliced in when it is sent."""
    pictures: list[Base64] = []

    def marked(found: Any) -> Any:
        if not isinstance(found, Base64):
            raise TypeError(f"{type(found).__name__} is nothing that JSON can say")
        pictures.append(found)
        return msgspec.Raw(b'"%s%s"' % (found.head.encode(), _MARK))

    first, *others = msgspec.json.encode(value, enc_hook=marked).split(_MARK)
    spliced = [piece for picture, text in zip(pictures, others, strict=True) for piece in (picture, text)]
    return Body("application/json", (first, *spliced))


@dataclass(frozen=True)
class FormFile:
    field: str
    name: str
    media_type: str
    data: bytes


def form_body(fields: Mapping[str, str], files: Sequence[FormFile]) -> Body:
    """Encode the fields, then the files, in their order, as multipart/form-data."""
    boundary = secrets.token_hex(16)
    pieces: list[bytes] = []
    for name, value in fields.items():
        pieces.append(f"--{boundary}\r\n{_disposition(name=name)}\r\n\r\n{value}\r\n".encode())
    for file in files:
        head = f"{_disposition(name=file.field, filename=file.name)}\r\nContent-Type: {file.media_type}"
        pieces += [f"--{boundary}\r\n{head}\r\n\r\n".encode(), file.data, b"\r\n"]
    pieces.append(f"--{boundary}--\r\n".encode())
    return Body(f"multipart/form-data; boundary={boundary}", tuple(pieces))


def _disposition(**names: str) -> str:
    """Write the header as HTML forms do: a quote or a line end in a name is escaped."""
    quoted = (f'{key}="{value.translate(_QUOTED)}"' for key, value in names.items())
    return f"Content-Disposition: form-data; {'; '.join(quoted)}"


_QUOTED = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})
