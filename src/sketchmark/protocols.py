"""How a task is played: each protocol is a short coroutine over a desk and knows no model.

The same protocol serves visual_cot and text_cot: at a text_cot desk, `draw` brings a description instead.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sketchmark.desk import Desk
from sketchmark.errors import UnknownName
from sketchmark.models import combined_prompt as one_prompt
from sketchmark.task_files.prompts import Script

Play = Callable[[Desk, Script], Awaitable[None]]


@dataclass(frozen=True)
class Protocol:
    """A way to play, and what it asks of a model, so that a model that cannot is refused before the first call."""

    play: Play
    draws: Callable[[Script], int]
    """How many drawings an episode asks for (0: none)."""

    must_draw: bool = False
    skips_drawing: bool = False
    """The drawing comes last: a model that does not draw plays the rest, and the run says so."""

    in_one_prompt: bool = False
    """A model that stages drawing and answering itself (`Model.one_prompt`) plays this in a single call."""


async def direct(desk: Desk, script: Script) -> None:
    desk.show(*script.parts())
    await desk.say(script.text("ask"))


async def steps_then_answer(desk: Desk, script: Script) -> None:
    """Maze and sliding: plan a step, draw it, look at it, go on; then give the whole answer."""
    desk.show(*script.parts())
    for i in _steps(script):
        plan = await desk.say(script.text("plan", i=i), limit=script.settings.get("plan_tokens"))
        if script.steps == "model" and says_done(plan):
            break
        await desk.draw(script.text("step", i=i))
    await desk.say(script.text("final"))


async def candidates_then_answer(desk: Desk, script: Script) -> None:
    """Jigsaw: complete the panel with each candidate, then choose."""
    desk.show(*script.parts())
    for i in (0, 1):
        await desk.draw(script.text(f"complete_{i}"), label=script.text("completed", i=i))
    await desk.say(script.text("final"))


async def draw_then_answer(desk: Desk, script: Script) -> None:
    """Two stages: draw a visualisation of all the pictures, then answer from the pictures and the drawing."""
    desk.show(*script.parts())
    if desk.wants_one_prompt:
        await desk.draw_and_say(one_prompt.join(script.text("generation_prompt"), script.text("ask")))
        return
    await desk.draw(script.text("generation_prompt"), label=script.text("drawing_label"))
    await desk.say(script.text("ask"))


async def four_steps(desk: Desk, script: Script) -> None:
    """VOILA: describe, identify, apply, draw; every prompt and answer stays in the context."""
    desk.show(*script.parts())
    answer = ""
    for step in ("describe", "identify", "apply"):
        desk.show(script.text(step))
        answer = await desk.say()
    if desk.can_draw:
        await desk.draw(script.text("draw", output=answer))
    else:
        desk.skip("step 4 (draw): the model does not draw")


def _steps(script: Script) -> range:
    """`truth` leaks the length of the answer, as published; `model` is bounded only by what the task allows."""
    return range(1, 1 + (script.true_steps if script.steps == "truth" else script.max_steps))


def says_done(plan: str) -> bool:
    """The word DONE, in capitals as the prompt asks for it ("done" inside a sentence is a plan, not an end)."""
    return re.search(r"\bDONE\b", plan) is not None


PROTOCOLS: dict[str, Protocol] = {
    "direct": Protocol(direct, draws=lambda script: 0),
    "steps_then_answer": Protocol(steps_then_answer, draws=lambda script: len(_steps(script)), must_draw=True),
    "candidates_then_answer": Protocol(candidates_then_answer, draws=lambda script: 2, must_draw=True),
    "draw_then_answer": Protocol(draw_then_answer, draws=lambda script: 1, must_draw=True, in_one_prompt=True),
    "four_steps": Protocol(four_steps, draws=lambda script: 1, skips_drawing=True),
}


def protocol(name: str) -> Protocol:
    if name not in PROTOCOLS:
        raise UnknownName(f"no protocol named {name!r}", f"there are: {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
