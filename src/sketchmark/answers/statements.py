"""The statements of a reply, and whose they are: the model's own findings, or questions, suppositions and hearsay.

"Wait, that is wrong" takes back what was stated before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sketchmark.answers.vocabulary import TABLES

_BULLET = re.compile(r"\s*(?:[-•*+>|#]+\s+)*(?:\d{1,2}[.)]\s+(?=\S))?")
_HEADER = re.compile(r"[ \t]*#{1,6}[ \t]")
_NO = r"no\b(?=\s?(?:[,.!…:;—–]|-\s|\Z|(?-i:[B-Z]\b)))"
_WITHDRAWING = "sorry|i mean|i meant|make that|strike that|correction|oops|rather|actually|on second thought"
_END = re.compile(
    r"(?<=[.!?;…])[\"')\]]{0,3}\s+|(?<=[。！？；])|,?\s+(?:but|however|yet)\b,?"
    r"|(?=\b(?:no,? )?(?:wait|scratch that)\b)"
    rf"|(?:\.\.\.?|…|[,;](?=\s)|\s[—–-])\s{{0,3}}(?:(?:oh|uh|um|hmm|ah|or|well|sorry),? )?(?={_NO})"
    rf"|(?:\.\.\.|…|[,;—–-])\s{{0,3}}(?=(?:or )?(?:{_WITHDRAWING})\b)"
    r"|\s?\((?=(?:edit|correction|actually|no|sorry|rather)\b)"
    r"|,\s(?=(?:with|and) [^,.;]{1,40}\b(?:alternative|runner-up|backup|second)\b)",
    re.I,
)
_CONCESSION = re.compile(r"(?:while|although|though|even though|despite|much as)\b[^,]{0,300},\s", re.I)
_LABEL_END = re.compile(
    r"(?:\A|\s)[\"'(\[]{0,2}[A-Za-z]\.\Z|(?:\A|\s)\d{1,2}\.\Z|\b(?:dr|mr|mrs|ms|st|no|approx|ca|cf)\.\Z", re.I
)
_ASIDE = re.compile(
    r"\((?=[^()\s]{1,40}\s[^()\s]{1,40}\s|(?:possibly|maybe|perhaps|not|previously|formerly|was)\s)[^()\n]{3,300}\)",
    re.I,
)


def _mode(name: str) -> re.Pattern[str]:
    return re.compile("|".join(TABLES["modes"][name]).replace("{no}", _NO), re.IGNORECASE)


_SUPPOSED, _SEEN, _TOLD, _OTHER = map(_mode, ("supposed", "looking", "hearsay", "second_choice"))
_ASKED_FOR, _TAKEN_BACK, _PLANNED, _REFUSED = map(_mode, ("instruction", "taken_back", "plan", "refusal"))
_LEAD_BACK = re.compile(
    r"\A(?:or (?=rather))?(?:(?:oh|uh|um|hmm|ah|well|ok|okay|but|sorry|oops|hold on|wait|actually|rather|scratch that"
    r"|strike that|on second thoughts?|on reflection|correction|edit|i meant?|make that"
    r"|(?:i(?:'ve| have)? )?changed my mind"
    rf"|my mistake|my bad|(?:or )?{_NO}|nope|no(?= wait| actually))[\s,.:;!…—–-]{{0,6}})+",
    re.I,
)


_TURN = re.compile(r"but|however|yet", re.I)
_SAYS_NO = re.compile(r"\s?(?:nope|no)\b", re.I)
_CORRECTS = re.compile(r"\s?(?:actually|rather|instead|in fact|but|edit|final|sorry|oops|or rather)\b", re.I)


@dataclass(frozen=True)
class Statement:
    """One statement. `apart`: an empty line is before it; `heading`: a Markdown heading; `aside`: in brackets.

    `takes_back`: earlier claims are withdrawn. `corrects`: a claim in it replaces earlier ones.
    """

    text: str
    apart: bool = False
    heading: bool = False
    aside: bool = False
    takes_back: bool = False
    corrects: bool = False

    @property
    def asked(self) -> bool:
        return self.text.rstrip("\"') ").endswith(("?", "?)"))

    @cached_property
    def own(self) -> bool:
        """True if this is the model's own view: not a question, supposition, hearsay or second choice."""
        if (
            self.aside
            or self.asked
            or self.text[:3].casefold() == "or "
            or _SUPPOSED.search(_SEEN.sub(" ", self.text))
        ):
            return False
        return not any(mode.search(self.text) for mode in (_TOLD, _ASKED_FOR, _OTHER))

    @property
    def planned(self) -> bool:
        """True if it announces a step rather than a finding."""
        return _PLANNED.search(self.text) is not None

    @property
    def refused(self) -> bool:
        return _REFUSED.search(self.text) is not None

    @cached_property
    def stated(self) -> bool:
        """True if it is a finding of the model itself."""
        return self.own and not self.planned and not self.refused


def statements(text: str, keep: str = "") -> Iterator[Statement]:
    """Yield the statements of a text, line by line. None ends after a label (`B.`) or before a sign in `keep`."""
    apart = asked = False
    for line in text.splitlines():
        if not line.strip():
            apart = True
            continue
        heading = _HEADER.match(line) is not None
        line = _BULLET.sub("", line, count=1)
        outside = _ASIDE.sub(" ", line)
        asides = _ASIDE.findall(line) if outside.strip(" .!") else []
        line = outside if asides else line
        for index, (piece, turned) in enumerate(_pieces(line, keep)):
            back = _TAKEN_BACK.search(piece) is not None and not (asked and _SAYS_NO.match(piece))
            corrects = back or turned or _CORRECTS.match(piece) is not None
            text = _LEAD_BACK.sub("", piece) if corrects or back or asked else piece
            yield Statement(text, apart and index == 0, heading, takes_back=back, corrects=corrects)
            asked = piece.rstrip("\"') ").endswith("?")
        yield from (Statement(aside[1:-1], aside=True) for aside in asides)
        apart = False


def _pieces(line: str, keep: str) -> Iterator[tuple[str, bool]]:
    """Yield sentences, and whether each contradicts the one before: "A, but B".

    A concession at the start of a sentence is split off: "While B is tempting, the answer is C".
    """
    for piece, turned in _sentences(line, keep):
        conceded = _CONCESSION.match(piece)
        if conceded:
            yield conceded[0].strip(), turned
        yield piece[conceded.end() if conceded else 0 :], turned or conceded is not None


def _sentences(line: str, keep: str) -> Iterator[tuple[str, bool]]:
    start, turned = 0, False
    asks = line.rstrip().endswith("?")
    for end in _END.finditer(line):
        piece = line[start : end.start()]
        if not piece.strip():
            continue
        following = line[end.end() : end.end() + 1]
        label = _LABEL_END.search(piece[-6:] if start < end.start() - 6 else piece)
        turns = asks or _CORRECTS.match(line, end.end()) is not None
        if label and ((len(piece.strip()) <= 6 and not turns) or (following and following in keep)):
            continue
        yield piece.strip(), turned
        start, turned = end.end(), _TURN.search(end[0]) is not None
    if line[start:].strip():
        yield line[start:].strip(), turned
