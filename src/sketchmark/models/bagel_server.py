"""BAGEL behind a vLLM-Omni server: chat completions with `modalities` and BAGEL's settings as extra body fields."""

from __future__ import annotations

from typing import Any, ClassVar

from sketchmark.errors import CannotPlay
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.bagel import Settings
from sketchmark.models.base import Options, Reply
from sketchmark.models.openai_chat import ChatEndpoint
from sketchmark.parts import Context

DEFAULT_NAME = "ByteDance-Seed/BAGEL-7B-MoT"
_FOR_READING = ("think", "max_think_tokens", "do_sample", "text_temperature")


class BagelServer(ChatEndpoint):
    """Reads the whole context. Draws from all its texts and its newest picture.

    For a drawing the server joins the texts of the user's messages, takes the first picture, and ignores the rest,
    assistant messages among it (docs/benchmarks/bagel.md, "What reaches a drawing"). So everything goes as the
    user's, the plan that the model has just said included, with exactly one picture: the newest, which in a drawing
    protocol is the state to continue from. The reply names what could not be sent.
    """

    provider: ClassVar[str] = "bagel"

    def __init__(self, name: str, **model_args: Value) -> None:
        super().__init__(name or DEFAULT_NAME, Arguments("bagel", model_args))

    def _read_arguments(self, name: str, args: Arguments) -> None:
        self._drawer = None if args.choice("mode", ("understanding", "generation")) == "understanding" else name
        self._bagel = Settings(args)

    def _settings(self) -> dict[str, Any]:
        return self._bagel.given

    async def _chat_request(self, model: str, context: Context, options: Options) -> dict[str, Any]:
        request = await super()._chat_request(model, context, options)
        chosen = self._bagel.with_task(options.extra)
        reading = {name: chosen[name] for name in _FOR_READING if name in chosen}
        return {**request, "modalities": ["text"], **reading}

    async def draw(self, context: Context, options: Options) -> Reply:
        if self._drawer is None:
            raise CannotPlay(f"{self.name} does not draw with mode=understanding", "give mode=generation")
        context, empty = layout.without_empty_texts(context)
        context, dropped = layout.newest_pictures(context, 1, "the server conditions a drawing on one")
        context, unsaid = layout.all_as_user(context, "the server")
        places = layout.places_lost(context, "the server joins the texts")
        request = await super()._chat_request(self._drawer, context, options)
        chosen = self._bagel.with_task(options.extra)
        if "num_timesteps" in chosen:
            chosen["num_inference_steps"] = chosen.pop("num_timesteps")
        request |= {"modalities": ["image"], **chosen}
        return await self._drawing_in_chat(
            request, len(context.pictures), (*empty, *dropped, *unsaid, *places), options.notes
        )
