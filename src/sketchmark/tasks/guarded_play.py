"""The common protocols, for sets with rows that cannot be used: such a row is counted by name, never asked."""

from __future__ import annotations

from dataclasses import replace

from sketchmark.desk import Desk
from sketchmark.errors import CallFailed
from sketchmark.protocols import PROTOCOLS, Protocol
from sketchmark.task_files.prompts import FilledPrompts


def _guarded(name: str) -> Protocol:
    inner = PROTOCOLS[name]

    async def play(desk: Desk, prompts: FilledPrompts) -> None:
        if reason := prompts.sample.fields.get("broken"):
            raise CallFailed("broken_row", reason)
        await inner.play(desk, prompts)

    return replace(inner, play=play)


direct = _guarded("direct")
draw_then_answer = _guarded("draw_then_answer")
