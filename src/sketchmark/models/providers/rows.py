"""Concurrent calls generated together: a queue of jobs for one worker thread, and rows that join and leave a batch.

A batch that waits for its longest reply is mostly idle at the end. So a reply is returned when it ends, and the next
jobs take its place while the others go on.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sketchmark.errors import CallFailed, SketchmarkError

Job = TypeVar("Job")
Result = TypeVar("Result")

WINDOW = 0.02
"""Seconds to wait for more jobs: long for an event loop, short for a generation."""
_LONGEST_MESSAGE = 600


@dataclass(frozen=True, eq=False)
class Waiting(Generic[Job, Result]):
    job: Job
    group: Hashable
    """Jobs of one group can run at the same time."""
    kind: Hashable
    """Jobs of one kind can be taken together."""
    size: float
    loop: asyncio.AbstractEventLoop
    result: asyncio.Future[Result]

    def settle(self, outcome: Result | SketchmarkError) -> None:
        """Return the outcome to the caller, from any thread."""
        self.loop.call_soon_threadsafe(self._settle, outcome)

    def _settle(self, outcome: Result | SketchmarkError) -> None:
        if self.result.done():  # the caller gave up
            return
        if isinstance(outcome, SketchmarkError):
            self.result.set_exception(outcome)
        else:
            self.result.set_result(outcome)


class Turn(Generic[Job, Result]):
    """Jobs of one group for the worker: it takes them as it has room, and returns each result as it is made."""

    def __init__(self, batcher: Batcher[Job, Result], only: Waiting[Job, Result] | None = None) -> None:
        self.limit = 1 if only else batcher.limit
        self.taken: list[Waiting[Job, Result]] = []
        """Taken and not done."""
        self._batcher, self._only = batcher, only
        self._group: Hashable = None

    def take(self, most: int) -> list[Waiting[Job, Result]]:
        """Return the oldest job and those of its kind that are nearest to it in size, or none if the oldest is of
        another group."""
        if self._only:
            taken, self._only = [self._only], None
        else:
            taken = self._batcher.take(most, self._group)
        if taken:
            self._group = taken[0].group
            self.taken += taken
        return taken

    def has_more(self) -> bool:
        return self._batcher.oldest_is_of(self._group)

    def done(self, entry: Waiting[Job, Result], outcome: Result | SketchmarkError) -> None:
        self.taken.remove(entry)
        entry.settle(outcome)


class Batcher(Generic[Job, Result]):
    """Runs jobs in turns of one group, in the executor's thread, at most `limit` at once.

    A batch is padded to its longest job, so jobs of one size waste little.

    A turn that does not fit into memory is repeated with half as many jobs, and the smaller limit stays. One that
    fails for another reason is repeated one by one, so that one bad job does not fail the others.
    """

    def __init__(
        self,
        run: Callable[[Turn[Job, Result]], None],
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
        self._lock = threading.Lock()
        self._waiting: list[Waiting[Job, Result]] = []
        self._worker: asyncio.Task[None] | None = None

    async def submit(self, job: Job, group: Hashable, size: float = 0, kind: Hashable = None) -> Result:
        loop = asyncio.get_running_loop()
        entry = Waiting[Job, Result](job, group, kind, size, loop, loop.create_future())
        with self._lock:
            self._waiting.append(entry)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._drain())
        return await entry.result

    def take(self, most: int, group: Hashable) -> list[Waiting[Job, Result]]:
        with self._lock:
            # A caller that gave up (a time limit) has cancelled its future, so its job is dropped.
            self._waiting = [entry for entry in self._waiting if not entry.result.done()]
            if not self._waiting or (group is not None and self._waiting[0].group != group):
                return []
            first = self._waiting[0]
            alike = [one for one in self._waiting if (one.group, one.kind) == (first.group, first.kind)]
            taken = sorted(alike, key=lambda entry: abs(entry.size - first.size))[:most]
            self._waiting = [entry for entry in self._waiting if entry not in taken]
        return taken

    def oldest_is_of(self, group: Hashable) -> bool:
        with self._lock:
            return bool(self._waiting) and self._waiting[0].group == group

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            if self.limit > 1:
                await asyncio.sleep(WINDOW)
            if all(entry.result.done() for entry in self._waiting):
                return
            turn = Turn(self)
            try:
                await loop.run_in_executor(self._executor, self._serve, turn)
            except Exception as error:  # a lost device, a closed model: the callers must still get an error
                for entry in turn.taken or self.take(len(self._waiting), None):
                    entry.settle(failure(error))
            # Callers that got a result submit their next job before the next turn begins.
            await asyncio.sleep(0)

    def _serve(self, turn: Turn[Job, Result]) -> None:
        try:
            self._run(turn)
            return
        except Exception as error:
            memory = self._out_of_memory(error)
            outcome = failure(error, memory=memory)
        # Outside the except block: the exception's traceback held the tensors that must be freed.
        if memory:
            self._release()
        left = turn.taken
        if len(left) == 1:
            turn.done(left[0], outcome)
        elif memory:
            self.limit = len(left) // 2
            with self._lock:
                self._waiting[:0] = left
        else:
            for entry in left:
                self._serve(Turn(self, only=entry))


def at_once(run: Callable[[list[Job]], Sequence[Result]]) -> Callable[[Turn[Job, Result]], None]:
    """Return the work of a turn whose jobs begin and end together."""

    def work(turn: Turn[Job, Result]) -> None:
        batch = turn.take(turn.limit)
        for entry, result in zip(batch, run([entry.job for entry in batch]), strict=True):
            turn.done(entry, result)

    return work


def failure(error: Exception, *, memory: bool = False) -> SketchmarkError:
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


@dataclass
class Row(Generic[Job]):
    job: Job
    limit: int
    """Of new tokens."""
    made: list[int] = field(default_factory=list)
    read: int = 0
    """Tokens of its context."""


class Rows(Generic[Job]):
    """Rows that one model generates together. All end at the right; shorter ones are padded on the left.

    transformers' `generate` makes the tokens, and is left and entered again with the keys and values of the rows that
    stay. So all its settings work, and so do models that it knows.
    """

    def __init__(self, model: Any, settings: Mapping[str, Any], ended: Callable[[list[int]], bool]) -> None:
        self.rows: list[Row[Job]] = []
        self._model, self._settings, self._ended = model, settings, ended
        self._ids: Any = None
        self._mask: Any = None
        self._cache: Any = None
        self._deltas: Any = None

    def join(self, rows: list[Row[Job]], inputs: Any, go_on: Callable[[int], bool] | None = None) -> None:
        """Add rows: read their contexts and generate a token of each, or as many as `go_on` allows."""
        new = Rows[Job](self._model, self._settings, self._ended)
        new.rows = rows
        for row, count in zip(rows, inputs["attention_mask"].sum(1).tolist(), strict=True):
            row.read = count
        new._generate(inputs, go_on)
        if not self.rows:
            vars(self).update(vars(new))
            return
        width = max(self._ids.shape[1], new._ids.shape[1])
        for part in (self, new):
            part._widen(width - part._ids.shape[1])
        self.rows += new.rows
        for mine, theirs in zip(self._cache.layers, new._cache.layers, strict=True):
            mine.keys, mine.values = _stacked(mine.keys, theirs.keys), _stacked(mine.values, theirs.values)
        self._ids, self._mask = _stacked(self._ids, new._ids), _stacked(self._mask, new._mask)
        if self._deltas is not None:
            self._deltas = _stacked(self._deltas, new._deltas)

    def advance(self, go_on: Callable[[int], bool]) -> None:
        """Generate until `go_on`, called with the number of rows that have not ended, is false."""
        for module in _with_deltas(self._model):
            module.rope_deltas = self._deltas
        inputs = {"input_ids": self._ids, "attention_mask": self._mask, "past_key_values": self._cache}
        self._generate(inputs, go_on)

    def leave(self) -> list[Row[Job]]:
        """Remove the rows that have ended and return them."""
        import torch

        ended = [row for row in self.rows if len(row.made) >= row.limit or self._ended(row.made)]
        stay = [number for number, row in enumerate(self.rows) if row not in ended]
        self.rows = [self.rows[number] for number in stay]
        if not ended or not stay:
            return ended
        chosen = torch.tensor(stay, device=self._ids.device)
        cut = int(self._mask[chosen].any(0).int().argmax())
        self._ids, self._mask = self._ids[chosen, cut:], self._mask[chosen, cut:]
        for layer in self._cache.layers:
            layer.keys, layer.values = layer.keys[chosen, :, cut:], layer.values[chosen, :, cut:]
        if self._deltas is not None:
            self._deltas = self._deltas[chosen]
        return ended

    def _widen(self, columns: int) -> None:
        from torch.nn.functional import pad

        if columns:
            self._ids = pad(self._ids, (columns, 0), value=self._settings["pad_token_id"])
            self._mask = pad(self._mask, (columns, 0))
            for layer in self._cache.layers:
                layer.keys, layer.values = (pad(one, (0, 0, columns, 0)) for one in (layer.keys, layer.values))

    def _generate(self, inputs: Any, go_on: Callable[[int], bool] | None) -> None:
        import torch
        from transformers import StoppingCriteriaList

        start = inputs["input_ids"].shape[1]
        left = torch.tensor([row.limit - len(row.made) for row in self.rows])
        ends = torch.tensor(list(ends_of(self._model)))
        pad = self._settings["pad_token_id"]

        has_ended = torch.zeros(len(self.rows), dtype=torch.bool)

        def stops(ids: Any, scores: Any) -> Any:
            last = ids[:, -1].cpu()
            has_ended.logical_or_(torch.isin(last, ends))
            ended = has_ended | (ids.shape[1] - start >= left)
            # A row that met a stop text is padded from then on. A model may also generate this token.
            perhaps = ended | (last == pad) if "stop_strings" in self._settings else ended
            wanted = go_on is not None and go_on(int((~perhaps).sum()))
            return (ended if wanted else torch.ones_like(ended)).to(ids.device)

        made = self._model.generate(
            **inputs,
            **self._settings,
            max_new_tokens=int(left.max()),
            stopping_criteria=StoppingCriteriaList([stops]),
            return_dict_in_generate=True,
        )
        new = made.sequences[:, start:]
        for row, tokens in zip(self.rows, new.tolist(), strict=True):
            row.made = [*row.made, *tokens][: row.limit]
        self._ids, self._cache = made.sequences, made.past_key_values
        self._mask = torch.cat((inputs["attention_mask"], torch.ones_like(new)), 1)
        self._deltas = next((module.rope_deltas for module in _with_deltas(self._model)), None)


def _stacked(one: Any, other: Any) -> Any:
    import torch

    return torch.cat((one, other))


def _with_deltas(model: Any) -> list[Any]:
    """Return the modules that keep the distance between a row's tokens and its positions (Qwen2-VL and later)."""
    return [module for module in (model, getattr(model, "model", None)) if hasattr(module, "rope_deltas")]


def ends_of(model: Any) -> set[int]:
    ends = model.generation_config.eos_token_id
    return set(ends) if isinstance(ends, list) else set() if ends is None else {ends}


def rows_can_join(model: Any) -> bool:
    """Return whether a batch of this model may change while it is generated: all its memory of a row is keys and
    values by position, and transformers' own `generate` runs it."""
    from transformers import DynamicCache, GenerationMixin
    from transformers.cache_utils import DynamicLayer

    if getattr(type(model), "generate", None) is not GenerationMixin.generate or model.config.is_encoder_decoder:
        return False
    if model.generation_config.cache_implementation or getattr(model, "_is_stateful", False):
        return False
    if getattr(model.config.get_text_config(), "num_kv_shared_layers", 0):
        return False
    layers = DynamicCache(config=model.config).layers
    return bool(layers) and all(type(layer) is DynamicLayer for layer in layers)
