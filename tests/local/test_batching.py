"""Calls that share batches, and memory that really runs out in a process that may not grow."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Options, Reply
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.models.providers.hf import TransformersChat
from sketchmark.models.providers.rows import Batcher, Rows, at_once, rows_can_join
from tests.local import tiny

pytestmark = pytest.mark.local


class Worker:
    """Doubles numbers; 13 breaks it, and more rows than it has room for are a memory error."""

    def __init__(self, limit: int, room: int = 99) -> None:
        self.room = room
        self.batches: list[list[int]] = []
        self.released = 0
        self.free = threading.Event()
        self.free.set()
        self.batcher: Batcher[int, int] = Batcher(
            at_once(self._run),
            limit,
            ThreadPoolExecutor(1),
            out_of_memory=lambda error: isinstance(error, MemoryError),
            release=self._release,
        )

    def _run(self, jobs: list[int]) -> list[int]:
        self.free.wait(5)
        self.batches.append(jobs)
        if len(jobs) > self.room:
            raise MemoryError
        if 13 in jobs:
            raise ValueError("unlucky")
        return [2 * job for job in jobs]

    def _release(self) -> None:
        self.released += 1

    async def all(self, jobs: list[int]) -> list[int]:
        return list(await asyncio.gather(*(self.batcher.submit(job, "same") for job in jobs)))


async def test_concurrent_jobs_share_batches_up_to_the_limit_within_their_group() -> None:
    worker = Worker(limit=4)
    assert await worker.all(list(range(10))) == [2 * i for i in range(10)]
    assert worker.batches == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    worker = Worker(limit=4)
    await asyncio.gather(*(worker.batcher.submit(i, i % 2) for i in range(6)))
    assert worker.batches == [[0, 2, 4], [1, 3, 5]]


async def test_a_batch_holds_the_oldest_job_and_those_nearest_to_it_in_size() -> None:
    worker = Worker(limit=2)
    sizes = {0: 90, 1: 10, 2: 12, 3: 300, 4: 88, 5: 310}
    await asyncio.gather(*(worker.batcher.submit(job, "same", size) for job, size in sizes.items()))
    assert worker.batches == [[0, 4], [1, 2], [3, 5]]


async def test_jobs_that_come_while_a_batch_runs_share_the_next_one_unless_they_are_cancelled() -> None:
    worker = Worker(limit=4)
    worker.free.clear()
    first = asyncio.create_task(worker.batcher.submit(0, "same"))
    await asyncio.sleep(0.1)
    given_up = asyncio.create_task(worker.batcher.submit(9, "same"))
    later = asyncio.create_task(worker.all([1, 2, 3]))
    await asyncio.sleep(0.1)
    given_up.cancel()
    await asyncio.sleep(0.05)
    worker.free.set()
    assert [await first, await later] == [0, [2, 4, 6]]
    assert worker.batches == [[0], [1, 2, 3]]


async def test_a_memory_error_halves_until_it_fits_and_frees_memory_each_time() -> None:
    worker = Worker(limit=8, room=2)
    assert await worker.all(list(range(8))) == [2 * i for i in range(8)]
    assert (worker.batcher.limit, worker.released) == (2, 2)
    assert [len(batch) for batch in worker.batches] == [8, 4, 2, 2, 2, 2]


async def test_one_bad_job_fails_alone() -> None:
    worker = Worker(limit=4)
    calls = [worker.batcher.submit(job, "same") for job in (1, 13, 3)]
    one, bad, three = await asyncio.gather(*calls, return_exceptions=True)
    assert [one, three] == [2, 6] and isinstance(bad, CallFailed) and "unlucky" in str(bad)


async def test_a_worker_that_cannot_clean_up_leaves_no_call_waiting() -> None:
    worker = Worker(limit=4, room=0)

    def broken() -> None:
        raise RuntimeError("the device\nis gone")

    worker.batcher._release = broken
    async with asyncio.timeout(5):
        outcomes = await asyncio.gather(
            *(worker.batcher.submit(job, "same") for job in (1, 2)), return_exceptions=True
        )
    assert [str(outcome) for outcome in outcomes] == ["RuntimeError: the device is gone"] * 2
    assert all(isinstance(outcome, CallFailed) for outcome in outcomes)


async def test_a_call_to_a_closed_model_fails() -> None:
    worker = Worker(limit=4)
    worker.batcher._executor.shutdown()
    async with asyncio.timeout(5):
        with pytest.raises(CallFailed, match="shutdown"):
            await worker.batcher.submit(1, "same")


# Rows that join and leave


async def replies_at(weights: Path, size: int, **arguments: Any) -> list[Reply]:
    """Generate replies to prompts of many lengths, with limits of 4 to 24 tokens."""
    texts = [of(*([tiny.RED] if number % 3 else []), "word " * (number % 7) + f"{number}?") for number in range(20)]
    model = TransformersChat(str(weights), device="cpu", dtype="float32", batch_size=size, **arguments)
    calls = [model.say(one, Options(max_new_tokens=4 + 5 * (i % 5))) for i, one in enumerate(texts)]
    try:
        return list(await asyncio.gather(*calls))
    finally:
        await model.close()


@pytest.mark.parametrize("kind", ["llava", "idefics3", "qwen"])
async def test_rows_that_join_and_leave_give_the_replies_of_single_calls(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = request.getfixturevalue(kind)
    alone = await replies_at(weights, 1)
    before: list[int] = []
    join = Rows.join

    def watched(rows: Rows[Any], *more: Any) -> None:
        before.append(len(rows.rows))
        join(rows, *more)

    monkeypatch.setattr(Rows, "join", watched)
    for size in (4, 16):
        before.clear()
        assert await replies_at(weights, size) == alone
        assert sum(map(bool, before)) > len(before) // 2, "most calls join others"
    assert len({reply.text for reply in alone}) > 4 and len({reply.usage.tokens_out for reply in alone}) > 3


async def test_a_short_call_joins_a_long_one_and_does_not_wait_for_its_end(
    llava: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = TransformersChat(str(llava), device="cpu")
    begun, advance = threading.Event(), Rows.advance

    def noted(rows: Rows[Any], *more: Any) -> None:
        begun.set()
        advance(rows, *more)

    monkeypatch.setattr(Rows, "advance", noted)
    long = asyncio.create_task(model.say(of("A long story"), Options(max_new_tokens=900)))
    await asyncio.to_thread(begun.wait, 60)
    short, later = [await model.say(of(text), Options(max_new_tokens=3)) for text in ("Short", "Later")]
    assert not long.done(), "the short replies were returned while the long one was generated"
    again = [await model.say(of(text), Options(max_new_tokens=3)) for text in ("Short", "Later")]
    whole = await model.say(of("A long story"), Options(max_new_tokens=900))
    assert (await long, [short, later]) == (whole, again)


async def test_rows_stop_at_stop_texts_and_keep_penalties_when_they_move(llava: Path) -> None:
    model = TransformersChat(str(llava), device="cpu", batch_size=4)
    asked = [of("x" * number) for number in range(1, 13)]
    for extra in ({"repetition_penalty": 1.4}, {"no_repeat_ngram_size": 2}, {"stop": ["a", "e", "7"]}):
        options = [Options(max_new_tokens=6 + 6 * (i % 4), extra=extra) for i in range(len(asked))]
        together = await asyncio.gather(*map(model.say, asked, options))
        assert together == [await model.say(*one) for one in zip(asked, options, strict=True)], extra


def test_models_that_keep_more_than_keys_and_values_are_generated_in_fixed_batches() -> None:
    import transformers as t

    small = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = {**small, "vocab_size": 64}
    assert rows_can_join(t.LlamaForCausalLM(t.LlamaConfig(**config)))
    sliding = t.Gemma3TextConfig(**config, num_key_value_heads=1, head_dim=16, sliding_window=8)
    assert not rows_can_join(t.Gemma3ForCausalLM(sliding))
    assert not rows_can_join(t.MambaForCausalLM(t.MambaConfig(hidden_size=32, num_hidden_layers=1, vocab_size=64)))


async def test_fixed_batches_give_the_same_replies(llava: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moving = await replies_at(llava, 4)
    monkeypatch.setattr("sketchmark.models.providers.hf.rows_can_join", lambda model: False)
    assert await replies_at(llava, 4) == moving


# Memory


CRAMPED = """
import asyncio, json, resource, sys
from pathlib import Path

