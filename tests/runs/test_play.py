"""One episode: every way it can end, and what the model sees of its drawings."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest

from sketchmark import Context, Options, Reply
from sketchmark.episode import Failure
from sketchmark.errors import BadInput, CallFailed, CannotPlay, MissingExtra
from sketchmark.media import Picture
from sketchmark.runs.episodes import play
from tests.runs.making import MODES, Speaker, colour, make_cell, make_sample, make_task

SAMPLE, DONOR = make_sample("s0", "red", steps=2), make_sample("s1", "green", steps=2)
TASK = make_task([SAMPLE, DONOR])
_SHADES = {"s0": "blue", "s1": "orange"}


class Hangs(Speaker):
    """Never answers what it is asked about these samples."""

    def __init__(self, *ids: str) -> None:
        super().__init__(drawing=lambda id: Reply(picture=colour(_SHADES[id])))
        self.ids = ids

    async def say(self, context: Context, options: Options) -> Reply:
        if context.texts[0] in self.ids:
            await asyncio.Event().wait()
        return await super().say(context, options)


def _painter(*shades: str) -> Speaker:
    """Draws these, one after the other, whoever asks."""
    left = [*shades]
    return Speaker(drawing=lambda id: Reply(picture=colour(left.pop(0))) if left else Reply())


async def test_an_episode_that_goes_well_says_so_and_how_it_was_played() -> None:
    model = Speaker()
    episode = await play(model, make_cell(TASK, "visual_cot"), SAMPLE)
    assert episode.sample is SAMPLE and episode.failure is None and episode.answer == "yes"
    assert [turn.act for turn in episode.turns] == ["show", "draw", "say"]
    assert episode.settings == {"mode": "visual_cot", "canvas": "own", "steps": "truth"}
    assert model.calls == [("draw", "s0"), ("say", "s0")]


async def test_an_episode_knows_when_it_began_and_how_long_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]

    def answer(id: str) -> str:
        now[0] += 5
        return "yes"

    monkeypatch.setattr(time, "time", lambda: now[0])
    monkeypatch.setattr(time, "perf_counter", lambda: now[0] - 300)
    episode = await play(Speaker(answer), make_cell(TASK), SAMPLE)
    assert (episode.started, episode.seconds) == (1000.0, 5.0)


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (CallFailed("rate_limit", "too fast"), Failure("rate_limit", "too fast", False)),
        (CallFailed("refused", "no", blames_model=True), Failure("refused", "no", True)),
        (BadInput("bad row", "fix it"), Failure("error", "bad row (fix it)", False)),
        (ZeroDivisionError("oops"), Failure("error", "ZeroDivisionError: oops", False)),
    ],
)
async def test_a_failure_is_part_of_the_record(error: Exception, failure: Failure) -> None:
    def answer(id: str) -> str:
        raise error

    episode = await play(Speaker(answer), make_cell(TASK, "visual_cot"), SAMPLE)
    assert episode.failure and replace(episode.failure, traceback="") == failure
    assert bool(episode.failure.traceback) == isinstance(error, ZeroDivisionError), "only code of your own has frames"
    assert [turn.act for turn in episode.turns] == ["show", "draw"], "what came before it is kept"


@pytest.mark.parametrize("error", [CannotPlay("it does not draw"), MissingExtra("torch", "local")])
async def test_what_no_episode_can_be_played_with_ends_the_run(error: Exception) -> None:
    def answer(id: str) -> str:
        raise error

    with pytest.raises(type(error)):
        await play(Speaker(answer), make_cell(TASK), SAMPLE)


async def test_an_episode_that_takes_too_long_is_ended() -> None:
    episode = await play(Hangs("s0"), make_cell(TASK, "visual_cot"), SAMPLE, None, 0.05)
    assert episode.failure == Failure("timeout", "the episode took longer than 0.05 s", False)
    assert len(episode.drawings) == 1


async def _seen(model: Speaker, canvas: str) -> list[Picture]:
    episode = await play(model, make_cell(TASK, "steps", canvas), SAMPLE, DONOR)
    assert episode.failure is None and episode.settings["canvas"] == canvas
    return model.contexts[-1].pictures[1:]


async def test_own_and_blank_canvas() -> None:
    assert await _seen(_painter("blue", "black"), "own") == [colour("blue"), colour("black")]
    assert await _seen(_painter("blue", "black"), "blank") == [colour("white"), colour("white")]


async def test_the_oracle_shows_the_true_pictures() -> None:
    truth = make_sample("s0", steps=2, frames=lambda: [colour("pink"), colour("brown")])
    model = _painter("blue", "black")
    await play(model, make_cell(TASK, "steps", "oracle"), truth)
    assert model.contexts[-1].pictures[1:] == [colour("pink"), colour("brown")]


async def test_the_other_canvas_shows_what_the_donor_draws_when_it_plays_once_by_itself() -> None:
    model = Speaker(drawing=lambda id: Reply(picture=colour(_SHADES[id])))
    assert await _seen(model, "other") == [colour("orange"), colour("orange")]
    assert [id for act, id in model.calls if act == "draw"] == ["s0", "s1", "s1", "s0"], "the donor plays once"
    donors = [context for context in model.contexts if context.texts[0] == "s1"]
    assert donors[-1].pictures == [colour("green"), colour("orange"), colour("orange")], "on its own canvas"


async def test_a_donor_that_stops_drawing_lends_what_it_drew_before() -> None:
    cell = make_cell(TASK, "steps", "other")
    drawn = iter(["blue", "orange", None, "blue"])  # its own, two by the donor, its own
    model = Speaker(drawing=lambda id: Reply(picture=colour(shade) if (shade := next(drawn)) else None))
    episode = await play(model, cell, SAMPLE, DONOR)
    assert episode.failure is None and episode.turns[2].added[-1].content == colour("orange")


@pytest.mark.parametrize("stops", [True, False])
async def test_a_donor_whose_call_fails_lends_nothing_for_want_of_knowing_what_it_draws(stops: bool) -> None:
    def drawing(id: str) -> Reply:
        if id == "s1" and ("draw", "s1") in model.calls[:-1]:
            raise CallFailed("connection", "the line went dead", stops_run=stops)
        return Reply(picture=colour("blue"))

    model = Speaker(drawing=drawing)
    episode = await play(model, make_cell(TASK, "steps", "other"), SAMPLE, DONOR)
    assert episode.failure is not None and episode.stops_run is stops
    assert (episode.failure.kind, episode.failure.blames_model) == ("connection", False)
    assert episode.failure.message == "sample s1, whose drawings were to be shown: the line went dead"


async def test_without_a_donor_or_its_drawings_the_episode_fails_by_no_fault_of_the_model() -> None:
    cell = make_cell(TASK, "visual_cot", "other")
    alone = await play(Speaker(), cell, SAMPLE, None)
    assert alone.failure == Failure("no_donor", "there is no other sample to take a drawing from", False)
    barren = Speaker(drawing=lambda id: Reply(picture=colour("blue") if id == "s0" else None))
    empty = await play(barren, cell, SAMPLE, DONOR)
    assert empty.failure is not None and empty.failure.kind == "no_donor" and not empty.failure.blames_model


async def test_a_donor_that_hangs_is_ended_by_a_time_limit_of_its_own() -> None:
    episode = await play(Hangs("s1"), make_cell(TASK, "visual_cot", "other"), SAMPLE, DONOR, 0.05)
    what = "sample s1, whose drawings were to be shown: the episode took longer than 0.05 s"
    assert episode.failure == Failure("timeout", what, False)


async def test_the_clock_of_an_episode_stands_still_while_its_donor_plays() -> None:
    """Told by the event loop's own clock, which each drawing moves on by 40 seconds."""
    loop = asyncio.get_running_loop()
    late, real = 0.0, loop.time

    class Slow(Speaker):
        async def draw(self, context: Context, options: Options) -> Reply:
            nonlocal late
            late += 40
            for _ in range(3):
                await asyncio.sleep(0)  # a time limit that is over takes effect
            return await super().draw(context, options)

    loop.time = lambda: real() + late  # type: ignore[method-assign]
    cell = make_cell(TASK, "steps", "other")
    episode = await play(Slow(), cell, SAMPLE, DONOR, 100)
    assert episode.failure is None and late == 160, "80 s of its own, 80 s of the donor's, in a limit of 100 s each"
    episode = await play(Slow(), cell, SAMPLE, DONOR, 70)
    assert episode.failure is not None and "s1, whose drawings" in episode.failure.message


