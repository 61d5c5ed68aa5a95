"""Conversion of a context to chat messages, and of a provider's reply to ours: one rule for every provider.

The task's parts are the user's, text that the model generated is the assistant's, and a judge's instructions may be
the system's. A drawing goes back in a user message, because most chat APIs refuse images from the assistant. The
order is kept and parts are never merged: neighbours of one role share a message, each as a separate content block.

With `history=native`, the provider's own record of each turn (items, ids, encrypted reasoning, signatures) goes back
in place of the plain form. Such a record contains the drawing, whatever is shown in its place. So it is available
only for the canvas `own`, and is a separate condition in the results. It is kept with the reply, as JSON text without
images: the part that carries it has the image.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

import msgspec

from sketchmark.episode.model import Finish, Usage
from sketchmark.episode.sample import Context, Part
from sketchmark.errors import BadInput
from sketchmark.files.jsonl import well_formed
from sketchmark.models.arguments import Arguments
from sketchmark.models.failures import BadReply

Role = Literal["system", "user", "assistant"]
LeftOut = tuple[str, ...]


@dataclass(frozen=True)
class Message:
    role: Role
    parts: tuple[Part, ...]


def messages(context: Context, *, native: bool = False) -> list[Message]:
    """Group the parts by role. With `native`, parts with a provider's record are the assistant's, images too."""

    def role(part: Part) -> Role:
        return "assistant" if native and part.native else _role(part)

    return [Message(who, tuple(parts)) for who, parts in groupby(context, key=role)]


def _role(part: Part) -> Role:
    if part.text is None or part.by == "task":
        return "user"
    return "assistant" if part.by == "model" else "system"


def system_apart(context: Context) -> tuple[str, Context]:
    """Return the system texts, joined, and the rest, for APIs that take them in a separate field."""
    system = [part.text for part in context if part.text is not None and part.by == "system"]
    return "\n\n".join(system), Context(tuple(part for part in context if part.by != "system"))


def system_as_user(context: Context) -> Context:
    """Put system texts in user messages, for models that know no others."""
    return Context(tuple(replace(part, by="task") if part.by == "system" else part for part in context))


def without_empty_texts(context: Context) -> tuple[Context, LeftOut]:
    """Drop empty texts: providers answer 400 to them, and an empty reply leaves one in the context."""
    kept = tuple(part for part in context if part.text is None or part.text.strip())
    empty = len(context) - len(kept)
    return Context(kept), (f"{empty} empty text{'s' * (empty > 1)}",) if empty else ()


def newest_pictures(context: Context, most: int, why: str) -> tuple[Context, LeftOut]:
    """Keep all texts and the newest `most` images: in a drawing protocol the newest is the current state."""
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


def newest_texts(context: Context, most: int | None) -> tuple[Context, LeftOut]:
    """Keep the newest texts, if `texts=` limits them: some pipelines read only the first few of a long prompt."""
    total = len(context.texts)
    if most is None or total <= most:
        return context, ()
    to_skip, kept = total - most, []
    for part in context:
        if part.text is not None and to_skip:
            to_skip -= 1
        else:
            kept.append(part)
    return Context(tuple(kept)), (f"{total - most} of {total} texts: texts={most}",)


def without_sounds(context: Context, who: str) -> tuple[Context, LeftOut]:
    """Drop sounds, which a drawing does not need. Texts about them stay."""
    count = len(context.sounds)
    kept = Context(tuple(part for part in context if part.sound is None))
    return kept, (f"{count} sound{'s' * (count > 1)}: {who} takes none",) if count else ()


def all_as_user(context: Context, who: str) -> tuple[Context, LeftOut]:
    """Put everything in user messages, because `who` reads no others: the model's plan must not be lost.

    Its authorship is lost, and is reported.
    """
    said = any(_role(part) == "assistant" for part in context)
    kept = Context(tuple(Part(part.content) for part in context))
    return kept, (f"which texts are the model's own: {who} reads the user's texts only",) if said else ()


def as_prompt(context: Context, who: str = "the image API") -> tuple[str, LeftOut]:
    """Join the texts, for a receiver that takes one prompt and a list of images."""
    return "\n\n".join(context.texts), places_lost(context, f"{who} takes one prompt")


def places_lost(context: Context, why: str) -> LeftOut:
    """Report images between texts if the receiver takes texts and images separately."""
    kinds = [kind for kind, _ in groupby(context, key=lambda part: part.picture is not None)]
    interleaved = any(kinds[i : i + 3] == [False, True, False] for i in range(len(kinds)))
    return (f"where the pictures were among the texts: {why}",) if interleaved else ()


NATIVE_HISTORY = "native history"
"""The name in results."""

LONGEST = 4_000_000
"""Characters of one turn's record. Its reasoning usually has some ten thousand."""

