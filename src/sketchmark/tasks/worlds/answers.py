"""How `strict` reads Uni-MMMU's answers: what a careful person reads, with the tags that were asked for or without.

The published readings are in `scoring.tagged` (docs/benchmarks/uni-mmmu.md, "Reading answers").
"""

from __future__ import annotations

import ast
import json
import re

from sketchmark.scoring.final_answer import said
from sketchmark.scoring.mentions import FIRST_WORDS, Token, Words
from sketchmark.scoring.reader import Reader
from sketchmark.scoring.statements import statements
from sketchmark.scoring.tagged import echoes_template, unwrap
from sketchmark.scoring.thinking import without_thinking
from sketchmark.scoring.vocabulary import HEDGE, is_negator
from sketchmark.worlds.boards import MOVES

_CHOSEN = re.compile(r"[\"']choice[\"']\s?:\s?[\"']?(?:candidate[ _]?)?([01])(?:\.0)?[\"']?\s*(?:[,}]|\Z)", re.I)
_OBJECT_END = re.compile(r"</final|\}", re.I)
_LISTED = re.compile(r"^[ ]?\d{1,2}[.)][ ]\S|\(\d\)", re.M)
_NAMED = re.compile(
    r"\bcandidate(?:[ ](?:image|patch|piece))?[ _#]{0,2}([01])\b|(?<![\w.,/-])([01])(?![\w/%-]|[.,]\d)", re.I
)
_NOUN = re.compile(r"\b(?:completion|patch|piece|candidate|image|picture|match|fit)\b", re.I)
_WORDS, _ENDS = re.compile(r"[a-z']+"), re.compile(r"[\n};.]")
_REACH, _NEAR = 100, 4
"""How many characters, and of their words how many, may deny what follows."""
_MOVES_TAG = re.compile(r"<answer[_\s]?json>", re.I)
_LIST = re.compile(r"\[[^\[\]]*\]")


class _Candidates(Words):
    """Marks the two candidates: `candidate 1`, and a lone 1 where an answer is due. The mark of a list is neither."""

    def __init__(self) -> None:
        super().__init__({})

    def marked(self, text: str) -> str:
        listed = {place for mark in _LISTED.finditer(text) for place in range(mark.start(), mark.end() - 1)}
        marked = _NAMED.sub(lambda found: found[0] if found.start() in listed else self._candidate(found), text)
        return _NOUN.sub("option", marked)

    def _candidate(self, found: re.Match[str]) -> str:
        return f" {chr(FIRST_WORDS + (int(found[1]) if found[1] else 2 + int(found[2])))} "

    def token(self, mark: str) -> Token:
        place = ord(mark) - FIRST_WORDS
        return Token(str(place % 2), frozenset(str(place % 2)), "words" if place < 2 else "weak")

    @property
    def marks(self) -> str:
        return "".join(chr(FIRST_WORDS + place) for place in range(4))


_READER = Reader("01", _Candidates())


def strict_choice(response: str) -> int | None:
    """The last `choice` of an object, unless what follows takes it back; without any, the candidate that the reply
    commits to."""
    text = without_thinking(unwrap(response))
    given = list(_CHOSEN.finditer(text))
    if not given:
        return None if echoes_template(text) else _committed(text)
    meant = [found for found in given if not _denied(text, found.start())]
    if not meant:
        return None
    value = int(meant[-1][1])
    end = _OBJECT_END.search(text, meant[-1].end() - 1)
    after = text[end.end() :] if end else ""
    later = _committed(after)
    taken_back = later is None and any(statement.takes_back for statement in statements(said(after).text))
    return None if taken_back or later not in (None, value) else value


def _committed(text: str) -> int | None:
    verdict = _READER.read(said(text))
    return int(min(verdict.letters)) if verdict.letters else None


def strict_moves(response: str) -> list[str] | None:
    """What the last tag holds, closed or not; without any, a list of moves that the reply ends with."""
    text = without_thinking(unwrap(response))
    tags = list(_MOVES_TAG.finditer(text))
    if tags:
        found = _LIST.search(text, tags[-1].end())
        return _entries(found[0]) if found else None
    last = next(iter(list(_LIST.finditer(text))[-1:]), None)
    if last is None or text[last.end() :].strip(" \n\t`.*"):
        return None
    entries = _entries(last[0])
    known = entries and set(entries) <= MOVES.keys()
    return entries if known and not _denied(text, last.start()) else None


def _denied(text: str, end: int) -> bool:
    """Whether the words that lead to an answer deny or doubt it, or name it beside another."""
    words = _WORDS.findall(_ENDS.split(text[max(0, end - _REACH) : end])[-1].casefold())[-_NEAR:]
    return any(is_negator(word) or word in HEDGE or word == "or" for word in words)


def _entries(text: str) -> list[str] | None:
    """A list in JSON, in Python's notation, or of bare words."""
    for parse in (json.loads, ast.literal_eval):
        try:
            return [str(entry).strip().lower() for entry in parse(text)]
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    words = [word.strip().lower() for word in text[1:-1].split(",")]
    return words if set(words) <= MOVES.keys() else None
