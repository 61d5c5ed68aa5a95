"""Where a try's last request went. It is known where it is sent, and told where the try fails: an exception that says
nobody answered does not always say who was asked."""

from __future__ import annotations

from contextvars import ContextVar

from sketchmark.models.wrong_address import shown_address

_asked: ContextVar[str] = ContextVar("asked", default="")


def note_address(url: object) -> None:
    _asked.set(str(url))


def asked_address() -> str:
    """Without what may be secret in it; empty where nothing was sent."""
    return shown_address(_asked.get())
