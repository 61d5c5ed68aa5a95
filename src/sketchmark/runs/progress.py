"""Who looks on while a run plays: a live display on a terminal and in a notebook, plain lines elsewhere."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from sketchmark.models.tally import Tally
from sketchmark.runs.calls import Calls
from sketchmark.terminal import tell
from sketchmark.terminal.notebook import in_notebook

if TYPE_CHECKING:
    from rich.progress import TaskID

    from sketchmark.terminal.console import Bars

_EVERY = 5.0
_EVERY_AT_LEAST = 60.0
"""Seconds between two lines of which the second says the same."""
_LOOKS = 0.5
"""Seconds between two looks at the calls."""


class Watcher(Protocol):
    """Someone who looks on while a run plays. `looks_on` False: nobody needs to count for them."""

    looks_on: bool

    def begin(self, cell: str, total: int | None, done: int) -> None: ...
    def played(self, cell: str, failed: bool) -> None: ...
    def end(self, cell: str) -> None: ...
    def calls(self, so_far: Calls) -> None: ...


@asynccontextmanager
async def told_of_calls(
    looking: Watcher, calls: Calls, players: Callable[[], Awaitable[Tally]] | None = None
) -> AsyncIterator[None]:
    """Whoever looks on is told of the calls for as long as the block runs: an episode may take a thousand of them.
    `players` count those to the model, here or elsewhere; there is none where only a judge is asked."""
    if not looking.looks_on:
        yield
        return
    calls.awaited = players is not None

    async def tell_again() -> None:
        while True:
            await asyncio.sleep(_LOOKS)
            await look()

    async def look() -> None:
        if players is not None:
            calls.model = await players()
        calls.look(time.monotonic())
        looking.calls(calls)

    telling = asyncio.create_task(tell_again())
    try:
        yield
        await look()
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


def watcher(quiet: bool = False, *, brief: bool = False) -> Plain | Live | Silent:
    """`brief`: of work that is mostly done in a moment nothing is told in a log, unless it takes longer."""
    if quiet:
        return Silent()
    if in_notebook():
        from sketchmark.runs.progress_in_notebook import InNotebook

        return InNotebook()
    if sys.stderr.isatty():
        return Live()
    return Brief() if brief else Plain()


class Silent:
    """For Python callers and tests."""

    looks_on = False

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        return None

    def begin(self, cell: str, total: int | None, done: int) -> None: ...

    def played(self, cell: str, failed: bool) -> None: ...

    def end(self, cell: str) -> None: ...

    def calls(self, so_far: Calls) -> None: ...


NOBODY = Silent()


class Count:
    """Of one cell: cells overlap."""

    def __init__(self, total: int | None, before: int) -> None:
        self.total, self.before = total, before
        self.played = self.failed = 0
        self.began = self.told = time.monotonic()

    def add(self, failed: bool) -> None:
        self.played += 1
        self.failed += failed

    @property
    def done(self) -> int:
        return self.before + self.played

    @property
    def works(self) -> bool:
        """Of episodes that all fail no time is foretold."""
        return self.failed < self.played

    @property
    def rate(self) -> float:
        return self.played / max(time.monotonic() - self.began, 1e-9)


class Plain(Silent):
    """One line every few seconds for each cell (episodes done, failures, rate, time left) and one for the calls; at
    once where nobody answers."""

    looks_on = True

    def __init__(self) -> None:
        self._cells: dict[str, Count] = {}
        self._calls_told = time.monotonic()
        self._told = self._error = ""

    def __enter__(self) -> Plain:
        return self

    def begin(self, cell: str, total: int | None, done: int) -> None:
        self._cells[cell] = Count(total, done)
        if done:
            tell(f"{cell}: {done} already done", err=True)

    def played(self, cell: str, failed: bool) -> None:
        count = self._cells[cell]
        count.add(failed)
        now = time.monotonic()
        if now - count.told >= _EVERY:
            count.told = now
            left = f", {(count.total - count.done) / count.rate:.0f} s left" if count.total and count.works else ""
            of = f"/{count.total}" if count.total else ""
            rate = f"{count.rate:.1f}/s"
            tell(f"{cell}: {count.done}{of} episodes, {count.failed} failed, {rate}{left}", err=True)

    def end(self, cell: str) -> None:
        count = self._cells[cell]
        seconds = time.monotonic() - count.began
        tell(f"{cell}: {count.done} episodes, {count.failed} failed, {seconds:.1f} s", err=True)

    def calls(self, so_far: Calls) -> None:
        if so_far.error and not self._error:
            tell(f"calls: {so_far.error}", err=True)
        self._error = so_far.error
        now, told = time.monotonic(), so_far.told()
        if told and now - self._calls_told >= (_EVERY if told != self._told else _EVERY_AT_LEAST):
            self._calls_told, self._told = now, told
            tell(f"calls: {told}{so_far.last_error and f'; {so_far.last_error}'}", err=True)


class Brief(Plain):
    """The same for work that is mostly done in a moment: then there is nothing to tell."""

    def end(self, cell: str) -> None:
        if time.monotonic() - self._cells[cell].began >= _EVERY:
            super().end(cell)


class Live(Silent):
    """One bar per cell, and above them what the calls come to."""

    looks_on = True

    def __enter__(self) -> Live:
        from sketchmark.terminal.console import bars

        self._progress: Bars = bars()
        self._bars: dict[str, tuple[TaskID, Count]] = {}
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, cell: str, total: int | None, done: int) -> None:
        bar = self._progress.add_task(cell, total=total, completed=done, failed="", rate="", works=True)
        self._bars[cell] = (bar, Count(total, done))

    def played(self, cell: str, failed: bool) -> None:
        bar, count = self._bars[cell]
        count.add(failed)
        told = f"{count.failed} failed" if count.failed else ""
        self._progress.update(bar, advance=1, failed=told, rate=f"{count.rate:.1f}/s", works=count.works)

    def end(self, cell: str) -> None:
        bar, _ = self._bars[cell]
        self._progress.update(bar, total=self._progress.tasks[self._progress.task_ids.index(bar)].completed)

    def calls(self, so_far: Calls) -> None:
        self._progress.say(so_far.told(), so_far.last_error)
