"""The strict parser of yes/no replies.

Yes and no are parsed as words (docs/benchmarks/medical.md, "Yes and no by substring"): `no` counts as an answer, not
as a determiner. If the reply has neither word, the question helps (findings.py). A yes that a finding contradicts
does not count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sketchmark.answers import UNREAD, Parsed
from sketchmark.answers.candidates import FIRST_WORDS, Words
from sketchmark.answers.cleanup import FIRST_SLOT, Said, said
from sketchmark.answers.decision import Reader
from sketchmark.answers.findings import read_finding
from sketchmark.answers.vocabulary import (
    APOSTROPHE,
    HEDGE,
    TABLES,
    any_word,
    in_our_words,
    is_wide,
    word_set,
    written_out,
)

YES = word_set("yes yeah yep true correct 是 对 有 是的 对的 正确")
NO = word_set("no nope false incorrect 否 不是 没有 不对 无 错 不 错误 不正确")
"""Ground truths that make a question one of yes or no."""
_START = r"(?:^[^\w\n]{0,4}|(?<=[.!?…:;,。！？、「«\"'(—–])\s?|(?<=[-=]\s))"
_END = r"(?=\s?(?:[^\w\s]|\Z|\n))"
_CLOSE = r"(?=[^\w\n]{0,4}$|[,;])"


def _sentences(name: str) -> str:
    return "|".join(f"(?:{pattern.format(**TABLES['subjects'])})" for pattern in TABLES[name])


def _plain(name: str) -> str:
    return "|".join(sorted(map(re.escape, word_set(TABLES[name])), key=len, reverse=True))


_SAID = re.compile(
    r"(?<![a-z\d_])(?P<yes>yes|yeah|yep|yup)(?![a-z\d_])"
    r"|\bin the (?:(?P<yes_in>affirmative)|(?P<no_in>negative))\b"
    r"|\b(?:with|is) an? (?:clear |definite |resounding |firm |simple )?(?P<no_a>no)\b"
    r"|(?<![a-z\d_])(?P<no>no|nope|nah)(?![a-z\d_])(?=\s?(?:[^\w\s]|\Z|で|입|이)|\s?\n|\s(?:it|there|this|that|the|i|we|he|she|they|because|since|as"
    r"|but|and|or|not|is|was|are|if|in|on|at|to|such|from|sir|thanks)\b)"
    rf"|{_START}(?:(?P<yes_start>{_plain('yes')})|(?P<no_start>{_plain('no')})){_END}"
    rf"|\b(?:(?P<yes_end>{_plain('yes')})|(?P<no_end>{_plain('no')})){_CLOSE}"
    r"|答案(?:[是为][ ]?:?|[ ]?:)[ ]?"
    r"(?:(?P<yes_zh>是的|是|对的|对|有|正确)|(?P<no_zh>不是|没有|不对|不正确|错误|否|无|错|不))(?=\W|$)",
    re.IGNORECASE | re.MULTILINE,
)
_TRUTH = re.compile(
    r"\b(?:answer|verdict|result|response)\b(?: to [^.:\n]{1,60})?[^\w\n]{0,3}(?:is |: ?)?[^\w\n]{0,3}"
    r"(?:(?P<yes>true|correct|affirmative)|(?P<no>false|incorrect|negative))(?=[^\w\n]{0,3}$)"
    r"|^[^\w\n]{0,4}[\w.\[\]\"']{1,40}[ ]?(?:==?|:|->|→)[ ]?[\"']?"
    r"(?:(?P<yes_code>true)|(?P<no_code>false))(?=[^\w\n]{0,3}$)",
    re.IGNORECASE | re.MULTILINE,
)
_WHOLE = (
    rf"(?:(?P<yes>{_sentences('affirmed')})|(?P<no>{_sentences('denied')}))(?=\s?[.!,;:…。、*\")\]]|'(?!\w)|\s?$)"
)
_BOTH = re.compile(
    r"(?<!\w)(?!non? si \w)"
    rf"(?:(?:{_plain('yes')})[ /]{{1,3}}(?:(?!but\b|sondern\b)\w+[ /]{{1,3}}){{0,2}}(?:{_plain('no')}|no)"
    r"|yes,? (?:for|to|in|on|regarding) [^.;\n]{1,60}\bno,? (?:for|to|in|on|regarding)"
    r"|no,? (?:for|to|in|on|regarding) [^.;\n]{1,60}\byes,? (?:for|to|in|on|regarding)"
    rf"|(?:{_plain('no')}|no)[ /]{{1,3}}(?:(?!but\b|sondern\b)\w+[ /]{{1,3}}){{0,2}}(?:{_plain('yes')}))(?!\w)",
    re.IGNORECASE,
)
_CONTRADICTED = re.compile(
    r"\b(?:yes|yeah|yep),? (?:that(?:'s| is) an? \w+ question|there (?:is|are|was|were) (?:no|not)"
    r"|(?:it|this|that|they|he|she) (?:(?:is|are|does|do|was|has|can) not|cannot|\w+n't))\b"
    r"(?! (?:doubt|question|other|further|need|way around|denying|mistak|only|just|reason|problem))",
    re.IGNORECASE,
)
"""A yes that the next words take back: `Yes, there is no lesion`."""
_SENTENCE = re.compile(
    r"(?:^[^\w\n]{0,4}|(?<=[.!?:]\s)|(?<=[。！？、]))"
    rf"(?:(?:and|so|but|well|ok|sure|indeed|answer:|hence|therefore"
    rf"|i'm afraid|i am afraid|sorry|unfortunately),? )?{_WHOLE}",
    re.IGNORECASE | re.MULTILINE,
)
_TURNED = re.compile(rf"\b(?:but|however|yet),? (?:actually,? |in fact,? )?{_WHOLE}", re.IGNORECASE | re.MULTILINE)
"""Next to a word for yes or no, a sentence that means the other counts only as a contradiction."""


_MENTIONED = re.compile(
    r"[\"'“‘]?\b(?:yes|no)\b[\"'”’]? (?:is|was|would|might|may|could|can|cannot|can't|seems|has)\b"
    r"(?! (?:the|my|our) |(?:be )?(?:right|correct|true))",
    re.IGNORECASE,
)
"""The word as the thing that is spoken about: `Yes would be a lie`."""
_OFFER = re.compile(TABLES["offers"], re.IGNORECASE)
"""A yes to the request itself: `Yes, I can help`."""
_LONG = re.compile(
    r"\b(?:(?P<yes>y+e+s{2,}|ye{2,}s+|yass+|u+h[ -]huh|mm[ -]?hm+)|no{2,}|nuh[ -]uh|uh[ -]uh)\b", re.IGNORECASE
)
"""Spoken forms: `Yesss`, `Nooo`, `Uh-huh`."""
_TO_THE_QUESTION = re.compile(
    r"\b(?:to|on) (?:the|your) question (?:of )?whether [^:;,\n]{1,100}[:;,]\s", re.IGNORECASE
)
_CONCEDED = re.compile(r"(?<=[.!?] )(?:yes|no|sure|true|granted),? [^.!?\n]{1,120}?,? (?=but\b)", re.IGNORECASE)
"""A concession after the answer: `No. Yes, it looks similar, but …`."""
_UNKNOWN = re.compile(any_word(word_set(TABLES["unknown"])), re.IGNORECASE)
_ASKED = re.compile(TABLES["open_questions"])
_PARTLY = re.compile(
    r"\b(?:partly|partially|half|somewhat|(?:sort|kind) of|in (?:a way|part|a sense)|to some extent),? (?:yes|no)\b"
    r"|\b(?:yes|no),? (?:partly|partially|in part|(?:sort|kind) of|to some extent|in a way)\b",
    re.IGNORECASE,
)
_EVEN = re.compile("(?:{0})[^.!?。\\n]{{1,30}}(?:{0})".format(any_word(word_set(TABLES["unsure"]))), re.IGNORECASE)
"""Two possibilities: `Maybe yes, maybe no`."""
_FIRST_WORD = re.compile(
    r"\A\W{0,4}(yes|yeah|yep|no|nope)\b(?:\s?[,.:;!—–-]\s?|\s(?=(?:there|it|they|he|she|the|no|i)\b))", re.IGNORECASE
)


_MARKS = re.compile("[👍✅✔✓👎❌✗✘]")
_CROSSED = re.compile(r"[❌✗✘👎]\s?yes\b|\byes\s?[❌✗✘👎]", re.IGNORECASE)
_MARKED = re.compile(
    r"\A\s*(?:(?P<yes>[👍✅✔✓]\s*)|(?P<no>[👎❌✗✘]\s*))\Z|[✅✔✓❌✗✘👍👎]\s?(?=(?:yes|no)\b)", re.IGNORECASE
)
"""A mark that is the whole reply, or that only decorates the word."""


class _YesNo(Words):
    """Finder of yes and no as answers; other uses of these words are left."""

    def __init__(self) -> None:
        super().__init__({"Y": "yes", "N": "no"})

    def marked(self, text: str) -> str:
        if len(_MARKS.findall(text)) == 1:
            text = _CROSSED.sub(" ", text)
            text = _MARKED.sub(lambda mark: "yes" if mark["yes"] else "no" if mark["no"] else " ", text)
        text = _LONG.sub(lambda word: "yes" if word["yes"] else "no", _CONCEDED.sub(" ", text))
        text = _TO_THE_QUESTION.sub("answer: ", _MENTIONED.sub(" yes or no ", text))
        text = _UNKNOWN.sub(" i cannot tell ", _OFFER.sub(" ", text.translate(APOSTROPHE)))
        text = _EVEN.sub(" yes or no. ", _ASKED.sub(" whether ", text))
        text = _PARTLY.sub(" yes or no ", text)
        text = _CONTRADICTED.sub(" yes or no. ", _BOTH.sub(" yes or no. ", text))
        marked = _TRUTH.sub(self._said, _SAID.sub(self._said, text))
        return (_SENTENCE if marked == text else _TURNED).sub(self._said, marked)

    def _said(self, found: re.Match[str]) -> str:
        name = found.lastgroup or ""
        mark = chr(FIRST_WORDS + (not name.startswith("yes")))
        return f"{found[0][: found.start(name) - found.start()]} {mark} "


_READER = Reader("YN", _YesNo(), opening=True)


def read_yes_no(response: Any, question: str = "") -> Parsed[bool]:
    """Parse yes as True and no as False; None if the reply is neither or both.

    With the question, a finding also counts: "There is no pneumothorax."
    """
    heard = said(response)
    verdict = _READER.read(heard)
    first = _FIRST_WORD.match(heard.text) if question else None
    said_too = read_finding(heard.text[first.end() :], question) if first else None
    if verdict.letters:
        return UNREAD if said_too is (verdict.letters != {"Y"}) else Parsed(verdict.letters == {"Y"}, verdict.how)
    if _UNKNOWN.search(heard.text) or (_ASKS_FALSE.search(question) and _JUDGES.search(heard.text)):
        return UNREAD
    if first and said_too is (first[1][0] in "yY"):  # "Yes, there is no litter": the question was for its absence
        return Parsed(said_too, "reply")
    marked = heard.text.rpartition("\n")[2].strip() == chr(FIRST_SLOT + len(heard.slots) - 1)
    if marked and not _READER.read(Said(heard.slots[-1], ())).claimed:
        found = read_finding(heard.slots[-1], question)
    else:
        withdrawn = verdict.claimed and any(
            one.statement.takes_back for one in _READER.entries(heard.text, [frozenset()] * len(heard.slots))
        )
        found = None if (verdict.claimed and not withdrawn) or heard.slots else read_finding(heard.text, question)
    if found is None and not (verdict.claimed or heard.slots):
        found = _read_foreign(heard.text, question)
    return UNREAD if found is None else Parsed(found, "marked" if marked else "reply")


_ASKS_FALSE = re.compile(r"(?<!or )\b(?:false|untrue|incorrect|wrong|inaccurate)\b(?! or\b)", re.I)
_JUDGES = re.compile(r"\b(?:in|un)?(?:true|false|correct|right|wrong|accurate)\b", re.I)
"""`It isn't false`, where the question asks whether a statement is false, says no by two denials."""


# Replies in other languages. No grammar is known here: a clause is compared with its question word by word.
_ENGLISH = word_set("the are does did there this any were these it you they its")
_ENGLISH_FIRST, _GERMANIC = (
    word_set("is was can do has have"),
    word_set("de het een dit deze er hij ze zij je die das der"),
)
_FOREIGN = TABLES["foreign"]
_NO_WORD, _UNSURE, _NOBODY, _EITHER = (re.compile(_FOREIGN[name], re.I) for name in ("no", "unsure", "nobody", "or"))
_PRONOUN = word_set(_FOREIGN["pronoun"])
_SKIPPED = word_set(_FOREIGN["function"]) | _PRONOUN
_SIGNS = frozenset(_FOREIGN["signs"])
_PEOPLE = word_set(_FOREIGN["people"])
_CONTRARY = [[side.split() for side in row.split("/")] for row in _FOREIGN["opposites"]]
_TRUTHS = [word_set(_FOREIGN[name]) for name in ("right", "wrong")]
_PARTED = re.compile(r"[.!?;:。！？,、，]\s*|\n")
_HAN_NO = re.compile("没有|没|沒|未见|未|无|無|不")
_LONG_REPLY = 240


def _read_foreign(text: str, question: str) -> bool | None:
    """Compare a short reply in another language than English with its question, clause by clause."""
    asked = written_out(question)
    english = _ENGLISH.intersection(asked) or (
        asked[:1] and asked[0] in _ENGLISH_FIRST and not _GERMANIC.intersection(asked)
    )
    if len(text) > _LONG_REPLY or english or _UNSURE.search(text):
        return None
    if set(in_our_words(text).split()) & (HEDGE | {"or", "if", "?"}) or _EITHER.search(question):
        return None
    wanted = _content(question)
    verdicts = {_said_so(clause, wanted) for clause in _PARTED.split(text)} - {None}
    return verdicts.pop() if len(verdicts) == 1 else None


def _said_so(clause: str, wanted: Sequence[str]) -> bool | None:
    """Compare one clause: all words of the question mean yes; a negation, or the opposite of one word, no.

    A pronoun may replace the subject. A negated clause needs no more than some words of the question.
    """
    said, nobody = _content(clause), _NOBODY.search(clause) is not None
    denied = nobody or _NO_WORD.search(clause) is not None
    if said and all(any(_is_same(word, one) for one in _TRUTHS[0] | _TRUTHS[1]) for word in said):
        false = any(_is_same(word, one) for word in said for one in _TRUTHS[1])
        return false == denied if len(said) < 3 else None
    if nobody:
        wanted = [word for word in wanted if not any(_is_same(word, one) for one in _PEOPLE)]
    left = [word for word in wanted if not any(_is_same(word, one) for one in said)]
    opposed = [word for word in left if any(_is_contrary(word, one) for one in said)]
    missing = len(left) - len(opposed)
    more = [one for one in said if not any(_is_same(word, one) or _is_contrary(word, one) for word in wanted)]
    if len(opposed) > 1 or (opposed and denied):
        return None
    described = [
        one for one in more if any(one.startswith(stem) for row in _CONTRARY for side in row for stem in side)
    ]
    if (denied and described) or (opposed == wanted[:1] and len(wanted) > 2 and not is_wide(clause.strip())):
        return None
    places = [next((at for at, one in enumerate(said) if _is_same(word, one)), -1) for word in wanted]
    if _THAN.search(clause) and len(wanted) > 2 and not denied and 0 <= places[-1] < places[0]:
        return None  # of another subject: the words of a comparison are exchanged
    if not missing and wanted:
        return not (denied or opposed) if len(opposed) < len(wanted) or len(wanted) == 1 else None
    if denied:
        scope = _content(_HAN_NO.split(clause)[-1]) if is_wide(clause.strip()) else said
        inside = all(any(_is_same(word, one) for word in wanted) for one in scope)
        return False if inside and (scope or nobody or _NONE.fullmatch(clause.strip())) else None
    if opposed:
        return None if more else False
    begins = (_FOREIGN_WORD.findall(clause.casefold()) or [""])[0] in _PRONOUN
    return True if begins and missing == 1 and left[0] in wanted[:2] and left[0] != wanted[-1] else None


_NONE, _THAN = re.compile(_FOREIGN["none"], re.I), re.compile(_FOREIGN["than"], re.I)


def _content(text: str) -> list[str]:
    """Return the words of a text that are neither grammar nor about an image; in Chinese and Japanese, its signs."""
    words = _FOREIGN_WORD.findall(_ELIDED.sub(" ", text.translate(APOSTROPHE)).casefold())
    words = [word for word in words if word not in _SKIPPED and not _NO_WORD.fullmatch(word)]
    return [part for word in words if not _NOBODY.fullmatch(word) for part in _signs(_NOBODY.sub("", word))]


def _signs(word: str) -> list[str]:
    if "\uac00" <= word[:1] <= "\ud7a3":
        return [_PARTICLE.sub("", word)]
    return sorted({*word} - _SIGNS) if is_wide(word) else [word]


_FOREIGN_WORD = re.compile(r"[^\s.,;:!?。、，！？।؟¿¡\"'()«»„“”-]+")
_PARTICLE = re.compile(r"(?<=.)(?:[가이는은를을에의도]|에는)\Z")


_ELIDED = re.compile(r"\b(?:l|d|qu|c|n|un|all|nell|dell|dall|sull|j|s)'", re.I)
_SHORTEST_STEM = 3


def _is_same(one: str, other: str) -> bool:
    """Return whether two words differ only in their endings."""
    shared = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return one == other or (shared >= _SHORTEST_STEM and max(len(one), len(other)) - shared <= 2)


def _is_contrary(one: str, other: str) -> bool:
    sides = [
        {at for at, side in enumerate(row) for stem in side if word.startswith(stem)}
        for row in _CONTRARY
        for word in (one, other)
    ]
    return any(a and b and not a & b for a, b in zip(sides[::2], sides[1::2], strict=True))
