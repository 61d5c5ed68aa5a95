"""What is held against what, and what it means in words.

A place is a mode without drawings, or the canvas of visual_cot. A canvas that is not named here is held against the
own drawing all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sketchmark.canvas import CANVASES

DRAWING_MODE = "visual_cot"
MODES = ("direct", "text_cot", DRAWING_MODE)
GAIN = "gain"


@dataclass(frozen=True)
class Contrast:
    """after - before. `{size}` is the difference without its sign, `{span}` with it, both with their interval."""

    name: str
    before: str
    after: str
    more: str
    less: str
    none: str
    open: str

    @property
    def label(self) -> str:
        return f"{self.after} − {self.before}"


_NAMED = (
    Contrast(
        GAIN,
        "direct",
        "own",
        more="Drawing helps: {size} over answering directly.",
        less="Drawing hurts: it loses {size} against answering directly.",
        none="Drawing makes no difference worth naming: {span} against answering directly.",
        open="Whether drawing helps is not settled: {span} against answering directly.",
    ),
    Contrast(
        "lost by drawing",
        "own",
        "oracle",
        more="Lost by drawing wrongly: {size}. With the true pictures it is right that much more often.",
        less="The true pictures do worse than its own drawings, by {size}.",
        none="Hardly anything is lost by drawing wrongly: the true pictures give {span}.",
        open="Whether something is lost by drawing wrongly is not settled: the true pictures give {span}.",
    ),
    Contrast(
        "content",
        "blank",
        "own",
        more="The drawing's content gives {size}: on white paper it is right that much less often.",
        less="The drawing's content does harm: on white paper it gains {size}.",
        none="The drawing's content gives nothing worth naming ({span}): white paper does as well.",
        open="Whether the drawing's content gives anything is not settled: {span} over white paper.",
    ),
    Contrast(
        "own content",
        "other",
        "own",
        more="It needs its own drawing: with another sample's it loses {size}.",
        less="Another sample's drawing does better than its own, by {size}.",
        none="Another sample's drawing does as well as its own ({span}).",
        open="Whether it needs its own drawing is not settled: {span} over another sample's.",
    ),
    Contrast(
        "picture over words",
        "text_cot",
        "own",
        more="A picture gives {size} over thinking in words.",
        less="Thinking in words does better than drawing, by {size}.",
        none="A picture gives nothing worth naming over thinking in words ({span}).",
        open="Whether a picture gives more than words is not settled: {span}.",
    ),
    Contrast(
        "picture over caption",
        "caption",
        "own",
        more="The picture gives {size} over its content in words.",
        less="Its drawing put into words does better than the picture, by {size}.",
        none="The drawing's content in words does as well as the picture ({span}).",
        open="Whether the picture gives more than its content in words is not settled: {span}.",
    ),
    Contrast(
        "led astray",
        "corrupt",
        "oracle",
        more="One wrong thing in the true pictures costs {size}.",
        less="With one thing wrong the true pictures do better, by {size}.",
        none="One wrong thing in the true pictures costs nothing worth naming ({span}).",
        open="Whether one wrong thing in the true pictures costs anything is not settled: {span}.",
    ),
)


def contrasts() -> Iterator[Contrast]:
    yield from _NAMED
    held = {place for contrast in _NAMED for place in (contrast.before, contrast.after)}
    for canvas in CANVASES:
        if canvas not in held:
            yield Contrast(
                f"picture over {canvas}",
                canvas,
                "own",
                more=f"Its own picture gives {{size}} over the canvas {canvas}.",
                less=f"The canvas {canvas} does better than its own picture, by {{size}}.",
                none=f"The canvas {canvas} does as well as its own picture ({{span}}).",
                open=f"Whether its own picture gives more than the canvas {canvas} is not settled: {{span}}.",
            )
