"""A conversation as items of OpenAI's Responses API.

In the plain form it is texts and pictures in their order, and nothing else: no id, no reasoning, no item of an
earlier drawing. With `history=native` the model's own turns are the items that it returned.
"""

from __future__ import annotations

from collections.abc import Iterator

from sketchmark.models import layout
from sketchmark.models.http_bodies import Base64, DataUrl
from sketchmark.models.native import Piece, drafts_left_out, read, written
from sketchmark.parts import Context, Part

TOOL = "image_generation"
CALL = f"{TOOL}_call"


def items_of(context: Context, detail: str, *, native: bool) -> tuple[list[Piece], layout.LeftOut]:
    """The items, and what of earlier turns is not among them."""
    found: list[Piece] = []
    drafts = 0
    for message in layout.messages(context, native=native):
        if message.role == "user":
            found.append({"role": "user", "content": [_block(part, detail) for part in message.parts]})
            continue
        for part in message.parts:
            if not (native and part.native):
                found.append({"role": "assistant", "content": part.text})
                continue
            for item in _own_items(part):
                if item.get("type") != CALL or "result" in item:
                    found.append(item)
                    continue
                drafts += 1
                while found and found[-1].get("type") == "reasoning":  # it is refused without what it led to
                    found.pop()
    return found, drafts_left_out(drafts)


def _block(part: Part, detail: str) -> Piece:
    if part.picture is None:
        return {"type": "input_text", "text": part.text}
    return {"type": "input_image", "image_url": DataUrl(part.picture), "detail": detail}


def record_of(output: list[Piece]) -> str:
    """A response's output as it goes back. The drawing, which is the last call with bytes, keeps an empty `result`,
    where the picture is put in again; other calls keep none. Fields without a value are for reading only. Of thoughts
    that led to nothing there is no record."""
    drawing = next((item for item in reversed(output) if item.get("type") == CALL and item.get("result")), None)
    if drawing is None and not any(item.get("type") == "message" for item in output):
        return ""
    kept: list[Piece] = []
    for item in output:
        known = {name: value for name, value in item.items() if value is not None and name != "result"}
        kept.append(known | ({"result": ""} if item is drawing else {}))
    return written(kept)


def _own_items(part: Part) -> Iterator[Piece]:
    """As the model returned them, with the bytes of the drawing as they came."""
    for item in read(part.native):
        drawing = {"result": Base64(part.picture)} if item.pop("result", None) is not None and part.picture else {}
        yield item | drawing
