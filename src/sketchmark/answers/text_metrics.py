"""Sentence BLEU with the arithmetic of nltk 3.9.1, as published (docs/benchmarks/medical.md, "Open-answer metrics").

By hand because nltk brings five packages, 20 MB and a slow import into the base install, for two formulas.
The tests compare it with nltk. The paper: Papineni et al., https://aclanthology.org/P02-1040.

METEOR with the weights and the alignment of nltk 3.9.1. Lavie and Agarwal, https://aclanthology.org/W07-0734.

The exact and stem stages are by hand for the reason given in bleu.py; the tests compare them with nltk. The synonym
stage needs WordNet, which only nltk reads: with both on disk the whole score is nltk's own.

ROUGE, CIDEr and token overlap. BLEU and METEOR have files of their own.

rouge 1.0.1 is pinned because the published numbers have its arithmetic; it is imported on first use.
"""

from __future__ import annotations

import math
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

_ORDERS = range(1, 5)


def bleu(reference: Sequence[str], hypothesis: Sequence[str]) -> tuple[float, float, float, float]:
    """Sentence BLEU-1..4, one reference, uniform weights, no smoothing.

    The precision of an order without a match is not 0 but the smallest normal float, so the score is practically 0
    (1e-76 and less): BLEU-3 and BLEU-4 of a perfectly right two-word answer, for example. That is the published
    arithmetic, not an error here. Without one matching word all four are exactly 0.
    """
    matched = [_matches(reference, hypothesis, order) for order in _ORDERS]
    if not matched[0]:
        return 0.0, 0.0, 0.0, 0.0
    logs = [
        math.log(count / (len(hypothesis) - order + 1) if count else sys.float_info.min)
        for order, count in zip(_ORDERS, matched, strict=True)
    ]
    brevity = math.exp(min(0.0, 1 - len(reference) / len(hypothesis)))
    one, two, three, four = (brevity * math.exp(math.fsum(1 / n * log for log in logs[:n])) for n in _ORDERS)
    return one, two, three, four


def ngrams(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(order)), strict=False))


def _matches(reference: Sequence[str], hypothesis: Sequence[str], order: int) -> int:
    """How many n-grams of the hypothesis the reference has, each at most as often as the reference has it."""
    return (ngrams(reference, order) & ngrams(hypothesis, order)).total()


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


_TOKEN = re.compile(r"[一-鿿぀-ヿ가-힣]|[^\W_一-鿿぀-ヿ가-힣]+(?:[-'.][^\W_]+)*")

_MOST_ROUGE_WORDS = 5_000
"""The rest of a longer text is not read: the library keeps a table of the words of one side times those of the other,
and a reply of 100,000 words would fill the memory."""


def words(text: str) -> list[str]:
    """Lowercase words without punctuation; a Chinese or Japanese character or Korean syllable is a word of its own.

    Hyphens and dots inside a word stay (`x-ray`, `3.5`), so that a measurement is one token.
    """
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


@dataclass(frozen=True)
class Rouge:
    rouge1: float = 0.0
    rouge2: float = 0.0
    rougel: float = 0.0


def rouge(reference: str, hypothesis: str) -> Rouge:
    """ROUGE-1, -2 and summary-level -L F of rouge 1.0.1: sentences split at full stops, n-grams as sets.

    Raises ValueError when a side has no word outside full stops, as the library does.
    """
    with _room_to_recurse():
        (scores,) = _rouge_scorer().get_scores(_beginning(hypothesis), _beginning(reference))
    return Rouge(*(float(scores[kind]["f"]) for kind in ("rouge-1", "rouge-2", "rouge-l")))


@cache
def _rouge_scorer() -> Any:
    from rouge import Rouge as Scorer

    return Scorer()


def _beginning(text: str) -> str:
    pieces = text.split(maxsplit=_MOST_ROUGE_WORDS)
    return text[: -len(pieces[-1])] if len(pieces) > _MOST_ROUGE_WORDS else text


@contextmanager
def _room_to_recurse() -> Iterator[None]:
    """rouge 1.0.1 walks the common subsequence recursively and gives up on sentences of about 1,000 words
    (docs/benchmarks/medical.md, "ROUGE and long texts"). Python frames are on the heap since 3.11, so a higher
    limit is safe."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 1000 + 2 * _MOST_ROUGE_WORDS))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@dataclass(frozen=True)
class Overlap:
    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0


def token_overlap(reference: Sequence[str], hypothesis: Sequence[str]) -> Overlap:
    """Precision, recall and F1 between the sets of tokens; zeros when they share none or a side is empty."""
    wanted, given = set(reference), set(hypothesis)
    shared = len(wanted & given)
    if not shared:
        return Overlap()
    precision, recall = shared / len(given), shared / len(wanted)
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


_CIDER_ORDERS = range(1, 5)
_CIDER_SCALE = 10.0


def cider(references: Sequence[str], hypotheses: Sequence[str]) -> list[float]:
    """CIDEr (not CIDEr-D) of each hypothesis: 10 times the mean cosine of the tf-idf vectors of 1- to 4-grams.

    Vedantam, Zitnick and Parikh, https://arxiv.org/abs/1411.5726. Document frequencies come from the references given
    here, so the score of one text depends on the whole set, and a set of one text scores 0. Words are split at
    whitespace after lowercasing.
    """
    ref_grams = [_grams(text) for text in references]
    frequency: Counter[tuple[str, ...]] = Counter()
    for per_order in ref_grams:
        frequency.update({gram for grams in per_order for gram in grams})
    documents = math.log(len(references)) if references else 0.0

    def weigh(grams: Counter[tuple[str, ...]]) -> dict[tuple[str, ...], float]:
        return {gram: count * (documents - math.log(max(1, frequency[gram]))) for gram, count in grams.items()}

    def cosine(one: dict[tuple[str, ...], float], two: dict[tuple[str, ...], float]) -> float:
        dot = sum(weight * two.get(gram, 0.0) for gram, weight in one.items())
        norms = math.hypot(*one.values()) * math.hypot(*two.values())
        return dot / norms if norms else 0.0

    return [
        _CIDER_SCALE
        * sum(cosine(weigh(h), weigh(r)) for h, r in zip(_grams(hypothesis), per_order, strict=True))
        / len(_CIDER_ORDERS)
        for hypothesis, per_order in zip(hypotheses, ref_grams, strict=True)
    ]


def _grams(text: str) -> list[Counter[tuple[str, ...]]]:
    tokens = text.lower().split()
    return [ngrams(tokens, order) for order in _CIDER_ORDERS]
