"""`hf/PATH_OR_ID`: any image-text-to-text model of transformers, with its own processor and chat template.

Concurrent calls are generated together in batches (`batch_size=N|auto`), in a worker thread.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from sketchmark.episode.model import Model, Options, Reply, Usage
from sketchmark.episode.sample import Context
from sketchmark.errors import CallFailed, SketchmarkError
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments, Value, stop_words
from sketchmark.models.failures import USE_BLIND
from sketchmark.models.layout import finish_of_text
from sketchmark.models.providers import Provider
from sketchmark.models.providers.rows import Batcher, Row, Rows, Turn, Waiting, ends_of, failure, rows_can_join
from sketchmark.models.providers.weights import (
    AS_IS,
    Source,
    Weights,
    Wording,
    end_of_turn,
    load,
    out_of_memory,
    release_memory,
)

if TYPE_CHECKING:
    from PIL import Image

_AUTO_BATCH = 16
"""First size with `batch_size=auto`. Running out of memory halves it."""
_MAX_NEW_TOKENS = 1024
"""Limit if the task has none. The default of transformers is 20, which would truncate most answers."""

_LETTERS, _PIXELS = 4, 28 * 28
"""Of a token, in most models."""

_SAMPLING = ("top_p", "top_k", "min_p", "typical_p")
_DECODING = ("repetition_penalty", "no_repeat_ngram_size")


@dataclass(frozen=True, eq=False)
class Prompt:
    """One call as the chat template renders it, with its decoding settings."""

    text: str
    images: list[Image.Image]
    settings: Mapping[str, Any]
    seed: int | None = None


_Call = Waiting[Prompt, Reply]


class TransformersChat(Model):
    provider: ClassVar[str] = "hf"
    needs_chat_template: ClassVar[bool] = True

    def __init__(self, name: str, **model_args: Value) -> None:
        super().__init__(f"{self.provider}/{name}")
        args = Arguments(self.name, model_args)
        self._source = Source.read(self.provider, name, args)
        self._limit = (
            _AUTO_BATCH if args.text("batch_size") == "auto" else args.whole("batch_size", _AUTO_BATCH, least=1)
        )
        self._wording = Wording.read(self.name, args)
        if self._source.is_text_only:
            self.max_pictures = 0
        # One thread: a second generation would only compete for the same memory.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=self.provider)
        self._loaded: Weights | SketchmarkError | None = None
        self._read_arguments(args)
        args.refuse_unknown()
        self._saying = self._batcher(self._say_in_turn)

    def _read_arguments(self, args: Arguments) -> None:
        """Read the arguments of a subclass."""

    def _batcher(self, run: Callable[[Turn[Prompt, Reply]], None]) -> Batcher[Prompt, Reply]:
        return Batcher(run, self._limit, self._thread, out_of_memory=out_of_memory, release=release_memory)

    def receives(self, act: str) -> Collection[str]:
        """Return the settings of text. A drawing in tokens is sampled by arguments of the model, and has a seed."""
        text = {"max_new_tokens", "temperature", "seed", "stop", "until", *_SAMPLING, *_DECODING}
        return text if act == "say" else {"seed"}

    def identity(self) -> dict[str, Any]:
        return {"name": self.name, **self._identity}

    @cached_property
    def _identity(self) -> dict[str, Any]:
        return {**self._source.identity(), **self._wording.identity()}

    async def close(self) -> None:
        """Wait for the current generation, because torch cannot be interrupted, and free the weights."""
        await asyncio.to_thread(self._thread.shutdown, wait=True, cancel_futures=True)
        self._loaded = None

    async def weights(self) -> Weights:
        """Return the weights. The first call loads them, not the constructor: a dry run needs none."""
        loaded = self._loaded
        if loaded is None:
            loaded = await asyncio.get_running_loop().run_in_executor(self._thread, self._load)
        if isinstance(loaded, SketchmarkError):
            raise loaded
        return loaded

    def _load(self) -> Weights | SketchmarkError:
        if self._loaded is not None:
            return self._loaded
        loaded: Weights | SketchmarkError
        try:
            loaded = load(self._source, needs_chat_template=self.needs_chat_template)
        except SketchmarkError as error:
            # Kept: the calls that wait would fail in the same way.
            loaded = CallFailed("weights", str(error.args[0]), stops_run=True, hint=error.hint)
        self._loaded = loaded
        return loaded

    async def say(self, context: Context, options: Options) -> Reply:
        weights = await self.weights()
        if weights.text_only and context.pictures:
            raise CallFailed("no_images", f"{self.name} takes text only", stops_run=True, hint=USE_BLIND)
        context = self._wording.of(context)
        prompt = await asyncio.to_thread(self._prompt, weights, context, options)
        reply = await self._saying.submit(prompt, _company(prompt), _size(prompt), bool(prompt.images))
        return replace(reply, left_out=_order_lost(weights.processor, context, prompt.text))

    def _prompt(self, weights: Weights, context: Context, options: Options) -> Prompt:
        images = [picture.image() for picture in context.pictures]
        text = render(weights.processor, context, self._wording.template)
        return Prompt(text, images, _settings(options), options.seed)

    def _say_in_turn(self, turn: Turn[Prompt, Reply]) -> None:
        """Generate at most `turn.limit` replies at once. A reply is returned when it ends, and other calls join when
        a quarter of the places are free: contexts are read faster a few at a time."""
        import torch

        weights = self._loaded
        assert isinstance(weights, Weights)
        changing = rows_can_join(weights.model)
        few = max(1, turn.limit // 4) if changing else turn.limit
        calls = turn.take(few)
        if not calls:
            return
        seed = calls[0].job.seed
        with torch.random.fork_rng(enabled=seed is not None), torch.inference_mode():
            if seed is not None:
                torch.manual_seed(seed)
            if not changing:
                for call, reply in zip(calls, _say_at_once(weights, [call.job for call in calls]), strict=True):
                    turn.done(call, reply)
                return
            stops = _stops(calls[0].job)
            rows = Rows[_Call](
                weights.model,
                _generation(weights, calls[0].job),
                lambda made: _end(weights, stops, made) is not None,
            )

            def go_on(active: int) -> bool:
                ended = len(rows.rows) - active
                room = turn.limit - active >= few and turn.has_more()
                return active > 0 and ended < max(1, len(rows.rows) // 4) and not room

            while calls or rows.rows:
                if calls:
                    _join(weights, turn, rows, calls)
                else:
                    rows.advance(go_on)
                for row in rows.leave():
                    turn.done(row.job, _reply(weights, row.job.job, row.made, row.read))
                calls = turn.take(few) if turn.limit - len(rows.rows) >= few else []


def _join(weights: Weights, turn: Turn[Prompt, Reply], rows: Rows[_Call], calls: list[_Call]) -> None:
    """Add calls to the rows. If they cannot be read together, each is tried by itself."""
    try:
        inputs = tokens(weights, [call.job for call in calls])
        # A single row has nothing to wait for: entering `generate` a second time costs a few milliseconds.
        alone = (lambda active: active > 0) if turn.limit == 1 else None
        rows.join([Row(call, call.job.settings["max_new_tokens"]) for call in calls], inputs, alone)
    except Exception as error:
        if out_of_memory(error):
            raise
        if len(calls) == 1:
            turn.done(calls[0], failure(error))
            return
        for call in calls:
            _join(weights, turn, rows, [call])


def _say_at_once(weights: Weights, prompts: list[Prompt]) -> list[Reply]:
    """Generate the replies of models whose batches cannot change while they are generated."""
    inputs = tokens(weights, prompts)
    most = max(prompt.settings["max_new_tokens"] for prompt in prompts)
    generated = weights.model.generate(**inputs, **_generation(weights, prompts[0]), max_new_tokens=most)
    made = generated[:, inputs["input_ids"].shape[1] :].tolist()
    counts = inputs["attention_mask"].sum(1).tolist()
    return [
        _reply(weights, prompt, row[: prompt.settings["max_new_tokens"]], count)
        for prompt, row, count in zip(prompts, made, counts, strict=True)
    ]


def _generation(weights: Weights, prompt: Prompt) -> dict[str, Any]:
    """Return the settings of `generate` that a whole group has."""
    tokenizer = weights.processor.tokenizer
    settings = {key: value for key, value in prompt.settings.items() if key != "max_new_tokens"}
    more = {"tokenizer": tokenizer} if "stop_strings" in settings else {}
    return {**settings, **more, "pad_token_id": tokenizer.pad_token_id}


def render(processor: Any, context: Context, template: Mapping[str, Any] = AS_IS.template) -> str:
    """Render the context with the model's chat template. Some templates know no system message: it goes to the user
    then."""
    try:
        return _rendered(processor, context, template)
    except CallFailed:
        if not layout.system_apart(context)[0]:
            raise
        return _rendered(processor, layout.system_as_user(context), template)


def _rendered(processor: Any, context: Context, template: Mapping[str, Any]) -> str:
    if (end := end_of_turn(processor)) and getattr(processor, "chat_template", None) is None:
        turns = layout.messages(layout.system_as_user(context))
        return end.join("".join(part.text or processor.image_token for part in turn.parts) for turn in turns)
    chat = [
        {
            "role": message.role,
            "content": [
                {"type": "image"} if part.text is None else {"type": "text", "text": part.text}
                for part in message.parts
            ],
        }
        for message in layout.messages(context)
    ]
    try:
        text: str = processor.apply_chat_template(chat, add_generation_prompt=True, tokenize=False, **template)
    except Exception as error:
        raise CallFailed("chat_template", f"the chat template refused the context: {error}") from error
    return text


def tokens(weights: Weights, prompts: list[Prompt], **more: Any) -> Any:
    """Convert the prompts to one batch of model inputs, padded on the left."""
    processor, model = weights.processor, weights.model
    bos = processor.tokenizer.bos_token
    inputs = processor(
        text=[prompt.text for prompt in prompts],
        images=[prompt.images for prompt in prompts] if prompts[0].images else None,
        padding=True,
        return_tensors="pt",
        # Many templates already contain the first token, and a second one confuses the model.
        add_special_tokens=not (bos and prompts[0].text.startswith(bos)),
        **more,
    ).to(model.device, dtype=model.dtype)
    most = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if most is not None and inputs["input_ids"].shape[1] > most:
        raise CallFailed("too_long", f"{inputs['input_ids'].shape[1]} tokens of context: the model holds {most}")
    return inputs


def _settings(options: Options) -> dict[str, Any]:
    sampled = options.temperature > 0
    known = (*_SAMPLING, *_DECODING) if sampled else _DECODING
    stops = stop_words(options.extra)
    return {
        "max_new_tokens": options.max_new_tokens or _MAX_NEW_TOKENS,
        "do_sample": sampled,
        "num_beams": 1,
        # Unset when greedy: a checkpoint's sampling settings would only raise warnings.
        **({"temperature": options.temperature} if sampled else dict.fromkeys((*_SAMPLING, "temperature"))),
        **{key: options.extra[key] for key in known if key in options.extra},
        **({"stop_strings": stops} if stops else {}),
    }


def _company(prompt: Prompt) -> Hashable:
    """Return the group of a prompt: the same settings apart from the token limit. A seeded prompt forms a separate
    group, because one random stream serves all rows of a batch."""
    alone = id(prompt) if prompt.settings["do_sample"] and prompt.seed is not None else None
    shared = sorted((key, str(value)) for key, value in prompt.settings.items() if key != "max_new_tokens")
    return tuple(shared), alone


def _size(prompt: Prompt) -> float:
    """Return about how many tokens a prompt has. Exact numbers would need the processor, which takes a batch."""
    return len(prompt.text) / _LETTERS + sum(image.width * image.height for image in prompt.images) / _PIXELS


def _end(weights: Weights, stops: Sequence[str], made: list[int]) -> int | None:
    """Return the place of the token that ended a row: the model's end, or the first that completes a stop text."""
    decode, ends = weights.processor.tokenizer.decode, ends_of(weights.model)

    def has_ended(place: int) -> bool:
        so_far = made[: place + 1]
        return bool(ends.intersection(so_far)) or any(stop in decode(so_far) for stop in stops)

    end = bisect_left(range(len(made)), True, key=has_ended)
    return end if end < len(made) else None


