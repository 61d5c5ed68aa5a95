"""A model that draws and answers in one call: one prompt in, image and text out."""

from __future__ import annotations

from sketchmark import Context, Model, Options, Reply
from sketchmark.episode import protocol as combined_prompt
from tests.benchmarks.mmsi.published import scene


class OnePrompt(Model):
    combined_prompt = True

    def __init__(self, *, draws: bool = True) -> None:
        super().__init__("combined_prompt")
        self._draws = draws
        self.asked: list[Context] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.asked.append(context)
        assert combined_prompt.split(context.texts[-1]), "the combined form was promised"
        return Reply(text="``B``", picture=scene(9) if self._draws else None)
