"""What a reply thinks aloud is no part of what it says: thinking marks and all between them are taken off."""

from __future__ import annotations

import re

_MARK = re.compile(
    r"<(?P<shut>/)?(?:think|thinking|thought|reasoning)>"
    r"|◁(?P<shut_kimi>/)?think▷"
    r"|<\|(?:begin|(?P<shut_long>end))_of_thought\|>",
    re.IGNORECASE,
)


def without_thinking(text: str) -> str:
    """The text outside the marks. Thinking that never ends runs to the end; what stands before a lone end was
    thinking, too (some templates put the opening mark into the prompt)."""
    kept: list[str] = []
    start, thinking = 0, False
    for mark in _MARK.finditer(text):
        ends = any(mark.groups())
        if not thinking and ends:
            kept.clear()
        elif not thinking:
            kept.append(text[start : mark.start()])
        if ends or not thinking:
            thinking, start = not ends, mark.end()
    if not thinking:
        kept.append(text[start:])
    return " ".join(kept)