def _reply(weights: Weights, prompt: Prompt, made: list[int], read: int) -> Reply:
    stops = _stops(prompt)
    end = _end(weights, stops, made)
    said = made if end is None else made[: end + (made[end] not in ends_of(weights.model))]
    text = weights.processor.tokenizer.decode(said, skip_special_tokens=True)
    text = text[: min(place for place in (len(text), *map(text.find, stops)) if place >= 0)]
    count = len(made) if end is None else end + 1
    usage = Usage(tokens_in=read, tokens_out=count, pictures_in=len(prompt.images))
    return Reply(text=text, finish=finish_of_text("length" if end is None else "stop", text), usage=usage)


def _stops(prompt: Prompt) -> Sequence[str]:
    stops: Sequence[str] = prompt.settings.get("stop_strings", ())
    return stops


def _order_lost(processor: Any, context: Context, rendered: str) -> tuple[str, ...]:
    """Report a chat template that puts a message's images before its text, whatever their order was."""
    marks = [str(getattr(processor, name)) for name in ("image_token", "boi_token") if hasattr(processor, name)]
    mark = next((mark for mark in marks if rendered.count(mark) == len(context.pictures)), None)
    if not context.pictures or mark is None:
        return ()
    place = 0
    for part in context:
        wanted = mark if part.text is None else part.text.strip()
        found = rendered.find(wanted, place)
        if found < 0:
            return ("where the pictures were among the texts: the chat template moves them",)
        place = found + len(wanted)
    return ()


_FAMILIES = ("qwen", "llava", "internvl", "llama", "gemma", "idefics", "smolvlm", "phi-", "paligemma", "pixtral")
PROVIDER = Provider(
    TransformersChat, "hf/PATH_OR_ID: any transformers image-text-to-text model", batches=True, families=_FAMILIES
)
