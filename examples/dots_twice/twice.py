"""The protocol that dots_twice.yaml names: a coroutine over a desk. It does not know the model."""

from __future__ import annotations

from sketchmark import Desk, FilledPrompts, Protocol


async def play(desk: Desk, prompts: FilledPrompts) -> None:
    """A first answer, a drawing, and the answer that counts."""
    desk.show(*prompts.parts())
    first = await desk.say(prompts.text("ask"))
    await desk.draw(prompts.text("generation_prompt"))
    await desk.say(prompts.text("again", first=first))


guess_then_draw = Protocol(play, draws=lambda prompts: 1, must_draw=True)
