"""MMSI-Bench's published readings of the answer letter (docs/benchmarks/mmsi.md, "The published readings").

`official` is the benchmark's own: A to D as written. `lenient` is the later official parser: A to F in either case,
which takes the first letter of "e.g." for an answer. No letter is no answer, never a guess.
"""

from __future__ import annotations

import re

_TICKED = (re.compile(r"``([^`]*)``"), re.compile(r"`([^`]*)`"))
_LETTER = {
    "official": re.compile(r"\b([A-D])\b(?!\s[a-zA-Z])"),
    "lenient": re.compile(r"\b([A-F])\b(?!\s[a-zA-Z])", re.IGNORECASE),
}


def letter(response: str, scoring: str) -> str | None:
    """The answer letter in capitals.

    The text is narrowed to what stands in double back-ticks, then in single ones, then in braces, wherever there are
    any; of what is left the first stand-alone letter counts, unless a word follows ("A cat").
    """
    for ticked in _TICKED:
        if found := ticked.search(response):
            response = found[1]
    _, _, behind = response.partition("{")
    inside, closed, _ = behind.partition("}")
    match = _LETTER[scoring].search(inside if closed else response)
    return match[1].upper() if match else None
