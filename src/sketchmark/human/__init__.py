"""People as models: `human/NAME` answers each call with what a person writes and draws in the browser.

A run of a person is an ordinary run. The person sees exactly the parts that a model gets, in the same order. A sample
that the person skips, or that takes longer than its time limit, is a model failure: scored as wrong and counted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sketchmark.episode.model import Model, Options, Reply, Usage
from sketchmark.episode.sample import Context, Sample
from sketchmark.errors import BadInput, CallFailed
from sketchmark.folder.format import PEOPLE
from sketchmark.human.pages import Given, call_page, drawing_of, record_of
from sketchmark.media import Picture
from sketchmark.media.sound import Sound
from sketchmark.runs.plan import Cell

SKIPPED, LATE, LEFT = "skipped", "out_of_time", "left"
"""Kinds of failure. The first two are the person's and are scored as wrong; one who leaves resumes the sample."""


@dataclass
class Item:
    """A sample before a person, and how long it may take."""

    cell: Cell
    sample: Sample
    number: int = 0
    total: int = 0
    practice: bool = False
    seconds: float | None = None
    began: float | None = None
    """Time at which the browser got its first page, by the server's clock."""
    is_late: bool = False

    @property
    def left(self) -> float | None:
        """Seconds left, None without a limit."""
        if self.seconds is None:
            return None
        return max(0.0, self.seconds - (time.monotonic() - self.began if self.began is not None else 0.0))

    @property
    def progress(self) -> dict[str, int]:
        return {"at": self.number, "total": self.total}


class Stale(BadInput):
    """A reply to a page that is no longer shown: it was sent twice, or from a second window."""


@dataclass
class Person:
    """One person: the page that the browser shows now, and the code that waits for what the person does there.

    Everything happens on one event loop. A page has a number, and a reply names the page that it is for, so that
    neither a reload nor a second window can answer twice.
    """

    name: str
    item: Item | None = None
    before_item: Callable[[Item], Awaitable[None]] | None = None
    """Awaited once before the first call of an item, for questions that are not part of the run."""
    page: dict[str, Any] = field(default_factory=lambda: {"kind": "wait", "number": 0})
    files: dict[str, Picture | Sound] = field(default_factory=dict)
    """Images and sounds of this page, by digest. The browser gets no others."""
    has_left: bool = False
    _number: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _answer: asyncio.Future[Given] | None = None
    has_seen_end: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the browser got the last page."""

    def show(self, kind: str, files: dict[str, Picture | Sound] | None = None, /, **content: Any) -> None:
        """Change the page."""
        self._number += 1
        self.files = files or {}
        self.page = {"kind": kind, "number": self._number, **content}
        self._changed.set()
        self._changed = asyncio.Event()

    async def ask(self, kind: str, files: dict[str, Picture | Sound] | None = None, /, **content: Any) -> Given:
        """Show a page and wait for the reply to it."""
        if self.has_left:
            raise CallFailed(LEFT, f"{self.name} stopped", stops_run=True)
        self._answer = asyncio.get_running_loop().create_future()
        self.show(kind, files, **content)
        try:
            return await self._answer
        finally:
            self._answer = None
            self.show("wait")

    async def news(self, after: int, patience: float) -> dict[str, Any]:
        """Return the page once it is newer than `after`, or the same page after `patience` seconds."""
        until = time.monotonic() + patience
        while (self.page["number"] <= after or self.page["kind"] == "wait") and (
            left := until - time.monotonic()
        ) > 0:
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
            except TimeoutError:
                break
        return self.delivered()

    def delivered(self) -> dict[str, Any]:
        """Return the page for the browser. The clock of an item begins with its first page."""
        item = self.item
        if self.page["kind"] == "end":
            self.has_seen_end.set()
        if item is None or self.page["kind"] != "call":
            return self.page
        if item.began is None:
            item.began = time.monotonic()
            if item.seconds is not None:
                asyncio.get_running_loop().call_later(item.seconds, self._expire, item)
        return {**self.page, "left": item.left, "spent": time.monotonic() - item.began}

    def reply(self, number: int, given: Given) -> None:
        """Give the code that waits what the person did on page `number`."""
        if self._answer is None or self._answer.done() or number != self._number:
            raise Stale("this page is no longer shown", "reload the page")
        self._answer.set_result(given)

    def leave(self) -> None:
        """Stop after this page. The sample is not counted, and the same command shows it again."""
        self.has_left = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(CallFailed(LEFT, f"{self.name} stopped", stops_run=True))

    def _expire(self, item: Item) -> None:
        item.is_late = True
        on_it = self.item is item and self.page["kind"] == "call"
        if on_it and self._answer is not None and not self._answer.done():
            self._answer.set_exception(_late(item))

    @contextmanager
    def at(self, item: Item) -> Iterator[None]:
        """Work on one item."""
        self.item = item
        try:
            yield
        finally:
            self.item = None


def _late(item: Item) -> CallFailed:
    return CallFailed(LATE, f"not answered within {item.seconds or 0:g} s", blames_model=True)


class Human(Model):
    """A person as a model."""

    hears = True

    def __init__(self, person: Person) -> None:
        super().__init__(f"{PEOPLE}{person.name}")
        self._person = person

    def identity(self) -> dict[str, Any]:
        return {"name": self.name}

    async def say(self, context: Context, options: Options) -> Reply:
        given, seconds = await self._ask("say", context, options)
        return Reply(text=given.text, raw=record_of(given, seconds))

    async def draw(self, context: Context, options: Options) -> Reply:
        given, seconds = await self._ask("draw", context, options)
        drawing = drawing_of(given)
        return Reply(picture=drawing, usage=Usage(pictures_out=1), raw=record_of(given, seconds))

    async def _ask(self, act: str, context: Context, options: Options) -> tuple[Given, float]:
        person = self._person
        item = person.item
        if item is None:
            raise CallFailed("error", f"{self.name} was asked outside of a sample")
        if person.before_item and item.began is None:
            await person.before_item(item)
        if item.is_late:
            raise _late(item)
        page, files = await asyncio.to_thread(call_page, act, context, item.cell, item.sample)
        shown = time.monotonic()
        given = await person.ask("call", files, **page, practice=item.practice, **item.progress, limit=item.seconds)
        if given.act == "skip":
            raise CallFailed(SKIPPED, f"{person.name} skipped the sample", blames_model=True)
        return given, time.monotonic() - shown
