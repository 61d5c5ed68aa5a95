"""The worker's side: it opens the code that runs jobs, by name, takes jobs from its input and writes outcomes.

It exits when its input ends, because then its parent is gone.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import threading
from typing import Protocol

from sketchmark.engines.processes import OPENING, receive, send
from sketchmark.errors import SketchmarkError


class Player(Protocol):
    """Code that runs jobs in a worker. Errors are part of a job's outcome; it raises nothing."""

    async def play(self, job: bytes) -> bytes: ...

    def news(self) -> bytes:
        """Return its current state, for progress displays."""

    async def close(self) -> None: ...


async def open_player(entry: str, recipe: bytes) -> Player | str:
    """Call `module:name` with the recipe. A returned text is the reason for a failure."""
    module, _, name = entry.partition(":")
    try:
        player: Player = await getattr(importlib.import_module(module), name)(recipe)
    except SketchmarkError as error:
        return str(error)
    except Exception as error:  # plug-ins may raise anything, and users cannot read a traceback here
        return f"a worker could not start: {type(error).__name__}: {error}"
    return player


def main(entry: str) -> None:
    """Reserve standard input and output first: what a plug-in prints goes to stderr."""
    jobs, outcomes = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    asyncio.run(_work(entry, jobs, outcomes))


async def _work(entry: str, jobs: int, outcomes: int) -> None:
    player = await open_player(entry, _next(jobs)[1])
    if isinstance(player, str):
        _answer(outcomes, OPENING, player.encode())
        return
    _answer(outcomes, OPENING, b"")
    loop = asyncio.get_running_loop()
    arriving: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()

    def listen() -> None:
        while True:
            frame = _next(jobs)
            loop.call_soon_threadsafe(arriving.put_nowait, frame)

    async def play(number: int, job: bytes) -> None:
        _answer(outcomes, number, await player.play(job))

    threading.Thread(target=listen, daemon=True).start()
    playing: set[asyncio.Task[None]] = set()
    while True:
        number, job = await arriving.get()
        if number == OPENING:
            break
        if not job:
            _answer(outcomes, number, player.news())
            continue
        task = asyncio.create_task(play(number, job))
        playing.add(task)
        task.add_done_callback(playing.discard)
    await player.close()


def _answer(outcomes: int, number: int, content: bytes) -> None:
    try:
        send(outcomes, number, content)
    except OSError:  # its parent was killed
        os._exit(0)


def _next(jobs: int) -> tuple[int, bytes]:
    frame = receive(jobs)
    if frame is None:
        os._exit(0)
    return frame
