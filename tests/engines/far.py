"""Far ends of workers for the tests of the crew: what a job says is done in the worker's process."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from sketchmark.errors import BadInput


class Doer:
    """`echo X` · `pid [SECONDS]` · `meet FOLDER N`: waits until N jobs are there · `die [once FILE]` · `print`."""

    jobs = 0

    def news(self) -> bytes:
        return f"{os.getpid()} {self.jobs}".encode()

    async def play(self, job: bytes) -> bytes:
        self.jobs += 1
        what, _, rest = job.decode().partition(" ")
        if what == "echo":
            return rest.encode()
        if what == "pid":
            await asyncio.sleep(float(rest or 0.05))
        if what == "meet":
            folder, _, count = rest.rpartition(" ")
            (Path(folder) / os.urandom(8).hex()).touch()
            while len(list(Path(folder).iterdir())) < int(count):
                await asyncio.sleep(0.01)
        if what == "die":
            once = Path(rest.removeprefix("once "))
            if not rest or not once.exists():
                if rest:
                    once.touch()
                await asyncio.sleep(0.1)  # the other jobs are under way
                os.kill(os.getpid(), signal.SIGKILL)
        if what == "print":
            print("a plug-in that prints", flush=True)  # noqa: T201
            os.write(1, b"and a library that writes\n")
        return str(os.getpid()).encode()

    async def close(self) -> None:
        """Nothing to free."""


async def open_doer(recipe: bytes) -> Doer:
    what = recipe.decode()
    if what == "refuse":
        raise BadInput("it will not", "ask another")
    if what == "break":
        raise ZeroDivisionError("a bug")
    if what == "die":
        os._exit(7)
    return Doer()
