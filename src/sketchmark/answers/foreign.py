"""The answer of yes or no that a sentence gives in another language than English.

No grammar is known here: a reply is compared with its question word by word. The tables are in `words.yaml`.
"""

from __future__ import annotations

import re

from sketchmark.answers.vocabulary import APOSTROPHE, HEDGE, TABLES, in_our_words, is_wide, word_set, written_out

_ENGLISH = word_set("is are was were does do did can there the am have has will")
_FOREIGN = TABLES["foreign"]
_NO_WORD = re.compile(_FOREIGN["no"], re.I)
_SKIPPED = word_set(_FOREIGN["function"])
_SIGNS = frozenset(_FOREIGN["signs"])
_CONTRARY = [[part.split() for part in row.split("/")] for row in _FOREIGN["opposites"]]
_TRUTHS = [word_set(_FOREIGN[name]) for name in ("right", "wrong")]
_UNSURE = re.compile(_FOREIGN["unsure"], re.I)
_SENTENCES = re.compile(r"[.!?;。！？]\s*|,\s(?=aber|mais|pero|ma |mas|но |ama |sondern|sino)|\n")
_LONG_REPLY = 240


def read_foreign(text: str, question: str) -> bool | None:
    """Compare a short reply in another language than English with its question, word by word.

    A sentence that has all words of the question means yes, or no if it is negated or has the opposite of one word.
    """
    if len(text) > _LONG_REPLY or _ENGLISH & {*written_out(question)} or _UNSURE.search(text):
        return None
    if set(in_our_words(text).split()) & (HEDGE | {"or", "if", "?"}):
        return None
    verdicts = {_said_so(sentence, question) for sentence in _SENTENCES.split(text)} - {None}
    return verdicts.pop() if len(verdicts) == 1 else None


def _said_so(text: str, question: str) -> bool | None:
    said, denied = _content(text), _NO_WORD.search(text) is not None
    if said and all(any(_is_same(word, one) for one in _TRUTHS[0] | _TRUTHS[1]) for word in said):
        false = any(_is_same(word, one) for word in said for one in _TRUTHS[1])
        return false == denied if len(said) < 3 else None
    opposed = 0
    wanted = _content(question)
    for word in wanted:
        if any(_is_same(word, one) for one in said):
            continue
        if not any(_is_contrary(word, one) for one in said):
            return None
        opposed += 1
    if not wanted or opposed > 1 or opposed == len(wanted) > 1 or (opposed and denied):
        return None
    return not (denied or opposed)


def _content(text: str) -> list[str]:
    """Return the words of a text that are neither grammar nor about an image; in Chinese and Japanese, its signs."""
    words = _WORD.findall(_ELIDED.sub(" ", text.translate(APOSTROPHE)).casefold())
    words = [word for word in words if word not in _SKIPPED and not _NO_WORD.fullmatch(word)]
    return [part for word in words for part in _signs(word)]


def _signs(word: str) -> list[str]:
    if "\uac00" <= word[0] <= "\ud7a3":
        return [_PARTICLE.sub("", word)]
    return sorted({*word} - _SIGNS) if is_wide(word) else [word]


_WORD = re.compile(r"[^\s.,;:!?。、，！？।؟¿¡\"'()«»„“”-]+")
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
    rows = [
        [any(word.startswith(stem) for stem in side) for side in row] for row in _CONTRARY for word in (one, other)
    ]
    return any((a[0] and b[1]) or (a[1] and b[0]) for a, b in zip(rows[::2], rows[1::2], strict=True))
