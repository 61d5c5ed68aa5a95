"""Progress displays of a run: bars on a terminal, replaced lines in a notebook, plain lines elsewhere."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

from sketchmark.models.wrappers import CallCount
from sketchmark.terminal import one_line, tell
from sketchmark.terminal.console import CellOutput, in_notebook

if TYPE_CHECKING:
    from rich.progress import TaskID

    from sketchmark.terminal.console import Bars


Price = Callable[[Mapping[str, int]], float]


@dataclass
class Calls:
    """Live counts of the calls to the model, the judge and the extractor."""

    model: CallCount = field(default_factory=CallCount)
    judge: CallCount = field(default_factory=CallCount)
    price: Price | None = None
    judge_price: Price | None = None
    own_failures: Counter[str] = field(default_factory=Counter)
    """Model failures by kind: results, not faults of the run."""
    awaited: bool = False
    """Calls are expected, so that their absence is reported."""
    extractor: CallCount = field(default_factory=CallCount)
    extractor_price: Price | None = None
    silence: float = 0.0
    """Seconds since the last result of a call, while calls are under way."""
    _came: int = 0
    _since: float = 0.0

    def look(self, now: float) -> None:
        """Update `silence`: before the timeout of a silent server only the clock shows that it does not respond."""
        tallies = (self.model, self.judge, self.extractor)
        came = sum(one.answered + one.from_cache + one.retries for one in tallies)
        if came != self._came or not any(one.under_way for one in tallies) or not self._since:
            self._came, self._since = came, now
        self.silence = now - self._since

    def told(self, played: int = 0) -> str:
        """Summarise the calls in one line, without zero counts. `played`: episodes that are finished; their calls may
        not have been counted yet."""
        model, tallies = self.model, (self.model, self.judge, self.extractor)
        if not any(one.begun for one in tallies):
            return "no call yet: samples are being read or made" if self.awaited and not played else ""
        told = [_number(model.answered, "call")] if model.begun else []
        told += [f"{model.from_cache:,} from the cache"] if model.from_cache else []
        for who, one in (("judge", self.judge), ("extractor", self.extractor)):
            told += [f"{one.answered + one.from_cache:,} of the {who}"] if one.begun else []
        told.append(f"{sum(one.under_way for one in tallies):,} under way")
        told += [f"no reply for {self.silence // 10 * 10:.0f} s"] if self.silence >= 10 else []
        retries = sum(one.retries for one in tallies)
        told += [_number(retries, "retry", "retries")] if retries else []
        tokens = sum(one.tokens_in + one.tokens_out for one in tallies)
        told += [f"{_short(tokens)} tokens"] if tokens else []
        told += [f"cost {self.cost:.4f}"] if self.price or self.judge_price or self.extractor_price else []
        told += [f"{count} {kind}" for kind, count in self.own_failures.most_common(3)]
        return ", ".join(told)

    @property
    def cost(self) -> float:
        paid = (
            (self.price, self.model),
            (self.judge_price, self.judge),
            (self.extractor_price, self.extractor),
        )
        return sum(price(tally.usage) for price, tally in paid if price)

    @property
    def error(self) -> str:
        """Error of the attempts since the last reply; empty after a reply."""
        for who, tally in (("", self.model), ("the judge: ", self.judge), ("the extractor: ", self.extractor)):
            if tally.silent:
                never = not tally.answered and not tally.from_cache
                since = "no reply yet" if never else f"no reply to the last {_number(tally.silent, 'attempt')}"
                return f"{who}{since}: {tally.error}"
        return ""

    @property
    def last_error(self) -> str:
        """Error of the last failed attempt, even if there were replies since."""
        tallies = (self.model, self.judge, self.extractor)
        return self.error or next((f"last error: {one.error}" for one in tallies if one.error), "")


def _number(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _short(count: int) -> str:
    if count < 10_000:
        return f"{count:,}"
    return f"{count / 1000:.0f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


_EVERY = 5.0
_EVERY_AT_LEAST = 60.0
"""Seconds before an unchanged line is repeated."""
_LOOKS = 0.5
"""Seconds between two updates of the calls."""


class Watcher(Protocol):
    """Receiver of a run's progress. If `looks_on` is False, nothing needs to be counted for it."""

    looks_on: bool

    def begin(self, cell: str, total: int | None, done: int) -> None: ...
    def played(self, cell: str, failed: bool) -> None: ...
    def end(self, cell: str) -> None: ...
    def calls(self, so_far: Calls) -> None: ...


