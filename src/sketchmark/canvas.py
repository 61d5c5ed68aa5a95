"""What a model gets to see of its own drawing: the controls that separate drawing, seeing and answering."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from sketchmark.errors import CallFailed
from sketchmark.parts import Part, Sample
from sketchmark.picture import Picture

CANVASES = ("own", "blank", "other", "oracle", "corrupt", "caption", "source")
"""`source` is the code of a drawing instead of the picture, for a model that draws by code. It is not made of the
picture, so the desk shows it."""

NEEDS = {
    "oracle": "true pictures",
    "corrupt": "pictures with one thing wrong",
    "caption": "reader that puts drawings into words",
}
"""Canvas -> what a sample must have for it."""

OF_A_WORLD = ("corrupt", "caption")
"""Canvases that only a sample's world can make."""

Canvas = Callable[[Picture, int], Awaitable[Picture | Part]]
"""(the drawing, how many were drawn before it) -> what goes into the context in its place: a picture, or a part that
says who wrote it."""


class MakesCanvases(Protocol):
    """The part of a world that canvases are made by."""

    @property
    def corrupt(self) -> Callable[[Sample], list[Picture]] | None: ...

    @property
    def caption(self) -> Callable[[Sample, Picture], str] | None: ...


def can_have(name: str, sample: Sample, world: MakesCanvases | None) -> bool:
    """Whether a sample has what a canvas shows. `world` is the sample's; only the canvases of a world ask for it."""
    if name == "oracle":
        return sample.frames is not None
    return name not in OF_A_WORLD or (world is not None and getattr(world, name) is not None)


async def own(drawing: Picture, index: int) -> Picture:
    return drawing


async def blank(drawing: Picture, index: int) -> Picture:
    """White paper of the same size: an answer that stays as good never depended on the drawing."""
    from PIL import Image

    return Picture.from_image(Image.new("RGB", drawing.size, "white"))


def instead(frames: Sequence[Picture]) -> Canvas:
    """Other pictures in place of the drawings, step by step. Past the last step the world stands still.

    `oracle` shows the true ones, which separates reading a drawing from making it; `corrupt` the true ones with one
    thing wrong, which tells whether the model notices or follows what it is shown.
    """

    async def show(drawing: Picture, index: int) -> Picture:
        return frames[min(index, len(frames) - 1)]

    return show


def missing(name: str) -> Canvas:
    """For a sample that lacks what its task's first one has: not scored, rather than shown something else."""

    async def show(drawing: Picture, index: int) -> Picture:
        raise CallFailed("no_canvas", f"this sample has no {NEEDS[name]} for the {name} canvas")

    return show


def caption(in_words: Callable[[Picture], str]) -> Canvas:
    """What our reader sees in the drawing, as a text of the task's: the drawing's content without the picture."""

    async def show(drawing: Picture, index: int) -> Part:
        return Part(in_words(drawing))

    return show


def other(donated: Callable[[], Awaitable[Sequence[Picture]]]) -> Canvas:
    """Another sample's drawing at the same step (its last one, if it drew fewer).

    The donor plays with its own canvas, on demand and once; with the call cache on, an episode it has already
    played costs nothing.
    """

    async def show(drawing: Picture, index: int) -> Picture:
        drawings = await donated()
        if not drawings:
            raise CallFailed("no_donor", "the sample whose drawings were to be shown drew nothing")
        return drawings[min(index, len(drawings) - 1)]

    return show
