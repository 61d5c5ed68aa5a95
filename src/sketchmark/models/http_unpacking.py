"""A reply as it arrives, counted while it is unpacked: a megabyte of gzip can hold a gigabyte."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator

from sketchmark.models.failures import BadReply

ACCEPTED = "gzip, deflate"
_STEP = 2**18
"""Bytes that are unpacked before they are counted."""

_MOST_LAYERS = 3


class Counted:
    """The bytes of one reply; one byte more than it may have is an error."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._size = 0

    def refuse_beyond(self, announced: int | None) -> None:
        if announced is not None and announced > self._most:
            raise self._over()

    def add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._most:
            raise self._over()
        self._pieces.append(piece)

    def whole(self) -> bytes:
        return b"".join(self._pieces)

    def _over(self) -> BadReply:
        return BadReply(f"the server's reply is over the limit of {self._most} bytes", retry=False)


async def read_counted(pieces: AsyncIterator[bytes], encoding: str, most: int) -> bytes:
    """All of a reply that is packed as its Content-Encoding says, or not at all."""
    layers = [_Layer(name) for name in reversed(_named(encoding))]
    read = Counted(most)
    async for piece in pieces:
        for unpacked in _through(layers, piece):
            read.add(unpacked)
    if not all(layer.ended for layer in layers):
        raise BadReply("the server's reply ends in the middle of what it packed")
    return read.whole()


def _named(encoding: str) -> list[str]:
    names = [name.strip().lower() for name in encoding.split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if len(names) > _MOST_LAYERS:
        raise BadReply(f"the server packs its reply {len(names)} times over", retry=False)
    return names


def _through(layers: list[_Layer], data: bytes) -> Iterator[bytes]:
    if not layers:
        yield data
        return
    for piece in layers[0].unpack(data):
        yield from _through(layers[1:], piece)


class _Layer:
    def __init__(self, name: str) -> None:
        if name not in ("gzip", "x-gzip", "deflate"):
            raise BadReply(f"the server packs its reply as {name[:40]!r}, which nobody asked for", retry=False)
        self._bits = 15 if name == "deflate" else 31
        self._packer = zlib.decompressobj(self._bits)
        self._begun = False

    @property
    def ended(self) -> bool:
        return self._packer.eof or not self._begun

    def unpack(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._packer.eof:
                if self._bits != 31:
                    return  # nothing belongs behind it
                self._packer = zlib.decompressobj(self._bits)  # gzip may be several, one after another
            try:
                yield self._packer.decompress(data, _STEP)
            except zlib.error as error:
                if self._begun or self._bits != 15:
                    raise BadReply(f"the server's reply cannot be unpacked: {error}") from None
                self._bits = -15  # many servers' deflate has no header
                self._packer = zlib.decompressobj(self._bits)
                continue
            self._begun = True
            data = self._packer.unused_data if self._packer.eof else self._packer.unconsumed_tail
