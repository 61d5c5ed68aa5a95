"""`history=native`: a provider's own record of each turn (items, ids, encrypted reasoning, signatures) goes back as
it came, instead of the one plain form in which all providers are sent all canvases.

Such a record remembers the drawing, whatever is shown in its place. So it is an option for the canvas `own` alone,
and a condition of its own in the results: a control in the plain form differs from it in more than the picture.
It is kept with the reply, as JSON text and without pictures: the part that carries it has the picture.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sketchmark.errors import BadInput
from sketchmark.files.plain import well_formed
from sketchmark.models.arguments import Arguments
from sketchmark.models.failures import BadReply

NATIVE_HISTORY = "native history"
"""What results call it."""

LONGEST = 4_000_000
"""Characters of one turn's record. What a model thinks in a turn is some ten thousand."""

Piece = dict[str, Any]


def wants_native(args: Arguments) -> bool:
    return args.choice("history", ("plain", "native")) == "native"


def written(pieces: list[Piece]) -> str:
    """The record of one turn; empty where there is nothing of it."""
    if not pieces:
        return ""
    try:
        record = msgspec.json.encode(well_formed(pieces)).decode()
    except (ValueError, RecursionError) as error:
        raise BadReply(f"the record of the turn cannot be kept: {error}") from None
    if len(record) > LONGEST:
        raise BadReply(f"the record of the turn is {len(record)} characters long: {LONGEST} can be kept", retry=False)
    return record


def read(record: str) -> list[Piece]:
    try:
        return msgspec.json.decode(record, type=list[Piece])
    except (ValueError, RecursionError) as error:  # what others wrote into the cache
        raise BadInput(
            f"the record of an earlier turn cannot be read: {error}", "play it anew: --no-cache"
        ) from error


def drafts_left_out(count: int) -> tuple[str, ...]:
    """`count` pictures besides the drawing, of which a record holds no bytes."""
    return (f"{count} draft{'s' * (count > 1)} of earlier drawings: the drawings alone are kept",) if count else ()