async def test_a_time_out_of_a_plug_in_is_told_from_the_runs_time_limit() -> None:
    def answer(id: str) -> Reply:
        raise TimeoutError("no answer from the lab")

    episode = await play(Speaker(answer), make_cell(TASK), SAMPLE)
    assert episode.failure == Failure("timeout", "TimeoutError: no answer from the lab", False)


@pytest.mark.parametrize(("wish", "acts"), [("fail", ["show", "draw"]), ("continue", ["show", "draw", "say"])])
async def test_a_drawing_that_does_not_come_ends_the_episode_unless_told_to_go_on(wish: str, acts: list[str]) -> None:
    cell = make_cell(TASK, "visual_cot", on_draw_failure=wish)
    episode = await play(Speaker(drawing=lambda id: Reply("no")), cell, SAMPLE)
    assert [turn.act for turn in episode.turns] == acts
    assert (episode.failure is None) == (wish == "continue")


async def test_in_words_nothing_is_drawn() -> None:
    model = Speaker()
    episode = await play(model, make_cell(TASK, "text_cot"), SAMPLE)
    assert [turn.act for turn in episode.turns] == ["show", "describe", "say"]
    assert model.calls == [("say", "s0"), ("say", "s0")]


async def test_saying_and_drawing_each_have_their_own_settings() -> None:
    modes = {"visual_cot": {**MODES["visual_cot"], "drawing": {"width": 9}}}
    task = make_task([SAMPLE], generation={"max_new_tokens": 50, "temperature": 0.5}, modes=modes)
    model = Speaker()
    await play(model, make_cell(task, "visual_cot"), SAMPLE)
    assert model.options == [Options(None, 0.5, None, {"width": 9}), Options(50, 0.5)]


async def test_the_model_may_decide_how_many_steps_there_are() -> None:
    says = iter(["a plan", "DONE", "yes"])
    model = Speaker(lambda id: next(says))
    episode = await play(model, make_cell(TASK, "steps", steps="model"), SAMPLE)
    assert episode.settings["steps"] == "model" and len(episode.drawings) == 1 and episode.answer == "yes"
