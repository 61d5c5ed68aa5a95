"""Worker processes on this machine, for work that is too slow for one core.

They are started afresh, never forked from a process with a running event loop and threads, and never run the user's
main script. The pipes carry bytes in frames (number, length, content). Neither side unpickles anything.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count

from sketchmark.engines.crew import WorkerLost
from sketchmark.errors import SketchmarkError

_HEADER = struct.Struct("<QQ")
_AT_ONCE = 1 << 20

OPENING = 0
"""Number of the frame that opens a worker, or ends it if empty. Jobs count from 1; an empty job asks for news."""


def send(file: int, number: int, content: bytes) -> None:
    """Write a frame, and block until it is in the pipe. Raises OSError if the reader is gone."""
    for piece in (_HEADER.pack(number, len(content)), content):
        left = memoryview(piece)
        while left:
            left = left[os.write(file, left) :]


def receive(file: int) -> tuple[int, bytes] | None:
    """Read a frame. None at the end of the pipe."""
    header = _read(file, _HEADER.size)
    if header is None:
        return None
    number, length = _HEADER.unpack(header)
    content = _read(file, length)
    return None if content is None else (number, content)


def _read(file: int, length: int) -> bytes | None:
    found = bytearray()
    while len(found) < length:
        more = os.read(file, min(length - len(found), _AT_ONCE))
        if not more:
            return None
        found += more
    return bytes(found)


_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); import sketchmark.engines._process as worker"
_PATIENCE = 10.0
"""Seconds for a worker to close a model in order."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ProcessWorker:
    """This side of one worker process. One thread reads from it and another writes to it."""

    def __init__(self, entry: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"{_START}; worker.main(sys.argv[2])", json.dumps(sys.path), entry],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # Ctrl-C is for the parent; a worker ends when its pipe does
        )
        self._loop = asyncio.get_running_loop()
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._ended = ""
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="worker-pipe")
        threading.Thread(target=self._listen, name="worker-pipe", daemon=True).start()

    @classmethod
    async def start(cls, entry: str, recipe: bytes) -> ProcessWorker:
        worker = cls(entry)
        try:
            problem = await worker._ask(OPENING, recipe)
            if problem:
                raise SketchmarkError(problem.decode())
        except BaseException:
            await worker.close(at_once=True)
            raise
        return worker

    async def play(self, job: bytes) -> bytes:
        return await self._ask(next(self._numbers), job)

    async def news(self) -> bytes:
        return await self._ask(next(self._numbers), b"")

    async def close(self, *, at_once: bool) -> None:
        try:
            if not at_once:
                with suppress(subprocess.TimeoutExpired):
                    await self._write(OPENING, b"")
                    await asyncio.to_thread(self._process.wait, _PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()
            self._writing.shutdown(wait=False)
            assert self._process.stdin is not None
            self._process.stdin.close()

    async def _ask(self, number: int, content: bytes) -> bytes:
        if self._ended:
            raise WorkerLost(self._ended)
        answer: asyncio.Future[bytes] = self._loop.create_future()
        self._waiting[number] = answer
        try:
            await self._write(number, content)
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def _write(self, number: int, content: bytes) -> None:
        """Write a frame. The reading thread reports a worker that is gone."""

        def write() -> None:
            assert self._process.stdin is not None
            with suppress(OSError, ValueError):
                send(self._process.stdin.fileno(), number, content)

        await self._loop.run_in_executor(self._writing, write)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe, suppress(RuntimeError):  # the loop may be closed
            while (frame := receive(pipe.fileno())) is not None:
                self._loop.call_soon_threadsafe(self._arrived, *frame)
            code = self._process.wait()
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            why = f"a worker process ended with {how}" + (" (out of memory?)" if code == -9 else "")
            self._loop.call_soon_threadsafe(self._gone, why)

    def _arrived(self, number: int, content: bytes) -> None:
        waiting = self._waiting.get(number)
        if waiting is not None and not waiting.done():
            waiting.set_result(content)

    def _gone(self, why: str) -> None:
        self._ended = why
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(WorkerLost(why))
