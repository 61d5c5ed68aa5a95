"""What a sample offers to somebody who guesses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.parts import Sample
from sketchmark.scoring.choices import lettered
from sketchmark.scoring.listed import options_of

_LETTER = re.compile(r"[A-Z]")


def offered(sample: Sample) -> Sequence[str]:
    """The letters of its options, which stand in the target or in the question; yes and no where these are all there
    is; nothing where the answer is open."""
    target = sample.target
    if target.get("kind") == "yes_no" or isinstance(target.get("answer"), bool):
        return ("yes", "no")
    if letters := _letters(target.get("options")):
        return letters
    answer = target.get("answer")
    if isinstance(answer, str) and _LETTER.fullmatch(answer):
        return [letter for letter, _ in options_of(sample.fields.get("question", ""))]
    return ()


def _letters(options: Any) -> list[str]:
    if not isinstance(options, (list, tuple, dict)):
        return []
    try:
        return [str(letter) for letter in lettered(options)]
    except BadInput:
        return []
