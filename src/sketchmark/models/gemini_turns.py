"""The model's own turns as Gemini wants them back (`history=native`): its parts, each with its signature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sketchmark.models.native import Piece, read, written
from sketchmark.parts import Part

if TYPE_CHECKING:
    from google.genai import types


def record_of(parts: Sequence[types.Part], drawing: types.Part | None) -> str:
    """A reply's texts and pictures; thoughts and empty texts only where they are signed. The drawing keeps empty
    `data`, where the picture is put in again; other pictures keep none."""
    kept: list[Piece] = []
    for part in parts:
        if part.text is None and not part.inline_data:  # a call of a tool that nobody gave it
            continue
        if not part.thought_signature and (part.thought or part.text == ""):
            continue
        piece = part.model_copy(update={"inline_data": None}).model_dump(
            mode="json", exclude_none=True, by_alias=True
        )
        if part.inline_data:
            piece["inlineData"] = {
                "mimeType": part.inline_data.mime_type,
                **({"data": ""} if part is drawing else {}),
            }
        kept.append(piece)
    return written(kept)


def own_parts(part: Part) -> tuple[list[types.Part], int]:
    """As the model returned them, with the bytes of the drawing as they came; and how many pictures are not there."""
    from google.genai import types

    pieces = read(part.native)
    sent = [piece for piece in pieces if "data" in piece.get("inlineData", {"data": ""})]
    made = [types.Part.model_validate(piece) for piece in sent]
    for one in made:
        if one.inline_data and part.picture:
            one.inline_data.data = part.picture.data
    return made, len(pieces) - len(sent)
