"""Workers in processes of their own on this machine, for work that one core is too slow for.

They are started afresh (never forked from a process whose event loop and threads are running) and never run the
user's main script again. What goes through the pipes is bytes in frames; nothing is unpickled on either side.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import sys
from contextlib import suppress
from itertools import count

from sketchmark.engines.crew import WorkerLost
from sketchmark.errors import SketchmarkError

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); import sketchmark.engines.process_worker as worker"
HEADER = struct.Struct("<QQ")
"""A frame is its number, its length and its content. Number 0 opens the worker, and an empty frame 0 ends it."""

_PATIENCE = 10.0
"""Seconds that a worker has to close a model in order."""


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ProcessWorker:
    """The near end of one worker process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process, self._out, self._in = process, process.stdin, process.stdout
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._listening: asyncio.Task[None] | None = None
        self._ended = ""

    @classmethod
    async def start(cls, entry: str, recipe: bytes) -> ProcessWorker:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", f"{_START}; worker.main(sys.argv[2])", json.dumps(sys.path), entry),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us; a worker ends when its pipe does
        )
        worker = cls(process)
        try:
            await worker._send(0, recipe)
            _, problem = await worker._receive()
        except BaseException:
            await worker.close(at_once=True)
            raise
        if problem:
            await worker.close(at_once=True)
            raise SketchmarkError(problem.decode())
        worker._listening = asyncio.create_task(worker._listen())
        return worker

    async def play(self, job: bytes) -> bytes:
        if self._ended:
            raise WorkerLost(self._ended)
        number = next(self._numbers)
        outcome: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[number] = outcome
        try:
            await self._send(number, job)
            return await outcome
        finally:
            self._waiting.pop(number, None)

    async def close(self, *, at_once: bool) -> None:
        if self._listening is not None:
            self._listening.cancel()
        with suppress(WorkerLost, ProcessLookupError, TimeoutError):
            if at_once:
                self._process.kill()
            else:
                async with asyncio.timeout(_PATIENCE):
                    await self._send(0, b"")
                    await self._process.wait()
        self._out.close()
        with suppress(ProcessLookupError):
            if self._process.returncode is None:
                self._process.kill()
        await self._process.wait()

    async def _send(self, number: int, content: bytes) -> None:
        try:
            self._out.write(HEADER.pack(number, len(content)))
            self._out.write(content)
            await self._out.drain()
        except ConnectionError as error:
            raise await self._lost() from error

    async def _receive(self) -> tuple[int, bytes]:
        try:
            number, length = HEADER.unpack(await self._in.readexactly(HEADER.size))
            return number, await self._in.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise await self._lost() from error

    async def _listen(self) -> None:
        try:
            while True:
                number, outcome = await self._receive()
                waiting = self._waiting.get(number)
                if waiting is not None and not waiting.done():
                    waiting.set_result(outcome)
        except WorkerLost as error:
            self._ended = str(error)
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(WorkerLost(self._ended))

    async def _lost(self) -> WorkerLost:
        code = await self._process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return WorkerLost(f"a worker process ended with {how}" + (" (out of memory?)" if code == -9 else ""))
