"""Every adapter, ready to ask a server at an address one question, and what all of their failures share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sketchmark.episode.model import Model, Options
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.models.providers import bagel
from sketchmark.models.providers.anthropic import Anthropic
from sketchmark.models.providers.azure import Azure
from sketchmark.models.providers.batch import connect, run_job
from sketchmark.models.providers.batch_files import BatchRequest, JobFiles, State, digest
from sketchmark.models.providers.gemini import Gemini
from sketchmark.models.providers.openai import OpenAI
from tests.models.fake_server import KEY

TRIES = 2

Ask = Callable[[str, Path], Awaitable[Any]]


def _model(make: Callable[[str, dict[str, Any]], Model], act: str = "say") -> Ask:
    async def ask(url: str, folder: Path) -> Any:
        model = make(url, {"max_retries": TRIES - 1, "timeout": 0.1 if "trickle" in url else 20})
        try:
            return await (model.draw if act == "draw" else model.say)(of("Hm?"), Options())
        finally:
            await model.close()

    return ask


def _batch(*, sent: bool) -> Ask:
    """A job that is to be uploaded, or one that is under way and asked about."""

    async def ask(url: str, folder: Path) -> Any:
        timeout = 0.1 if "trickle" in url else 20
        connection = connect("openai/m", {"base_url": url, "max_retries": TRIES - 1, "timeout": timeout})
        files = JobFiles.named(folder / "asked", folder / "answers")
        requests = [BatchRequest("one", {"model": "m", "messages": []})]
        if sent:
            files.save_state(State(digest(requests), connection.server, "file-1", "batch-1"))
        try:
            return await run_job(connection, requests, files, lambda words: None)
        finally:
            await connection.close()

    return ask


ADAPTERS: dict[str, Ask] = {
    "openai": _model(lambda url, args: OpenAI("m", base_url=url, **args)),
    "openai-images": _model(lambda url, args: OpenAI("gpt-image-2", base_url=url, **args), "draw"),
    "vllm-drawing": _model(lambda url, args: OpenAI("m", base_url=url, **args), "draw"),
    "azure": _model(lambda url, args: Azure("m", azure_endpoint=url, **args)),
    "bagel": _model(lambda url, args: bagel.make("", base_url=url, **args)),
    "gemini": _model(lambda url, args: Gemini("m", base_url=url, **args)),
    "anthropic": _model(lambda url, args: Anthropic("m", base_url=url, **args)),
    "batch": _batch(sent=False),
    "batch-under-way": _batch(sent=True),
}


async def failure(adapter: str, url: str, folder: Path, *, again: bool, stops: bool) -> CallFailed:
    """What every failure has in common, whoever fails and why."""
    with pytest.raises(CallFailed) as caught:
        await ADAPTERS[adapter](url, folder)
    error = caught.value
    told = str(error)
    assert "\n" not in told and len(told) < 1200
    assert KEY not in told and KEY not in repr(error.__context__) and KEY not in repr(error.__cause__)
    assert (f"tried {TRIES} times" in told) == again
    assert (error.stops_run, error.blames_model) == (stops, False)
    assert error.hint or not stops
    return error
