"""What the calls to one model come to while they are made, for whoever looks on.

A few numbers that are added up where a call begins and ends: nothing here is written down, and no result depends on
it. Single attempts are known only to the adapters (`models/calling.py`), which receive the count in `Options.notes`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from typing import Any

from msgspec import Struct

from sketchmark.models.base import Model, Options, Reply, Usage
from sketchmark.models.secrets import shown
from sketchmark.models.wrapped import Wrapped
from sketchmark.parts import Context

_LONGEST_ERROR = 300


class Tally(Struct):
    """Calls of one model; those that the cache answered cost nothing and stand apart."""

    under_way: int = 0
    answered: int = 0
    from_cache: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    pictures_out: int = 0
    retries: int = 0
    error: str = ""
    """What the last try that failed met, in words."""
    silent: int = 0
    """Tries that failed since somebody answered."""

    def came(self, usage: Usage) -> None:
        self.silent = 0
        if not usage.calls:
            self.from_cache += 1
            return
        self.answered += usage.calls
        self.tokens_in += usage.tokens_in
        self.tokens_out += usage.tokens_out
        self.pictures_out += usage.pictures_out

    def failed(self, words: str) -> None:
        self.silent += 1
        self.error = " ".join(shown(words).split())[:_LONGEST_ERROR]

    @property
    def begun(self) -> bool:
        return bool(self.under_way or self.answered or self.from_cache or self.error)

    @property
    def usage(self) -> dict[str, int]:
        """As a price wants it."""
        return {"tokens_in": self.tokens_in, "tokens_out": self.tokens_out, "pictures_out": self.pictures_out}


def together(tallies: Iterable[Tally]) -> Tally:
    """As if one model had answered for all; the error is that of whoever waits longest for an answer."""
    total = Tally()
    for one in tallies:
        for name in ("under_way", "answered", "from_cache", "tokens_in", "tokens_out", "pictures_out", "retries"):
            setattr(total, name, getattr(total, name) + getattr(one, name))
        if one.error and (one.silent > total.silent or not total.error):
            total.error, total.silent = one.error, one.silent
    return total


class Counted(Wrapped):
    """A model whose calls are counted. It goes outside the cache, and says of every call how it went."""

    def __init__(self, model: Model, tally: Tally) -> None:
        super().__init__(model)
        self._tally = tally

    async def say(self, context: Context, options: Options) -> Reply:
        return await self._counted(self._model.say, context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        return await self._counted(self._model.draw, context, options)

    async def _counted(
        self,
        ask: Callable[[Context, Options], Coroutine[Any, Any, Reply]],
        context: Context,
        options: Options,
    ) -> Reply:
        tally = self._tally
        tally.under_way += 1
        try:
            reply = await ask(context, replace(options, notes=tally))
        except Exception as error:
            tally.failed(str(error) or type(error).__name__)
            raise
        finally:
            tally.under_way -= 1
        tally.came(reply.usage)
        return reply
