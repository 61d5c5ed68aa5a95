"""How a context becomes chat messages: one rule for every provider.

What the task put there is the user's; text the model said is the assistant's; a picture the model drew goes back in a
user message, because most chat APIs refuse pictures from the assistant. Order is kept exactly and parts are never
merged: neighbours on the same side share a message, each as its own content block.

`history=native`: a provider's own record of each turn (items, ids, encrypted reasoning, signatures) goes back as
it came, instead of the one plain form in which all providers are sent all canvases.

Such a record remembers the drawing, whatever is shown in its place. So it is an option for the canvas `own` alone,
and a condition of its own in the results: a control in the plain form differs from it in more than the picture.
It is kept with the reply, as JSON text and without pictures: the part that carries it has the picture.

What reading a reply has in common for all providers: is it one, how did it end, what is kept of it for looking.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import msgspec

from sketchmark.episode.model import Finish
from sketchmark.episode.sample import Context, Part
from sketchmark.errors import BadInput
from sketchmark.files.jsonl import well_formed
from sketchmark.models.arguments import Arguments
from sketchmark.models.failures import BadReply

Role = Literal["user", "assistant"]
LeftOut = tuple[str, ...]


@dataclass(frozen=True)
class Message:
    role: Role
    parts: tuple[Part, ...]


def messages(context: Context, *, native: bool = False) -> list[Message]:
    """`native`: what carries its provider's record is the assistant's, pictures too."""

    def role(part: Part) -> Role:
        return "assistant" if native and part.native else _role(part)

    return [Message(who, tuple(parts)) for who, parts in groupby(context, key=role)]


def _role(part: Part) -> Role:
    return "assistant" if part.by == "model" and part.text is not None else "user"


def without_empty_texts(context: Context) -> tuple[Context, LeftOut]:
    """Providers answer 400 to an empty text block, and a model that said nothing leaves one in the context."""
    kept = tuple(part for part in context if part.text is None or part.text.strip())
    empty = len(context) - len(kept)
    return Context(kept), (f"{empty} empty text{'s' * (empty > 1)}",) if empty else ()


def newest_pictures(context: Context, most: int, why: str) -> tuple[Context, LeftOut]:
    """All texts and the newest `most` pictures: in a drawing protocol the newest is the state to continue from."""
    total = len(context.pictures)
    if total <= most:
        return context, ()
    kept: list[Part] = []
    to_skip = total - most
    for part in context:
        if part.picture is not None and to_skip:
            to_skip -= 1
        else:
            kept.append(part)
    sent = "" if most == 0 else ", the newest was sent" if most == 1 else f", the newest {most} were sent"
    return Context(tuple(kept)), (f"{total - most} of {total} pictures: {why}{sent}",)


def without_sounds(context: Context, who: str) -> tuple[Context, LeftOut]:
    """Who draws need not hear: what is said of a sound in words still is."""
    count = len(context.sounds)
    kept = Context(tuple(part for part in context if part.sound is None))
    return kept, (f"{count} sound{'s' * (count > 1)}: {who} takes none",) if count else ()


def all_as_user(context: Context, who: str) -> tuple[Context, LeftOut]:
    """Everything in user messages, for `who` reads no others: a plan that the model said must not be lost with its
    role. That it was the model's is."""
    said = any(_role(part) == "assistant" for part in context)
    kept = Context(tuple(Part(part.content) for part in context))
    return kept, (f"which texts are the model's own: {who} reads the user's texts only",) if said else ()


def as_prompt(context: Context) -> tuple[str, LeftOut]:
    """The texts alone, for image endpoints that take one prompt and a list of pictures beside it."""
    return "\n\n".join(context.texts), places_lost(context, "the image API takes one prompt")


def places_lost(context: Context, why: str) -> LeftOut:
    """Said where pictures stand between texts and the receiver takes texts and pictures apart."""
    kinds = [kind for kind, _ in groupby(context, key=lambda part: part.picture is not None)]
    interleaved = any(kinds[i : i + 3] == [False, True, False] for i in range(len(kinds)))
    return (f"where the pictures stood among the texts: {why}",) if interleaved else ()


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
