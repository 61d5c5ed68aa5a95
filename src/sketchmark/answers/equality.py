"""Equality of phrases: the wordings that count as one answer, and their places in a reply.

The same are: any article, case, diacritics, blanks and hyphens, numbers in digits or words, singular and plural,
British and American spelling. docs/scorings.md lists them for users.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from sketchmark.answers import plain
from sketchmark.answers.candidates import FIRST_WORDS, Token, Words, part_of_a_word
from sketchmark.answers.cleanup import unwrapped
from sketchmark.answers.vocabulary import TABLES, is_wide, number, spelt_numbers, word_set, written_out

_SIGN = r"[^\W_\u2e80-\uffff]"
_UNIT = re.compile(
    r"(?i:\bper cent\b)|"
    rf"\d+(?:st|nd|rd|th)\b|\d+(?:[.,:]\d+)*|[^\W\d_](?:\.[^\W\d_])+\.?|{_SIGN}+(?:['’]{_SIGN}+)*|%|&|[\u2e80-\uffff]+"
)
_ARTICLES = word_set("a an the my your his her its our their")
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "'": "", "’": "", ".": ""})
_SPELLINGS = [
    (re.compile(pattern), new)
    for pattern, new in (
        (r"(?<=\w)(?:ae|oe)(?=\w{3})|^(?:ae|oe)(?=\w{4})", "e"),
        (r"(?<=\w{2})our(?=s?$|ed$|ing$|ful$|ites?$|able$)", "or"),
        (r"(?<=[^aeiou\W])re(?=s?$)", "er"),
        (r"ogue(?=s?$)", "og"),
        (r"(?<=\w{3})is(?=(?:e[sd]?|ing|ations?)$)", "iz"),
        (r"(?<=\w{2})ys(?=(?:e[sd]?|ing)$)", "yz"),
        (r"(?<=\w{4})ll(?=(?:ed|ing|ers?)$)", "l"),
    )
]
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_LONGEST_GAP = 2
"""Words that a phrase may have more than its ground truth, if they are the same without blanks: `basket ball`."""


@cache
def _common() -> dict[str, str]:
    pairs = [(word, one) for one, words in TABLES["spelling"].items() for word in str(words).split()]
    return {word.translate(_LETTERS): one for word, one in pairs} | dict(TABLES["plural"])


@cache
def folded(word: str) -> str:
    """Return the form in which a word is compared, before plurals."""
    bare = "".join(
        sign for sign in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(sign)
    ).translate(_LETTERS)
    bare = bare.replace("per cent", "percent")
    bare = _common().get(bare, bare)
    for pattern, new in _SPELLINGS:
        bare = pattern.sub(new, bare)
    if bare == "&":
        return "and"
    if bare in _ORDINALS:
        place = _ORDINALS.index(bare) + 1
        return f"{place}{['st', 'nd', 'rd'][place - 1] if place < 4 else 'th'}"
    return bare


@cache
def _forms(word: str) -> frozenset[str]:
    """Return a word and what may be its singular: `knives` and `knife`, `boxes` and `box`."""
    found = {word}
    if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        found.add(word[:-1])
        if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
            found.add(word[:-2])
        if word.endswith("ies"):
            found.add(f"{word[:-3]}y")
        if word.endswith("ves"):
            found |= {f"{word[:-3]}f", f"{word[:-3]}fe"}
    if word.endswith(("dir", "dur", "tir", "tur")) and len(word) > len("dir") + 2:
        found.add(word[:-3])  # the Turkish "is": `şapkadır`
    return frozenset(found)


@dataclass(frozen=True)
class Unit:
    """One word or number of a text, as it is compared, and its place."""

    word: str
    start: int
    end: int


def units(text: str, *, exact: bool = False) -> Iterator[Unit]:
    """Yield the words of a text without articles. `exact`: only case and spacing do not matter."""
    spelt = [] if exact else sorted(spelt_numbers(text))
    at = 0
    for start, end, value in [*spelt, (len(text), len(text), None)]:
        if start < at:
            continue
        for found in _UNIT.finditer(text, at, start):
            if exact:
                yield Unit(found[0].casefold(), found.start(), found.end())
                continue
            digits = number(found[0]) if found[0][0].isdigit() else None
            word = folded(found[0]) if digits is None else f"{digits:.12g}"
            if word not in _ARTICLES:
                yield Unit(word, found.start(), found.end())
        if value is not None:
            yield Unit(f"{value:.12g}", start, end)
        at = end


class Phrases(Words):
    """Finder of the accepted phrases in a reply. A phrase inside another word does not count."""

    def __init__(self, phrases: Sequence[str], *, exact: bool = False) -> None:
        super().__init__({str(place): phrase for place, phrase in enumerate(phrases)}, weak=False)
        self.exact = exact
        self.wanted = [[unit.word for unit in units(phrase, exact=exact)] for phrase in self.order]
        self.capital = any(unwrapped(phrase).text[:1].isupper() for phrase in phrases)

    def marked(self, text: str) -> str:
        out, at = [], 0
        for start, end, place in sorted(self._places(text), key=lambda found: (found[0], -found[1])):
            fraction = text[start].isdigit() and text[start - 1 : start] in ("/", ".", "-", "−") and start
            if start >= at and not fraction and not part_of_a_word(text, start, end, self.order[place], self.named):
                out += [text[at:start], chr(FIRST_WORDS + place)]
                at = end
        return "".join((*out, text[at:]))

    def _places(self, text: str) -> Iterator[tuple[int, int, int]]:
        said = list(units(text, exact=self.exact))
        for place, (phrase, wanted) in enumerate(zip(self.order, self.wanted, strict=True)):
            if any(map(is_wide, phrase)) or not wanted:
                yield from (
                    (found.start(), found.end(), place)
                    for found in re.finditer(re.escape(phrase), text, re.IGNORECASE)
                )
                continue
            whole = "".join(wanted)
            for first, unit in enumerate(said):
                end = self._end(said, first, wanted, whole)
                if end is not None:
                    yield unit.start, end, place

    def scattered(self, text: str) -> bool:
        """Return whether a phrase is there with other words inside: `on the wooden table` for `on the table`."""
        said = [unit.word for unit in units(text, exact=self.exact)]
        for wanted in self.wanted if not self.exact else ():
            places = [{at for at, word in enumerate(said) if self._same(word, one)} for one in wanted]
            for start in places[0] if len(places) > 1 else ():
                at = start
                for following in places[1:]:
                    near = range(at + 1, at + 2 + _LONGEST_GAP)
                    at = next((place for place in near if place in following), -1)
                    if at < 0:
                        break
                if at - start >= len(wanted):
                    return True
        return False

    def _end(self, said: Sequence[Unit], first: int, wanted: Sequence[str], whole: str) -> int | None:
        """Return where the phrase ends that begins with a word, if it does."""
        last = first + len(wanted) - 1
        if last < len(said) and all(self._same(said[first + at].word, word) for at, word in enumerate(wanted)):
            return said[last].end
        joined = ""
        for unit in said[first : last + 1 + _LONGEST_GAP] if not self.exact else ():
            joined += unit.word
            if not whole.startswith(joined):
                return None
            if joined == whole and not whole[0].isdigit():
                return unit.end
        return None

    def _same(self, one: str, other: str) -> bool:
        return one == other or (not self.exact and not _forms(one).isdisjoint(_forms(other)))

    def token(self, mark: str) -> Token:
        words = self.order[ord(mark) - FIRST_WORDS]
        return Token(words, frozenset({plain(words)}), "words")


UNLIKE = re.compile(
    r"(?:^|(?<=[.!?] ))(?:unlike|in contrast to|contrary to)\b[^.;\n]{3,120}?, (?=(?:this|the|it|he|she|here)\b)",
    re.I | re.M,
)
_ABOUT = re.compile(
    r"(?:^|(?<=[.;!?] )|(?<=, )|(?<=, and )|\b(?:whereas|while) |(?<=but ))"
    r"(?:the|his|her|its|their) (?P<subject>[\w' -]{2,40}?) (?:is|are|was|were|has|have) [^.,;!?\n]{2,60}",
    re.I | re.M,
)
"""A clause about one thing: `the bag is white`."""


def about(text: str, asked: frozenset[str]) -> str:
    """Drop clauses about other things than the question names: `The coat is black, whereas the bag is white.`"""
    clauses = [(found, bool(asked.intersection(written_out(found["subject"])))) for found in _ABOUT.finditer(text)]
    if len({about for _, about in clauses}) < 2:
        return text
    for found, about in reversed(clauses):
        text = text if about else f"{text[: found.start()]} {text[found.end() :]}"
    return _LEFT_OVER.sub("", text)


_FIELD = re.compile(
    r"[ ]{0,9}(?:[-*|][ ]?)?[\"']?(?P<key>[^\W\d][\w ]{0,30})[\"']?[ ]?[:=|][ ]?"
    r"(?P<value>[^|\n]{1,200}?)[ ]?\|?[ ]{0,9}"
)
_TAGGED = re.compile(r"\s?<(\w{2,20})>([^<>]{1,200})</\1>\s?")
_ANSWERS = word_set("answer correction edit")
_SPLIT = re.compile(r"[|,;\t]")
_IDENTITY = word_set("subject object item thing label name class material prediction identification result value tag")


def chosen(text: str, question: str) -> str:
    """Return the field of a record that answers the question: `object: toaster`, or a table of one row."""
    if tagged := _TAGGED.fullmatch(text):
        return tagged[2]
    lines = [line for line in text.splitlines() if line.strip(" |")]
    fields = [(found["key"], found["value"]) for found in map(_FIELD.fullmatch, lines) if found]
    rows = [[cell.strip() for cell in _SPLIT.split(line.strip(" |"))] for line in lines]
    if len(rows) == 2 and len(rows[0]) == len(rows[1]) > 1 and all(map(str.isidentifier, rows[0])):
        fields = list(zip(*rows, strict=True))
    elif len(lines) < 2 or len(fields) + sum(line.endswith(":") for line in lines) < len(lines):
        return text
    if not fields or _ANSWERS.intersection((key.casefold().split() or [""])[-1] for key, _ in fields):
        return text
    asked = {folded(word) for word in written_out(question)}
    for wanted in (asked, _IDENTITY):
        shares = [
            (len({*map(folded, key.lower().replace("_", " ").split())} & wanted), value) for key, value in fields
        ]
        best = max(share for share, _ in shares)
        values = [value for share, value in shares if share == best]
        if best and len(values) == 1:
            return f"answer: {values[0]}"
    return text


_LEFT_OVER = re.compile(r"^\W+(?:and |but |whereas |while )?|[,;]?\s+(?:and|but|whereas|while)?\s*(?=[.;!?]|$)", re.M)
