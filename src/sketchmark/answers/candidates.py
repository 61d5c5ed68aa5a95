"""Mentions of options in a statement: by letter, by their own words, or in a marked slot.

Spelling matters: `counter-clockwise` is another spelling of `counterclockwise`, and it is not `clockwise`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from sketchmark.answers import plain
from sketchmark.answers.cleanup import FIRST_SLOT, unwrapped
from sketchmark.answers.vocabulary import AFTER_LETTER, ANSWER, BEFORE_LETTER, BREAK, OPTION, SETS, VERB

SPACED = r"(?-i:[0-9A-Za-z_\u00aa-\u1fff])"
"""Word characters of languages that separate words by spaces."""
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
    """Remove an article: `a cat` is `the cat`. The A of `A is heavier`, or of `A sinks` next to `B sinks`, stays."""
    found = _ARTICLE.match(words)
    if found is None:
        return words
    rest = words[found.end() :]
    contrasted = any(other.partition(" ")[2] == rest and not _ARTICLE.match(other) for other in others)
    return words if contrasted or len(rest) == 1 or rest.split()[0] in AFTER_LETTER else rest


def squeezed(words: str) -> str:
    """Remove blanks and hyphens for comparison, and write `&` as and."""
    return re.sub(rf"\s+|{_HYPHEN}", "", words).replace("&", "and")


def pattern(words: str, bare: str) -> str:
    """Build the pattern of some words, with any article if they have one (`bare`: the words without it)."""
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
    """Return whether a hyphen, prefix, range or sum changes the meaning. `B-south` is south if that is option B."""
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
    """Return whether the number is an option too: the reader then sees two options."""
    return number is not None and number.rstrip(".,") in named


FIRST_WORDS = 0xE000
"""First character that stands for an option's own words; those of weak words are `_WEAK` later."""
_WEAK = 0x100
_TOKEN = re.compile(
    rf"(?P<slot>[{chr(FIRST_SLOT)}-{chr(0x10FFFF)}])|(?P<words>[{chr(FIRST_WORDS)}-{chr(0xF8FF)}])"
    r"|[^\W\d_\ue000-\uf8ff]+(?:'[a-z]+)?|\d+(?:[.,]\d+)*|->|=>|\S",
    re.IGNORECASE,
)
_SHORTEST = 3
"""Words shorter than this (`no`, `1`, `CT`), numbers and the reader's own vocabulary (`right`) are weak: they name an
option only where an answer is expected."""
_COMMON = SETS["common"]


@dataclass(frozen=True)
class Token:
    """One word or mark. With `letters` it names options; `form` is how: letter, words, weak or slot."""

    text: str
    letters: frozenset[str] = frozenset()
    form: str = ""
    glued: bool = False


class Words:
    """Finder of the options' own words in a text; one character replaces them."""

    def __init__(self, options: Mapping[str, str], *, weak: bool = True, common: frozenset[str] = _COMMON) -> None:
        named: dict[str, set[str]] = {}
        for letter, option in options.items():
            words = plain(unwrapped(option).text)
            if words and words != letter.casefold() and words.upper() not in options:
                named.setdefault(words, set()).add(letter)
        self.named = {words: frozenset(letters) for words, letters in named.items()}
        self.order = list(self.named)
        self.acronyms = {
            plain(option) for option in options.values() if option.isupper() and len(option) <= _SHORTEST
        }
        self.common = common if weak else None
        self.bare = {words: without_article(words, [one for one in named if one != words]) for words in named}
        alike: dict[str, list[str]] = {}
        for words, bare in self.bare.items():
            alike.setdefault(squeezed(bare), []).append(words)
        self.squeezed = list(alike)
        self.alike = {bare: spelt[0] for bare, spelt in alike.items() if len(spelt) == 1 or not weak}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(_any_of(sorted(self.order, key=len, reverse=True), self.bare), re.IGNORECASE)

    def marked(self, text: str) -> str:
        """Mark the options' words. The first check saves compiling a pattern for replies that contain none."""
        folded = squeezed(plain(text))
        return self._pattern.sub(self._mark, text) if any(bare in folded for bare in self.squeezed) else text

    def _mark(self, found: re.Match[str]) -> str:
        said = plain(found[0])
        words = said if said in self.named else self._alike(said)
        if words is None or part_of_a_word(found.string, found.start(), found.end(), words, self.named):
            return found[0]
        weak = self.common is not None and (_is_weak(said) or said in self.common or said in self.acronyms)
        return chr(FIRST_WORDS + self.order.index(words) + (_WEAK if weak else 0))

    def _alike(self, said: str) -> str | None:
        """Return the option in another spelling."""
        return self.alike.get(squeezed(said)) or self.alike.get(squeezed(without_article(said, [])))

    def token(self, mark: str) -> Token:
        place = ord(mark) - FIRST_WORDS
        words = self.order[place % _WEAK]
        return Token(words, self.named[words], "weak" if place >= _WEAK else "words")

    @property
    def marks(self) -> str:
        return "".join(chr(FIRST_WORDS + place + weak) for place in range(len(self.order)) for weak in (0, _WEAK))


def _is_weak(words: str) -> bool:
    wide = any(ord(sign) > 0x2E7F for sign in words)
    return (len(words) < _SHORTEST and not wide) or words in BEFORE_LETTER or not any(map(str.isalpha, words))


