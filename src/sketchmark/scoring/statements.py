"""A reply as a row of statements: where one ends, which words it has, and whether it is meant at all.

A question, a supposition, an instruction or what others say is not a statement of the model's own; "wait, that is
wrong" takes back what was stated before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BULLET = re.compile(r"\s*(?:[-•*+>|#]+\s+)*(?:\d{1,2}[.)]\s+(?=\S))?")
_HEADER = re.compile(r"[ \t]*#{1,6}[ \t]")
_END = re.compile(
    r"(?<=[.!?;])[\"')\]]{0,3}\s+|(?<=[。！？；])|,?\s+(?:but|however)\b,?|(?=\b(?:no,? )?wait\b)", re.I
)
_CONCESSION = re.compile(r"(?:while|although|though|even though)\b[^,]{0,300},\s", re.I)
_LABEL_END = re.compile(r"(?:\A|\s)[\"'(\[]{0,2}[A-Za-z]\.\Z|(?:\A|\s)\d{1,2}\.\Z")

_SUPPOSED = re.compile(
    r"\b(?:if|unless|suppose|supposing|assume|assumes|assuming|imagine|hypothetically|whether|let us say|let's say"
    r"|in case|in that case|provided that|would have been|had it been|were it)\b|\A(?:say|let)\s",
    re.I,
)
_SEEN = re.compile(
    r"\bif (?:we|you|one|i) (?:look|count|follow|compare|trace|examine|zoom|read|start|add|compute|calculate|use"
    r"|apply"
    r"|rotate|recall|see|observe|face|take a look|consider)\b",
    re.I,
)
_TOLD = re.compile(
    r"\b(?:some|many|most|several|few) (?:people|students|users|models|readers|doctors|experts|might|may|would"
    r"|say|argue"
    r"|think|claim)\b"
    r"|\b(?:others|people|students?|colleagues?|textbooks?|the user|annotators?|radiologists?|friends?|teachers?)\b"
    r"|\b(?:he|she|they|you|someone|somebody|everyone|anyone|one) (?:might|may|could|would|asked?|mentioned)\b"
    r"|(?<![\w'])(?!(?:i|we|i'd|i'll|would|will|can|must|should|to|do|so|therefore|also|just|not|me|us|still|only"
    r"|then"
    r"|and|thus|hence|now|clearly)\b)[\w']+ (?:also |often |usually )?"
    r"(?:says?|said|thinks?|thought|claims?|claimed|believes?|argues?|answered|chose|picked|wrote)\b"
    r"|\b(?:tempting|mistake|misconception|distractor|at first|first impression|initial|initially|originally)\b"
    r"|\baccording to (?!(?:the|this) (?:\w+ )?"
    r"(?:picture|image|figure|diagram|graph|table|chart|photo|scene|scan|data|question|map))"
    r"|\bi (?:first |had |once )?(?:thought|assumed|guessed|considered)\b|\bi was (?:going|about) to\b",
    re.I,
)
_ASKED_FOR = re.compile(
    r"\bexamples?:|\b(?:please|format|template|the form|for example|such as|one of|reply with|respond with"
    r"|answer with"
    r"|end with|your answer|should look like|choose from|select from)\b",
    re.I,
)
_TAKEN_BACK = re.compile(
    r"\bwait\b|\bscratch that\b|\bon second thoughts?\b|\bon reflection\b|\bcorrection\b|\bactually,? no\b"
    r"|\bi take (?:that|it) back\b"
    r"|\blet me (?:reconsider|rethink|recheck|re-check|redo|start over|try again|check again|think again|correct)\b"
    r"|\bi (?:misread|misjudged|miscounted|mixed up|was wrong|made an? (?:mistake|error))\b"
    r"|\b(?:that|this)(?:'s| is| was| seems) (?:not (?:right|correct|it)|wrong|incorrect|a mistake)\b"
    r"|\bthat (?:does not|doesn't) (?:work|make sense)\b"
    r"|\b(?:that|this) (?:cannot|can't) be\b(?! \S+ly\b)(?:[.!]|$| right| correct)",
    re.I,
)
_PLANNED = re.compile(
    r"\b(?:let me|let's|let us|i'll|i need to|we need to|consider|comparing|compare|to decide|to determine|to tell"
    r"|analysis of|look at|looking at|options? (?:are|include)|need to|first,?|find|calculate|determine"
    r"|given that|the question)\b",
    re.I,
)
_REFUSED = re.compile(
    r"\b(?:i|we) (?:cannot|can't|could not|couldn't|am unable to|am not able to|do not|don't) (?:\w+ )?(?:tell"
    r"|see|determine"
    r"|say|know|view|help|answer|identify|discuss|decide)\b|\bunable to\b|\bno idea\b|\bnot possible to\b",
    re.I,
)


@dataclass(frozen=True)
class Statement:
    """One statement. `apart`: an empty line stands before it; `heading`: it is a Markdown heading."""

    text: str
    apart: bool
    heading: bool

    @property
    def asked(self) -> bool:
        return self.text.rstrip("\"') ").endswith("?")

    @property
    def own(self) -> bool:
        """The model states it as its own view: no question, no supposition, no hearsay, no instruction."""
        supposed = _SUPPOSED.search(_SEEN.sub(" ", self.text))
        return not (self.asked or supposed or _TOLD.search(self.text) or _ASKED_FOR.search(self.text))

    @property
    def planned(self) -> bool:
        """It says what will be looked at, not what was found."""
        return _PLANNED.search(self.text) is not None

    @property
    def stated(self) -> bool:
        """It says what was found, and that in the model's own name."""
        return self.own and not self.planned and not _REFUSED.search(self.text)

    @property
    def takes_back(self) -> bool:
        return _TAKEN_BACK.search(self.text) is not None


def statements(text: str, keep: str = "") -> Iterator[Statement]:
    """The statements of a text, line by line. After a label (`B.`) or before a character of `keep` none ends."""
    apart = False
    for line in text.splitlines():
        if not line.strip():
            apart = True
            continue
        heading = _HEADER.match(line) is not None
        for index, piece in enumerate(_pieces(_BULLET.sub("", line, count=1), keep)):
            yield Statement(piece, apart and index == 0, heading)
        apart = False


def _pieces(line: str, keep: str) -> Iterator[str]:
    """A concession that opens a sentence is a statement of its own: "While B is tempting, the answer is C"."""
    for piece in _sentences(line, keep):
        conceded = _CONCESSION.match(piece)
        if conceded:
            yield conceded[0].strip()
        yield piece[conceded.end() if conceded else 0 :]


def _sentences(line: str, keep: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        piece = line[start : end.start()]
        if not piece.strip():
            continue
        following = line[end.end() : end.end() + 1]
        if _LABEL_END.search(piece[-6:] if start < end.start() - 6 else piece) and (
            len(piece.strip()) <= 6 or (following and following in keep)
        ):
            continue
        yield piece.strip()
        start = end.end() if end.end() > end.start() else end.start()
    if line[start:].strip():
        yield line[start:].strip()
