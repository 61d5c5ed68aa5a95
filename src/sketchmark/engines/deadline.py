"""Deadlines for other people's code in this process: a scorer that does not end is stopped and named.

In the main thread a timer signal stops Python code, sleeping, and regular expressions, which look for signals while
they search. In another thread (a notebook, an actor of Ray) an exception is set in that thread: it stops Python code,
but neither a sleep nor a regular expression. C code that does not look for signals is reported when it returns.
"""

from __future__ import annotations

import asyncio
import ctypes
import inspect
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from sketchmark.errors import SketchmarkError

T = TypeVar("T")
Code = TypeVar("Code", bound=Callable[..., Any])

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
        late = True
    if late:
        raise TooSlow(called or _name(code), seconds)
    return found


def _signalled(call: Callable[[], T], seconds: float, is_late: Callable[[], bool]) -> T:
    """Stop the call by a signal, but never the code of this function: it must restore handler and timer."""
    own = sys._getframe()

    def alarm(number: int, frame: FrameType | None) -> None:
        if frame is not own and is_late():
            raise _Late

    before = signal.signal(signal.SIGALRM, alarm)
    left, again = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        return call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            signal.setitimer(signal.ITIMER_REAL, left, again)


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
