"""Ctrl-C and SIGTERM end a command in order: what is under way is given up, files are closed, one line says how to
resume. The second signal ends the process at once, whatever a thread is still busy with."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


class Signals:
    """Which signal came first, if one did."""

    first: int | None = None

    @property
    def exit_code(self) -> int:
        return 128 + (self.first or signal.SIGINT)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.first = number
        for each in (signal.SIGINT, signal.SIGTERM):  # the system's own way takes no notice of what Python is at
            signal.signal(each, signal.SIG_DFL)
        loop = _running_loop()
        if loop is None:
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(_cancel_all)


@contextmanager
def ending_in_order(signals: Signals) -> Iterator[None]:
    """For the length of a command; a thread other than the main one cannot hear signals and leaves them alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    heard = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in heard:  # a shell that starts a job in the background may have had it ignore Ctrl-C
        signal.signal(number, signals)
    try:
        yield
    except BaseException as error:
        if signals.first is not None and type(error).__name__ == "CancelledError":
            raise KeyboardInterrupt from None
        raise
    finally:
        if signals.first is None:  # otherwise the process is about to end, and a second signal ends it at once
            for number, handler in heard.items():
                signal.signal(number, handler)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    if "asyncio" not in sys.modules:  # most commands need none, and importing it takes its time
        return None
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _cancel_all() -> None:
    import asyncio

    for task in asyncio.all_tasks():
        task.cancel()
