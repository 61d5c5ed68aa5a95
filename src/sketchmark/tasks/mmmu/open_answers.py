"""The strict verdict on MMMU's open questions: a number or a short text, read where the reply gives its answer."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from sketchmark.scoring.final_answer import UNREAD, Parsed, announced, final_zone, plain

_NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w]*\d)")
_FRACTION = re.compile(r"(?<![\w./])([-+−]?\d+)\s*/\s*(\d+)(?![\w./])")
_LIST_MARK = re.compile(r"\A\s*\d{1,2}[.)]\s+(?=.*\d)")
_DECIMALS = 2
"""MMMU compares numbers after rounding to two decimals (docs/benchmarks/mmmu.md, "Open answers"); strict too."""


def open_verdict(gold: str | Sequence[str], response: Any) -> Parsed[bool]:
    """Right if any gold is what the reply answers. A reply without words is unparsed.

    A number must be the number answered (after the last `=`, else the first of the announced answer or last line),
    not just one of those mentioned; a text must stand in the answer as whole words: `no` is not in `nothing`.
    """
    zone = final_zone(response)
    if not plain(zone.text):
        return UNREAD
    tail = announced(zone.text)
    answer = tail if tail and plain(tail) else zone.text
    golds = [gold] if isinstance(gold, str) else list(gold)
    how = zone.mark if zone.mark != "reply" else "announced" if answer is tail else "reply"
    lines = [line for line in answer.splitlines() if plain(line)]
    line = lines[0] if answer is tail else lines[-1]
    return Parsed(any(_answers(answer, line, wanted) for wanted in golds), how)


def _answers(answer: str, line: str, wanted: str) -> bool:
    value = number(wanted)
    if value is not None:
        given = _answered_number(line)
        return given is not None and math.isclose(round(given, _DECIMALS), round(value, _DECIMALS), abs_tol=1e-9)
    gold, text = plain(wanted), plain(answer)
    if len(gold) <= 1:
        return text == gold or re.match(rf"{re.escape(gold)}[.):,]", text) is not None
    return re.search(rf"(?<!\w){re.escape(gold)}(?!\w)", " ".join(answer.casefold().split())) is not None


def _answered_number(line: str) -> float | None:
    given = _LIST_MARK.sub("", line.rpartition("=")[2])
    if fraction := _FRACTION.search(given):
        return number(fraction[0])
    numbers = [match[0] for match in _NUMBER.finditer(given) if re.search(r"\d", match[0])]
    return number(numbers[0]) if numbers else None


def number(text: str) -> float | None:
    """A finite number with its thousands separators, currency, percent sign or fraction bar; else None."""
    bare = text.strip().lstrip("$€£ ").rstrip("$€£%. ").replace("−", "-")
    try:
        if match := _FRACTION.fullmatch(bare):
            return int(match[1]) / int(match[2])
        value = float(bare.replace(",", ""))
    except (ValueError, ZeroDivisionError, OverflowError):  # int() refuses a number of thousands of digits
        return None
    return value if math.isfinite(value) and "_" not in bare else None
