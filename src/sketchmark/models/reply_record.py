"""A reply as it is written down: the same form in the call cache and in a run's episodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, cast

from msgspec import Struct

from sketchmark.models.base import Finish, Reply, Usage
from sketchmark.picture import Picture

Save = Callable[[Picture], str]
Load = Callable[[str], Picture]

USAGE = tuple(field.name for field in fields(Usage))


class ReplyRecord(Struct, omit_defaults=True):
    """What came back from one call."""

    text: str
    """What was said; for a drawing empty, or its code where it was drawn by code."""

    finish: str
    """Why it ended: `stop`, `length`, `refused`, `empty` or `no_picture`."""

    usage: dict[str, int]
    """`tokens_in`, `tokens_out`, `pictures_in`, `pictures_out`, `calls`; what is 0 is left out. A reply without
    `calls` came from the cache and cost nothing."""

    picture: str | None = None
    """The name of the picture that the model drew."""

    left_out: list[str] = []
    """In words, each part of the context that could not be passed to the model."""

    raw: Any = None
    """The provider's reply as it came, for looking. Of a drawing by code, `svg` holds how it was `asked`, all that
    was `said`, and the tries that `failed` before, each with why."""

    trouble: str = ""
    """In words, why there is no picture, where that is known."""

    native: str = ""
    """The provider's own record of the turn, as JSON text without pictures, where it goes back (`history=native`)."""


def pack_reply(reply: Reply, save: Save) -> ReplyRecord:
    return ReplyRecord(
        text=reply.text or "",
        finish=reply.finish,
        usage={key: int(value) for key, value in vars(reply.usage).items() if value},
        picture=save(reply.picture) if reply.picture else None,
        left_out=list(reply.left_out),
        raw=reply.raw,
        trouble=reply.trouble,
        native=reply.native,
    )


def unpack_reply(record: ReplyRecord, load: Load) -> Reply:
    return Reply(
        text=record.text,
        picture=load(record.picture) if record.picture else None,
        finish=cast(Finish, record.finish),
        usage=Usage(**{"calls": 0, **{key: record.usage[key] for key in USAGE if key in record.usage}}),
        left_out=tuple(record.left_out),
        raw=record.raw,
        trouble=record.trouble,
        native=record.native,
    )
