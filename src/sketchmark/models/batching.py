"""Concurrent calls to local weights, gathered into batches for one worker thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Generic, TypeVar

from sketchmark.errors import CallFailed, SketchmarkError

Job = TypeVar("Job")
Result = TypeVar("Result")

WINDOW = 0.02
"""Seconds to wait for company: long against an event loop's turn, short against any generation."""
_LONGEST_MESSAGE = 600


@dataclass(frozen=True)
class _Waiting(Generic[Job, Result]):
    group: Hashable
    job: Job
    result: asyncio.Future[Result]


class Batcher(Generic[Job, Result]):
    """Runs jobs of the same group together, at most `limit` at once, oldest group first.

    A batch that does not fit into memory is halved, and the smaller limit stays. A batch that fails for another
    reason is run again one by one, so that one bad job does not take its neighbours down with it.
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

    async def submit(self, job: Job, group: Hashable) -> Result:
        waiting = _Waiting[Job, Result](group, job, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._drain())
        return await waiting.result

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(WINDOW)
            # A caller that gave up (a time limit) has cancelled its future: its job is not worth a place.
            self._waiting = [entry for entry in self._waiting if not entry.result.done()]
            if not self._waiting:
                return
            batch = [entry for entry in self._waiting if entry.group == self._waiting[0].group][: self.limit]
            self._waiting = [entry for entry in self._waiting if entry not in batch]
            outcomes: list[Result | SketchmarkError]
            try:
                outcomes = await loop.run_in_executor(self._executor, self._outcomes, [entry.job for entry in batch])
            except Exception as error:  # a device that is gone, a closed model: who waits must be told all the same
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
        """The outcomes of these jobs, or none of them and a smaller limit to try again with."""
        try:
            return [*self._run(batch)]
        except Exception as error:
            memory = self._out_of_memory(error)
            failure = _failure(error, memory=memory)
        # Outside the except block: the exception's traceback held the tensors that have to go.
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
            "one call alone does not fit into memory",
            hint="--gen_kwargs max_new_tokens=N, a smaller dtype=, or device_map=auto",
        )
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return CallFailed("local_model", words[:_LONGEST_MESSAGE])