@asynccontextmanager
async def told_of_calls(
    looking: Watcher, calls: Calls, players: Callable[[], Awaitable[CallCount]] | None = None
) -> AsyncIterator[None]:
    """Report the calls during the block: one episode may make a thousand of them. `players` counts the calls to the
    model, in this process or others; None if only a judge is called."""
    if not looking.looks_on:
        yield
        return
    calls.awaited = players is not None

    async def look() -> None:
        if players is not None:
            calls.model = await players()
        calls.look(time.monotonic())
        looking.calls(calls)

    async def look_again() -> None:
        while True:
            await asyncio.sleep(_LOOKS)
            await look()

    telling = asyncio.create_task(look_again())
    try:
        yield
        await look()
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


def watcher(quiet: bool = False, *, brief: bool = False) -> Plain | Live | Silent:
    """Return the display for this process. `brief`: quick work is not reported in a log."""
    if quiet:
        return Silent()
    if in_notebook():
        return InNotebook()
    if sys.stderr.isatty():
        return Live()
    return Brief() if brief else Plain()


class Silent:
    """No display."""

    looks_on = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *how: object) -> None: ...

    def begin(self, cell: str, total: int | None, done: int) -> None: ...

    def played(self, cell: str, failed: bool) -> None: ...

    def end(self, cell: str) -> None: ...

    def calls(self, so_far: Calls) -> None: ...


NOBODY = Silent()


class Count:
    """Episodes of one cell; cells overlap in time."""

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
        """False if all episodes fail: then the remaining time is not estimated."""
        return self.failed < self.played

    @property
    def rate(self) -> float:
        return self.played / max(time.monotonic() - self.began, 1e-9)


class Plain(Silent):
    """Plain lines: every few seconds one per cell (episodes done, failures, rate, time left) and one for the calls.
    An error of all calls is reported at once."""

    looks_on = True

    def __init__(self) -> None:
        self._cells: dict[str, Count] = {}
        self._calls_told = time.monotonic()
        self._told = self._error = ""

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
            left = (
                f", {_duration((count.total - count.done) / count.rate)} left" if count.total and count.works else ""
            )
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
        now, told = time.monotonic(), so_far.told(sum(count.played for count in self._cells.values()))
        if told and now - self._calls_told >= (_EVERY if told != self._told else _EVERY_AT_LEAST):
            self._calls_told, self._told = now, told
            tell(f"calls: {told}{so_far.last_error and f'; {so_far.last_error}'}", err=True)


class Brief(Plain):
    """Plain lines for work that is usually quick: only slow cells are reported."""

    def end(self, cell: str) -> None:
        if time.monotonic() - self._cells[cell].began >= _EVERY:
            super().end(cell)


class Live(Silent):
    """One bar per cell, and a line for the calls above them."""

    looks_on = True

    def __enter__(self) -> Self:
        from sketchmark.terminal.console import bars

        self._progress: Bars = bars()
        self._bars: dict[str, tuple[TaskID, Count]] = {}
        self._progress.start()
        return self

    def __exit__(self, *how: object) -> None:
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
        played = sum(count.played for _, count in self._bars.values())
        self._progress.say(so_far.told(played), so_far.last_error)


class InNotebook(Silent):
    """One line per cell of the run and one for the calls, in the output of the notebook's cell, updated in place."""

    looks_on = True
    _EVERY = 0.5
    _WIDTH = 20

    def __init__(self) -> None:
        self._place = CellOutput()
        self._cells: dict[str, Count] = {}
        self._calls = ""
        self._told = 0.0

    def begin(self, cell: str, total: int | None, done: int) -> None:
        self._cells[cell] = Count(total, done)
        self._show()

    def played(self, cell: str, failed: bool) -> None:
        self._cells[cell].add(failed)
        if time.monotonic() - self._told >= self._EVERY:
            self._show()

    def end(self, cell: str) -> None:
        self._cells[cell].total = self._cells[cell].done
        self._show()

    def calls(self, so_far: Calls) -> None:
        played = sum(count.played for count in self._cells.values())
        self._calls = "; ".join(filter(None, (so_far.told(played), so_far.last_error)))
        self._show()

    def _show(self) -> None:
        self._told = time.monotonic()
        lines = [self._line(cell, count) for cell, count in self._cells.items()]
        self._place.show("\n".join(map(one_line, [*lines, *filter(None, [self._calls])])))

    def _line(self, cell: str, count: Count) -> str:
        full = round(self._WIDTH * count.done / count.total) if count.total else self._WIDTH * bool(count.done)
        of = f"/{count.total}" if count.total else ""
        bar = "█" * full + "░" * (self._WIDTH - full)
        return f"{cell} {bar} {count.done}{of} episodes, {count.failed} failed, {count.rate:.1f}/s"
