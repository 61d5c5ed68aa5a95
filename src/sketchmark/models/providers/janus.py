"""`janus/PATH_OR_ID`: Janus of transformers, which generates text from texts and images, and draws from texts.

Its image generation embeds only the prompt's tokens. No image of the context can condition a drawing, and each reply
reports that.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, ClassVar

from sketchmark.episode.model import Options, Reply, Usage
from sketchmark.episode.sample import Context
from sketchmark.errors import CallFailed
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments
from sketchmark.models.providers import Provider
from sketchmark.models.providers.hf import Prompt, TransformersChat, render, tokens
from sketchmark.models.providers.weights import Brush, Weights, logits_processors, picture_of


class Janus(TransformersChat):
    provider: ClassVar[str] = "janus"

    def _read_arguments(self, args: Arguments) -> None:
        """Read the settings. The defaults are those of Janus's demonstration. Greedy drawing (`draw_temperature=0`)
        gives flat images, so drawings are sampled, each from a seeded stream, and are still repeatable."""
        temperature = args.number("draw_temperature")
        self._temperature = 1.0 if temperature is None else temperature
        self._guidance = args.above_zero("guidance_scale") or 5.0
        self._drawing = self._batcher(self._draw_together)

    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "draw_temperature": self._temperature, "guidance_scale": self._guidance}

    async def draw(self, context: Context, options: Options) -> Reply:
        weights = await self.weights()
        texts, left_out = layout.newest_pictures(context, 0, "Janus draws from text alone")
        if not texts.texts:
            raise CallFailed("no_text", "Janus draws from text, and the context has none")
        prompt = await asyncio.to_thread(lambda: Prompt(render(weights.processor, texts), [], {}, options.stream))
        reply = await self._drawing.submit(prompt, "draw")
        return replace(reply, left_out=left_out)

    def _draw_together(self, prompts: list[Prompt]) -> list[Reply]:
        import torch

        weights = self._loaded
        assert isinstance(weights, Weights)
        inputs = tokens(weights, prompts, generation_mode="image")
        brush = Brush([prompt.seed or 0 for prompt in prompts], self._temperature, self._guidance)
        with torch.inference_mode():
            drawn = weights.model.generate(
                **inputs,
                generation_mode="image",
                do_sample=False,
                # The brush applies guidance: it must come before the noise, and generate would apply it after.
                guidance_scale=1.0,
                logits_processor=logits_processors(brush),
            )
            pixels = weights.model.decode_image_tokens(drawn)
        counts = inputs["attention_mask"].sum(1).tolist()
        return [
            Reply(
                picture=picture_of(image, weights.processor.image_processor),
                usage=Usage(tokens_in=count, tokens_out=drawn.shape[1], pictures_out=1),
            )
            for image, count in zip(pixels.float().cpu(), counts, strict=True)
        ]


PROVIDER = Provider(Janus, "janus/PATH_OR_ID: transformers' Janus, says and draws", batches=True, families=("janus",))
