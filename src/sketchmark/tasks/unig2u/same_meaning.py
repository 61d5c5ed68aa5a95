"""The judge that BabyVision and PhyX share: does an answer mean the same as the truth? True or False, in one word."""

from __future__ import annotations

import re

from sketchmark.scoring.thinking import without_thinking

_WORD = re.compile(r"\b(true|false)\b", re.IGNORECASE)


def filled(template: str, **values: str) -> str:
    """`{name}` for each of the values, put in once: what a reply or a row holds is never read as a template."""
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), template)


def question_to_judge(template: str, question: str, truth: str, answer: str) -> str:
    return filled(template, question=question, groundtruth=truth, modeloutput=answer)


def verdict(reply: str) -> bool | None:
    """Published: `true` anywhere is right and all else is wrong. Here both words or neither are no verdict."""
    words = {word.lower() for word in _WORD.findall(without_thinking(reply))}
    return words == {"true"} if len(words) == 1 else None
