"""A model inside another that looks after its calls (a cache, a meter), and is the same model to everyone else."""

from __future__ import annotations

from typing import Any

from sketchmark.models.base import Abilities, Model, Options
from sketchmark.parts import Context


class Wrapped(Model):
    def __init__(self, model: Model) -> None:
        super().__init__(model.name)
        self._model = model
        self.keys = model.keys

    @property
    def abilities(self) -> Abilities:
        return self._model.abilities

    def identity(self) -> dict[str, Any]:
        return self._model.identity()

    def expect(self, at_once: int) -> None:
        self._model.expect(at_once)

    def forget(self, context: Context, options: Options) -> None:
        self._model.forget(context, options)

    async def retirements(self) -> dict[str, str]:
        return await self._model.retirements()

    async def close(self) -> None:
        await self._model.close()