import torch
from sketchmark.errors import CallFailed
from sketchmark.episode.model import Options
from sketchmark.models.providers.hf import TransformersChat
from sketchmark.episode.sample import of

torch.set_num_threads(1)
SHORT = Options(max_new_tokens=8)


def allow(more):
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more * 2**20, resource.RLIM_INFINITY))


async def main(weights):
    # Eager attention holds a matrix of all positions by all positions for each row of a batch.
    model = TransformersChat(weights, device="cpu", attn_implementation="eager")
    texts = [letter * 700 for letter in "abcdefgh"]
    alone = [(await model.say(of(text), SHORT)).text for text in texts]
    allow(130)
    together = await asyncio.gather(*(model.say(of(text), SHORT) for text in texts))
    limit = model._saying.limit
    outcomes = await asyncio.gather(*(model.say(of("x" * n), SHORT) for n in (9, 7000, 11)), return_exceptions=True)
    after = await model.say(of(texts[0]), SHORT)
    huge = outcomes[1]
    await model.close()
    print(json.dumps({
        "same": [reply.text for reply in together] == alone,
        "limit": limit,
        "others": [type(outcome).__name__ for outcome in (outcomes[0], outcomes[2])],
        "huge": [huge.kind, huge.stops_run, str(huge)] if isinstance(huge, CallFailed) else repr(huge),
        "after": after.text == alone[0],
    }))


asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the size of a process is read from /proc")
def test_a_batch_that_runs_out_is_halved_and_a_call_that_runs_out_alone_fails_alone(llava: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", CRAMPED, str(llava)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    found = json.loads(ran.stdout)
    assert found["same"] and found["limit"] < 8
    assert found["others"] == ["Reply", "Reply"] and found["after"]
    kind, stops, told = found["huge"]
    assert (kind, stops) == ("out_of_memory", False)
    assert "max_new_tokens" in told and "device_map" in told


def test_out_of_memory_is_distinguished_from_other_errors() -> None:
    import torch

    from sketchmark.models.providers.weights import _hint, out_of_memory

    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**50, dtype=torch.float64)
    assert out_of_memory(caught.value) and "does not fit into memory" in _hint(caught.value)
    with pytest.raises(MemoryError) as full:
        bytearray(2**60)
    assert out_of_memory(full.value)
    assert out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))
    assert not out_of_memory(RuntimeError("the shapes do not fit"))
