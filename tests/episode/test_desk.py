"""The desk: what it sends with each call, what it keeps in the context, and what it records."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest

from sketchmark.episode import Episode
from sketchmark.episode import desk as canvas
from sketchmark.episode.desk import Desk
from sketchmark.episode.model import Finish, Model, Options, Reply
from sketchmark.episode.sample import Part, Sample, of
from sketchmark.errors import CallFailed
from sketchmark.media import Picture
from sketchmark.testing import Recorder, colour
from tests.core.playing import Stager, Talker, numbered
from tests.tabled import tabled

SAYING = Options(max_new_tokens=900, temperature=0.3, seed=5, extra={"style": "said", "top_k": 4})
DRAWING = Options(temperature=0.7, extra={"style": "drawn", "width": 64})


async def test_a_suffix_goes_with_one_call_and_replies_drawings_and_labels_stay() -> None:
    model = Recorder()
    desk = Desk(model)
    desk.show("prompt", colour("blue"))
    await desk.say("first?")
    await desk.draw("draw it", label="DRAWN:")
    await desk.draw("again")
    await desk.say()
    red = colour("red")
    assert [context.parts for _, context, _ in model.calls] == [
        of("prompt", colour("blue"), "first?").parts,
        (*of("prompt", colour("blue")), Part("said 1", "model"), Part("draw it")),
        (*of("prompt", colour("blue")), Part("said 1", "model"), Part("DRAWN:"), Part(red, "model"), Part("again")),
        (*of("prompt", colour("blue")), Part("said 1", "model"), Part("DRAWN:"), *of(red, red, by="model")),
    ]
    assert [turn.suffix for turn in desk.turns] == ["", "first?", "draw it", "again", ""]
    assert [(turn.act, len(turn.added)) for turn in desk.turns[:2]] == [("show", 2), ("say", 1)]
    episode = Episode(Sample("s"), tuple(desk.turns))
    assert [context for _, context in episode.contexts()] == [context for _, context, _ in model.calls]


async def test_speaking_and_drawing_are_each_called_with_their_own_settings() -> None:
    both: list[dict[str, Any]] = [{"saying": SAYING, "drawing": DRAWING}, {}]
    for settings in both:
        model = Recorder()
        desk = Desk(model, **settings)
        await desk.say("a")
        await desk.draw("b")
        await desk.say("c", limit=12)
        say, draw = settings.get("saying", Options()), settings.get("drawing", Options())
        limited = Options(12, say.temperature, say.seed, say.extra)
        assert [(act, options) for act, _, options in model.calls] == [("say", say), ("draw", draw), ("say", limited)]


async def test_a_description_is_said_with_the_settings_of_speaking_and_recorded_as_a_description() -> None:
    model = Recorder()
    desk = Desk(model, saying=SAYING, drawing=DRAWING, in_words=True)
    await desk.draw("suffix", label="L")
    [turn] = desk.turns
    assert [(act, options) for act, _, options in model.calls] == [("say", SAYING)]
    assert (turn.act, turn.suffix) == ("describe", "suffix")
    assert turn.added == (Part("L"), Part("said 1", "model"))
    assert turn.reply is not None and turn.reply.text == "said 1"


async def test_an_empty_reply_adds_nothing_to_the_context_and_an_empty_description_only_its_label() -> None:
    desk = Desk(Recorder(answer=lambda i, c: ""), in_words=True)
    assert await desk.say("?") == ""
    await desk.draw("suffix", label="L")
    assert desk.context == of("L")


@pytest.mark.parametrize(
    ("model", "in_words", "can", "wants"),
    [
        (Recorder(), False, True, False),
        (Talker(), False, False, False),
        (Talker(), True, True, False),
        (Stager(), False, True, True),
        (Stager(), True, True, False),
    ],
)
async def test_every_model_can_describe_and_only_a_model_that_stages_itself_gets_one_prompt(
    model: Model, in_words: bool, can: bool, wants: bool
) -> None:
    desk = Desk(model, in_words=in_words)
    assert (desk.can_draw, desk.wants_combined_prompt) == (can, wants)


async def test_the_canvas_gets_the_number_of_earlier_drawings_failed_ones_included() -> None:
    asked: list[tuple[int, int]] = []

    async def watch(drawing: Picture, index: int) -> Picture:
        asked.append((drawing.size[0], index))
        return drawing

    drawn = numbered()
    desk = Desk(Recorder(drawing=lambda i, c: Reply() if i == 2 else drawn(i, c)), canvas=watch, keep_going=True)
    for _ in range(3):
        await desk.draw("x")
    assert asked == [(1, 0), (2, 2)]


async def test_the_context_has_what_the_canvas_shows_and_the_record_what_was_drawn() -> None:
    desk = Desk(Recorder(), canvas=canvas.instead([colour("green")]))
    await desk.draw("x")
    assert desk.context == of(colour("green"), by="model")
    assert Episode(Sample("s"), tuple(desk.turns)).drawings == [colour("red")]


@tabled
async def test_a_missing_picture_ends_the_episode_and_is_a_refusal_only_if_the_model_refused(
    finish: Finish, kind: str, recorded: Finish
) -> None:
    drawn = numbered()
    desk = Desk(Recorder(drawing=lambda i, c: drawn(i, c) if i == 1 else Reply("why", finish=finish)))
    await desk.draw("x")
    with pytest.raises(CallFailed, match=r"^drawing 2 returned no picture") as failed:
        await desk.draw("y", label="L")
    assert (failed.value.kind, failed.value.blames_model) == (kind, True)
    turn = desk.turns[-1]
    assert (turn.act, turn.added, turn.suffix) == ("draw", (), "y")
    assert turn.reply is not None and (turn.reply.finish, turn.reply.text) == (recorded, "why")


async def test_a_desk_that_continues_shows_neither_label_nor_text_of_a_failed_drawing() -> None:
    model = Recorder(drawing=lambda i, c: Reply("sorry", finish="refused"))
    desk = Desk(model, keep_going=True)
    await desk.draw("x", label="L")
    await desk.say("?")
    assert model.calls[1][1] == of("?")
    assert desk.turns[0].reply is not None and desk.turns[0].reply.finish == "refused"


async def test_one_call_for_both_is_recorded_as_drawing_and_answer_and_counted_once() -> None:
    model = Stager(colour("red"))
    desk = Desk(model, saying=SAYING, drawing=DRAWING)
    desk.show("look")
    await desk.draw_and_say("both")
    [(act, context, options)] = model.calls
    assert (act, context.texts) == ("say", ["look", "both"])
    assert options == Options(900, 0.3, 5, {"style": "said", "top_k": 4, "width": 64}), "speaking overrides drawing"
    drew, said = desk.turns[1:]
    assert (drew.act, drew.suffix, drew.added) == ("draw", "both", (Part(colour("red"), "model"),))
    assert (said.act, said.suffix, said.added) == ("say", "", (Part("B", "model"),))
    assert said.note == "came with the drawing, in one call" and drew.note == ""
    assert drew.reply is not None and said.reply is not None
    assert (drew.reply.usage.calls, drew.reply.usage.tokens_out, drew.reply.text) == (1, 7, "")
    assert (said.reply.usage.calls, said.reply.usage.tokens_out, said.reply.picture) == (0, 0, None)
    episode = Episode(Sample("s"), tuple(desk.turns))
    assert (episode.drawings, episode.says) == ([colour("red")], ["B"])


async def test_one_call_without_a_picture_is_a_failed_drawing_numbered_among_all() -> None:
    model = Stager(colour("red"))
    desk = Desk(model)
    await desk.draw_and_say("both")
    model.reply = Reply("B")
    with pytest.raises(CallFailed, match="drawing 2 ") as failed:
        await desk.draw_and_say("both")
    turn = desk.turns[-1]
    assert failed.value.kind == "no_picture"
    assert turn.reply is not None and (turn.act, turn.suffix, turn.reply.text) == ("draw", "both", "")


async def test_one_call_adds_the_answer_without_its_picture_or_the_drawing_without_text() -> None:
    desk = Desk(Stager(None), keep_going=True)
    await desk.draw_and_say("both")
    assert [turn.act for turn in desk.turns] == ["draw", "say"]
    assert desk.context == of("B", by="model")
    desk = Desk(Stager(colour("red"), text=""))
    await desk.draw_and_say("both")
    assert desk.context == of(colour("red"), by="model")


async def test_a_skip_is_recorded_and_shows_nothing() -> None:
    desk = Desk(Recorder())
    desk.skip("no need")
    assert [(turn.act, turn.note, turn.added) for turn in desk.turns] == [("skip", "no need", ())]
    assert len(desk.context) == 0


async def test_calls_are_timed_to_the_microsecond_and_showing_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(100.0, 1.2345678)
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    for in_words in (False, True):
        desk = Desk(Stager(colour("red")), in_words=in_words)
        desk.show("q")
        await desk.say("?")
        await desk.draw("!")
        await desk.draw_and_say("?!")
        assert [turn.seconds for turn in desk.turns] == [0, 1.234568, 1.234568, 1.234568, 0]
    desk = Desk(Recorder(drawing=lambda i, c: Reply()), keep_going=True)
    await desk.draw("!")
    assert desk.turns[0].seconds == 1.234568, "also if it failed"
