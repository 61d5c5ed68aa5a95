"""A judge whose calls cost money: each is charged, and none is made once there is nothing left to spend."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sketchmark.errors import CallFailed
from sketchmark.models.base import Model, Options, Reply
from sketchmark.models.wrapped import Wrapped
from sketchmark.parts import Context


class Metered(Wrapped):
    """Goes inside the cache: what was said before costs nothing and may always be said again."""

    def __init__(
        self, model: Model, charge: Callable[[Mapping[str, int]], None], used_up: Callable[[], bool]
    ) -> None:
        super().__init__(model)
        self._charge = charge
        self._used_up = used_up

    async def say(self, context: Context, options: Options) -> Reply:
        if self._used_up():
            raise CallFailed("cost_limit", f"{self.name} was not asked: the cost limit is reached")
        reply = await self._model.say(context, options)
        self._charge(vars(reply.usage))
        return reply
