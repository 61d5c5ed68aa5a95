"""What every parser of replies needs: thinking removed, the type of a parsed answer, and comparison of texts.

`boxed` and `tagged` parse marked answers by the rules of published programs.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

_THOUGHT = (
    r"(?:seed:|ant_?|inner_?|internal_?)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|scratch_?pad|reflection"
    r"|monologue|deliberation|planning|cot|chain_of_thought|rationale)"
)
_MARK = re.compile(
    rf"[<\[](?P<shut>/)?{_THOUGHT}(?:\s[^<>\[\]\n]{{0,80}})?(?:>|\](?!\())"
    r"|◁(?P<shut_kimi>/)?think▷"
    r"|<\|(?:(?:begin|start)_(?:of_)?|(?P<shut_long>end_(?:of_)?|/))?(?:thought|thinking|think|reasoning)\|>"
    r"|<unused94>(?:thought)?|(?P<shut_unused><unused95>)"
    r"|(?P<shut_final><\|channel\|>\s?final[^<]{0,40}<\|message\|>)|<\|channel\|>[^<]{0,60}<\|message\|>",
    re.IGNORECASE,
)


def without_thinking(text: str) -> str:
    """Return the text outside thinking marks.

    Unclosed thinking runs to the end of the text. Text before an end mark without a start is thinking too: some
    templates put the opening mark into the prompt.
    """
    kept: list[str] = []
    start, thinking = 0, False
    for mark in _MARK.finditer(text):
        ends = any(mark.groups())
        if not thinking and ends:
            kept.clear()
        elif not thinking:
            kept.append(text[start : mark.start()])
        if ends or not thinking:
            thinking, start = not ends, mark.end()
    if not thinking:
        kept.append(text[start:])
    return " ".join(kept)


T = TypeVar("T")


@dataclass(frozen=True)
class Parsed(Generic[T]):
    """The answer parsed from a reply, and how. `value` is None if the reply is unparsed: wrong, and counted so."""

    value: T | None
    how: str


UNREAD: Parsed[Any] = Parsed(None, "unparsed")


def plain(text: str) -> str:
    """Normalise a text for comparison: NFKC, lower case, single spaces, no punctuation around it."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return folded.strip(" .,;:!?。，；：！？、*_`\"'“”‘’()[]{}")


NO_BOX = "None"
"""Result for a missing or unbalanced box. The published programs treat this word as the reply."""


def boxed(text: str) -> str:
    """Return the brace-balanced content of the last box, stripped (mathruler's rule)."""
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
    """Join all contents of `<tag>…</tag>` with spaces: two answers become `A B`. Without content, return the text."""
    if not text:
        return ""
    opening, closing = f"<{tag}>", f"</{tag}>"
    found, at = [], 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
        found.append(text[start + len(opening) : end])
        at = end + len(closing)
    return " ".join(found).strip() or text
