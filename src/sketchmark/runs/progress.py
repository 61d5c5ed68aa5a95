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


class Plain(Silent):
    """One line every few seconds: episodes done, failures, rate, time left."""

    def __enter__(self) -> Plain:
        return self

    def begin(self, cell: str, total: int | None, done: int) -> None:
        self._total, self._before, self._done, self._failed = total, done, done, 0
        self._began = self._last = time.monotonic()
        if done:
            tell(f"{cell}: {done} already done", err=True)

    def played(self, cell: str, failed: bool) -> None:
        self._done += 1
        self._failed += failed
        now = time.monotonic()
        if now - self._last >= _EVERY:
            self._last = now
            rate = (self._done - self._before) / (now - self._began)
            left = f", {(self._total - self._done) / rate:.0f} s left" if self._total and rate else ""
            of = f"/{self._total}" if self._total else ""
            tell(f"{cell}: {self._done}{of} episodes, {self._failed} failed, {rate:.1f}/s{left}", err=True)

    def end(self, cell: str) -> None:
        seconds = time.monotonic() - self._began
        tell(f"{cell}: {self._done} episodes, {self._failed} failed, {seconds:.1f} s", err=True)


class Live(Silent):
    """One bar per cell."""

    def __enter__(self) -> Live:
        from sketchmark.terminal.console import bars

        self._progress: Progress = bars()
        self._bars: dict[str, TaskID] = {}
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, cell: str, total: int | None, done: int) -> None:
        self._failed, self._played, self._began = 0, 0, time.monotonic()
        self._bars[cell] = self._progress.add_task(cell, total=total, completed=done, failed="", rate="")

    def played(self, cell: str, failed: bool) -> None:
        self._failed += failed
        self._played += 1
        rate = self._played / max(time.monotonic() - self._began, 1e-9)
        self._progress.update(
            self._bars[cell],
            advance=1,
            failed=f"{self._failed} failed" if self._failed else "",
            rate=f"{rate:.1f}/s",
        )

    def end(self, cell: str) -> None:
        bar = self._bars[cell]
        self._progress.update(bar, total=self._progress.tasks[self._progress.task_ids.index(bar)].completed)
