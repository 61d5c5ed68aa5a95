"""`janus/PATH_OR_ID` and `emu3/PATH_OR_ID` of transformers, which generate text from texts and images and draw from
texts, token by token.

Neither can condition a drawing on an image of the context, and each reply reports that: Janus embeds only the
prompt's tokens, and Emu3's processor takes no images for a drawing.

An image of Emu3 is a sequence of tokens: its codes line by line, each line with an end token, then the ends of frame,
image and sequence. The caller must allow only valid next tokens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from sketchmark.episode.model import Options, Reply, Usage
from sketchmark.episode.sample import Context
from sketchmark.errors import BadInput, CallFailed
from sketchmark.media import Picture
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments
from sketchmark.models.providers import Provider
from sketchmark.models.providers.hf import Prompt, TransformersChat, render, tokens
from sketchmark.models.providers.rows import at_once
from sketchmark.models.providers.weights import Weights


def picture_of(pixels: Any, processor: Any) -> Picture:
    """Convert pixels (height, width, 3) to an image.

    The normalisation is undone here: without torchvision, transformers 5's processor takes rows for colours and
    fails.
    """
    import numpy as np
    from PIL import Image

    scaled = (pixels.numpy() * np.array(processor.image_std) + np.array(processor.image_mean)) * 255
    return Picture.from_image(Image.fromarray(scaled.clip(0, 255).astype(np.uint8)))


def logits_processors(one: Callable[[Any, Any], Any]) -> Any:
    from transformers import LogitsProcessorList

    return LogitsProcessorList([one])


class Brush:
    """Classifier-free guidance, then sampling by Gumbel noise.

    The largest of (score / temperature + noise) is a sample of the softmax. Each row has a separate random stream,
    unlike in transformers' sampling, so a drawing does not depend on the rest of its batch.
    """

    def __init__(self, seeds: list[int], temperature: float, guidance: float) -> None:
        import torch

        self._streams = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._temperature = temperature
        self._guidance = guidance

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        guided, free = scores.float().chunk(2)
        mixed = free + self._guidance * (guided - free)
        if self._temperature <= 0:
            return mixed
        noise = torch.stack([-torch.empty(mixed.shape[1]).exponential_(generator=s).log() for s in self._streams])
        return mixed / self._temperature + noise.to(mixed.device)


class Janus(TransformersChat):
    provider: ClassVar[str] = "janus"

    def _read_arguments(self, args: Arguments) -> None:
        """Read the settings. The defaults are those of Janus's demonstration. Greedy drawing (`draw_temperature=0`)
        gives flat images, so drawings are sampled, each from a seeded stream, and are still repeatable."""
        temperature = args.number("draw_temperature")
        self._temperature = 1.0 if temperature is None else temperature
        self._guidance = args.above_zero("guidance_scale") or 5.0
        self._drawing = self._batcher(at_once(self._draw_together))

    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "draw_temperature": self._temperature, "guidance_scale": self._guidance}

    async def draw(self, context: Context, options: Options) -> Reply:
        weights = await self.weights()
        texts, left_out = layout.newest_pictures(context, 0, "Janus draws only from text")
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


JANUS = Provider(Janus, "janus/PATH_OR_ID: transformers' Janus, says and draws", batches=True, families=("janus",))


_RATIOS = ("1:1", "4:3", "3:4", "16:9", "9:16", "3:2", "2:3")


class Emu3(TransformersChat):
    provider: ClassVar[str] = "emu3"
    needs_chat_template: ClassVar[bool] = False
    """Emu3-Gen draws and has none. Without one it generates no text."""

    def _read_arguments(self, args: Arguments) -> None:
        """Read the settings. The defaults are those of Emu3's demonstration."""
        temperature = args.number("draw_temperature")
        self._temperature = 1.0 if temperature is None else temperature
        self._guidance = args.above_zero("guidance_scale") or 3.0
        self._negative = args.text("negative_prompt") or ""
        self._ratio = args.choice("ratio", _RATIOS) or "1:1"
        self._area = args.whole("image_area", 720 * 720, least=64)
        self._drawing = self._batcher(at_once(self._draw_together))

    def identity(self) -> dict[str, Any]:
        return {
            **super().identity(), "draw_temperature": self._temperature, "guidance_scale": self._guidance,
            "negative_prompt": self._negative, "ratio": self._ratio, "image_area": self._area,
        }  # fmt: skip

    async def draw(self, context: Context, options: Options) -> Reply:
        await self.weights()
        texts, left_out = layout.newest_pictures(context, 0, "Emu3 draws only from text")
        if not texts.texts:
            raise CallFailed("no_text", "Emu3 draws from text, and the context has none")
        prompt = Prompt("\n".join(texts.texts), [], {}, options.stream)
        reply = await self._drawing.submit(prompt, "draw")
        return replace(reply, left_out=left_out)

    def _draw_together(self, prompts: list[Prompt]) -> list[Reply]:
        import torch

        weights = self._loaded
        assert isinstance(weights, Weights)
        texts = [prompt.text for prompt in prompts] + [self._negative] * len(prompts)
        inputs = weights.processor(
            text=texts, return_for_image_generation=True, ratio=self._ratio, image_area=self._area,
            padding=True, return_tensors="pt",
        )  # fmt: skip
        height, width = (int(side) for side in inputs.pop("image_sizes")[0])
        if not height or not width:
            raise CallFailed(
                "bad_request", f"image_area={self._area} is too small for an image", hint="at least 64 pixels"
            )
        inputs = inputs.to(weights.model.device)
        start = inputs["input_ids"].shape[1]
        brush = Brush([prompt.seed or 0 for prompt in prompts], self._temperature, self._guidance)
        count = (width + 1) * height + 3
        with torch.inference_mode():
            drawn = weights.model.generate(
                **inputs,
                max_new_tokens=count,
                do_sample=False,
                num_beams=1,
                pad_token_id=weights.processor.tokenizer.pad_token_id,
                logits_processor=logits_processors(_LineByLine(brush, weights, start, height, width)),
            )
            codes = drawn[: len(prompts), start : start + count]
            pixels = weights.model.decode_image_tokens(image_tokens=codes, height=height, width=width)
        counts = inputs["attention_mask"].sum(1).tolist()
        return [
            Reply(
                picture=picture_of(_first_frame(image), weights.processor.image_processor),
                usage=Usage(tokens_in=sent, tokens_out=count, pictures_out=1),
            )
            for image, sent in zip(pixels.float().cpu(), counts, strict=False)
        ]


