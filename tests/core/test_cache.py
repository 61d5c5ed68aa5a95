from __future__ import annotations

from multiprocessing import get_context
from pathlib import Path

import pytest

import sketchmark
from sketchmark import Context, Model, Options, Reply
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.models.cache import Cached, CallCache, call_key
from tests.core.helpers import Recorder, colour


async def test_the_same_call_is_asked_once_and_a_cached_reply_costs_nothing(tmp_path: Path) -> None:
    inner = Recorder()
    model = Cached(inner, CallCache(tmp_path))
    first = await model.draw(of("a", colour("blue")), Options())
    second = await model.draw(of("a", colour("blue")), Options())
    assert len(inner.calls) == 1
    assert first.picture == second.picture
    assert (first.usage.calls, second.usage.calls) == (1, 0)


def test_the_key_covers_everything_that_could_change_the_answer() -> None:
    class Other(Recorder):
        def identity(self) -> dict[str, object]:
            return {"name": self.name, "revision": 2}

    context, options = of("a"), Options()
    keys = {
        call_key(Recorder(), "say", context, options),
        call_key(Recorder(), "draw", context, options),
        call_key(Other(), "say", context, options),
        call_key(Recorder(), "say", of("a", colour("red")), options),
        call_key(Recorder(), "say", of("a", by="model"), options),
        call_key(Recorder(), "say", context, Options(temperature=0.5)),
        call_key(Recorder(), "say", context, Options(max_new_tokens=7)),
        call_key(Recorder(), "say", context, Options(seed=1)),
        call_key(Recorder(), "say", context, Options(extra={"cfg_text_scale": 4.0})),
    }
    assert len(keys) == 9


class FailsOnce(Model):
    calls = 0

    async def say(self, context: Context, options: Options) -> Reply:
        FailsOnce.calls += 1
        if FailsOnce.calls == 1:
            raise CallFailed("connection", "dead")
        if FailsOnce.calls == 2:
            return Reply(finish="refused")
        return Reply(text="fine")


async def test_a_failure_or_a_refusal_is_never_cached(tmp_path: Path) -> None:
    model = Cached(FailsOnce("f"), CallCache(tmp_path))
    with pytest.raises(CallFailed):
        await model.say(of("a"), Options())
    assert (await model.say(of("a"), Options())).finish == "refused"
    assert (await model.say(of("a"), Options())).text == "fine"


async def test_a_damaged_entry_is_asked_again(tmp_path: Path) -> None:
    inner = Recorder()
    model = Cached(inner, CallCache(tmp_path))
    await model.say(of("a"), Options())
    for path in tmp_path.rglob("*.json"):
        path.write_bytes(path.read_bytes()[:5])
    await model.say(of("a"), Options())
    assert len(inner.calls) == 2


class DiesAt(Model):
    """The solver, until its n-th call."""

    def __init__(self, calls: int) -> None:
        super().__init__("dies")
        from sketchmark.models import load_model

        self.inner, self.left, self.made = load_model("player/solver"), calls, 0

    async def _next(self) -> None:
        self.left -= 1
        self.made += 1
        if self.left < 0:
            raise CallFailed("connection", "dead")

    async def say(self, context: Context, options: Options) -> Reply:
        await self._next()
        return await self.inner.say(context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        await self._next()
        return await self.inner.draw(context, options)


def test_an_episode_interrupted_at_step_7_pays_only_for_what_is_left(tmp_path: Path) -> None:
    settings = {"tasks": "maze", "mode": "visual_cot", "limit": 1, "task_args": {"min_steps": 9, "max_steps": 9}}
    common = {**settings, "cache": tmp_path / "cache", "output_path": tmp_path / "run"}
    first = DiesAt(14)
    sketchmark.run(first, **common)  # type: ignore[arg-type]
    second = DiesAt(1000)
    folder = sketchmark.run(second, retry_failed=True, **common).folder  # type: ignore[arg-type]
    assert folder.results().tasks["maze.visual_cot"].metrics["maze_img_exact"].mean == 1.0
    assert second.made == 9 * 2 + 1 - 14


def _fill(folder: str, worker: int) -> None:
    import asyncio

    async def go() -> None:
        model = Cached(Recorder(answer=lambda i, c: c.texts[0].upper()), CallCache(Path(folder)))
        for number in range(200):
            reply = await model.say(of(f"text {number}"), Options())
            assert reply.text == f"TEXT {number}"

    asyncio.run(go())


def test_two_processes_share_a_cache(tmp_path: Path) -> None:
    context = get_context("spawn")
    workers = [context.Process(target=_fill, args=(str(tmp_path), n)) for n in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(list((tmp_path / "calls").rglob("*.json"))) == 200
