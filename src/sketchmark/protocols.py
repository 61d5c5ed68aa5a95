"""How a task is played: each protocol is a short coroutine over a desk and knows no model.

The same protocol serves visual_cot and text_cot: at a text_cot desk, `draw` returns a description instead.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sketchmark.desk import Desk
from sketchmark.models import combined_prompt
from sketchmark.task_files.prompts import FilledPrompts

Play = Callable[[Desk, FilledPrompts], Awaitable[None]]


@dataclass(frozen=True)
class Protocol:
    """A way to play, and what it asks of a model, so that a model that cannot is refused before the first call."""

    play: Play
    draws: Callable[[FilledPrompts], int]
    """How many drawings an episode asks for (0: none)."""

    must_draw: bool = False
    skips_drawing: bool = False
    """The drawing comes last: a model that does not draw plays the rest, and the run says so."""

    in_combined_prompt: bool = False
    """A model that stages drawing and answering itself (`Model.combined_prompt`) plays this in a single call."""


async def direct(desk: Desk, prompts: FilledPrompts) -> None:
    desk.show(*prompts.parts())
    await desk.say(prompts.text("ask"))


async def steps_then_answer(desk: Desk, prompts: FilledPrompts) -> None:
    """Maze and sliding: plan a step, draw it, look at it, take the next; then give the whole answer."""
    desk.show(*prompts.parts())
    for i in _steps(prompts):
        plan = await desk.say(prompts.text("plan", i=i), limit=prompts.settings.get("plan_tokens"))
        if prompts.steps == "model" and says_done(plan):
            break
        await desk.draw(prompts.text("step", i=i))
    await desk.say(prompts.text("final"))


async def draw_then_answer(desk: Desk, prompts: FilledPrompts) -> None:
    """Two stages: draw a visualisation of all the pictures, then answer from the pictures and the drawing."""
    desk.show(*prompts.parts())
    if desk.wants_combined_prompt:
        await desk.draw_and_say(combined_prompt.join(prompts.text("generation_prompt"), prompts.text("ask")))
        return
    await desk.draw(prompts.text("generation_prompt"), label=prompts.text("drawing_label"))
    await desk.say(prompts.text("ask"))


def _steps(prompts: FilledPrompts) -> range:
    """`truth` leaks the length of the answer, as published; `model` is bounded only by what the task allows."""
    return range(1, 1 + (prompts.true_steps if prompts.steps == "truth" else prompts.max_steps))


def says_done(plan: str) -> bool:
    """The word DONE, in capitals as the prompt asks for it ("done" inside a sentence is a plan, not an end)."""
    return re.search(r"\bDONE\b", plan) is not None


PROTOCOLS: dict[str, Protocol] = {
    "direct": Protocol(direct, draws=lambda prompts: 0),
    "steps_then_answer": Protocol(steps_then_answer, draws=lambda prompts: len(_steps(prompts)), must_draw=True),
    "draw_then_answer": Protocol(draw_then_answer, draws=lambda prompts: 1, must_draw=True, in_combined_prompt=True),
}
"""The general ones. A benchmark or world brings its own, which task files name by an alias."""
