"""How MedEvalKit finds the answer in a reply (docs/benchmarks/medical.md, "Finding the answer in a reply")."""

from __future__ import annotations

import re
from typing import Any

NO_BOX = "None"
"""A missing or unbalanced box gives this word, which later steps treat as if the model had said it."""

_PATTERNS = (
    "**answer**:",
    "**answer**",
    "*answer*:",
    "**answer:**",
    "answer is",
    "answer:",
    "答案:",
    "final answer",
    "final answer is",
)
"""Applied in this order, each on what the one before left over; the order is part of the arithmetic."""


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
    """All contents of `<tag>…</tag>` joined by spaces; the whole text when there is no such pair.

    Two answers become one string, `A B` (docs/benchmarks/medical.md, "Two answers become one").
    """
    if not text:
        return ""
    found = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    return " ".join(found).strip() if found else text


def parse_response(response: str) -> str:
    """The lowercased reply, cut down to what follows the answer patterns. Not stripped."""
    text = response.lower()
    if "boxed" in text:
        text = boxed(text)
    elif "<answer>" in text:
        text = tagged(text, "answer")
    for pattern in _PATTERNS:
        text = text.rpartition(pattern)[2]
    return text


def box_or_tag(response: Any) -> str:
    """What the run loops of VQA_RAD, SLAKE and PATH_VQA hand to their judges: box, else tag, else all."""
    text = response if isinstance(response, str) else ""
    return boxed(text) if "\\boxed" in text else tagged(text, "answer")
