"""Who looks on while a run plays: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from sketchmark.terminal import tell

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_EVERY = 5.0


class Watcher(Protocol):
    """Someone who looks on while a run plays."""

    def begin(self, cell: str, total: int | None, done: int) -> None: ...
    def played(self, cell: str, failed: bool) -> None: ...
    def end(self, cell: str) -> None: ...


def watcher(quiet: bool = False) -> Plain | Live | Silent:
    if quiet:
        return Silent()
    return Live() if sys.stderr.isatty() else Plain()


class Silent:
    """For Python callers and tests."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        return None

    def begin(self, cell: str, total: int | None, done: int) -> None: ...

    def played(self, cell: str, failed: bool) -> None: ...

    def end(self, cell: str) -> None: ...


class _Count:
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
    def rate(self) -> float:
        return self.played / max(time.monotonic() - self.began, 1e-9)


class Plain(Silent):
    """One line every few seconds for each cell: episodes done, failures, rate, time left."""

    def __init__(self) -> None:
        self._cells: dict[str, _Count] = {}

    def __enter__(self) -> Plain:
        return self

    def begin(self, cell: str, total: int | None, done: int) -> None:
        self._cells[cell] = _Count(total, done)
        if done:
            tell(f"{cell}: {done} already done", err=True)

    def played(self, cell: str, failed: bool) -> None:
        count = self._cells[cell]
        count.add(failed)
        now = time.monotonic()
        if now - count.told >= _EVERY:
            count.told = now
            left = f", {(count.total - count.done) / count.rate:.0f} s left" if count.total else ""
            of = f"/{count.total}" if count.total else ""
            rate = f"{count.rate:.1f}/s"
            tell(f"{cell}: {count.done}{of} episodes, {count.failed} failed, {rate}{left}", err=True)

    def end(self, cell: str) -> None:
        count = self._cells[cell]
        seconds = time.monotonic() - count.began
        tell(f"{cell}: {count.done} episodes, {count.failed} failed, {seconds:.1f} s", err=True)


class Live(Silent):
    """One bar per cell."""

    def __enter__(self) -> Live:
        from sketchmark.terminal.console import bars

        self._progress: Progress = bars()
        self._bars: dict[str, tuple[TaskID, _Count]] = {}
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, cell: str, total: int | None, done: int) -> None:
        bar = self._progress.add_task(cell, total=total, completed=done, failed="", rate="")
        self._bars[cell] = (bar, _Count(total, done))

    def played(self, cell: str, failed: bool) -> None:
        bar, count = self._bars[cell]
        count.add(failed)
        told = f"{count.failed} failed" if count.failed else ""
        self._progress.update(bar, advance=1, failed=told, rate=f"{count.rate:.1f}/s")

    def end(self, cell: str) -> None:
        bar, _ = self._bars[cell]
        self._progress.update(bar, total=self._progress.tasks[self._progress.task_ids.index(bar)].completed)
