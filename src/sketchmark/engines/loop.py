"""The event loop of a command or a call from Python, for work that people interrupt.

A signal is handled by Python when the main thread runs Python again. One that another thread is given, or that comes
in the moment before the event loop falls asleep, would be heard when something else wakes the loop: with a server
that does not answer, never. So every signal also writes a byte that the loop waits for.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")

_LOOKS_EVERY = 0.2
"""Seconds until an interrupt is noticed."""


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run`; every signal wakes the loop."""

    async def heard() -> T:
        with _woken_by_signals(asyncio.get_running_loop()):
            return await work

    return asyncio.run(heard())


@contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Only the main thread is told of signals, and only it may ask to be."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    there, here = socket.socketpair()
    with there, here:
        there.setblocking(False)
        here.setblocking(False)
        loop.add_reader(here, here.recv, 4096)
        before = signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(here)


def finish(work: Coroutine[Any, Any, T]) -> T:
    """Run the work to its end, wherever this is called.

    A notebook has an event loop of its own running, and so has a script within `asyncio.run`; there the work goes
    to another thread, and interrupting the cell or the script ends it in order.

    While this waits, nothing else of that loop runs. So a task of it that is cancelled meanwhile was cancelled by
    Ctrl-C: under `asyncio.run` that is all that Ctrl-C does the first time.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_async(work)
    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []
    interrupted = threading.Event()

    async def told() -> T:
        task = asyncio.ensure_future(work)
        begun.append((asyncio.get_running_loop(), task))
        if interrupted.is_set():
            task.cancel()
        return await task

    def cancelled() -> int:
        return sum(task.cancelling() for task in asyncio.all_tasks())

    before = cancelled()
    with ThreadPoolExecutor(max_workers=1) as aside:
        done = aside.submit(copy_context().run, asyncio.run, told())
        try:
            while not wait([done], _LOOKS_EVERY).done:
                if cancelled() > before:
                    raise KeyboardInterrupt
            return done.result()
        except KeyboardInterrupt:
            interrupted.set()
            for loop, task in begun:
                with suppress(RuntimeError):  # it has ended meanwhile
                    loop.call_soon_threadsafe(task.cancel)
            raise
