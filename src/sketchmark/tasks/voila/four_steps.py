"""VOILA's protocol of four steps."""

from __future__ import annotations

from sketchmark.desk import Desk
from sketchmark.protocols import Protocol
from sketchmark.task_files.prompts import FilledPrompts


async def _four_steps(desk: Desk, prompts: FilledPrompts) -> None:
    """VOILA: describe, identify, apply, draw; every prompt and answer stays in the context."""
    desk.show(*prompts.parts())
    answer = ""
    for step in ("describe", "identify", "apply"):
        desk.show(prompts.text(step))
        answer = await desk.say()
    if desk.can_draw:
        await desk.draw(prompts.text("draw", output=answer))
    else:
        desk.skip("step 4 (draw): the model does not draw")


four_steps = Protocol(_four_steps, draws=lambda prompts: 1, skips_drawing=True)
