"""The strict parser of numeric replies. Every number in a reply is an option, named by its value."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from sketchmark.answers import vocabulary as words
from sketchmark.answers.clauses import Group, Line
from sketchmark.answers.candidates import FIRST_WORDS, Token, Words
from sketchmark.answers.decision import NOTHING, UNDECIDED, Commitment, Entry, Reader
from sketchmark.answers.cleanup import said
from sketchmark.answers.reply import UNREAD, Parsed

_DIGITS = r"(?:\d{1,3}(?:,\d{3}){1,12}|\d{1,40})"
_NUMBER = re.compile(
    r"\\d?frac\{(?P<above>[-−]?\d{1,40})\}\{(?P<below>\d{1,40})\}"
    r"|(?<![\w.,])(?P<over>[-−]?\d{1,40})[ ]?/[ ]?(?P<under>\d{1,40})(?!\w|[/.,]\d)"
    rf"|(?<![\w.,])(?P<sign>(?<![)\d\w])[-−+])?[$€£]?(?P<size>{_DIGITS}(?:\.\d{{1,40}})?|(?<!\d)\.\d{{1,40}})"
    r"(?:[eE](?P<power>[-+]?\d{1,3})|[ ]?(?:×|x|\\times|\\cdot|·|\*)[ ]?10\^\{?(?P<ten>[-−]?\d{1,3})\}?)?"
    r"(?!\w?\d|[.,]\d)"
)
_OPERATOR = re.compile(r"\s{0,3}(?:[=+*×÷^/<>]|[-−–]\s?[\d$(]|x\s?\d|\\times|\\cdot|\\div)")
_OPERATED = re.compile(r"(?:[+*×÷^/<>]|\\times|\\cdot|\\div|[\d)]\s?[-−–]|\d\s?x)\s{0,3}\Z")
_SHARE = re.compile(r"(?<=\d)[ ](?:out[ ])?of[ ](?:the[ ]|a[ ]total[ ]of[ ])?(?=\d)", re.IGNORECASE)
_SHIFTED_BEFORE = re.compile(r"\b(?:up to|half(?: of)?|twice)[ ]\Z", re.IGNORECASE)
_SHIFTED_AFTER = re.compile(
    r"[ ](?:(?:or|and)[ ](?:more|less|fewer|above|below|over|under)|squared|cubed|dozen|times[ ]\d)\b|[ ]?√",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"^[ ]?(\d{1,2})[.)][ ]\S", re.MULTILINE)
_LED_BY = words.word_set(
    "equals equal get gets gives yields obtain about approximately roughly around nearly ≈ ~ were of count found"
)
_MOST = 6_000
"""Most numbers in one reply: as many as there are characters to stand for them."""


def number(text: str) -> float | None:
    """Parse a finite number with thousands separators, currency, percent sign or fraction bar; else None."""
    bare = text.strip().lstrip("$€£ ").rstrip("$€£%. ")
    found = _NUMBER.fullmatch(bare)
    return _value(found) if found else None


def _value(found: re.Match[str]) -> float | None:
    above, below = found["above"] or found["over"], found["below"] or found["under"]
    if above:
        try:
            return int(above.replace("−", "-")) / int(below)
        except (ValueError, ZeroDivisionError, OverflowError):  # int() refuses a number of thousands of digits
            return None
    power = (found["power"] or found["ten"] or "0").replace("−", "-")
    value = float(f"{found['size'].replace(',', '')}e{power}")
    return (-value if found["sign"] in ("-", "−") else value) if math.isfinite(value) else None


class _Numbers(Words):
    """Finder of the numbers in one reply. Parts of a calculation do not count: only its result can be the answer.

    `10 out of 20` is one or the other, and `10 or more` is not a number.
    """

    def __init__(self) -> None:
        super().__init__({})
        self.places: dict[str, int] = {}

    def marked(self, text: str) -> str:
        text = _SHARE.sub(" versus ", text)
        listed = {mark.start(1) for mark in _LIST_MARK.finditer(text)}
        marked = _NUMBER.sub(lambda found: found[0] if found.start() in listed else self._number(found), text)
        self.order = list(self.places)
        return marked

    def _number(self, found: re.Match[str]) -> str:
        text, value = found.string, _value(found)
        before = text[max(0, found.start() - 12) : found.start()]
        if value is None or _OPERATOR.match(text, found.end()) or _OPERATED.search(before):
            return found[0]
        name = repr(value)
        if name not in self.places and len(self.places) >= _MOST:
            return found[0]
        bound = "might " if _SHIFTED_BEFORE.search(before) or _SHIFTED_AFTER.match(text, found.end()) else ""
        return f" {bound}{chr(FIRST_WORDS + self.places.setdefault(name, len(self.places)))} "

    def token(self, mark: str) -> Token:
        name = self.order[ord(mark) - FIRST_WORDS]
        return Token(name, frozenset({name}), "words")

    @property
    def marks(self) -> str:
        return ""


class _NumberReader(Reader):
    def _whole(self, entries: Sequence[Entry]) -> Commitment:
        """Without a claim, take the number at the start of the reply or the result of its last statement."""
        if any(entry.listed for entry in entries):
            return UNDECIDED
        for entry in (*entries[-1:], *(entry for entry in entries[:1] if entry.line.tokens[0].letters)):
            if entry.statement.stated and (group := _result(entry.line)):
                return self._checked(group.letters, "reply")
        return NOTHING


def _result(line: Line) -> Group | None:
    """Return the last number of a statement if it is the result: `36 watts`, `the total is 36`."""
    if not line.groups or line.denied(line.groups[-1]) or line.hedged_at(line.groups[-1]):
        return None
    group = line.groups[-1]
    if len({one.letters for one in line.groups}) > 1 and any(token.text == "or" for token in line.tokens):
        return None
    after = [token.text for token in line.tokens[group.end : group.end + 5]]
    units = next((place for place, text in enumerate(after) if text in words.BREAK), len(after))
    if units > 3:
        return None
    place = group.start - 1
    while place >= 0 and line.tokens[place].text in words.FILLER | words.CONCLUDING | {"(", "about", ","}:
        place -= 1
    if place < 0:
        return group
    led = line.tokens[place].text in words.COPULA | words.SEPARATOR | _LED_BY
    return group if led else None


def read_number(response: Any) -> Parsed[float]:
    """Parse the number that a reply answers with; None if it gives none or more than one."""
    verdict = _NumberReader("", _Numbers()).read(said(response))
    return Parsed(float(min(verdict.letters)), verdict.how) if verdict.letters else UNREAD
