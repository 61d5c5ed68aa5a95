"""The strict reader of multiple-choice replies: which option a reply commits to, or none.

Unlike the published parsers it never guesses: no random letter, no most-similar text, no article taken for option A
(docs/benchmarks/medical.md, "Silence is A", and docs/benchmarks/mmmu.md, "Answered at random").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import ascii_uppercase
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.scoring.final_answer import UNREAD, Parsed, plain, said
from sketchmark.scoring.mentions import Words
from sketchmark.scoring.reader import Reader
from sketchmark.scoring.yesno import NO, YES, read_yes_no


def lettered(options: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """Options by letter: given so, or in their order from A on. Words may be empty where they are not known."""
    if not 1 <= len(options) <= len(ascii_uppercase):
        raise BadInput(f"a multiple-choice item has {len(options)} options", "1 to 26 can be lettered")
    return dict(options) if isinstance(options, Mapping) else dict(zip(ascii_uppercase, options, strict=False))


def read_choice(response: Any, options: Sequence[str] | Mapping[str, str], question: str = "") -> Parsed[str]:
    """The letter of the option a reply commits to. The question matters where the options are yes and no."""
    known = lettered(options)
    verdict = _reader(tuple(known.items())).read(said(response))
    if verdict.letters:
        return Parsed(min(verdict.letters), verdict.how)
    words = {plain(option): letter for letter, option in known.items()}
    sides = {side: [words[word] for word in words if word in side] for side in (YES, NO)}
    if not verdict.claimed and all(len(letters) == 1 for letters in sides.values()):
        answer = read_yes_no(response, question)
        if answer.value is not None:
            return Parsed(sides[YES if answer.value else NO][0], answer.how)
    return UNREAD


@lru_cache(maxsize=64)
def _reader(known: tuple[tuple[str, str], ...]) -> Reader:
    """Kept a while: a sample's reply, its other scorings and every guess at it are read with the same options."""
    return Reader("".join(letter for letter, _ in known), Words(dict(known)))


def read_choices(response: Any, options: Sequence[str] | Mapping[str, str]) -> Parsed[frozenset[str]]:
    """The letters of all options a reply commits to, for items with more than one right answer."""
    known = lettered(options)
    verdict = Reader("".join(known), Words(known, common=frozenset()), several=True).read(said(response))
    return Parsed(verdict.letters, verdict.how) if verdict.letters else UNREAD
