"""The desk, where one model works on one sample, and the canvases that replace its drawings.

The desk keeps the context and writes the transcript. Canvases are controls: they separate drawing, seeing and
answering.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Protocol

from sketchmark.episode import Act, Turn
from sketchmark.episode.model import Model, Options, Reply, Usage
from sketchmark.episode.sample import Content, Context, Part, Sample
from sketchmark.errors import CallFailed
from sketchmark.media import Picture
from sketchmark.media.sound import Sound

CANVASES = ("own", "blank", "other", "oracle", "corrupt", "caption", "source")
"""`source` shows the code of a drawing instead of the image, for a model that draws by code. The desk itself shows
it, because it is not made from the image."""

NEEDS = {
    "oracle": "true pictures",
    "corrupt": "pictures with one thing wrong",
    "caption": "reader that puts drawings into words",
}
"""Canvas -> what a sample must have for it."""

OF_A_WORLD = ("corrupt", "caption")
"""Canvases that only a sample's world can make."""

Canvas = Callable[[Picture, int], Awaitable[Picture | Part]]
"""(the drawing, the number of earlier drawings) -> an image for the context in its place, or a part with its
author."""


class MakesCanvases(Protocol):
    """The part of a world that makes canvases."""

    @property
    def corrupt(self) -> Callable[[Sample], list[Picture]] | None: ...

    @property
    def caption(self) -> Callable[[Sample, Picture], str] | None: ...


def can_have(name: str, sample: Sample, world: MakesCanvases | None) -> bool:
    """Return whether a sample has what a canvas shows. `world` is the sample's; only the canvases of a world need
    it."""
    if name == "oracle":
        return sample.frames is not None
    return name not in OF_A_WORLD or (world is not None and getattr(world, name) is not None)


async def own(drawing: Picture, index: int) -> Picture:
    return drawing


async def blank(drawing: Picture, index: int) -> Picture:
    """Return a white image of the same size. If answers stay as good, they do not depend on the drawing."""
    from PIL import Image

    return Picture.from_image(Image.new("RGB", drawing.size, "white"))


def instead(frames: Sequence[Picture]) -> Canvas:
    """Show other images in place of the drawings, step by step; after the last one, the last one again.

    `oracle` shows ground-truth images, which separates reading a drawing from making it. `corrupt` shows ground-truth
    images with one error, which shows whether the model notices the error or follows the image.
    """

    async def show(drawing: Picture, index: int) -> Picture:
        return frames[min(index, len(frames) - 1)]

    return show


def missing(name: str) -> Canvas:
    """Fail for a sample that lacks what the first sample of its task has. It is not scored, rather than shown
    something else."""

    async def show(drawing: Picture, index: int) -> Picture:
        raise CallFailed("no_canvas", f"this sample has no {NEEDS[name]} for the {name} canvas")

    return show


def caption(in_words: Callable[[Picture], str]) -> Canvas:
    """Show a text by our image reader: the drawing's content without the image."""

    async def show(drawing: Picture, index: int) -> Part:
        return Part(in_words(drawing))

    return show


def other(donated: Callable[[], Awaitable[Sequence[Picture]]]) -> Canvas:
    """Show another sample's drawing at the same step, or its last one if it has fewer.

    The donor runs once, when needed, with its own canvas. With the call cache, a donor that has run before costs
    nothing.
    """

    async def show(drawing: Picture, index: int) -> Picture:
        drawings = await donated()
        if not drawings:
            raise CallFailed("no_donor", "the sample whose drawings were to be shown drew nothing")
        return drawings[min(index, len(drawings) - 1)]

    return show


