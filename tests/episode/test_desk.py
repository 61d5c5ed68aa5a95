from __future__ import annotations

import pytest

from sketchmark.episode import Episode
from sketchmark.episode import desk as canvas
from sketchmark.episode.desk import Desk
from sketchmark.episode.model import Options, Reply
from sketchmark.episode.sample import Sample, of
from sketchmark.errors import CallFailed
from tests.core.helpers import Recorder, colour


async def test_a_suffix_goes_with_one_call_only_and_the_answer_stays() -> None:
    model = Recorder()
    desk = Desk(model)
    desk.show("prompt", colour("blue"))
    await desk.say("first?")
    await desk.say("second?")
    assert model.calls[0][1].texts == ["prompt", "first?"]
    assert model.calls[1][1].texts == ["prompt", "said 1", "second?"]


async def test_what_the_model_drew_is_in_the_next_context_behind_its_label() -> None:
    model = Recorder()
    desk = Desk(model)
    desk.show("prompt")
    await desk.draw("draw it", label="DRAWN:")
    await desk.say("and?")
    context = model.calls[1][1]
    assert [part.text for part in context] == ["prompt", "DRAWN:", None, "and?"]
    assert context.pictures == [colour("red")]
    assert [part.by for part in context] == ["task", "task", "model", "task"]


async def test_a_blank_canvas_shows_white_paper_of_the_same_size_and_keeps_the_drawing_on_record() -> None:
    model = Recorder()
    desk = Desk(model, canvas=canvas.blank)
    await desk.draw("x")
    await desk.say("?")
    shown = model.calls[1][1].pictures[0]
    assert shown.size == (16, 16) and shown.image().getpixel((3, 3)) == (255, 255, 255)
    episode = Episode(Sample("s"), tuple(desk.turns))
    assert episode.drawings == [colour("red")]


async def test_an_oracle_canvas_shows_the_true_frame_and_stands_still_after_the_last() -> None:
    model = Recorder()
    frames = [colour("green"), colour("yellow")]
    desk = Desk(model, canvas=canvas.instead(frames))
    for _ in range(3):
        await desk.draw("x")
    assert desk.context.pictures == [frames[0], frames[1], frames[1]]


async def test_in_words_a_drawing_is_a_description_and_the_model_is_never_asked_to_draw() -> None:
    model = Recorder()
    desk = Desk(model, in_words=True)
    await desk.draw("describe it", label="THERE:")
    assert [kind for kind, _, _ in model.calls] == ["say"]
    assert desk.context.texts == ["THERE:", "said 1"]


async def test_a_drawing_without_a_picture_ends_the_episode_and_blames_the_model() -> None:
    desk = Desk(Recorder(drawing=lambda i, c: Reply(text="I would rather not")))
    with pytest.raises(CallFailed) as failed:
        await desk.draw("x")
    assert failed.value.kind == "no_picture" and failed.value.blames_model
    assert desk.turns[-1].reply is not None and desk.turns[-1].reply.finish == "no_picture"


async def test_told_to_go_on_the_desk_records_the_missing_drawing_and_asks_without_it() -> None:
    model = Recorder(drawing=lambda i, c: Reply(text="no"))
    desk = Desk(model, keep_going=True)
    desk.show("q")
    await desk.draw("x")
    await desk.say("?")
    assert model.calls[1][1].pictures == []
    assert desk.turns[1].act == "draw" and desk.turns[1].added == ()


async def test_a_refused_drawing_is_called_refused() -> None:
    desk = Desk(Recorder(drawing=lambda i, c: Reply(finish="refused")))
    with pytest.raises(CallFailed) as failed:
        await desk.draw("x")
    assert failed.value.kind == "refused"


async def test_the_exact_context_of_every_call_can_be_had_from_the_episode() -> None:
    model = Recorder()
    desk = Desk(model)
    desk.show("prompt", colour("blue"))
    await desk.say("plan")
    await desk.draw("draw", label="L")
    await desk.say("final")
    episode = Episode(Sample("s"), tuple(desk.turns))
    assert [context for _, context in episode.contexts()] == [context for _, context, _ in model.calls]


async def test_a_limit_changes_the_tokens_of_that_call_alone() -> None:
    model = Recorder()
    desk = Desk(model, saying=Options(max_new_tokens=4096))
    await desk.say("a", limit=128)
    await desk.say("b")
    assert [options.max_new_tokens for _, _, options in model.calls] == [128, 4096]


async def test_an_empty_reply_adds_nothing_to_the_context() -> None:
    desk = Desk(Recorder(answer=lambda i, c: ""))
    desk.show("q")
    assert await desk.say("?") == ""
    assert desk.context == of("q")
