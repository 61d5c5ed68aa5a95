"""Pages for the browser: the parts of a call, the drawing surface that suits its images, and what may be sent back.

Everything that the browser sends is untrusted: it is decoded into bounded records, and a drawing is decoded and
written again as a PNG of the size that was asked for.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct

from sketchmark.episode import Episode, Grading, Turn
from sketchmark.episode.model import Reply
from sketchmark.episode.sample import Context, Part, Sample
from sketchmark.errors import BadInput, BadPicture, SketchmarkError
from sketchmark.media import Picture
from sketchmark.media.sound import Sound
from sketchmark.results import grade
from sketchmark.runs.plan import Cell

MOST_BYTES = 16_000_000
"""Size of a request. A drawing of 2048 x 2048 pixels with photographs is about 8 MB as a PNG in base64."""
_MOST_TEXT = 20_000
_MOST_POINTS = 100_000
_SIDE = 512
"""Side of the paper, if no image is shown."""
_LARGEST_SIDE = 4096

Pixel = Annotated[int, Meta(ge=-_LARGEST_SIDE, le=2 * _LARGEST_SIDE)]
Milliseconds = Annotated[int, Meta(ge=0, le=10**9)]
Pointer = Literal["mouse", "touch", "pen", "keyboard"]


class Stroke(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One mark. Points are x, y in pixels of the image, and milliseconds since the page was shown."""

    tool: Literal["pen", "line", "box", "stamp", "eraser"]
    pointer: Pointer
    points: Annotated[list[tuple[Pixel, Pixel, Milliseconds]], Meta(min_length=1, max_length=20_000)]
    colour: Annotated[str, Meta(pattern="^#[0-9a-f]{6}$")] = "#000000"
    width: Annotated[float, Meta(ge=0, le=512)] = 0
    stamp: Annotated[str, Meta(max_length=80)] = ""
    source: tuple[Pixel, Pixel, Pixel, Pixel] | None = None
    """Left, top, width and height of what was copied, in the image that the drawing began with or another shown."""


class Given(Struct, forbid_unknown_fields=True):
    """All that a page may send: an answer, a drawing, a skip or the press of a button, with how it was made."""

    act: Literal["say", "draw", "skip", "next", "agree", "refuse"]
    text: Annotated[str, Meta(max_length=_MOST_TEXT)] = ""
    drawing: Annotated[str, Meta(max_length=MOST_BYTES)] = ""
    """A PNG in base64."""
    rt: Milliseconds = 0
    """Time from page to reply, by the browser's clock."""
    hidden: Milliseconds = 0
    """Time during which the page was not visible."""
    strokes: Annotated[list[Stroke], Meta(max_length=5_000)] = []
    undos: Annotated[int, Meta(ge=0, le=100_000)] = 0
    ratio: Annotated[float, Meta(ge=0, le=16)] = 1.0
    """Device pixels per CSS pixel."""
    window: tuple[Annotated[int, Meta(ge=0, le=100_000)], Annotated[int, Meta(ge=0, le=100_000)]] = (0, 0)
    size: tuple[Annotated[int, Meta(ge=0, le=_LARGEST_SIDE)], Annotated[int, Meta(ge=0, le=_LARGEST_SIDE)]] = (0, 0)
    """Set by the server: the size that the drawing must have."""


_GIVEN = msgspec.json.Decoder(Given)


def given_in(body: bytes, page: Mapping[str, Any]) -> Given:
    """Decode what was sent for a page; refuse what the page does not ask for."""
    try:
        given = _GIVEN.decode(body)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise BadInput(f"this reply cannot be read: {error}") from error
    kind, act = page["kind"], page.get("act", "")
    if given.act not in ((act, "skip") if kind == "call" else page.get("takes", ())):
        raise BadInput(f"this page does not take {given.act!r}")
    if given.act == "say" and not given.text.strip():
        raise BadInput("the answer is empty", "write one, or skip the sample")
    if sum(len(stroke.points) for stroke in given.strokes) > _MOST_POINTS:
        raise BadInput(f"a drawing of more than {_MOST_POINTS:,} points")
    if given.act == "draw":
        given.size = page["surface"]["width"], page["surface"]["height"]
        drawing_of(given)
    return given


