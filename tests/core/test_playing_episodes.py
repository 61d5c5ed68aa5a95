"""How one episode is played and how it ends: what fails it, and what ends the run instead."""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import replace

import pytest

from sketchmark import Context, Options, Part, Reply, Sample
from sketchmark.episode import Episode, Failure, Turn
from sketchmark.errors import BadInput, CallFailed, CannotPlay, MissingExtra
from sketchmark.runs.episodes import play
from sketchmark.runs.plan import Cell
from tests.core.helpers import Recorder, colour
from tests.core.playing import Talker, acts, cell


async def _played(model: Recorder, here: Cell, time_limit: float | None = None) -> Episode:
    return await play(model, here, next(here.samples()), time_limit=time_limit)


class Broken(Recorder):
    """Raises what it is told on its second call."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    async def draw(self, context: Context, options: Options) -> Reply:
        raise self._error


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (CallFailed("quota", "empty", blames_model=True), Failure("quota", "empty", True)),
        (CallFailed("connection", "gone"), Failure("connection", "gone", False)),
        (BadInput("odd", "try"), Failure("error", "odd (try)")),
        (ZeroDivisionError("by us"), Failure("error", "ZeroDivisionError: by us")),
    ],
)
async def test_what_goes_wrong_in_an_episode_is_its_failure_and_the_turns_before_it_are_kept(
    error: Exception, failure: Failure
) -> None:
    episode = await _played(Broken(error), cell())
    assert episode.failure and replace(episode.failure, traceback="") == failure
    assert bool(episode.failure.traceback) == isinstance(error, ZeroDivisionError)
    assert [turn.act for turn in episode.turns] == ["show", "say"]
    assert episode.says == ["said 1"] and episode.answer == ""


@pytest.mark.parametrize("error", [CannotPlay("never"), MissingExtra("this", "that")])
async def test_what_no_episode_could_be_played_without_ends_the_run(error: Exception) -> None:
    with pytest.raises(type(error)):
        await _played(Broken(error), cell())


async def test_an_episode_that_takes_too_long_is_a_timeout() -> None:
    class Stuck(Recorder):
        async def draw(self, context: Context, options: Options) -> Reply:
            await asyncio.Event().wait()
            raise AssertionError

    episode = await _played(Stuck(), cell(), time_limit=0.01)
    assert episode.failure == Failure("timeout", "the episode took longer than 0.01 s")


async def test_the_run_decides_whether_a_missing_drawing_ends_the_episode() -> None:
    for on_draw_failure, asked in (("fail", ["say", "draw"]), ("continue", ["say", "draw", "say", "draw", "say"])):
        model = Recorder(drawing=lambda i, c: Reply("no"))
        episode = await _played(model, cell(on_draw_failure=on_draw_failure))
        assert acts(model) == asked
        assert (episode.failure is None) == (on_draw_failure == "continue")


async def test_each_call_has_the_modes_settings_and_a_drawing_no_token_limit() -> None:
    block = {"generation": {"max_new_tokens": 50, "temperature": 0.5}, "drawing": {"width": 9}}
    model = Recorder()
    await _played(model, cell("draw_then_answer", block=block))
    assert [options for _, _, options in model.calls] == [Options(None, 0.5, None, {"width": 9}), Options(50, 0.5)]


async def test_a_mode_in_words_is_played_in_words() -> None:
    model = Talker()
    here = cell("draw_then_answer", block={"in_words": True})
    episode = await play(model, here, next(here.samples()))
    assert episode.failure is None and [turn.act for turn in episode.turns] == ["show", "describe", "say"]


async def test_how_steps_are_counted_reaches_the_protocol() -> None:
    model = Recorder(answer=lambda i, c: "DONE")
    episode = await _played(model, cell(steps="model"))
    assert acts(model) == ["say", "say"] and episode.settings["steps"] == "model"


async def test_an_episode_knows_its_sample_and_when_it_began_and_how_long_it_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks = itertools.count(50.0)
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    here = cell("direct")
    sample = next(here.samples())
    episode = await play(Recorder(), here, sample)
    assert episode.sample.fingerprint() == sample.fingerprint()
    assert (episode.seconds, episode.started) == (3.0, 997.0), (
        "two looks at the clock by the call, one by the episode"
    )
    assert episode.failure is None and episode.settings == {"mode": "mode", "canvas": "own", "steps": "truth"}


def _turn(act: str, text: str = "", *, added: str = "", suffix: str = "", drawn: bool = False) -> Turn:
    reply = Reply(text, colour("red") if drawn else None)
    return Turn(act, (Part(added),) if added else (), suffix, reply)  # type: ignore[arg-type]


def test_the_answer_is_the_last_thing_said_and_descriptions_are_not_said() -> None:
    turns = (_turn("say", "first"), _turn("say", "last"), _turn("describe", "a picture"))
    assert Episode(Sample("s"), turns).answer == "last"
    assert Episode(Sample("s"), turns).says == ["first", "last"]
    assert Episode(Sample("s"), turns, Failure("error", "")).answer == ""
    assert Episode(Sample("s"), ()).answer == ""


def test_drawings_and_attempts_are_counted_apart() -> None:
    turns = (_turn("draw", drawn=True), _turn("draw"), _turn("say", drawn=True), _turn("describe"))
    episode = Episode(Sample("s"), turns)
    assert len(episode.drawings) == 1 and episode.draw_attempts == 2


def test_a_calls_context_is_all_that_was_added_before_it_and_its_own_suffix() -> None:
    turns = (Turn("show", (Part("q"),)), _turn("say", added="a", suffix="s1"), _turn("say", added="b"), Turn("skip"))
    contexts = [context.texts for _, context in Episode(Sample("s"), turns).contexts()]
    assert contexts == [["q", "s1"], ["q", "a"]]


def test_what_took_no_call_took_no_time() -> None:
    assert Turn("show").seconds == 0 and Turn("show").reply is None and Turn("show").note == ""
    episode = Episode(Sample("s"), ())
    assert (episode.started, episode.seconds, episode.settings, episode.failure) == (0, 0, {}, None)
    assert not Failure("connection", "gone").blames_model
