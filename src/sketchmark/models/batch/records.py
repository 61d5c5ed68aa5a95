"""What a Batch API says of its files and jobs, as far as we need it."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from sketchmark.models.failures import BadReply

Kind = TypeVar("Kind")


class Uploaded(msgspec.Struct):
    id: str


class Counts(msgspec.Struct):
    total: int = 0
    completed: int = 0
    failed: int = 0


class Problem(msgspec.Struct):
    code: str | None = None
    message: str | None = None


class Problems(msgspec.Struct):
    data: list[Problem] | None = None


class Made(msgspec.Struct):
    """A job that was just made, or is listed."""

    id: str
    input_file_id: str = ""


class Job(msgspec.Struct):
    """A job that is asked about. Without a status it is none: it would be waited for for ever."""

    id: str
    status: str
    request_counts: Counts | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: Problems | None = None


class Listed(msgspec.Struct):
    data: list[Made]


def read(body: dict[str, Any], kind: type[Kind], called: str) -> Kind:
    try:
        return msgspec.convert(body, kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadReply(f"the server sent no {called} but {str(body)[:80]!r} ({error})") from None
