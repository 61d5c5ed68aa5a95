"""Execution of many jobs at once, and the event loop for work that users interrupt.

An engine takes jobs and returns their outcomes in any order. It does not know protocols, models or run folders, so
that one engine can replace another.

Python handles a signal when the main thread runs Python again. A signal that another thread receives, or that arrives
just before the event loop sleeps, would be noticed when something else wakes the loop: never, if a server does not
respond. So every signal also writes a byte that the loop waits for.

Other people's code in this process has a deadline (`within`): a scorer that does not end is stopped and named. In the
main thread a timer signal stops Python code, sleeping, and regular expressions, which look for signals while they
search. In another thread (a notebook, an actor of Ray) an exception is set in that thread: it stops Python code, but
neither a sleep nor a regular expression. C code that does not look for signals is reported when it returns.
"""

from __future__ import annotations

import asyncio
import ctypes
import heapq
import inspect
import itertools
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from sketchmark.errors import SketchmarkError

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")
Code = TypeVar("Code", bound=Callable[..., Any])

_AT_LEAST = 0.002
"""Seconds for taking jobs before those taken begin."""

_QUICK = 0.01
"""Seconds in which a job must be made for the event loop to make the next one itself."""

_SLOW_FOR = 100
"""Number of jobs that are taken in a worker thread after one that was not quick."""


async def play_all(
    jobs: Iterator[Job | None], play: Callable[[Job], Awaitable[Outcome]], concurrency: int
) -> AsyncGenerator[Outcome, None]:
    """Run all jobs, at most `concurrency` at a time. The next job is made only when a place is free.

    Jobs that take long to make (painting a puzzle, waiting for a disk) are taken in a worker thread, so that they do
    not delay the running calls; several at once if they are quick after all. Quick ones are taken by the event loop:
    two threads that both run Python stop each other, which cost more than reading and hashing an image. A supply
    yields None for each job that it skips, so that a run can end while it skips many.
    """
    running: set[asyncio.Task[Outcome]] = set()
    done: asyncio.Queue[asyncio.Task[Outcome]] = asyncio.Queue()  # asyncio.wait would visit every job for each one
    ended = threading.Event()

    def draw(places: int) -> tuple[list[Job], bool]:
        """Return jobs, and whether there may be more."""
        drawn: list[Job] = []
        until = time.monotonic() + _AT_LEAST
        for job in jobs:
            if job is not None:
                drawn.append(job)
            if ended.is_set() or len(drawn) == places or time.monotonic() > until:
                return drawn, True
        return drawn, False

    more, aside = True, 1
    try:
        while more or running:
            if more and len(running) < concurrency:
                places = concurrency - len(running)
                if aside > 0:
                    drawn, more = await asyncio.to_thread(draw, places)
                    aside -= len(drawn)
                else:
                    began = time.monotonic()
                    with _outside_the_loop():
                        drawn, more = draw(places)
                    aside = _SLOW_FOR if time.monotonic() - began > _QUICK else 0
                for job in drawn:
                    task = asyncio.ensure_future(play(job))
                    task.add_done_callback(done.put_nowait)
                    running.add(task)
                await asyncio.sleep(0)  # a new job begins before the ended ones are handled
            while running and (not done.empty() or not more or len(running) == concurrency):
                task = await done.get()
                running.discard(task)  # the others stay: if several failed at once, each is handled below
                yield task.result()
    finally:
        ended.set()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


@contextmanager
def _outside_the_loop() -> Iterator[None]:
    """Let code that makes a job call `asyncio.run`, as it may in a worker thread."""
    loop = asyncio.get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)


T = TypeVar("T")

_LOOKS_EVERY = 0.2
"""Seconds between checks for an interrupt."""


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Call `asyncio.run` with a loop that every signal wakes."""

    async def heard() -> T:
        with _woken_by_signals(asyncio.get_running_loop()):
            return await work

    return asyncio.run(heard())


@contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Wake the loop at signals. Only the main thread receives them, and only it may set this up."""
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

    A notebook already runs an event loop, and so does a script within `asyncio.run`. There the work goes to another
    thread, and interrupting the cell or the script ends it in order.

    While this waits, nothing else of that loop runs. So a task of it that is cancelled was cancelled by Ctrl-C: under
    `asyncio.run` the first Ctrl-C does only that.
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
                with suppress(RuntimeError):  # it has ended
                    loop.call_soon_threadsafe(task.cancel)
            raise


def longest_first(
    jobs: Iterator[Job | None], length: Callable[[Job], float | None], ahead: int
) -> Iterator[Job | None]:
    """Yield the longest of the next `ahead` jobs first, so that a long one does not begin when all others are done.

    At most `ahead` jobs are held back. The look-ahead grows by one with each job, so that the first one need not wait
    until many are made. Jobs of equal length keep their order. None, and jobs of unknown length, pass through.
    """
    held: list[tuple[float, int, Job]] = []
    number = itertools.count()
    room = 0
    for job in jobs:
        known = length(job) if job is not None else None
        if job is None or known is None:
            yield job
            continue
        heapq.heappush(held, (-known, next(number), job))
        if len(held) > room:
            room = min(ahead, room + 1)
            yield heapq.heappop(held)[2]
    while held:
        yield heapq.heappop(held)[2]


SECONDS = 5.0
"""CPU time of one call. Twice as much may pass on the clock, because a busy machine is not the code's fault."""