def _any_of(words: Sequence[str], bare: Mapping[str, str]) -> str:
    """Match whole words only: `12` is not in `12.5`, `mass` not in `biomass`. Chinese has no spaces between words.

    The edges are the most expensive part of the pattern, so neighbours with equal edges share them.
    """
    return "|".join(
        f"{before}(?:{'|'.join(pattern(one, bare[one]) for one in alike)}){after}"
        for (before, after), alike in groupby(words, _edges)
    )


def _edges(words: str) -> tuple[str, str]:
    """Return what must not come before and after the words."""
    before = "" if ord(words[0]) > 0x2E7F else rf"(?<!{SPACED})(?<!\d[.,/:^])"
    after = "" if ord(words[-1]) > 0x2E7F else rf"(?!{SPACED})(?![.,/:^]\d)"
    return before, rf"{after}(?!\s\d{{3}}\b)" if words[-1].isdigit() else after


def tokens(text: str, letters: str, words: Words, slots: Sequence[frozenset[str]]) -> list[Token]:
    """Split a statement into tokens that name options. A letter counts if it cannot be an article or a name."""
    raw: list[Token] = []
    end = 0
    for found in _TOKEN.finditer(text):
        glued, end = found.start() == end and end > 0, found.end()
        if found["slot"]:
            raw.append(Token("", slots[ord(found[0]) - FIRST_SLOT], "slot", glued))
        elif found["words"]:
            named = words.token(found[0])
            raw.append(Token(named.text, named.letters, named.form, glued))
        else:
            raw.append(Token(found[0], glued=glued))
    return [_lettered(raw, place, letters) for place in range(len(raw))]


def _lettered(raw: Sequence[Token], place: int, letters: str) -> Token:
    token = raw[place]
    if token.form:
        return token
    word = Token(token.text.casefold(), glued=token.glued)
    if not letters or len(token.text) != 1 or not token.text.isalpha() or not token.text.isascii():
        return word
    letter = token.text.upper()
    known = letter in letters or ("A" in letters and token.text in "ABCDEFGHJ")
    named = Token(token.text, frozenset(letter), "letter", token.glued)
    before, after, beyond = (_at(raw, at) for at in (place - 1, place + 1, place + 2))
    short = token.glued and before.glued and before.text == "/" and not _is_label(_at(raw, place - 2), letters)
    if short or _inside_a_word(token, before, after, beyond):
        return word
    if before.text in ("(", "[") and after.text in (")", "]"):
        call = before.glued and place > 1 and raw[place - 2].text[-1:].isalnum()
        return word if call else named
    word_before, word_after = _word(before), _word(after)
    pair = word_after in ("and", "or") and len(beyond.text) == 1 and beyond.text.isupper() == token.text.isupper()
    second = word_before in ("and", "or") and place > 1 and _is_label(raw[place - 2], letters)
    if known and ((pair and beyond.text.upper() in letters) or (second and token.text.isupper())):
        return named
    if (
        known
        and _noun(word_before)
        and token.text.isupper()
        and (letter not in "AI" or _ends(after) or (letter == "A" and word_after in ("is", "are", "was", "has")))
    ):
        return Token(token.text, named.letters, "noun", token.glued)
    stands = token.text == "A" and place > 1 and word_after in VERB
    led = len(word_before) < 2 or word_before in BEFORE_LETTER or word_before >= "\u1100"
    if not known or not (led or stands):
        return word
    if token.text.islower():
        ends = _ends(after) or (word_before == "option" and word_after in AFTER_LETTER)
        return named if ends and not (letter == "I" and after.text) else word
    if letter == "A" and after.form in ("words", "weak") and letter not in after.letters:
        return word  # an article: `A dog`
    if letter in after.letters or len(word_after) <= 1 or word_before in OPTION | {"except"} or pair:
        return named
    if letter == "A" and before.text.islower() and before.text not in SETS["is"]:
        return named  # an article has a capital only at the beginning
    if letter in "AI":
        verbs = AFTER_LETTER if letter == "A" else ("is", "because", "or", "option", "choice", "it")
        return named if word_after in verbs else word
    return named if word_after in AFTER_LETTER else Token(token.text, named.letters, "loose", token.glued)


def _ends(after: Token) -> bool:
    return after.text in BREAK or after.text in ("", ")", "]", ":", '"', "'", "。", "not")


def _noun(word: str) -> bool:
    """Return whether a word may name what is labelled: `door C`, but not `vitamin C`."""
    return len(word) > 2 and word not in BEFORE_LETTER | AFTER_LETTER | ANSWER and word not in SETS["no_label"]


def _is_label(token: Token, letters: str) -> bool:
    return len(token.text) == 1 and token.text in letters


def _word(token: Token) -> str:
    return token.text.casefold() if token.text.isalpha() and not token.form else ""


def _at(raw: Sequence[Token], place: int) -> Token:
    return raw[place] if 0 <= place < len(raw) else Token("")


def _inside_a_word(token: Token, before: Token, after: Token, beyond: Token) -> bool:
    """Return whether a letter is part of `I'm`, `D-dimer`, `d_A`, `x^C` or `e.g.`"""
    if token.glued and ((before.glued and before.text in ("'", "-", "_", "^", ".")) or before.text[-1:].isdigit()):
        return True
    if after.glued and after.text[:1].isdigit():
        return True
    if not (after.glued and beyond.glued):
        return False
    if after.text == "'" and not beyond.text.isalpha():
        return False
    return after.text in ("'", "-", "_") or (after.text == "." and beyond.text.isalnum() and not beyond.form)
