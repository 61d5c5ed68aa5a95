"""BAGEL through the official checkout's interleaved inferencer: every text and picture of the context, in order."""

from __future__ import annotations

import asyncio
import importlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput, CallFailed, CannotPlay, SketchmarkError
from sketchmark.models import bagel_checkout, layout
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.bagel import Settings
from sketchmark.models.base import Abilities, Model, Options, Reply, Usage
from sketchmark.models.replies import finish_of_text
from sketchmark.parts import Context
from sketchmark.picture import Picture

DEFAULT_MAX_NEW_TOKENS = 1000
"""The checkout's own limit, sent where the task names none."""


class BagelCode(Model):
    """One context at a time, in one worker thread: the inferencer has no batching, and the event loop must run."""

    def __init__(self, pretrained: str, **model_args: Value) -> None:
        args = Arguments("bagel", model_args)
        weights = pretrained or args.text("pretrained")
        code = args.text("code")
        self._draws = args.choice("mode", ("understanding", "generation")) != "understanding"
        self._settings = Settings(args)
        args.refuse_unknown()
        if "negative_prompt" in self._settings.given:
            raise BadInput("bagel from a checkout takes no negative_prompt: its inferencer has none")
        if not weights or not code:
            raise BadInput("bagel from a checkout needs both code= and pretrained=")
        self._code, self._weights = Path(code).resolve(), Path(weights).resolve()
        bagel_checkout.check(self._code, self._weights)
        super().__init__(f"bagel/{self._weights.name}")
        self._inferencer: bagel_checkout.Inferencer | None = None
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bagel")

    @property
    def abilities(self) -> Abilities:
        return Abilities(say=True, draw=self._draws)

    def identity(self) -> dict[str, Any]:
        return {"name": self.name, "pretrained": str(self._weights), **self._settings.given}

    async def close(self) -> None:
        self._inferencer = None
        await asyncio.to_thread(self._worker.shutdown, cancel_futures=True)

    async def say(self, context: Context, options: Options) -> Reply:
        context, left_out = layout.without_empty_texts(context)
        limit = options.max_new_tokens or DEFAULT_MAX_NEW_TOKENS
        chosen = _for_text(self._settings.with_task(options.extra), options) | {"max_think_token_n": limit}
        outputs = await self._run(context, options.seed, {**chosen, "understanding_output": True})
        text = "".join(output for output in outputs if isinstance(output, str))
        tokens = await asyncio.get_running_loop().run_in_executor(self._worker, self._count_tokens, text)
        # The inferencer does not say why it stopped. Its limit counts the start token, so one fewer can be said.
        finish = finish_of_text("length" if tokens >= limit - 1 else "stop", text)
        return Reply(text, None, finish, Usage(tokens_out=tokens, pictures_in=len(context.pictures)), left_out)

    async def draw(self, context: Context, options: Options) -> Reply:
        if not self._draws:
            raise CannotPlay(f"{self.name} does not draw with mode=understanding", "give mode=generation")
        context, left_out = layout.without_empty_texts(context)
        chosen = self._settings.with_task(options.extra)
        drawing = {key: chosen[key] for key in _DRAWING if key in chosen}
        if "width" in chosen and "height" in chosen:
            drawing["image_shapes"] = (chosen["height"], chosen["width"])
        outputs = await self._run(context, options.seed, {**_for_text(chosen, options), **drawing})
        text = "".join(output for output in outputs if isinstance(output, str))
        pictures = [output for output in outputs if not isinstance(output, str)]
        usage = Usage(pictures_in=len(context.pictures), pictures_out=len(pictures))
        if not pictures:
            return Reply(text, None, "no_picture", usage, left_out)
        return Reply(text, await asyncio.to_thread(Picture.from_image, pictures[-1]), "stop", usage, left_out)

    async def _run(self, context: Context, seed: int | None, settings: dict[str, Any]) -> list[Any]:
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._infer, context, seed, settings)

    def _infer(self, context: Context, seed: int | None, settings: dict[str, Any]) -> list[Any]:
        if self._inferencer is None:
            try:
                self._inferencer = bagel_checkout.load(self._code, self._weights)
            except BadInput as error:
                raise CallFailed("weights", str(error.args[0]), stops_run=True, hint=error.hint) from error
        inputs = [part.text if part.picture is None else part.picture.image() for part in context]
        if seed is not None:
            importlib.import_module("torch").manual_seed(seed)
        try:
            return self._inferencer.interleave_inference(inputs, **settings)
        except SketchmarkError:
            raise
        except Exception as error:
            kind = (
                "out_of_memory" if "out of memory" in str(error) or isinstance(error, MemoryError) else "local_error"
            )
            raise CallFailed(kind, f"{self.name}: {type(error).__name__}: {error}") from error

    def _count_tokens(self, text: str) -> int:
        return len(self._inferencer.tokenizer.encode(text)) if self._inferencer else 0


_DRAWING = (
    "cfg_text_scale",
    "cfg_img_scale",
    "cfg_interval",
    "cfg_renorm_min",
    "cfg_renorm_type",
    "timestep_shift",
    "num_timesteps",
)


def _for_text(chosen: dict[str, Any], options: Options) -> dict[str, Any]:
    """How the text part is sampled: as the settings say, else as the call's temperature does (0: greedily)."""
    sampled = {"do_sample": True, "text_temperature": options.temperature} if options.temperature > 0 else {}
    out = {"think": False, "do_sample": False, **sampled}
    out |= {key: chosen[key] for key in ("think", "do_sample", "text_temperature") if key in chosen}
    if "max_think_tokens" in chosen:
        out["max_think_token_n"] = chosen["max_think_tokens"]
    return out
