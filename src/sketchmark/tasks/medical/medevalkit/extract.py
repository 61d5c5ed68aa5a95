"""How MedEvalKit finds the answer in a reply (docs/benchmarks/medical.md, "Finding the answer in a reply")."""

from __future__ import annotations

from typing import Any

from sketchmark.scoring.marked import NO_BOX, boxed, tagged

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
    """What the run loops of VQA_RAD, SLAKE, PATH_VQA and Radrestruct hand to their judges: box, else tag, else all.

    A box that was cut off is no box: the reply goes on as it is, and not as the word None, in which there is a `no`.
    """
    text = response if isinstance(response, str) else ""
    found = boxed(text)
    return found if found != NO_BOX else tagged(text, "answer")