Piece = dict[str, Any]


def wants_native(args: Arguments) -> bool:
    return args.choice("history", ("plain", "native")) == "native"


def written(pieces: list[Piece]) -> str:
    """Encode the record of one turn, empty if there is none."""
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
    except (ValueError, RecursionError) as error:  # the cache may be damaged
        raise BadInput(
            f"the record of an earlier turn cannot be read: {error}", "run it again with --no-cache"
        ) from error


def drafts_left_out(count: int) -> tuple[str, ...]:
    """Report `count` images besides the drawing: a record does not hold their bytes."""
    return (f"{count} draft{'s' * (count > 1)} of earlier drawings: the drawings alone are kept",) if count else ()


def body_of(response: Any) -> dict[str, Any]:
    """Return an SDK's response as a dict. The SDK returns anything but JSON, such as a proxy's page, as text."""
    if not hasattr(response, "model_dump"):
        raise BadReply(f"the server sent no JSON object but {str(response)[:80]!r}")
    body: dict[str, Any] = response.model_dump(mode="json", warnings=False)
    return body


@contextmanager
def as_a_reply() -> Iterator[None]:
    """Turn errors of reading a reply into BadReply: they say nothing about the model."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise BadReply(f"the server sent JSON that is not a reply ({type(error).__name__}: {error})") from None


def usage_in(body: dict[str, Any], pictures_in: int, pictures_out: int = 0) -> Usage:
    """Return the usage that a reply reports, with that of the tool that draws. 0 for all tokens counts as unknown."""
    of_tool = body.get("tool_usage")
    drawing = of_tool.get("image_gen") if isinstance(of_tool, dict) else None
    sent, came = _tokens(body.get("usage"))
    usage = Usage(sent, came, pictures_in, pictures_out)
    return usage + Usage(*_tokens(drawing), calls=0) if isinstance(drawing, dict) else usage


def _tokens(usage: object) -> tuple[Any, Any]:
    """Return tokens in and out, under either name that APIs have for them. `Usage` judges the values."""
    found = usage if isinstance(usage, dict) else {}
    sent, came = (
        next((found[name] for name in names if found.get(name) is not None), None)
        for names in (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))
    )
    return (sent, came) if sent or came else (None, None)


def finish_of_text(finish: Finish, text: str) -> Finish:
    """Return `empty` for a normal end without text. A truncated or refused reply stays so, even if empty."""
    return "empty" if finish == "stop" and not text.strip() else finish


def finish_of_drawing(finish: Finish, drawn: bool) -> Finish:
    if drawn:
        return "stop"
    return "no_picture" if finish == "stop" else finish


def for_looking(value: Any) -> Any:
    """Return a provider's reply for `Reply.raw`: without images, which are stored elsewhere."""
    if isinstance(value, dict):
        return {key: for_looking(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [for_looking(item) for item in value]
    if isinstance(value, str) and (value.startswith("data:") or (len(value) > 1000 and " " not in value)):
        return f"[{len(value)} characters]"
    return value
