"""One call to an endpoint, as its requests need it."""

from __future__ import annotations

from dataclasses import dataclass

from sketchmark.models.base import CallNotes
from sketchmark.models.wrong_address import shown_address

LARGEST_TEXT = 16_000_000
LARGEST_DRAWING = 64_000_000
"""Bytes of a whole reply with its pictures in base64, or of one downloaded picture."""
LARGEST_FILE = 512_000_000
"""A batch's results: up to 50,000 replies."""


@dataclass(eq=False)
class Call:
    """Made for each call and passed down to the code that sends its requests."""

    notes: CallNotes | None = None
    address: str = ""
    """URL of the attempt's last request. An exception of a failed connection does not always name the server."""
    most: int = LARGEST_TEXT
    """Size limit of the reply in bytes."""

    def up_to(self, most: int) -> Call:
        """Set the size limit."""
        self.most = most
        return self

    @property
    def shown_address(self) -> str:
        """The address without secrets; empty if no request was sent."""
        return shown_address(self.address)

    def failed(self, words: str) -> None:
        if self.notes is not None:
            self.notes.failed(words)

    def retried(self) -> None:
        if self.notes is not None:
            self.notes.retries += 1
