"""How a context becomes chat messages: one rule for every provider.

What the task put there is the user's; text the model said is the assistant's; a picture the model drew goes back in a
user message, because most chat APIs refuse pictures from the assistant. Order is kept exactly and parts are never
merged: neighbours on the same side share a message, each as its own content block.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from sketchmark.parts import Context, Part

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
