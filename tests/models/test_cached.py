"""The call cache: the same call is paid for once, and only usable replies are kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Context, Model, Options, Reply
from sketchmark.episode.model import Finish
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, CallFailed
from sketchmark.models import load_model
from sketchmark.models.cache import Cached, CallCache, call_key, default_cache, with_cache
from tests.core.helpers import Recorder
from tests.runs.making import Speaker, colour, cost


def _cached(folder: Path, model: Speaker) -> Cached:
    return Cached(model, CallCache(folder))


@pytest.mark.parametrize(
    ("act", "finish", "calls"),
    [
        *(("say", "stop", 1), ("say", "length", 1), ("say", "empty", 2), ("say", "refused", 2)),
        *(("draw", "stop", 1), ("draw", "no_picture", 2), ("draw", "empty", 2), ("draw", "refused", 2)),
    ],
)
async def test_only_a_usable_reply_is_kept(tmp_path: Path, act: str, finish: Finish, calls: int) -> None:
    inner = Speaker(lambda id: Reply("some", finish=finish), lambda id: Reply(finish=finish))
    for _ in range(2):
        assert (await getattr(_cached(tmp_path, inner), act)(of("a"), Options())).finish == finish
    assert len(inner.calls) == calls


async def test_a_failed_call_is_made_again(tmp_path: Path) -> None:
    def answer(id: str) -> Reply:
        if len(inner.calls) == 1:
            raise CallFailed("connection", "dead")
        return Reply("fine")

    inner = Speaker(answer=answer)
    with pytest.raises(CallFailed):
        await _cached(tmp_path, inner).say(of("a"), Options())
    assert (await _cached(tmp_path, inner).say(of("a"), Options())).text == "fine"


async def test_a_kept_reply_is_the_reply_that_came_but_for_its_price(tmp_path: Path) -> None:
    usage = {"tokens_in": 5, "tokens_out": 7, "pictures_in": 1, "pictures_out": 1}
    whole = Reply("words ä", colour("green"), "length", cost(1, **usage), ("a video",), {"id": "x1"})
    inner = Speaker(drawing=lambda id: whole)
    assert await _cached(tmp_path, inner).draw(of("a"), Options()) == whole
    kept = await _cached(tmp_path, inner).draw(of("a"), Options())
    assert len(inner.calls) == 1
    assert kept == Reply("words ä", colour("green"), "length", cost(0, cached=1, **usage), ("a video",), {"id": "x1"})


async def test_saying_and_drawing_each_reach_the_model_and_are_kept_apart(tmp_path: Path) -> None:
    inner = Speaker()
    model = _cached(tmp_path, inner)
    for _ in range(2):
        assert (await model.say(of("a"), Options())).text == "yes"
        assert (await model.draw(of("a"), Options())).picture == colour("blue")
    assert inner.calls == [("say", "a"), ("draw", "a")]


@pytest.mark.parametrize(
    ("context", "options"),
    [
        (of("b"), Options()),
        (of("a", "a"), Options()),
        (of("a", colour("red")), Options()),
        (of("a", by="model"), Options()),
        (of("a"), Options(max_new_tokens=7)),
        (of("a"), Options(temperature=0.5)),
        (of("a"), Options(seed=0)),
        (of("a"), Options(extra={"width": 4})),
    ],
)
async def test_another_call_is_another_question(tmp_path: Path, context: Context, options: Options) -> None:
    inner = Speaker()
    model = _cached(tmp_path, inner)
    await model.say(of("a"), Options())
    await model.say(context, options)
    assert len(inner.calls) == 2
    assert inner.contexts[1] == context and inner.options[1] == options


async def test_the_order_of_settings_does_not_count_and_the_model_and_its_arguments_do(tmp_path: Path) -> None:
    class Tuned(Speaker):
        arguments = {"revision": 2}  # noqa: RUF012

    for inner in (Speaker(), Speaker(name="other"), Tuned()):
        for extra, order in (({"x": 1, "y": 2}, "ab"), ({"y": 2, "x": 1}, "ab"), ({"x": 1, "y": 2}, "ba")):
            await _cached(tmp_path, inner).say(of(*order), Options(extra=extra))
        assert len(inner.calls) == 2


def test_a_key_names_a_file_and_nothing_else() -> None:
    key = call_key(Speaker(), "say", of("a/../b"), Options())
    assert len(key) == 64 and set(key) <= set("0123456789abcdef")


Damage = Callable[[dict[str, Any]], str]


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: json.dumps(entry)[:9],
        lambda entry: "",
        lambda entry: json.dumps({key: value for key, value in entry.items() if key != "text"}),
        lambda entry: json.dumps({key: value for key, value in entry.items() if key != "usage"}),
        lambda entry: json.dumps({**entry, "picture": "../../secret.png"}),
        lambda entry: json.dumps({**entry, "picture": "0" * 64 + ".png"}),
    ],
)
async def test_a_damaged_entry_counts_as_absent_and_is_written_again(tmp_path: Path, damage: Damage) -> None:
    inner = Speaker()
    await _cached(tmp_path, inner).draw(of("a"), Options())
    (entry,) = tmp_path.rglob("*.json")
    entry.write_text(damage(json.loads(entry.read_text())))
    for _ in range(2):
        assert (await _cached(tmp_path, inner).draw(of("a"), Options())).picture == colour("blue")
    assert len(inner.calls) == 2


@pytest.mark.parametrize("content", [b"", b"not a picture", colour("black").data])
async def test_a_changed_image_in_the_cache_is_drawn_again(tmp_path: Path, content: bytes) -> None:
    inner = Speaker()
    await _cached(tmp_path, inner).draw(of("a"), Options())
    (picture,) = tmp_path.rglob("*.png")
    picture.write_bytes(content)
    assert (await _cached(tmp_path, inner).draw(of("a"), Options())).picture == colour("blue")
    assert len(inner.calls) == 2


def test_the_folder_is_made_unless_a_file_is_in_the_way(tmp_path: Path) -> None:
    for _ in range(2):
        CallCache(tmp_path / "a/b")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BadInput, match=r"cannot keep a call cache in .*--no-cache"):
        CallCache(tmp_path / "file/cache")


async def test_everything_else_is_passed_to_the_model_behind_the_cache(tmp_path: Path) -> None:
    class Told(Speaker):
        max_pictures = 3
        told: tuple[int | str, ...] = ()

        def expect(self, at_once: int) -> None:
            self.told += (at_once,)

        async def close(self) -> None:
            self.told += ("closed",)

    inner = Told()
    model = _cached(tmp_path, inner)
    assert model.name == "speaker"
    assert model.abilities == inner.abilities and model.abilities.max_pictures == 3
    assert model.identity() == inner.identity()
    model.expect(5)
    await model.close()
    assert inner.told == (5, "closed")


def test_the_default_cache_is_where_caches_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert default_cache() == tmp_path / "caches/sketchmark"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_cache() == tmp_path / "home/.cache/sketchmark"


def test_a_model_is_cached_only_where_there_is_a_folder(tmp_path: Path) -> None:
    model = Speaker()
    assert with_cache(model, None) is model
    assert isinstance(with_cache(model, tmp_path), Cached)


class DiesAt(Model):
    """The solver, until its n-th call."""

    def __init__(self, calls: int) -> None:
        super().__init__("dies")
        self.inner, self.left, self.made = load_model("player/solver"), calls, 0

    def _next(self) -> Model:
        self.left -= 1
        self.made += 1
        if self.left < 0:
            raise CallFailed("connection", "dead")
        return self.inner

    async def say(self, context: Context, options: Options) -> Reply:
        return await self._next().say(context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        return await self._next().draw(context, options)


def test_an_episode_interrupted_at_step_7_pays_only_for_what_is_left(tmp_path: Path) -> None:
    settings = {"tasks": "maze", "mode": "visual_cot", "limit": 1, "task_args": {"min_steps": 9, "max_steps": 9}}
    common = {**settings, "cache": tmp_path / "cache", "output_path": tmp_path / "run"}
    first = DiesAt(14)
    sketchmark.run(first, **common)  # type: ignore[arg-type]
    second = DiesAt(1000)
    folder = sketchmark.run(second, retry_failed=True, **common).folder  # type: ignore[arg-type]
    assert folder.results().tasks["maze.visual_cot"].metrics["maze_img_exact"].mean == 1.0
    assert second.made == 9 * 2 + 1 - 14


def _fill(folder: str) -> None:
    async def go() -> None:
        model = Cached(Recorder(answer=lambda i, c: c.texts[0].upper()), CallCache(Path(folder)))
        for number in range(200):
            reply = await model.say(of(f"text {number}"), Options())
            assert reply.text == f"TEXT {number}"

    asyncio.run(go())


def test_two_processes_share_a_cache(tmp_path: Path) -> None:
    context = get_context("spawn")
    workers = [context.Process(target=_fill, args=(str(tmp_path),)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(list((tmp_path / "calls").rglob("*.json"))) == 200
