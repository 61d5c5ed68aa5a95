"""How the words of an option may be spelt, and where they are only a part of others: `counter-clockwise` is another
spelling of `counterclockwise`, and no `clockwise`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sketchmark.scoring.vocabulary import AFTER_LETTER, ANSWER

SPACED = r"(?-i:[0-9A-Za-z_\u00aa-\u1fff])"
"""What words are made of in the languages that put gaps between them."""
_PREFIX = "counter|contra|anti|non|semi|half|off|mid|sub|ex|multi|quasi|pseudo"
_HYPHEN = "[-‐–]"
_LETTER = r"[^\W\d_]"
_ARTICLE = re.compile(r"(?:an?|the)\s+(?=\w)", re.IGNORECASE)
_GAP = re.compile(rf"(?<={_LETTER})(?:\s+|{_HYPHEN})(?={_LETTER})")
_AFTER_PREFIX = re.compile(rf"(?:{_PREFIX}|un)(?={_LETTER}{{3}})")
_AFTER_SYLLABLE = re.compile(rf"(?:a|in|im|ir|il|dis)(?={_LETTER}{{3}})")
_CHANGING = f"{_PREFIX}|almost|nearly|barely|scarcely|partly|partially|vice|former"
_JOINED_BEFORE = re.compile(
    rf"(?P<head>{SPACED}{{0,24}})(?:{_HYPHEN}|−)\Z|(?<!{SPACED})(?:{_CHANGING})\s{{1,3}}\Z|[非反半无]\Z",
    re.IGNORECASE,
)
_JOINED_AFTER = re.compile(rf"{_HYPHEN}(?!(?:shaped|colou?red|sided|hand|weighted|type)\b){SPACED}", re.IGNORECASE)
_COUNTED_BEFORE = re.compile(
    r"(?P<low>\d[\d.,]{0,12})\s{1,3}(?:to|or)\s{1,3}\Z|\d\s(?:out\s)?of\s(?:the\s)?\Z|[≤≥√±×÷]\s?\Z|(?<![\w\"'/])[<>]\Z",
    re.IGNORECASE,
)
_COUNTED_AFTER = re.compile(
    r"[ ]?[+*×÷√±]|[ ](?:out[ ])?of[ ](?:the[ ])?\d"
    r"|(?:,?[ ](?:and|or|to)[ ]|,[ ](?=[\d.]{1,9}$))(?P<high>\d[\d.,]{0,12})"
    r"|[ ](?:hundred|thousand|million|billion|dozen|squared|cubed|times[ ]\d|(?:or|and)[ ](?:more|less|fewer))\b",
    re.IGNORECASE | re.MULTILINE,
)
_REACH = 32


def without_article(words: str, others: list[str]) -> str:
    """`a cat` is `the cat`; the A of `A is heavier`, or of `A sinks` beside `B sinks`, is none."""
    found = _ARTICLE.match(words)
    if found is None:
        return words
    rest = words[found.end() :]
    beside = any(other.partition(" ")[2] == rest and not _ARTICLE.match(other) for other in others)
    return words if beside or len(rest) == 1 or rest.split()[0] in AFTER_LETTER else rest


def squeezed(words: str) -> str:
    """For comparing: without blanks and hyphens, `&` as and."""
    return re.sub(rf"\s+|{_HYPHEN}", "", words).replace("&", "and")


def pattern(words: str, bare: str) -> str:
    """Of some words, with any article where they have one (`bare`: without it)."""
    parts = r"(?:\s+|[-‐–])?".join(map(_part, _GAP.split(bare.replace(" & ", " and "))))
    return parts if bare == words else rf"(?:(?:an?|the)\s+)?{parts}"


def _part(part: str) -> str:
    if part == "and":
        return "(?:and|&)"
    for before, joint in ((_AFTER_PREFIX, r"(?:\s+|[-‐–])?"), (_AFTER_SYLLABLE, "[-‐–]?")):
        if found := before.match(part):
            return re.escape(found[0]) + joint + _escaped(part[found.end() :])
    return _escaped(part)


def _escaped(part: str) -> str:
    return r"\s+".join(map(re.escape, part.split()))


def part_of_a_word(text: str, start: int, end: int, words: str, named: Mapping[str, frozenset[str]]) -> bool:
    """A hyphen, a prefix, a range or a sum makes another of it. `B-south` is south where that is option B."""
    before = text[max(0, start - _REACH) : start]
    if _JOINED_AFTER.match(text, end):
        return True
    if text[start].isdigit() and (found := _COUNTED_BEFORE.search(before)) and not _is_one(found["low"], named):
        return True
    if text[end - 1].isdigit() and (found := _COUNTED_AFTER.match(text, end)) and not _is_one(found["high"], named):
        return True
    found = _JOINED_BEFORE.search(before)
    if found is None or not found["head"]:
        return found is not None and (found["head"] is None or text[start].isdigit())
    return found["head"] not in named[words] and found["head"].casefold() not in ANSWER


def _is_one(number: str | None, named: Mapping[str, frozenset[str]]) -> bool:
    """It is an option, too: then two are named, which the reader notices."""
    return number is not None and number.rstrip(".,") in named
