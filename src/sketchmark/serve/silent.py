"""The known silent faults of real servers: each answers, with status 200, something else than was asked.

ignores_prompt     a drawing is made without the texts
ignores_history    a drawing is made without what the model itself said before (vLLM-Omni's BAGEL)
first_picture      of several pictures the first is taken (vLLM-Omni's BAGEL, when it draws)
drops_settings     size, seed and limits do not reach the model
wrong_size         a drawing comes in the size that the server likes
"""

from __future__ import annotations

from dataclasses import replace

from sketchmark.errors import BadInput
from sketchmark.models.base import Model, Options, Reply
from sketchmark.models.wrapped import Wrapped
from sketchmark.parts import Context, Part
from sketchmark.picture import Picture

FAULTS = ("ignores_prompt", "ignores_history", "first_picture", "drops_settings", "wrong_size")
_LIKED = (512, 512)


def parse_silent(text: str) -> frozenset[str]:
    """From the command line's words: `first_picture,wrong_size`."""
    names = frozenset(name.strip().replace("-", "_") for name in text.split(",") if name.strip())
    for name in sorted(names - set(FAULTS)):
        raise BadInput(f"--silent: no fault named {name!r}", f"there are: {', '.join(FAULTS)}")
    return names


class Silent(Wrapped):
    def __init__(self, model: Model, faults: frozenset[str]) -> None:
        super().__init__(model)
        self._faults = faults

    async def say(self, context: Context, options: Options) -> Reply:
        return await self._model.say(*self._heard(context, options))

    async def draw(self, context: Context, options: Options) -> Reply:
        heard, options = self._heard(context, options)
        parts = heard.parts
        if "ignores_prompt" in self._faults:
            parts = tuple(part for part in parts if part.text is None)
        if "ignores_history" in self._faults:
            parts = tuple(part for part in parts if part.text is None or part.by == "task")
        reply = await self._model.draw(Context(parts), options)
        if "wrong_size" in self._faults and reply.picture:
            reply = replace(reply, picture=Picture.from_image(reply.picture.image().resize(_LIKED)))
        return reply

    def _heard(self, context: Context, options: Options) -> tuple[Context, Options]:
        if "drops_settings" in self._faults:
            options = Options()
        if "first_picture" in self._faults:
            context = Context(tuple(_with_one_picture(context)))
        return context, options


def _with_one_picture(context: Context) -> list[Part]:
    first = next((part for part in context if part.picture), None)
    return [part for part in context if part.picture is None or part is first]