def drawing_of(given: Given) -> Picture:
    """Return the drawing, decoded and written again, so that nothing but its pixels is kept."""
    try:
        picture = Picture.from_bytes(base64.b64decode(given.drawing, validate=True))
        if picture.format != "png" or picture.size != given.size:
            raise BadInput(f"the drawing is not a PNG of {given.size[0]} x {given.size[1]} pixels")
        return Picture.from_image(picture.image())
    except (binascii.Error, BadPicture) as error:
        raise BadInput(f"the drawing cannot be read: {error}") from error


def record_of(given: Given, seconds: float) -> dict[str, Any]:
    """Return how a reply was made, for `raw` of the episode."""
    made = msgspec.to_builtins(given)
    kept = {name: made[name] for name in ("rt", "hidden", "strokes", "undos", "ratio", "window")}
    return {"person": {**kept, "seconds": round(seconds, 3)}}


def call_page(
    act: str, context: Context, cell: Cell, sample: Sample
) -> tuple[dict[str, Any], dict[str, Picture | Sound]]:
    """Return the page of a call and its files: every part of the context, in its order."""
    files: dict[str, Picture | Sound] = {}
    parts = [_part(part, files) for part in context]
    page: dict[str, Any] = {"act": act, "task": cell.task.name, "mode": cell.mode.name, "parts": parts}
    if act == "draw":
        page["surface"] = _surface(context, cell, sample, files)
    else:
        page["final"] = is_final(context, cell, sample)
    return page, files


def is_final(context: Context, cell: Cell, sample: Sample) -> bool:
    """Return whether the call asks for the answer that is scored, and not for a plan or a description."""
    prompts = cell.mode.fill(sample, cell.steps)
    asked = context.parts[-1].text if context.parts else None
    if not cell.mode.protocol.must_draw:
        return True
    return asked in {prompts.text(name) for name in ("final", "ask")} - {""}


def _part(part: Part, files: dict[str, Picture | Sound]) -> dict[str, Any]:
    by = "you" if part.by == "model" else "task"
    if part.text is not None:
        return {"kind": "text", "by": by, "text": part.text}
    media = part.picture.shown() if part.picture else part.sound
    assert media is not None
    files[media.digest] = media
    if isinstance(media, Sound):
        return {"kind": "sound", "by": by, "file": media.digest}
    return {"kind": "image", "by": by, "file": media.digest, "width": media.size[0], "height": media.size[1]}


def _surface(context: Context, cell: Cell, sample: Sample, files: dict[str, Picture | Sound]) -> dict[str, Any]:
    """Return the drawing surface: the last image as its background, colours and stamps of the images shown."""
    pictures = [picture.shown() for picture in context.pictures]
    if not pictures or max(pictures[-1].size) > _LARGEST_SIDE:
        return {"width": _SIDE, "height": _SIDE, "background": "", "colours": [*_PENS, "#ffffff"], "stamps": []}
    last = pictures[-1]
    alike = [picture for picture in pictures[-6:] if picture.size == last.size]
    stamps, down, across = _stamps(cell, sample, alike)
    return {
        "width": last.size[0],
        "height": last.size[1],
        "background": last.digest,
        "colours": colours_of(alike),
        "stamps": stamps,
        "rows": down,
        "columns": across,
    }


_PENS = ("#171b22", "#ef4444", "#2563eb", "#22c55e")
_MOST_COLOURS = 9
_APART = 40
"""Distance from which two colours are two on the palette."""
_LEAST = 0.002
"""Proportion of an image that a colour must cover."""


def colours_of(pictures: list[Picture]) -> list[str]:
    """Return the colours of images, the largest areas first, and a few pens if there are few."""
    found: list[np.ndarray[Any, Any]] = []
    for picture in reversed(pictures):
        values = picture.values.reshape(-1, 3).astype(np.int64)
        codes, counts = np.unique(values @ np.array([1 << 16, 1 << 8, 1]), return_counts=True)
        for code in codes[np.argsort(-counts, kind="stable")][: 4 * _MOST_COLOURS]:
            if counts[codes == code][0] < _LEAST * len(values):
                break
            _add(found, np.array([code >> 16, code >> 8 & 255, code & 255]))
    for pen in _PENS:
        _add(found, np.array(list(bytes.fromhex(pen[1:]))), _MOST_COLOURS - 2)
    return [f"#{int(r):02x}{int(g):02x}{int(b):02x}" for r, g, b in found]


