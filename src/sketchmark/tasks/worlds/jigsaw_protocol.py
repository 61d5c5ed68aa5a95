"""The jigsaw's protocol: a drawing per candidate."""

from __future__ import annotations

from sketchmark.desk import Desk
from sketchmark.protocols import Protocol
from sketchmark.task_files.prompts import FilledPrompts


async def _complete_both(desk: Desk, prompts: FilledPrompts) -> None:
    """Jigsaw: complete the panel with each candidate, then choose."""
    desk.show(*prompts.parts())
    for i in (0, 1):
        await desk.draw(prompts.text(f"complete_{i}"), label=prompts.text("completed", i=i))
    await desk.say(prompts.text("final"))


candidates_then_answer = Protocol(_complete_both, draws=lambda prompts: 2, must_draw=True)
