"""The strict reader of multiple-choice replies: which option a reply commits to, or none.

Unlike the published parsers it never guesses: no random letter, no most-similar text, no article taken for option A
(docs/benchmarks/medical.md, "Silence is A", and docs/benchmarks/mmmu.md, "Answered at random").

Options that stand in the text of a question, as MMSI-Bench has them.

What a sample offers to somebody who guesses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import ascii_uppercase
from typing import Any, NamedTuple

from sketchmark.answers.mentions import Words
from sketchmark.answers.reader import Reader
from sketchmark.answers.reply import UNREAD, Parsed, plain, said
from sketchmark.answers.yes_no import NO, YES, read_yes_no
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput


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


_MARK = re.compile(r"(?:^|(?<=[\s(,;:]))\(?([A-L])\s?[.):：]\s*", re.MULTILINE)


def options_of(question: str) -> list[tuple[str, str]]:
    """`Options: A: left, B: right` (MMSI-Bench), `A. left` a line, or `(A) left`, as (letter, text).

    An option runs to the next letter in order, so that commas inside it stay. Of several such lists the longest
    counts, and of equal ones the last: a "point A:" in the question is no option.
    """
    chain: _Chain | None = None
    behind: dict[str, _Chain] = {}  # for each letter, the list that begins at its nearest mark
    for mark in reversed(list(_MARK.finditer(question))):
        follower = behind.get(chr(ord(mark[1]) + 1))
        behind[mark[1]] = _Chain(mark, follower, 1 + (follower.length if follower else 0))
        if mark[1] == "A" and (chain is None or behind["A"].length > chain.length):
            chain = behind["A"]
    options: list[tuple[str, str]] = []
    while chain is not None and (options or chain.following):
        end = chain.following.mark.start() if chain.following else len(question)
        options.append((chain.mark[1], _trimmed(question[chain.mark.end() : end])))
        chain = chain.following
    return options


class _Chain(NamedTuple):
    mark: re.Match[str]
    following: _Chain | None
    length: int


def _trimmed(option: str) -> str:
    return option.strip().partition("\n")[0].strip(" \t.,;'\"")


_LETTER = re.compile(r"[A-Z]")


def offered(sample: Sample) -> Sequence[str]:
    """The letters of its options, which stand in the target or in the question, or their words where the answer is
    one of these; yes and no where that is all there is; nothing where the answer is open."""
    target = sample.target
    answer, options = target.get("answer", target.get("gold")), target.get("options")
    if target.get("kind") == "yes_no" or isinstance(answer, bool):
        return ("yes", "no")
    is_letter = isinstance(answer, str) and _LETTER.fullmatch(answer) is not None
    if isinstance(options, (list, tuple)) and answer in options and not is_letter:
        return [str(option) for option in options]
    if options:
        return _letters(options)
    return [letter for letter, _ in options_of(sample.fields.get("question", ""))] if is_letter else ()


def _letters(options: Any) -> list[str]:
    if not isinstance(options, (list, tuple, dict)):
        return []
    try:
        return [str(letter) for letter in lettered(options)]
    except BadInput:
        return []
