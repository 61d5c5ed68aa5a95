"""`asyncio.run`, for work that people interrupt.

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
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
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
