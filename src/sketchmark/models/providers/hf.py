"""`hf/PATH_OR_ID`: any image-text-to-text model of transformers, with its own processor and chat template.

Concurrent calls are generated together in batches (`batch_size=N|auto`), in a worker thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Hashable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from sketchmark.episode.model import Model, Options, Reply, Usage
from sketchmark.episode.sample import Context
from sketchmark.errors import CallFailed, SketchmarkError
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.layout import finish_of_text
from sketchmark.models.providers import Provider
from sketchmark.models.providers.weights import Source, Weights, load, out_of_memory, release_memory

if TYPE_CHECKING:
    from PIL import Image


Job = TypeVar("Job")
Result = TypeVar("Result")

WINDOW = 0.02
"""Seconds to wait for more jobs: long for an event loop, short for a generation."""
_LONGEST_MESSAGE = 600


@dataclass(frozen=True)
class _Waiting(Generic[Job, Result]):
    group: Hashable
    size: float
    job: Job
    result: asyncio.Future[Result]


class Batcher(Generic[Job, Result]):
    """Runs jobs of the same group together, at most `limit` at once: the oldest, and those nearest to it in size.

    A batch is padded to its longest job, so jobs of one size waste little.

    A batch that does not fit into memory is halved, and the smaller limit stays. A batch that fails for another
    reason is rerun one by one, so that one bad job does not fail the others.
    """

    def __init__(
        self,
        run: Callable[[list[Job]], list[Result]],
        limit: int,
        executor: Executor,
        *,
        out_of_memory: Callable[[Exception], bool],
        release: Callable[[], None],
    ) -> None:
        self.limit = limit
        self._run = run
        self._executor = executor
        self._out_of_memory = out_of_memory
        self._release = release
        self._waiting: list[_Waiting[Job, Result]] = []
        self._worker: asyncio.Task[None] | None = None

    async def submit(self, job: Job, group: Hashable, size: float = 0) -> Result:
        waiting = _Waiting[Job, Result](group, size, job, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._drain())
        return await waiting.result

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(WINDOW)
            # A caller that gave up (a time limit) has cancelled its future, so its job is dropped.
            self._waiting = [entry for entry in self._waiting if not entry.result.done()]
            if not self._waiting:
                return
            oldest = self._waiting[0]
            alike = [entry for entry in self._waiting if entry.group == oldest.group]
            batch = sorted(alike, key=lambda entry: abs(entry.size - oldest.size))[: self.limit]
            self._waiting = [entry for entry in self._waiting if entry not in batch]
            outcomes: list[Result | SketchmarkError]
            try:
                outcomes = await loop.run_in_executor(self._executor, self._outcomes, [entry.job for entry in batch])
            except Exception as error:  # a lost device, a closed model: the callers must still get an error
                outcomes = [_failure(error, memory=False) for _ in batch]
            for entry, outcome in zip(batch, outcomes, strict=True):
                if entry.result.done():
                    continue
                if isinstance(outcome, SketchmarkError):
                    entry.result.set_exception(outcome)
                else:
                    entry.result.set_result(outcome)

    def _outcomes(self, jobs: list[Job]) -> list[Result | SketchmarkError]:
        outcomes: list[Result | SketchmarkError] = []
        while len(outcomes) < len(jobs):
            outcomes += self._attempt(jobs[len(outcomes) : len(outcomes) + self.limit])
        return outcomes

    def _attempt(self, batch: list[Job]) -> list[Result | SketchmarkError]:
        """Return the outcomes of these jobs, or none and set a smaller limit for the next attempt."""
        try:
            return [*self._run(batch)]
        except Exception as error:
            memory = self._out_of_memory(error)
            failure = _failure(error, memory=memory)
        # Outside the except block: the exception's traceback held the tensors that must be freed.
        if memory:
            self._release()
        if len(batch) == 1:
            return [failure]
        if memory:
            self.limit = len(batch) // 2
            return []
        return [outcome for job in batch for outcome in self._attempt([job])]


def _failure(error: Exception, *, memory: bool) -> SketchmarkError:
    if isinstance(error, SketchmarkError):
        return error
    if memory:
        return CallFailed(
            "out_of_memory",
            "a single call does not fit into memory",
            hint="--gen_kwargs max_new_tokens=N, a smaller dtype=, or device_map=auto",
        )
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return CallFailed("local_model", words[:_LONGEST_MESSAGE])


_AUTO_BATCH = 16
"""First size with `batch_size=auto`. Running out of memory halves it."""
_MAX_NEW_TOKENS = 1024
"""Limit if the task has none. The default of transformers is 20, which would truncate most answers."""

_LETTERS, _PIXELS = 4, 28 * 28
"""Of a token, in most models."""

_SAMPLING = ("top_p", "top_k", "min_p")
_DECODING = ("repetition_penalty", "no_repeat_ngram_size")


@dataclass(frozen=True, eq=False)
class Prompt:
    """One call as the chat template renders it, with its decoding settings."""

    text: str
    images: list[Image.Image]
    settings: Mapping[str, Any]
    seed: int | None = None


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
        # One thread: a second generation would only compete for the same memory.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=self.provider)
        self._loaded: Weights | SketchmarkError | None = None
        self._read_arguments(args)
        args.refuse_unknown()
        self._saying = self._batcher(self._say_together)

    def _read_arguments(self, args: Arguments) -> None:
        """Read the arguments of a subclass."""

    def _batcher(self, run: Callable[[list[Prompt]], list[Reply]]) -> Batcher[Prompt, Reply]:
        return Batcher(run, self._limit, self._thread, out_of_memory=out_of_memory, release=release_memory)

    def receives(self, act: str) -> Collection[str]:
        """Return the settings of text. A drawing in tokens is sampled by arguments of the model, and has a seed."""
        return {"max_new_tokens", "temperature", "seed", *_SAMPLING, *_DECODING} if act == "say" else {"seed"}

    def identity(self) -> dict[str, Any]:
        return {"name": self.name, **self._identity}

    @cached_property
    def _identity(self) -> dict[str, Any]:
        return self._source.identity()

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
        prompt = await asyncio.to_thread(self._prompt, weights, context, options)
        reply = await self._saying.submit(prompt, _company(prompt), _size(prompt))
        return replace(reply, left_out=_order_lost(weights.processor, context, prompt.text))

    def _prompt(self, weights: Weights, context: Context, options: Options) -> Prompt:
        images = [picture.image() for picture in context.pictures]
        return Prompt(render(weights.processor, context), images, _settings(options), options.seed)

    def _say_together(self, prompts: list[Prompt]) -> list[Reply]:
        import torch

        weights = self._loaded
        assert isinstance(weights, Weights)
        inputs = tokens(weights, prompts)
        with torch.random.fork_rng(), torch.inference_mode():
            if prompts[0].seed is not None:
                torch.manual_seed(prompts[0].seed)
            generated = weights.model.generate(
                **inputs, **prompts[0].settings, pad_token_id=weights.processor.tokenizer.pad_token_id
            )
        start = inputs["input_ids"].shape[1]
        counts = inputs["attention_mask"].sum(1).tolist()
        return [
            _reply(weights, row, Usage(tokens_in=count, pictures_in=len(prompt.images)))
            for row, count, prompt in zip(generated[:, start:].tolist(), counts, prompts, strict=True)
        ]


def render(processor: Any, context: Context) -> str:
    """Render the context with the model's chat template. Some templates know no system message: it goes to the user
    then."""
    try:
        return _rendered(processor, context)
    except CallFailed:
        if not layout.system_apart(context)[0]:
            raise
        return _rendered(processor, layout.system_as_user(context))


def _rendered(processor: Any, context: Context) -> str:
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
        text: str = processor.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
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
    return {
        "max_new_tokens": options.max_new_tokens or _MAX_NEW_TOKENS,
        "do_sample": sampled,
        "num_beams": 1,
        # Unset when greedy: a checkpoint's sampling settings would only raise warnings.
        **({"temperature": options.temperature} if sampled else dict.fromkeys((*_SAMPLING, "temperature"))),
        **{key: options.extra[key] for key in known if key in options.extra},
    }


def _company(prompt: Prompt) -> Hashable:
    """Return the group of a prompt: same settings, with or without images. A seeded prompt forms a separate group,
    because one random stream serves all rows of a batch."""
    alone = id(prompt) if prompt.settings["do_sample"] and prompt.seed is not None else None
    return tuple(sorted((key, str(value)) for key, value in prompt.settings.items())), bool(prompt.images), alone


def _size(prompt: Prompt) -> float:
    """Return about how many tokens a prompt has. Exact numbers would need the processor, which takes a batch."""
    return len(prompt.text) / _LETTERS + sum(image.width * image.height for image in prompt.images) / _PIXELS


def _reply(weights: Weights, row: list[int], usage: Usage) -> Reply:
    ends = weights.model.generation_config.eos_token_id
    stops = set(ends) if isinstance(ends, list) else {ends}
    end = next((i for i, token in enumerate(row) if token in stops), None)
    said = row if end is None else row[:end]
    text = weights.processor.tokenizer.decode(said, skip_special_tokens=True)
    usage = replace(usage, tokens_out=len(row) if end is None else end + 1)
    return Reply(text=text, finish=finish_of_text("length" if end is None else "stop", text), usage=usage)


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
            return ("where the pictures stood among the texts: the chat template moves them",)
        place = found + len(wanted)
    return ()


_FAMILIES = ("qwen", "llava", "internvl", "llama", "gemma", "idefics", "smolvlm", "phi-", "paligemma", "pixtral")
PROVIDER = Provider(
    TransformersChat, "hf/PATH_OR_ID: any transformers image-text-to-text model", batches=True, families=_FAMILIES
)
