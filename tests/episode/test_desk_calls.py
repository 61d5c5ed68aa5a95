"""What a desk sends with each call, what it keeps of it, and what it writes down."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence

import pytest

from sketchmark.episode import Episode
from sketchmark.episode import desk as canvas
from sketchmark.episode.desk import Desk
from sketchmark.episode.model import Finish, Model, Options, Reply
from sketchmark.episode.sample import Part, Sample, of
from sketchmark.errors import CallFailed
from sketchmark.media import Picture
from tests.core.helpers import Recorder, colour
from tests.core.playing import Stager, Talker, acts, numbered

SAYING = Options(max_new_tokens=900, temperature=0.3, seed=5, extra={"style": "said", "top_k": 4})
DRAWING = Options(temperature=0.7, extra={"style": "drawn", "width": 64})


async def test_speaking_and_drawing_are_each_called_with_their_own_settings() -> None:
    model = Recorder()
    desk = Desk(model, saying=SAYING, drawing=DRAWING)
    await desk.say("a")
    await desk.draw("b")
    assert [(act, options) for act, _, options in model.calls] == [("say", SAYING), ("draw", DRAWING)]


async def test_a_desk_told_nothing_calls_with_plain_settings() -> None:
    model = Recorder()
    desk = Desk(model)
    await desk.say()
    await desk.draw()
    assert [options for _, _, options in model.calls] == [Options(), Options()]


async def test_a_description_is_asked_for_with_the_settings_of_speaking() -> None:
    model = Recorder()
    await Desk(model, saying=SAYING, drawing=DRAWING, in_words=True).draw("b")
    assert model.calls[0][2] == SAYING


async def test_a_limit_leaves_all_other_settings_as_they_are() -> None:
    model = Recorder()
    await Desk(model, saying=SAYING).say("a", limit=12)
    options = model.calls[0][2]
    assert options == Options(12, SAYING.temperature, SAYING.seed, SAYING.extra)


async def test_without_a_suffix_the_context_is_sent_as_it_is() -> None:
    model = Recorder()
    desk = Desk(model)
    desk.show("q")
    await desk.say()
    assert model.calls[0][1] == of("q")


async def test_each_thing_shown_is_a_part_of_its_own_by_the_task() -> None:
    desk = Desk(Recorder())
    desk.show("a", colour("red"), "b")
    assert desk.context == of("a", colour("red"), "b")
    assert [(turn.act, len(turn.added), turn.reply) for turn in desk.turns] == [("show", 3, None)]


async def test_a_suffix_is_never_kept_and_a_label_always_is() -> None:
    desk = Desk(Recorder())
    desk.show("q")
    await desk.say("say suffix")
    await desk.draw("draw suffix", label="L1")
    await desk.draw("draw suffix")
    assert [part.text for part in desk.context] == ["q", "said 1", "L1", None, None]
    assert [turn.suffix for turn in desk.turns] == ["", "say suffix", "draw suffix", "draw suffix"]


async def test_a_description_is_kept_like_an_answer_and_written_down_as_one() -> None:
    desk = Desk(Recorder(), in_words=True)
    await desk.draw("suffix", label="L")
    [turn] = desk.turns
    assert (turn.act, turn.suffix) == ("describe", "suffix")
    assert turn.added == (Part("L"), Part("said 1", "model"))
    assert turn.reply is not None and turn.reply.text == "said 1"


async def test_an_empty_description_leaves_its_label_alone() -> None:
    desk = Desk(Recorder(answer=lambda i, c: ""), in_words=True)
    await desk.draw("suffix", label="L")
    assert desk.context == of("L")


@pytest.mark.parametrize(
    ("model", "in_words", "can"), [(Recorder(), False, True), (Talker(), False, False), (Talker(), True, True)]
)
async def test_anyone_can_draw_in_words_and_otherwise_only_a_model_that_draws(
    model: Model, in_words: bool, can: bool
) -> None:
    assert Desk(model, in_words=in_words).can_draw is can


@pytest.mark.parametrize(
    ("model", "in_words", "wants"), [(Recorder(), False, False), (Stager(), False, True), (Stager(), True, False)]
)
async def test_one_prompt_is_for_models_that_want_it_and_never_in_words(
    model: Model, in_words: bool, wants: bool
) -> None:
    assert Desk(model, in_words=in_words).wants_combined_prompt is wants


async def test_the_canvas_is_told_how_many_were_drawn_before_also_after_one_that_failed() -> None:
    asked: list[tuple[int, int]] = []

    async def watch(drawing: Picture, index: int) -> Picture:
        asked.append((drawing.size[0], index))
        return drawing

    drawn = numbered()
    model = Recorder(drawing=lambda i, c: Reply() if i == 2 else drawn(i, c))
    desk = Desk(model, canvas=watch, keep_going=True)
    for _ in range(3):
        await desk.draw("x")
    assert asked == [(1, 0), (2, 2)]


async def test_what_is_seen_goes_into_the_context_and_what_was_drawn_into_the_record() -> None:
    desk = Desk(Recorder(), canvas=canvas.instead([colour("green")]))
    await desk.draw("x")
    assert desk.context.pictures == [colour("green")] and desk.context.parts[0].by == "model"
    reply = desk.turns[0].reply
    assert reply is not None and reply.picture == colour("red")


ENDS: Sequence[tuple[Finish, str, Finish]] = [
    ("stop", "no_picture", "no_picture"),
    ("refused", "refused", "refused"),
    ("length", "no_picture", "length"),
    ("empty", "no_picture", "empty"),
    ("no_picture", "no_picture", "no_picture"),
]


@pytest.mark.parametrize(("finish", "kind", "recorded"), ENDS)
async def test_a_missing_picture_is_a_refusal_only_if_the_model_refused(
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


async def test_told_to_go_on_neither_label_nor_words_of_a_failed_drawing_are_shown() -> None:
    desk = Desk(Recorder(drawing=lambda i, c: Reply("sorry", finish="refused")), keep_going=True)
    await desk.draw("x", label="L")
    assert len(desk.context) == 0
    assert desk.turns[0].reply is not None and desk.turns[0].reply.finish == "refused"


async def test_one_call_for_both_is_written_down_as_the_drawing_and_the_answer() -> None:
    model = Stager(colour("red"))
    desk = Desk(model)
    desk.show("look")
    await desk.draw_and_say("both")
    assert acts(model) == ["say"] and model.calls[0][1].texts == ["look", "both"]
    drew, said = desk.turns[1:]
    assert (drew.act, drew.suffix, drew.added) == ("draw", "both", (Part(colour("red"), "model"),))
    assert (said.act, said.suffix, said.added) == ("say", "", (Part("B", "model"),))
    assert said.note == "came with the drawing, in one call" and drew.note == ""
    episode = Episode(Sample("s"), tuple(desk.turns))
    assert (episode.drawings, episode.says) == ([colour("red")], ["B"])


async def test_one_call_for_both_is_counted_and_paid_once() -> None:
    desk = Desk(Stager(colour("red")))
    await desk.draw_and_say("both")
    drew, said = (turn.reply for turn in desk.turns)
    assert drew is not None and said is not None
    assert (drew.usage.calls, drew.usage.tokens_out, drew.text, drew.picture) == (1, 7, "", colour("red"))
    assert (said.usage.calls, said.usage.tokens_out, said.text, said.picture) == (0, 0, "B", None)


async def test_one_call_for_both_keeps_the_settings_of_drawing_under_those_of_speaking() -> None:
    model = Stager(colour("red"))
    await Desk(model, saying=SAYING, drawing=DRAWING).draw_and_say("both")
    options = model.calls[0][2]
    assert (options.max_new_tokens, options.temperature, options.seed) == (900, 0.3, 5)
    assert options.extra == {"style": "said", "top_k": 4, "width": 64}


async def test_one_call_that_brings_no_picture_is_a_failed_drawing() -> None:
    desk = Desk(Stager(None))
    with pytest.raises(CallFailed, match="drawing 1 ") as failed:
        await desk.draw_and_say("both")
    assert failed.value.kind == "no_picture"
    [turn] = desk.turns
    assert turn.reply is not None and (turn.act, turn.suffix, turn.reply.text) == ("draw", "both", "")


async def test_told_to_go_on_the_answer_of_such_a_call_counts_without_its_picture() -> None:
    desk = Desk(Stager(None), keep_going=True)
    await desk.draw_and_say("both")
    assert [turn.act for turn in desk.turns] == ["draw", "say"]
    assert desk.context == of("B", by="model")


async def test_one_call_without_words_adds_the_drawing_alone() -> None:
    desk = Desk(Stager(colour("red"), text=""))
    await desk.draw_and_say("both")
    assert desk.context == of(colour("red"), by="model")


async def test_drawings_are_numbered_across_single_calls_too() -> None:
    model = Stager(colour("red"))
    desk = Desk(model)
    await desk.draw_and_say("both")
    model.reply = Reply("B")
    with pytest.raises(CallFailed, match="drawing 2 "):
        await desk.draw_and_say("both")


async def test_a_skip_is_written_down_and_shows_nothing() -> None:
    desk = Desk(Recorder())
    desk.skip("no need")
    assert [(turn.act, turn.note, turn.added) for turn in desk.turns] == [("skip", "no need", ())]
    assert len(desk.context) == 0


async def test_a_call_is_timed_to_the_microsecond_and_what_is_only_shown_takes_no_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks = itertools.count(100.0, 1.2345678)
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    for in_words in (False, True):
        desk = Desk(Stager(colour("red")), in_words=in_words)
        desk.show("q")
        await desk.say("?")
        await desk.draw("!")
        await desk.draw_and_say("?!")
        assert [turn.seconds for turn in desk.turns] == [0, 1.234568, 1.234568, 1.234568, 0]


async def test_the_time_of_a_drawing_that_failed_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(7.0, 2.0)
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    desk = Desk(Recorder(drawing=lambda i, c: Reply()), keep_going=True)
    await desk.draw("!")
    assert desk.turns[0].seconds == 2
