"""The strict verdict on MMMU's open questions: a number or a short text, read where the reply gives its answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

from sketchmark.scoring.choices import read_choice
from sketchmark.scoring.final_answer import UNREAD, Parsed, plain
from sketchmark.scoring.numbers import number, read_number
from sketchmark.scoring.phrases import answers_with
from sketchmark.scoring.yesno import NO, YES, read_yes_no

_DECIMALS = 2
"""MMMU compares numbers after rounding to two decimals (docs/benchmarks/mmmu.md, "Open answers"); strict too."""


def open_verdict(gold: str | Sequence[str], response: Any) -> Parsed[bool]:
    """Right if any gold is what the reply answers, not just a thing it mentions; None if it answers nothing.

    Each kind of gold has its reader: numbers, single letters, yes and no, words.
    """
    golds = [gold] if isinstance(gold, str) else list(gold)
    values = [value for value in map(number, golds) if value is not None]
    letters = [wanted.strip().upper() for wanted in golds if len(plain(wanted)) == 1 and plain(wanted).isalpha()]
    sides = [plain(wanted) in YES for wanted in golds if plain(wanted) in YES | NO]
    words = [
        wanted
        for wanted in golds
        if number(wanted) is None and len(plain(wanted)) > 1 and plain(wanted) not in YES | NO
    ]
    read: list[Parsed[bool]] = []
    if values:
        answer = read_number(response)
        right = None if answer.value is None else any(_same(answer.value, value) for value in values)
        read.append(Parsed(right, answer.how))
    if letters:
        letter = read_choice(response, dict.fromkeys(ascii_uppercase, ""))
        read.append(Parsed(None if letter.value is None else letter.value in letters, letter.how))
    if sides:
        side = read_yes_no(response)
        read.append(Parsed(None if side.value is None else side.value in sides, side.how))
    if words:
        read.append(answers_with(words, response))
    return next((one for value in (True, False) for one in read if one.value is value), UNREAD)


def _same(given: float, wanted: float) -> bool:
    return math.isclose(round(given, _DECIMALS), round(wanted, _DECIMALS), abs_tol=1e-9)
