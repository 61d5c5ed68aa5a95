"""What reading a reply has in common for all providers: is it one, how did it end, what is kept of it for looking."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sketchmark.models.base import Finish
from sketchmark.models.failures import BadReply


def body_of(response: Any) -> dict[str, Any]:
    """The SDK hands anything that is not JSON through as text, with a success: a proxy's error page, mostly."""
    if not hasattr(response, "model_dump"):
        raise BadReply(f"the server sent no JSON object but {str(response)[:80]!r}")
    body: dict[str, Any] = response.model_dump(mode="json", warnings=False)
    return body


@contextmanager
def as_a_reply() -> Iterator[None]:
    """Reading what has not the shape of a reply: it is none, and says nothing about the model."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise BadReply(f"the server sent JSON that is no reply ({type(error).__name__}: {error})") from None


def counted(body: dict[str, Any], sent: str, came: str) -> tuple[int, int]:
    """Two numbers of the reply's `usage`; 0 for what is none: a reply that is paid for is not lost over its bill."""
    usage = body.get("usage")
    return (_number(usage.get(sent)), _number(usage.get(came))) if isinstance(usage, dict) else (0, 0)


def _number(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 0


def finish_of_text(finish: Finish, text: str) -> Finish:
    """A normal end with nothing said is `empty`; a cut or a refusal stays what it is even when nothing came."""
    return "empty" if finish == "stop" and not text.strip() else finish


def finish_of_drawing(finish: Finish, drawn: bool) -> Finish:
    if drawn:
        return "stop"
    return "no_picture" if finish == "stop" else finish


def for_looking(value: Any) -> Any:
    """A provider's reply as `Reply.raw` keeps it: without pictures, which are stored elsewhere."""
    if isinstance(value, dict):
        return {key: for_looking(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [for_looking(item) for item in value]
    if isinstance(value, str) and (value.startswith("data:") or (len(value) > 1000 and " " not in value)):
        return f"[{len(value)} characters]"
    return value
