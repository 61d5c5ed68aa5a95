"""A reply as a JSON value, and back: the same form in the call cache and in a run's episodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sketchmark.models.base import Reply, Usage
from sketchmark.parts import Picture

Save = Callable[[Picture], str]
Load = Callable[[str], Picture]


def pack_reply(reply: Reply, save: Save) -> dict[str, Any]:
    usage = {key: value for key, value in vars(reply.usage).items() if value}
    packed: dict[str, Any] = {"text": reply.text, "finish": reply.finish, "usage": usage}
    if reply.picture:
        packed["picture"] = save(reply.picture)
    if reply.left_out:
        packed["left_out"] = list(reply.left_out)
    if reply.raw is not None:
        packed["raw"] = reply.raw
    return packed


def unpack_reply(record: Mapping[str, Any], load: Load) -> Reply:
    return Reply(
        text=record["text"],
        picture=load(record["picture"]) if record.get("picture") else None,
        finish=record["finish"],
        usage=Usage(**{"calls": 0, **record["usage"]}),
        left_out=tuple(record.get("left_out", ())),
        raw=record.get("raw"),
    )
