"""One question to a model, and the ways in which it can end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sketchmark import Model, Options, Reply
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.models.providers.openai import OpenAI
from tests.models.fake_server import FarEnd


def openai(far: FarEnd, name: str = "m", **args: Any) -> OpenAI:
    return OpenAI(name, base_url=f"{far.url}/v1", **{"max_retries": 0, **args})


async def say(model: Model, *parts: Any, **options: Any) -> Reply:
    return await model.say(of(*(parts or ("Hm?",))), Options(**options))


async def draw(model: Model, *parts: Any, **options: Any) -> Reply:
    return await model.draw(of(*(parts or ("Draw.",))), Options(**options))


async def failure(model: Model, act: Callable[..., Any] = say) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        await act(model)
    return caught.value
