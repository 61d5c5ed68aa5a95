"""Options that stand in the text of a question, as MMSI-Bench has them."""

from __future__ import annotations

import re
from typing import NamedTuple

_MARK = re.compile(r"(?:^|(?<=[\s(,;:]))\(?([A-L])\s?[.):：]\s*", re.MULTILINE)


def options_of(question: str) -> list[tuple[str, str]]:
    """`Options: A: left, B: right` (MMSI-Bench), `A. left` a line, or `(A) left`, as (letter, text).

    An option runs to the next letter in order, so that commas inside it stay. Of several such lists the longest
    counts, and of equal ones the last: a "point A:" in the question is no option.
    """
    chain: _Chain | None = None
    behind: dict[str, _Chain] = {}  # for each letter, the list that begins at its nearest mark
    for mark in reversed(list(_MARK.finditer(question))):
        follower = behind.get(chr(ord(mark[1]) + 1))
        behind[mark[1]] = _Chain(mark, follower, 1 + (follower.length if follower else 0))
        if mark[1] == "A" and (chain is None or behind["A"].length > chain.length):
            chain = behind["A"]
    options: list[tuple[str, str]] = []
    while chain is not None and (options or chain.following):
        end = chain.following.mark.start() if chain.following else len(question)
        options.append((chain.mark[1], _trimmed(question[chain.mark.end() : end])))
        chain = chain.following
    return options


class _Chain(NamedTuple):
    mark: re.Match[str]
    following: _Chain | None
    length: int


def _trimmed(option: str) -> str:
    return option.strip().partition("\n")[0].strip(" \t.,;'\"")
