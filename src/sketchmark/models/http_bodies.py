"""Ready-made request bodies: pieces of bytes, and pictures whose base64 is made while they are written.

A body of half a megabyte is one picture and a few words. The words are encoded as JSON, the picture is spliced in
between, and nothing ever holds the whole: a hundred calls at once cost a hundred pictures, not three hundred.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pybase64

from sketchmark.picture import Picture
from sketchmark.sounds import Sound

_STEP = 3 * 2**15
"""Bytes of a picture that are encoded at once; a multiple of three, so that the pieces fit together."""

_MARK = f'"{secrets.token_hex(16)}"'.encode()
"""Where a picture goes. Nobody can guess it, so no prompt can hold it."""


class Base64:
    """A picture or a sound as base64, in quotes, as JSON has it."""

    def __init__(self, shown: Picture | Sound) -> None:
        self.shown = shown

    @property
    def size(self) -> int:
        return len(self._head) + (len(self.shown.data) + 2) // 3 * 4 + 1

    @property
    def _head(self) -> bytes:
        return b'"'

    def chunks(self) -> Iterator[bytes]:
        yield self._head
        data = memoryview(self.shown.data)
        for start in range(0, len(data), _STEP):
            yield pybase64.b64encode(data[start : start + _STEP])
        yield b'"'


class DataUrl(Base64):
    """A picture as `data:image/png;base64,…`."""

    @property
    def _head(self) -> bytes:
        return f'"data:{self.shown.media_type};base64,'.encode()


@dataclass(frozen=True)
class Body:
    """What is sent, of a size that is known before it is made. It can be sent any number of times."""

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
    """The value as JSON; a picture in it, however deep, is put in as it is sent."""
    pictures: list[Base64] = []

    def marked(found: Any) -> Any:
        if not isinstance(found, Base64):
            raise TypeError(f"{type(found).__name__} is nothing that JSON can say")
        pictures.append(found)
        return msgspec.Raw(_MARK)

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
    """multipart/form-data: the fields, then the files, in their order."""
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
    """As HTML forms write it: a quote or a line end in a name must not end it."""
    quoted = (f'{key}="{value.translate(_QUOTED)}"' for key, value in names.items())
    return f"Content-Disposition: form-data; {'; '.join(quoted)}"


_QUOTED = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})
