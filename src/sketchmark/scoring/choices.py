"""The strict reader of multiple-choice replies: which option a reply commits to, or none.

Unlike the published parsers it never guesses: no random letter, no most-similar text, no article taken for option A
(docs/benchmarks/medical.md, "Silence is A", and docs/benchmarks/mmmu.md, "Answered at random"). A
reply that commits to two options commits to none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.scoring.final_answer import UNREAD, Parsed, announced, final_zone, plain

_OPEN = r"[(\[{*_`\"'“‘]{0,5}"
_SHUT = r"[)\]}*_`\"'”’]{0,5}"
_SHORTEST_MENTION = 4
"""Option texts shorter than this (`no`, `1`, `CT`) are read only where an answer is due, not in mid-sentence."""

_AFTER_LETTER = (
    r"(?=\s*(?:$|[.,;:!?。，；：！？)\]}*\n]|because\b|since\b|as\b|but\b|here\b|for\b|due\b|given\b|not\b|rather\b"
    r"|instead\b|is\b|so\b|which\b|based\b|from\b|in\b|on\b|and\b|or\b|or/|therefore\b|according\b|by\b|if\b|when\b|[一-鿿]))"
)
"""What may follow a letter that is an answer. `A chest` and `B cell` are neither."""

_CUE = (
    r"(?:\b(?:options?|choices?|letters?|alternatives?|choose|chose|pick|picked|select|selected|go with|is|be|it's|so"
    r"|thus|hence|therefore|guess|say|think|believe|probably|likely|answer)\b[,:]?|[:=]|选项|选择|选|是|为)\s*(?:\b(?:option|choice|letter)\b\s*)?"
)
_NEGATED = re.compile(
    r"\b(?:not|nor|than|instead of|isn't|wasn't|exclude[sd]?|excluding|eliminated?|ruled? out)\s+"
    rf"(?:(?:option|choice|the|an?)\s+)?{_OPEN}[A-Z]{_SHUT}(?![\w-])"
    rf"|(?<![\w-]){_OPEN}[A-Z]{_SHUT}\s+(?:is|was|seems)\s+"
    r"(?:not|wrong|incorrect|false|out|unlikely|ruled out|excluded)\b"
)


class _Reader:
    def __init__(self, options: Sequence[str]) -> None:
        if not 1 <= len(options) <= len(ascii_uppercase):
            raise BadInput(f"a multiple-choice item has {len(options)} options", "1 to 26 can be lettered")
        self.letters = ascii_uppercase[: len(options)]
        self.texts = [plain(option) for option in options]
        both = f"{self.letters}{self.letters.lower()}"
        self.letter = f"[{self.letters}]"
        self.any_case = f"[{both}]"
        self.bare = re.compile(rf"[\s#]*{_OPEN}({self.any_case}){_SHUT}[.:,;!?。]*{_SHUT}\s*")
        self.leading = re.compile(rf"\s*{_OPEN}({self.letter})(?:{_SHUT}\s*[.:,;)\]。、]|[)\]*]+)(?!\S*[.)]\w)")
        self.label = re.compile(rf"(?<![\w-]){_OPEN}({self.letter}){_SHUT}\s?[.:)](?=\s)")
        self.spaced = re.compile(rf"\s*{_OPEN}({self.letter}){_SHUT}\s+(\S.*)", re.DOTALL)
        self.open_letter = re.compile(rf"{_OPEN}({self.letter}){_SHUT}{_AFTER_LETTER}", re.IGNORECASE)
        self.two = re.compile(
            rf"{_OPEN}({self.letter}){_SHUT}\s*(?:,|/|&|\bor\b|\band\b|或|和|、)+\s*(?:\b(?:or|and|option)\b\s*)*"
            rf"{_OPEN}({self.letter}){_SHUT}(?![\w-])"
        )
        self.bracketed = re.compile(rf"\(\s*({self.letter})\s*\)")
        self.called_right = re.compile(
            rf"(?<![\w-]){_OPEN}({self.letter}){_SHUT}\s+is\s+(?:the\s+)?(?:correct|right|best|most\s+\w+|answer)\b"
        )
        self.concluding = re.compile(
            rf"\b(?:so|thus|hence|therefore|leaving|leaves)\b[,:]?\s+(?:(?:it\s+is|it's|only|option)\s+)?"
            rf"{_OPEN}({self.letter}){_SHUT}[\s.!]*\Z",
            re.IGNORECASE,
        )
        self.cued = re.compile(rf"{_CUE}{_OPEN}({self.letter}){_SHUT}{_AFTER_LETTER}", re.IGNORECASE)

    def read(self, text: str) -> Parsed[str]:
        """The rules from the most explicit to the least; the first that applies decides."""
        if not text.strip():
            return UNREAD
        tail = announced(text)
        for place, how in ((text, "letter"), (tail, "announced letter")):
            if place is not None and (match := self.bare.fullmatch(place)):
                return Parsed(match[1].upper(), how)
        for place, how in ((text, "option text"), (tail, "announced option text")):
            if place is not None and (letter := self.option_at(place)):
                return Parsed(letter, how)
        text = _NEGATED.sub(" ", text)
        for how, letters in (
            ("announced letter", self.opening(announced(text))),
            ("letter called right", self.called_right.findall(text)),
            ("concluding letter", self.concluding.findall(text)),
            ("leading letter", self.line_letters(text)),
            ("letter in parentheses", self.bracketed.findall(text)),
            ("letter after a cue", self.cued_letters(text)),
            ("option text mentioned", self.mentioned(text)),
        ):
            if len(set(letters)) == 1:
                return Parsed(letters[0], how)
            if letters:
                return UNREAD
        return UNREAD

    def option_at(self, text: str) -> str | None:
        """The option that `text` is, give or take its letter; an option given twice cannot be told apart."""
        for candidate in (text, text.partition("\n")[0]):
            if candidate.strip() and self.texts.count(plain(candidate)) == 1:
                return self.letters[self.texts.index(plain(candidate))]
        return None

    def opening(self, tail: str | None) -> list[str]:
        """The letter an announcement opens with, or the two it hesitates between."""
        if tail is None:
            return []
        tail = re.sub(r"\A(?:option|choice|letter)\s+", "", tail.strip(), flags=re.IGNORECASE)
        if match := self.two.match(tail):
            return [match[1], match[2]]
        if match := self.open_letter.match(tail):
            sure = match[1].isupper() or tail[match.end() :].lstrip()[:1] in ".,;:)" or len(tail) == 1
            return [match[1].upper()] if sure else []
        if (match := self.spaced.match(tail)) and (match[1] not in "AI" or self.begins(match[1], match[2])):
            return [match[1]]
        named = [self.letters[i] for i, text in enumerate(self.texts) if text and _starts(plain(tail), text)]
        return [max(named, key=lambda letter: len(self.texts[self.letters.index(letter)]))] if named else []

    def begins(self, letter: str, rest: str) -> bool:
        return _starts(plain(rest), self.texts[self.letters.index(letter)])

    def line_letters(self, text: str) -> list[str]:
        """Letters that open a line. The last line decides when it is nothing but a letter."""
        lines = [line for line in text.splitlines() if line.strip()]
        if lines and (last := self.bare.fullmatch(lines[-1])):
            return [last[1].upper()]
        found = []
        for line in lines:
            if match := self.two.match(line.strip()):
                found += [match[1], match[2]]
            elif letter := self.labelled(line):
                found += self.enumerated(line) or [letter]
        return found

    def enumerated(self, line: str) -> list[str]:
        """The letters of a line that goes through the options ("A: too thin. B: fits. C: …"): it commits to none."""
        labels = self.label.findall(line)
        few = min(3, len(self.letters))
        return labels if len(labels) >= max(few, 2) and labels[:few] == list(self.letters[:few]) else []

    def labelled(self, text: str) -> str | None:
        """The letter of `B`, `B. anything` or `B its own text`."""
        if match := self.bare.fullmatch(text):
            return match[1].upper()
        if match := self.leading.match(text):
            return match[1]
        match = self.spaced.match(text)
        return match[1] if match and self.begins(match[1], match[2]) else None

    def cued_letters(self, text: str) -> list[str]:
        """Letters after a cue; one that comes after a hesitation between two settles it."""
        two = self.two.search(text)
        cued = [letter for letter in self.cued.findall(text, two.end() if two else 0) if letter.isupper()]
        return cued or ([two[1], two[2]] if two else [])

    def mentioned(self, text: str) -> list[str]:
        """Options whose text stands in the reply as whole words, unless it is part of a longer one's or denied."""
        text = " ".join(text.casefold().split())
        spans = [
            (match.start(), match.end(), letter)
            for letter, option in zip(self.letters, self.texts, strict=True)
            if len(option) >= _SHORTEST_MENTION
            for match in re.finditer(rf"(?<!\w){re.escape(option)}(?!\w)", text)
            if not re.search(r"\b(?:not|no|than|without|instead of)(?: an?| the)? \Z", text[: match.start()])
        ]
        return [
            letter
            for start, end, letter in spans
            if not any(s <= start and end <= e and (s, e) != (start, end) for s, e, _ in spans)
        ]

    def read_set(self, text: str) -> Parsed[frozenset[str]]:
        """All options of a reply that lists several: letters or texts, with commas, `and` or lines between."""
        zone = announced(text)
        zone = text if zone is None else zone
        if (whole := self.option_at(zone)) is not None:
            return Parsed(frozenset(whole), "option text")
        pieces = [piece for piece in re.split(r"[,;/&\n、，；]|\band\b|和|及", zone) if plain(piece)]
        letters = [self.labelled(piece) or self.option_at(piece) for piece in pieces]
        if letters and all(letters):
            return Parsed(frozenset(letter for letter in letters if letter), "list")
        if mentioned := self.mentioned(zone):
            return Parsed(frozenset(mentioned), "option texts mentioned")
        one = self.read(text)
        return Parsed(frozenset(one.value), one.how) if one.value else UNREAD


def _starts(text: str, beginning: str) -> bool:
    return text.startswith(beginning) and not text[len(beginning) : len(beginning) + 1].isalnum()


def read_choice(response: Any, options: Sequence[str]) -> Parsed[str]:
    """The letter of the option a reply commits to. `options` are the bare texts, in the order they were lettered."""
    zone = final_zone(response)
    read = _Reader(options).read(zone.text)
    return Parsed(read.value, read.how if zone.mark == "reply" else zone.mark) if read.value else UNREAD


def read_choices(response: Any, options: Sequence[str]) -> Parsed[frozenset[str]]:
    """The letters of all options a reply commits to, for items with more than one right answer."""
    zone = final_zone(response)
    read = _Reader(options).read_set(zone.text)
    return Parsed(read.value, read.how if zone.mark == "reply" else zone.mark) if read.value else UNREAD