def _add(found: list[np.ndarray[Any, Any]], colour: np.ndarray[Any, Any], most: int = _MOST_COLOURS) -> None:
    if len(found) < most and all(np.linalg.norm(one - colour) >= _APART for one in found):
        found.append(colour)


def _stamps(cell: Cell, sample: Sample, pictures: list[Picture]) -> tuple[list[dict[str, Any]], list[int], list[int]]:
    """Return a stamp for each kind of cell on the boards shown, cut from them, and the edges of the newest board."""
    world = cell.task.world_of(sample)
    board = world.board if world else None
    if board is None:
        return [], [], []
    found: dict[str, tuple[bool, dict[str, Any]]] = {}
    edges: tuple[list[int], list[int]] = [], []
    try:
        rows, columns = board.size_of(sample.target)
        for picture in reversed(pictures):
            down, across = board.edges(picture, rows, columns)
            edges = edges if edges[0] else (down, across)
            for row, labels in enumerate(board.read(picture, rows, columns).grid):
                for column, label in enumerate(labels):
                    name = board.name(label)
                    inner = 0 < row < rows - 1 and 0 < column < columns - 1  # without the board's outline
                    if name != "unclear" and (name not in found or inner > found[name][0]):
                        box = across[column], down[row], across[column + 1], down[row + 1]
                        found[name] = inner, _stamp(name, picture, box, _INNER if inner else _OUTER)
    except (SketchmarkError, KeyError, TypeError, ValueError, IndexError):
        return [], [], []
    return [stamp for _, stamp in found.values()], list(map(int, edges[0])), list(map(int, edges[1]))


_INNER, _OUTER = 0.04, 0.08
"""Proportion of a cell at each of its sides that a stamp leaves out: a reader's edges may be a few pixels off."""


def _stamp(name: str, picture: Picture, box: tuple[int, int, int, int], margin: float) -> dict[str, Any]:
    left, top, right, bottom = map(int, box)
    inset = max(2, round(margin * min(right - left, bottom - top)))
    inside = [left + inset, top + inset, right - left - 2 * inset, bottom - top - 2 * inset]
    tile = picture.values[inside[1] : inside[1] + inside[3], inside[0] : inside[0] + inside[2]]
    return {"name": name, "file": picture.digest, "box": inside, "inset": inset, "clear": _ground(tile)}


def _ground(tile: np.ndarray[Any, Any]) -> str:
    """Return the colour around a thing on a tile, which its stamp leaves as it is; empty if the tile is all of one
    colour, or has no such ground."""
    codes = tile.astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
    ring = np.concatenate([codes[0], codes[-1], codes[:, 0], codes[:, -1]])
    found, counts = np.unique(ring, return_counts=True)
    ground = found[counts.argmax()]
    is_ground = counts.max() >= 0.8 * len(ring) and (codes == ground).mean() < 0.97
    return f"#{int(ground):06x}" if is_ground else ""


_LONGEST = 300


async def read_as(text: str, cell: Cell, sample: Sample) -> dict[str, Any]:
    """Return how the run's own scorer parses an answer, and nothing about whether it is right."""
    episode = Episode(sample, (Turn("say", reply=Reply(text=text)),))
    row = await grade(cell.task, episode, 0, Grading(cell.settings.scorings[0]))
    if "unparsed" in row.flags:
        return {"parsed": False, "answer": ""}
    return {"parsed": True, "answer": in_short(row.notes.get("answer"))}


def in_short(answer: object) -> str:
    """Return a parsed answer as a line of text."""
    parts = answer if isinstance(answer, (list, tuple)) else [] if answer is None else [answer]
    return ", ".join(map(str, parts))[:_LONGEST]
