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
    """The letters of its options, which stand in the target or in the question, or their words where the answer is
    one of these; yes and no where that is all there is; nothing where the answer is open."""
    target = sample.target
    answer, options = target.get("answer", target.get("gold")), target.get("options")
    if target.get("kind") == "yes_no" or isinstance(answer, bool):
        return ("yes", "no")
    is_letter = isinstance(answer, str) and _LETTER.fullmatch(answer) is not None
    if isinstance(options, (list, tuple)) and answer in options and not is_letter:
        return [str(option) for option in options]
    if options:
        return _letters(options)
    return [letter for letter, _ in options_of(sample.fields.get("question", ""))] if is_letter else ()


def _letters(options: Any) -> list[str]:
    if not isinstance(options, (list, tuple, dict)):
        return []
    try:
        return [str(letter) for letter in lettered(options)]
    except BadInput:
        return []
