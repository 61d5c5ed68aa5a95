"""The protocol of Uni-MMMU's science and code: an answer, then its drawing."""

from __future__ import annotations

from sketchmark.desk import Desk
from sketchmark.protocols import Protocol
from sketchmark.task_files.prompts import FilledPrompts


async def _say_then_draw(desk: Desk, prompts: FilledPrompts) -> None:
    """Uni-MMMU's science and code: say what there will be to see, then draw it."""
    desk.show(*prompts.parts())
    await desk.say(prompts.text("ask"))
    if desk.can_draw:
        await desk.draw(prompts.text("generation_prompt"))
    else:
        desk.skip("the drawing: the model does not draw")


say_then_draw = Protocol(_say_then_draw, draws=lambda prompts: 1, skips_drawing=True)
