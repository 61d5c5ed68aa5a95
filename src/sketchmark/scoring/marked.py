"""Answers that a reply marks itself: the last `\\boxed{…}`, or the contents of a tag."""

from __future__ import annotations

NO_BOX = "None"
"""A missing or unbalanced box gives this word, as in the published programs, which then treat it as said."""


def boxed(text: str) -> str:
    """The brace-balanced content of the last box, stripped (mathruler's rule)."""
    start = text.rfind("\\boxed{")
    if start < 0:
        return NO_BOX
    start += len("\\boxed{")
    depth = 1
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[start:position].strip()
    return NO_BOX


def tagged(text: str | None, tag: str) -> str:
    """All contents of `<tag>…</tag>` joined by spaces; the whole text when there is no such pair, or nothing in it.

    Two answers become one string, `A B`.
    """
    if not text:
        return ""
    opening, closing = f"<{tag}>", f"</{tag}>"
    found, at = [], 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
        found.append(text[start + len(opening) : end])
        at = end + len(closing)
    return " ".join(found).strip() or text
