"""Numbered pieces of bytes through a pipe. A frame is its number, its length and its content."""

from __future__ import annotations

import os
import struct

_HEADER = struct.Struct("<QQ")
_AT_ONCE = 1 << 20

OPENING = 0
"""The number of the frame that opens a worker; empty, it ends one. Jobs and their outcomes are numbered from 1."""


def send(file: int, number: int, content: bytes) -> None:
    """Blocks until all of it is in the pipe. Raises OSError when nobody listens any more."""
    for piece in (_HEADER.pack(number, len(content)), content):
        left = memoryview(piece)
        while left:
            left = left[os.write(file, left) :]


def receive(file: int) -> tuple[int, bytes] | None:
    """None at the end of the pipe."""
    header = _read(file, _HEADER.size)
    if header is None:
        return None
    number, length = _HEADER.unpack(header)
    content = _read(file, length)
    return None if content is None else (number, content)


def _read(file: int, length: int) -> bytes | None:
    found = bytearray()
    while len(found) < length:
        more = os.read(file, min(length - len(found), _AT_ONCE))
        if not more:
            return None
        found += more
    return bytes(found)
