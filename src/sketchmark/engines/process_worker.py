"""A worker process: takes jobs from its input, several at once, and writes outcomes to its output.

It ends at once when its input does: whoever started it is gone.
"""

from __future__ import annotations

import asyncio
import os
import threading

from sketchmark.engines.far_end import open_player
from sketchmark.engines.frames import OPENING, receive, send


def main(entry: str) -> None:
    """Standard input and output are taken away from everyone else first: what a plug-in prints goes to stderr."""
    jobs, outcomes = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    asyncio.run(_work(entry, jobs, outcomes))


async def _work(entry: str, jobs: int, outcomes: int) -> None:
    player = await open_player(entry, _next(jobs)[1])
    if isinstance(player, str):
        send(outcomes, OPENING, player.encode())
        return
    send(outcomes, OPENING, b"")
    loop = asyncio.get_running_loop()
    arriving: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()

    def listen() -> None:
        while True:
            frame = _next(jobs)
            loop.call_soon_threadsafe(arriving.put_nowait, frame)

    async def play(number: int, job: bytes) -> None:
        send(outcomes, number, await player.play(job))

    threading.Thread(target=listen, daemon=True).start()
    playing: set[asyncio.Task[None]] = set()
    while True:
        number, job = await arriving.get()
        if number == OPENING:
            break
        task = asyncio.create_task(play(number, job))
        playing.add(task)
        task.add_done_callback(playing.discard)
    await player.close()


def _next(jobs: int) -> tuple[int, bytes]:
    frame = receive(jobs)
    if frame is None:
        os._exit(0)
    return frame