def _first_frame(pixels: Any) -> Any:
    """Return (height, width, 3) of the pixels of a decoder that also returns films: (frames, 3, height, width)."""
    frame = pixels[0] if pixels.dim() == 4 else pixels
    return frame.permute(1, 2, 0)


class _LineByLine:
    """Restriction to valid next tokens. Both halves of the rows (with and without prompt) get one choice."""

    def __init__(self, brush: Brush, weights: Weights, start: int, height: int, width: int) -> None:
        import torch

        words, mapping = weights.processor.tokenizer, weights.model.vocabulary_mapping
        self._brush, self._start, self._height, self._width = brush, start, height, width
        self._codes = torch.tensor(mapping.image_tokens)
        self._end_of_line = [mapping.eol_token_id]
        names = (weights.processor.eof_token, weights.processor.image_end_token, words.eos_token)
        self._ends: Sequence[int] = words.convert_tokens_to_ids(list(names))
        if self._end_of_line[0] is None or not len(self._codes):
            raise BadInput(
                "these weights have no tokens for pictures", "Emu3-Gen, or Emu3-Chat, as transformers saves it"
            )

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        place = input_ids.shape[1] - self._start
        chosen = self._brush(input_ids, scores)
        kept = torch.full_like(chosen, float("-inf"))
        allowed = self._allowed(place)
        kept[:, allowed] = chosen[:, allowed]
        return torch.cat((kept, kept))

    def _allowed(self, place: int) -> Any:
        after = place - self._height * (self._width + 1)
        if after >= 0:
            return [self._ends[min(after, len(self._ends) - 1)]]
        return self._end_of_line if (place + 1) % (self._width + 1) == 0 else self._codes


EMU3 = Provider(Emu3, "emu3/PATH_OR_ID: transformers' Emu3, says and draws", families=("emu3",))
