from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sketchmark.errors import CallFailed
from sketchmark.models.providers.hf import Batcher

pytestmark = pytest.mark.local


class Worker:
    """Doubles numbers; 13 breaks it, and more rows than it has room for are a memory error."""

    def __init__(self, limit: int, room: int = 99) -> None:
        self.room = room
        self.batches: list[list[int]] = []
        self.released = 0
        self.free = threading.Event()
        self.free.set()
        self.batcher = Batcher(
            self._run,
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


async def test_concurrent_jobs_share_batches_up_to_the_limit() -> None:
    worker = Worker(limit=4)
    assert await worker.all(list(range(10))) == [2 * i for i in range(10)]
    assert worker.batches == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


async def test_groups_are_never_mixed() -> None:
    worker = Worker(limit=4)
    await asyncio.gather(*(worker.batcher.submit(i, i % 2) for i in range(6)))
    assert worker.batches == [[0, 2, 4], [1, 3, 5]]


async def test_jobs_that_come_while_a_batch_runs_share_the_next_one() -> None:
    worker = Worker(limit=4)
    worker.free.clear()
    first = asyncio.create_task(worker.batcher.submit(0, "same"))
    await asyncio.sleep(0.1)
    later = asyncio.create_task(worker.all([1, 2, 3]))
    await asyncio.sleep(0.1)
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
    outcomes = await asyncio.gather(
        *(worker.batcher.submit(job, "same") for job in (1, 13, 3)), return_exceptions=True
    )
    assert outcomes[::2] == [2, 6]
    assert isinstance(outcomes[1], CallFailed)
    assert "unlucky" in str(outcomes[1])


async def test_a_caller_that_gave_up_takes_no_place() -> None:
    worker = Worker(limit=4)
    worker.free.clear()
    first = asyncio.create_task(worker.batcher.submit(0, "same"))
    await asyncio.sleep(0.1)
    given_up = asyncio.create_task(worker.batcher.submit(1, "same"))
    other = asyncio.create_task(worker.batcher.submit(2, "same"))
    await asyncio.sleep(0.05)
    given_up.cancel()
    await asyncio.sleep(0.05)
    worker.free.set()
    assert [await first, await other] == [0, 4]
    assert worker.batches == [[0], [2]]


async def test_a_worker_that_cannot_even_clean_up_leaves_nobody_waiting() -> None:
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


async def test_a_model_that_was_closed_tells_who_still_asks() -> None:
    worker = Worker(limit=4)
    worker.batcher._executor.shutdown()
    async with asyncio.timeout(5):
        with pytest.raises(CallFailed, match="shutdown"):
            await worker.batcher.submit(1, "same")
