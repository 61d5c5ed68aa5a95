"""What a model gets to see of its own drawing: the controls that separate drawing, seeing and answering."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from sketchmark.errors import CallFailed
from sketchmark.parts import Picture

CANVASES = ("own", "blank", "other", "oracle", "source")
"""`source` is the code of a drawing instead of the picture, for a model that draws by code. It is not made of the
picture, so the desk shows it."""

Canvas = Callable[[Picture, int], Awaitable[Picture]]
"""(the drawing, how many were drawn before it) -> the picture that goes into the context."""


async def own(drawing: Picture, index: int) -> Picture:
    return drawing


async def blank(drawing: Picture, index: int) -> Picture:
    """White paper of the same size: an answer that stays as good never depended on the drawing."""
    from PIL import Image

    return Picture.from_image(Image.new("RGB", drawing.size, "white"))


def oracle(frames: Sequence[Picture]) -> Canvas:
    """The true picture: separates reading a drawing from making it. Past the last step the world stands still."""

    async def show(drawing: Picture, index: int) -> Picture:
        return frames[min(index, len(frames) - 1)]

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
