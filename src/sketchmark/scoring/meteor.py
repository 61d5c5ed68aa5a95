"""METEOR with the weights and the alignment of nltk 3.9.1. Lavie and Agarwal, https://aclanthology.org/W07-0734.

The exact and stem stages are by hand for the reason given in bleu.py; the tests compare them with nltk. The synonym
stage needs WordNet, which only nltk reads: with both on disk the whole score is nltk's own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5


def meteor(reference: Sequence[str], hypothesis: Sequence[str], *, synonyms: bool) -> float:
    """METEOR of one hypothesis against one reference.

    `synonyms=False` leaves out the WordNet stage. That score has a name of its own in results
    (`meteor_no_synonyms`), because WordNet's data are not part of any package and Sketchmark does not download them.
    """
    if synonyms:
        return _meteor_of_nltk(reference, hypothesis)
    pairs = align(reference, hypothesis)
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(hypothesis), len(pairs) / len(reference)
    mean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
    penalty = _GAMMA * math.pow(_chunks(pairs) / len(pairs), _BETA)
    return (1 - penalty) * mean


def align(reference: Sequence[str], hypothesis: Sequence[str]) -> list[tuple[int, int]]:
    """Positions in hypothesis and reference of the words that are the same or, of those left, have the same stem.

    Greedy from the end, as nltk does it: each word takes the last free one of the reference. The paper wants the
    alignment with the fewest crossings, which can be another one.
    """
    wanted = dict(enumerate(word.lower() for word in reference))
    given = dict(enumerate(word.lower() for word in hypothesis))
    pairs: list[tuple[int, int]] = []
    stages: tuple[Callable[[str], str], ...] = (str, stem)
    for key in stages:
        found = _pair_from_the_end(wanted, given, key)
        for at_hypothesis, at_reference in found:
            del given[at_hypothesis], wanted[at_reference]
        pairs += found
    return sorted(pairs)


def _pair_from_the_end(
    wanted: dict[int, str], given: dict[int, str], key: Callable[[str], str]
) -> list[tuple[int, int]]:
    free: defaultdict[str, list[int]] = defaultdict(list)
    for position, word in wanted.items():
        free[key(word)].append(position)
    return [(position, places.pop()) for position, word in reversed(given.items()) if (places := free[key(word)])]


def _chunks(pairs: Sequence[tuple[int, int]]) -> int:
    """Into how many runs of neighbours, in both texts at once, the pairs fall."""
    return 1 + sum((one[0] + 1, one[1] + 1) != two for one, two in pairwise(pairs))


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """Porter's stem by Snowball; one or two letters stay as they are, or `as` would be the same as `a`.

    nltk's stemmer has a few exceptions of its own (`dying` and `die`, `radiology` and `radiologic` have one stem
    there, here they have two), so a score can differ from nltk's where a text has such a pair. A new stemmer for each
    new word, because Snowball's keeps the word in itself and two threads would mix theirs.
    """
    if len(word) <= 2:
        return word
    import snowballstemmer

    return str(snowballstemmer.stemmer("porter").stemWord(word))


@cache
def wordnet() -> Any | None:
    """nltk's WordNet if the user has nltk and the data on disk; None otherwise. It is never fetched."""
    try:
        from nltk.corpus import wordnet as corpus

        corpus.ensure_loaded()
    except (ImportError, LookupError):
        return None
    return corpus


def _meteor_of_nltk(reference: Sequence[str], hypothesis: Sequence[str]) -> float:
    corpus = wordnet()
    if corpus is None:
        raise LookupError("WordNet is not installed")
    from nltk.translate.meteor_score import single_meteor_score

    return float(single_meteor_score(list(reference), list(hypothesis), wordnet=corpus))