class Desk:
    """A protocol's only way to reach a model, so that the transcript is complete.

    A suffix goes with one call only; the model's reply stays in the context. The published protocols work this way:
    inputs, plans and drawings stay, instructions for a single step do not.
    """

    def __init__(
        self,
        model: Model,
        *,
        saying: Options | None = None,
        drawing: Options | None = None,
        canvas: Canvas = own,
        shows_code: bool = False,
        in_words: bool = False,
        keep_going: bool = False,
        blind: bool = False,
    ) -> None:
        self.context = Context()
        self.turns: list[Turn] = []
        self._model = model
        self._saying = saying or Options()
        self._drawing = drawing or Options()
        self._canvas = canvas
        self._shows_code = shows_code
        self._in_words = in_words
        self._keep_going = keep_going
        self._blind = blind
        self._drawn = 0

    @property
    def can_draw(self) -> bool:
        return self._in_words or self._model.abilities.draw

    @property
    def wants_combined_prompt(self) -> bool:
        return self._model.abilities.combined_prompt and not self._in_words

    def show(self, *contents: Content) -> None:
        """Add texts, images and sounds to the context, each as one part. A blind desk shows no image, whatever the
        protocol gives it."""
        if self._blind:
            contents = tuple(content for content in contents if not isinstance(content, Picture))
        if any(isinstance(content, Sound) for content in contents) and not self._model.abilities.hear:
            raise CallFailed("cannot_hear", f"{self._model.name} takes no sounds")
        self._record("show", tuple(Part(content) for content in contents))

    async def say(self, suffix: str = "", *, limit: int | None = None) -> str:
        """Ask the model for text. An empty or refused reply is kept as it is: unanswered, never guessed."""
        options = replace(self._saying, max_new_tokens=limit) if limit else self._saying
        reply, seconds = await self._call("say", suffix, options)
        added = (Part(reply.text, "model", reply.native),) if reply.text else ()
        self._record("say", added, suffix, reply, seconds)
        return reply.text

    async def draw(self, suffix: str = "", *, label: str = "") -> None:
        """Ask the model for a drawing, and add to the context what the canvas shows, after an optional label. Text
        that came with the drawing is not added. The canvas `source` adds the drawing's code and no image.

        In text_cot the model describes the drawing instead. A call without an image ends the episode, unless the run
        continues without it.
        """
        before = (Part(label),) if label else ()
        if self._in_words:
            reply, seconds = await self._call("say", suffix, self._describing())
            after = (Part(reply.text, "model", reply.native),) if reply.text else ()
            self._record("describe", before + after, suffix, reply, seconds)
            return
        index, self._drawn = self._drawn, self._drawn + 1
        reply, seconds = await self._call("draw", suffix, self._drawing)
        if reply.picture is None:
            self._no_picture(index, suffix, reply, seconds)
            return
        seen = reply.text if self._shows_code else await self._canvas(reply.picture, index)
        native = reply.native if seen is reply.picture else ""  # it remembers the drawing, whatever is shown instead
        shown = seen if isinstance(seen, Part) else Part(seen, "model", native)
        self._record("draw", (*before, shown), suffix, reply, seconds)

    async def draw_and_say(self, prompt: str) -> None:
        """Make one call for both, for a model that draws, looks and answers by itself. The transcript has the
        drawing and the answer that it returned."""
        options = replace(self._saying, extra={**self._drawing.extra, **self._saying.extra})
        reply, seconds = await self._call("say", prompt, options)
        index, self._drawn = self._drawn, self._drawn + 1
        if reply.picture is None:
            self._no_picture(index, prompt, replace(reply, text=""), seconds)
        else:
            self._record("draw", (Part(reply.picture, "model"),), prompt, replace(reply, text=""), seconds)
        answer = replace(reply, picture=None, usage=Usage(calls=0))
        added = (Part(reply.text, "model"),) if reply.text else ()
        self._record("say", added, reply=answer, note="came with the drawing, in one call")

    def _describing(self) -> Options:
        """Return the options of a description. It needs more tokens than a short answer: as many as the mode gives
        drawings, if set, and never fewer than answers have."""
        least, limit = self._drawing.max_new_tokens, self._saying.max_new_tokens
        return replace(self._saying, max_new_tokens=max(least, limit)) if least and limit else self._saying

    def skip(self, why: str) -> None:
        """Record what the protocol leaves out and why."""
        self.turns.append(Turn("skip", note=why))

    def _no_picture(self, index: int, suffix: str, reply: Reply, seconds: float) -> None:
        if reply.finish == "stop":
            reply = replace(reply, finish="no_picture")
        self._record("draw", (), suffix, reply, seconds)
        if not self._keep_going:
            kind = "refused" if reply.finish == "refused" else "no_picture"
            why = f": {reply.trouble}" if reply.trouble else ""
            raise CallFailed(kind, f"drawing {index + 1} returned no picture{why}", blames_model=True)

    async def _call(self, act: Act, suffix: str, options: Options) -> tuple[Reply, float]:
        context = self.context + ([Part(suffix)] if suffix else [])
        started = time.perf_counter()
        reply = await (self._model.say if act == "say" else self._model.draw)(context, options)
        return reply, time.perf_counter() - started

    def _record(
        self,
        act: Act,
        added: Sequence[Part],
        suffix: str = "",
        reply: Reply | None = None,
        seconds: float = 0.0,
        note: str = "",
    ) -> None:
        self.turns.append(Turn(act, tuple(added), suffix, reply, round(seconds, 6), note))
        self.context = self.context + added
