"""The statements of a reply, and whose they are: the model's own findings, or questions, suppositions and hearsay.

"Wait, that is wrong" takes back what was stated before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_BULLET = re.compile(r"\s*(?:[-•*+>|#]+\s+)*(?:\d{1,2}[.)]\s+(?=\S))?")
_HEADER = re.compile(r"[ \t]*#{1,6}[ \t]")
_NO = r"no\b(?=\s?(?:[,.!…:;—–]|-\s|\Z|(?-i:[B-Z]\b)))"
_END = re.compile(
    r"(?<=[.!?;…])[\"')\]]{0,3}\s+|(?<=[。！？；])|,?\s+(?:but|however|yet)\b,?|(?=\b(?:no,? )?(?:wait|scratch that)\b)"
    rf"|(?:\.\.\.?|…|[,;](?=\s)|\s[—–-])\s{{0,3}}(?:(?:oh|uh|um|hmm|ah|or|well|sorry),? )?(?={_NO})"
    r"|(?:\.\.\.|…|[,;—–-])\s{0,3}(?=(?:sorry|i mean|i meant|make that|strike that|correction|oops|rather|actually|on second thought)\b)"
    r"|\s?\((?=(?:edit|correction|actually|no|sorry|rather)\b)|,\s(?=(?:with|and) [^,.;]{1,40}\b(?:alternative|runner-up|backup|second)\b)",
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

_SUPPOSED = re.compile(
    r"\b(?:if|unless|suppose|supposing|assume|assumes|assuming|imagine|hypothetically|whether|let us say|let's say"
    r"|in case|in that case|provided that|would have been|had (?:it|the|this|there) (?:\w+ ){0,3}been|were it|were this|could have been)\b"
    r"|\A(?:say|let)\s|\Ato (?:answer|say|choose|conclude|reply)\b",
    re.I,
)
_SEEN = re.compile(
    r"\bif (?:we|you|one|i) (?:look|count|follow|compare|trace|examine|zoom|read|start|add|compute|calculate|use"
    r"|apply|rotate|recall|see|observe|face|take a look|consider)\b|\bif (?:i am|i'm) not mistaken\b",
    re.I,
)
_TOLD = re.compile(
    r"\b(?:some|many|most|several|few) (?:people|students|users|models|readers|doctors|experts|might|may|would"
    r"|say|argue|think|claim)\b"
    r"|\b(?:others|people) (?:also |often |usually |might |may |would |will |could |sometimes )?(?:say|think|claim|argue|answer"
    r"|choose|pick|believe|call|guess|see|consider|prefer)\b"
    r"|\b(?:students?|colleagues?|textbooks?|the user|annotators?|radiologists?|friends?|teachers?"
    r"|(?:careless|naive|hasty|casual|quick|sloppy|inattentive) \w+|novices?|beginners?)\b"
    r"|\b(?:he|she|they|someone|somebody|everyone|anyone|one) (?:might|may|could|would|asked?|mentioned)\b"
    r"|\byou (?:might|may|could|would|asked?|mentioned)\b(?! (?:need|have) )"
    r"|(?<![\w'])(?!(?:i|we|i'd|i'll|would|will|can|must|should|to|do|so|therefore|also|just|not|me|us|still|only"
    r"|then|and|thus|hence|now|clearly|have|had|don't|didn't|can't|wouldn't|cannot|sign|text|label|banner|screen|poster|it|board|shirt)\b)[\w']+ (?:also |often |usually )?"
    r"(?:says?|said|thinks?|thought|claims?|claimed|believes?|argues?|answered|chose|picked|wrote|insists?)\b"
    r"|\b(?:tempting|mistake|misconception|distractor|at first|first impression|initial|initially|originally"
    r"|first (?:instinct|thought|guess|idea|pick|reaction|answer|choice was)|used to think|gut feeling|previously|earlier)\b"
    r"|\baccording to (?!(?:the|this|my) (?:\w+ )?"
    r"(?:picture|image|figure|diagram|graph|table|chart|photo|scene|scan|data|question|map|count|calculation))"
    r"|\bi (?:first |had |once )?(?:thought|assumed|guessed|considered)\b|\bi was (?:going|about) to\b"
    r"|\b(?:poster|slogan|sticker|lyrics?) (?:reads|says)\b|\b(?:reads|says|written|labell?ed|titled|captioned|states)[:,]?\s[\"“«„][^\"”»]{0,80}\b(?:answer|choose|correct)\b"
    r"|[\"“«„][^\"”»]{8,300}[\"”»],?\s(?:is|was|would|says|said|might|may|could|seems|claims|reads)\b",
    re.I,
)
_OTHER = re.compile(
    r"(?<!the )\b(?:second|2nd|3rd|next|other|third|backup|fallback|alternate|alternative|less likely|least likely) (?:best|choice|guess|option"
    r"|pick|answer|candidate|possibility|place)\b"
    r"|\b(?:second[- ]best|runners?[- ]up|next[- ]best|plan b|close second|alternatively|otherwise|failing that|backup|fallback"
    r"|as (?:an?|the|my) (?:alternative|backup|runner-up|second)|also possible|also plausible|honou?rable mention)\b",
    re.I,
)
_ASKED_FOR = re.compile(
    r"\bexamples?:|\b(?:please(?! (?:mark|select|choose|tick|put|note|take|accept|enter))|format|template|the form|for example|such as|one of|reply with|respond with"
    r"|(?<!i would )(?<!i'd )answer with|end with|your answer|should look like|choose from|select from|choose one)\b",
    re.I,
)
_TAKEN_BACK = re.compile(
    r"\bwait\b|\bscratch that\b|\bchanged my mind\b|\bon second thoughts?\b|\bon reflection\b|\bcorrection\b|\bactually,? no\b"
    r"|\bi take (?:that|it) back\b|\bstrike that\b|\bi meant?\b(?! to)|\bmake that\b|\boops\b|\bmy mistake\b|\bmy bad\b"
    r"|\blet me (?:reconsider|rethink|recheck|re-check|redo|start over|try again|check again|think again|look again|correct)|\btake another look\b"
    r"|\bi (?:misread|misjudged|miscounted|mixed up|was wrong|made an? (?:mistake|error)|retract|need to correct)\b"
    r"|\b(?:that|this)(?:'s| is| was| seems) (?:not (?:right|correct|it)|wrong|incorrect|a mistake)\b"
    r"|\bthat (?:does not|doesn't) (?:work|make sense)\b|\b(?:above|previous|earlier) (?:answer )?(?:is|was) (?:wrong|incorrect)\b"
    r"|\b(?:that|this) (?:cannot|can't) be\b(?! \S+ly\b)(?:[.!]|$| right| correct)"
    r"|\b(?:losing|lost) count\b|\A(?:hmm,? )?or\b"
    rf"|\A(?:oh|uh|um|hmm|ah|or|well|sorry)?,?\s?{_NO}",
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
    r"|see|determine|say|know|view|help|answer|identify|discuss|decide)\b"
    r"|\b(?:cannot|can't|could not|couldn't) (?:be )?(?:reliably |really )?(?:comput|answer|determin|tell|count|identif|decid)"
    r"|\bunable to\b|\bno idea\b|\bnot possible to\b",
    re.I,
)
_LEAD_BACK = re.compile(
    r"\A(?:(?:oh|uh|um|hmm|ah|well|ok|okay|but|sorry|oops|hold on|wait|actually|rather|scratch that|strike that"
    r"|on second thoughts?|on reflection|correction|edit|i meant?|make that|i(?:'ve| have)? changed my mind|changed my mind"
    rf"|my mistake|my bad|(?:or )?{_NO}|nope|no(?= wait| actually))[\s,.:;!…—–-]{{0,6}})+",
    re.I,
)


_TURN = re.compile(r"but|however|yet", re.I)
_SAYS_NO = re.compile(r"\s?(?:nope|no)\b", re.I)
_CORRECTS = re.compile(r"\s?(?:actually|rather|instead|in fact|but|edit|final)\b", re.I)


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
        """True if this is the model's own view: not a question, supposition, hearsay, instruction or second choice."""
        if self.aside or self.asked or _SUPPOSED.search(_SEEN.sub(" ", self.text)):
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
        asides: list[str] = []
        line = _BULLET.sub("", line, count=1)
        outside = _ASIDE.sub(lambda aside: asides.append(aside[0][1:-1]) or " ", line)  # type: ignore[func-returns-value]
        line = outside if outside.strip(" .!") else line
        for index, (piece, turned) in enumerate(_pieces(line, keep)):
            back = _TAKEN_BACK.search(piece) is not None and not (asked and _SAYS_NO.match(piece))
            corrects = back or turned or _CORRECTS.match(piece) is not None
            text = _LEAD_BACK.sub("", piece) if corrects or back or asked else piece
            yield Statement(text, apart and index == 0, heading, takes_back=back, corrects=corrects)
            asked = piece.rstrip("\"') ").endswith("?")
        if outside.strip(" .!"):
            yield from (Statement(aside, aside=True) for aside in asides)
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
        if label and ((len(piece.strip()) <= 6 and not asks) or (following and following in keep)):
            continue
        yield piece.strip(), turned
        start, turned = end.end(), _TURN.search(end[0]) is not None
    if line[start:].strip():
        yield line[start:].strip(), turned
