"""BAGEL behind vLLM-Omni: the extra body fields, and what its one-picture conditioning leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from sketchmark.episode.model import Model, Options
from sketchmark.episode.sample import Context, Part, of
from sketchmark.errors import BadInput, CannotPlay
from sketchmark.models.providers.bagel import make
from tests.models.fake_server import DRAWN, FarEnd, picture

EIGHT = [picture(shade) for shade in range(8)]
TASK = {"cfg_text_scale": 4.0, "cfg_interval": 0.4, "timestep_shift": 3.0, "num_timesteps": 50}


def bagel(far: FarEnd, **args: Any) -> Model:
    far.bagel = True
    return make("", base_url=f"{far.url}/v1", max_retries=0, **args)


async def test_reading_sends_the_whole_context_and_asks_for_text(far: FarEnd) -> None:
    reply = await bagel(far).say(of(*EIGHT, "Which?"), Options(max_new_tokens=9, extra=TASK))
    assert far.seen[0].pictures == EIGHT
    assert far.seen[0].body | {"messages": 0} == {
        "model": "ByteDance-Seed/BAGEL-7B-MoT", "messages": 0, "temperature": 0.0, "max_tokens": 9,
        "modalities": ["text"],
    }  # fmt: skip
    assert (reply.text, reply.left_out) == ("left", ())


async def test_drawing_sends_the_newest_picture_and_says_what_was_left_out(far: FarEnd) -> None:
    reply = await bagel(far).draw(of("First.", *EIGHT, "Draw."), Options(seed=5, extra=TASK))
    assert far.seen[0].pictures == [EIGHT[7]]
    assert far.seen[0].body | {"messages": 0} == {
        "model": "ByteDance-Seed/BAGEL-7B-MoT", "messages": 0, "temperature": 0.0, "seed": 5, "modalities": ["image"],
        "cfg_text_scale": 4.0, "cfg_interval": [0.4, 1.0], "timestep_shift": 3.0, "num_inference_steps": 50,
    }  # fmt: skip
    texts = [block["text"] for block in far.seen[0].body["messages"][0]["content"] if block["type"] == "text"]
    assert texts == ["First.", "Draw."]
    assert reply.picture == DRAWN
    assert reply.left_out == (
        "7 of 8 pictures: the server conditions a drawing on one, the newest was sent",
        "where the pictures stood among the texts: the server joins the texts",
    )


async def test_a_drawing_sees_the_plan_that_the_model_has_just_said(far: FarEnd) -> None:
    """The server reads the texts of user messages and the first picture; everything else is ignored."""
    plan = Part("Move down.", "model")
    drawn = Part(EIGHT[1], "model")
    context = Context((*of("Solve it.", EIGHT[0]), plan, drawn, Part("Go right.", "model"), Part("Draw step 2.")))
    reply = await bagel(far).draw(context, Options())
    messages = far.seen[0].body["messages"]
    assert {message["role"] for message in messages} == {"user"}
    texts = [block["text"] for message in messages for block in message["content"] if block["type"] == "text"]
    assert texts == ["Solve it.", "Move down.", "Go right.", "Draw step 2."]
    assert far.seen[0].pictures == [EIGHT[1]]
    assert "which texts are the model's own: the server reads the user's texts only" in reply.left_out


async def test_reading_keeps_what_the_model_said_as_its_own(far: FarEnd) -> None:
    reply = await bagel(far).say(Context((Part("Plan."), Part("Down.", "model"), Part("And now?"))), Options())
    assert [message["role"] for message in far.seen[0].body["messages"]] == ["user", "assistant", "user"]
    assert reply.left_out == ()


async def test_what_the_user_sets_goes_before_what_the_task_sets(far: FarEnd) -> None:
    model = bagel(far, cfg_text_scale=6, num_timesteps=20)
    await model.draw(of("Draw."), Options(extra=TASK))
    assert far.seen[0].body["cfg_text_scale"] == 6
    assert far.seen[0].body["num_inference_steps"] == 20
    assert {"cfg_text_scale": 6, "num_timesteps": 20}.items() <= model.identity().items()


async def test_in_understanding_mode_it_does_not_draw(far: FarEnd) -> None:
    model = bagel(far, mode="understanding")
    assert (model.abilities.say, model.abilities.draw) == (True, False)
    with pytest.raises(CannotPlay, match="mode=generation"):
        await model.draw(of("Draw."), Options())


def test_without_a_server_or_a_checkout_both_ways_are_named() -> None:
    with pytest.raises(BadInput, match=r"base_url=.*code="):
        make("")


@pytest.mark.parametrize("unknown", ["draw_with", "cfg_txt_scale"])
def test_an_unknown_setting_is_refused(far: FarEnd, unknown: str) -> None:
    with pytest.raises(BadInput, match=rf"takes no argument {unknown} .*cfg_text_scale"):
        bagel(far, **{unknown: "4"})