_AGAIN = 0.25
"""Seconds between two attempts: the code may catch the first one."""


class _Late(BaseException):
    """Raised inside the late code. It is not an Exception, so `except Exception` does not catch it there."""


class TooSlow(SketchmarkError):
    """Code that was stopped at its deadline."""

    def __init__(self, name: str, seconds: float) -> None:
        super().__init__(
            f"{name} took longer than {seconds:g} s and was stopped", "its attribute `seconds` allows more"
        )


def patient(seconds: float) -> Callable[[Code], Code]:
    """Mark a function that may take longer because it loads weights or data: `@patient(600)`."""

    def mark(code: Code) -> Code:
        code.__dict__["seconds"] = seconds
        return code

    return mark


def allowed(code: Callable[..., Any]) -> float:
    """Return the seconds that a call of this function may take."""
    return float(getattr(_function(code), "seconds", SECONDS))


def within(seconds: float, code: Callable[..., T], *given: Any, called: str = "") -> T:
    """Return `code(*given)`. Raises TooSlow with its name if it takes longer, even if it returned then."""
    late = False
    began, cpu = time.monotonic(), time.thread_time()

    def call() -> T:
        return code(*given)

    def is_late(used: float = 0.0) -> bool:
        nonlocal late
        late = late or used >= seconds or time.monotonic() - began >= 2 * seconds
        return late

    here = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    try:
        found = (
            _signalled(call, seconds, lambda: is_late(time.thread_time() - cpu)) if here else _aside(call, is_late)
        )
    except _Late:
        if not late:  # of a call around this one
            raise
    if late:
        raise TooSlow(called or _name(code), seconds)
    return found


def _signalled(call: Callable[[], T], seconds: float, is_late: Callable[[], bool]) -> T:
    """Stop the call by a signal, but never the code of this function: it must restore handler and timer.

    If it is inside another such call, the limit of that one holds too.
    """
    own: FrameType | None = sys._getframe()
    around = signal.getsignal(signal.SIGALRM)
    nested = callable(around) and getattr(around, "is_deadline", False)

    def alarm(number: int, frame: FrameType | None) -> None:
        if frame is own:
            return
        if is_late():
            raise _Late
        if nested and callable(around):
            around(number, frame)

    alarm.is_deadline = True  # type: ignore[attr-defined]
    began = time.monotonic()
    signal.signal(signal.SIGALRM, alarm)
    left, again = signal.setitimer(signal.ITIMER_REAL, _AGAIN if nested else seconds, _AGAIN)
    try:
        return call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, around)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 1e-3), again)
        own = None  # a frame that holds itself would keep the episode and its images


def _aside(call: Callable[[], T], is_late: Callable[[], bool]) -> T:
    """Stop the call by an exception that another thread sets in this one, and take it back if the call has ended."""
    me, over, lock = threading.get_ident(), threading.Event(), threading.Lock()

    def watch() -> None:
        while not over.wait(_AGAIN):
            with lock:
                if not over.is_set() and is_late():
                    _raise_in(me, _Late)

    def end() -> None:
        with lock:
            over.set()
            _raise_in(me, None)

    threading.Thread(target=watch, name="deadline", daemon=True).start()
    try:
        return call()
    finally:
        try:
            end()
        except _Late:  # it arrived at this moment; the next attempt is a quarter of a second away
            end()


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error) if error else None)


async def settled_within(
    seconds: float, code: Callable[..., T | Awaitable[T]], *given: Any, waits: bool = False
) -> T:
    """Do the same, and await what the code returns. The deadline is of each step between two awaits and, unless it
    `waits` for a model, of all of it."""
    found = within(seconds, code, *given)
    if not inspect.isawaitable(found):
        return found
    timeout = asyncio.timeout(None if waits else 2 * seconds)
    try:
        async with timeout:
            return await _Steps(found, partial(within, seconds, called=_name(code)))
    except TimeoutError:
        if not timeout.expired():
            raise
        raise TooSlow(_name(code), 2 * seconds) from None


class _Steps(Awaitable[T]):
    """An awaitable whose every step has a deadline."""

    def __init__(self, inner: Awaitable[T], within: Callable[[Callable[[], Any]], Any]) -> None:
        self._inner, self._within = inner, within

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self._inner.__await__()
        step: Callable[..., Any] = partial(next, steps)
        while True:
            ended: list[T] = []
            waits_for = self._within(partial(_step, step, ended))
            if ended:
                return ended[0]
            try:
                sent = yield waits_for
            except BaseException as error:  # a cancelled task: the code may clean up
                step = partial(steps.throw, error)
            else:
                step = partial(steps.send, sent)


def _step(step: Callable[[], Any], ended: list[T]) -> Any:
    """Return what the step waits for. The last step leaves the result, since no generator may raise StopIteration."""
    try:
        return step()
    except StopIteration as end:
        ended.append(end.value)


def _function(code: Callable[..., Any]) -> Any:
    while isinstance(code, partial):
        code = code.func
    return code


def _name(code: Callable[..., Any]) -> str:
    """Return `module.function`. An included file's module has a made-up name, so the file's name is taken."""
    found = _function(code)
    module, name = str(getattr(found, "__module__", "")), getattr(found, "__qualname__", type(found).__name__)
    if not module.startswith("sketchmark.") and hasattr(found, "__code__"):
        module = Path(found.__code__.co_filename).stem
    return f"{module}.{name}".lstrip(".")
