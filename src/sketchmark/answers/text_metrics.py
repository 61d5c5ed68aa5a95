"""Text metrics: BLEU, METEOR, ROUGE, CIDEr and token overlap.

BLEU (Papineni et al., https://aclanthology.org/P02-1040) and METEOR (Lavie and Agarwal,
https://aclanthology.org/W07-0734) follow nltk 3.9.1, as published (docs/benchmarks/medical.md, "Open-answer
metrics"). They are implemented here because nltk adds five packages, 20 MB and a slow import; the tests compare them
with nltk. METEOR's synonym stage needs WordNet, which only nltk reads: with both on disk the score is nltk's own.
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
    """Compute sentence BLEU-1..4 with one reference, uniform weights and no smoothing.

    As published, the precision of an order without a match is the smallest normal float rather than 0. So BLEU-3 and
    BLEU-4 of a correct two-word answer are practically 0 (1e-76 and less). Without a matching word all four are 0.
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
    """Count the n-grams of the hypothesis in the reference, each at most as often as the reference has it."""
    return (ngrams(reference, order) & ngrams(hypothesis, order)).total()


_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5


def meteor(reference: Sequence[str], hypothesis: Sequence[str], *, synonyms: bool) -> float:
    """Compute METEOR of one hypothesis against one reference.

    `synonyms=False` leaves out the WordNet stage; results name that score `meteor_no_synonyms`. WordNet's data are
    not part of any package, and Sketchmark does not download them.
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
    """Pair the positions of equal words, then of words with equal stems, in hypothesis and reference.

    Greedy from the end, as in nltk: each word takes the last free one of the reference. The paper's alignment with
    the fewest crossings can differ.
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
    """Count the runs of pairs that are neighbours in both texts."""
    return 1 + sum((one[0] + 1, one[1] + 1) != two for one, two in pairwise(pairs))


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """Return Snowball's Porter stem. One or two letters stay, or `as` would equal `a`.

    nltk's stemmer has some exceptions (`dying` and `die`, `radiology` and `radiologic` share a stem there), so scores
    can differ for such pairs. Each word gets a new stemmer, because Snowball's is not thread-safe.
    """
    if len(word) <= 2:
        return word
    import snowballstemmer

    return str(snowballstemmer.stemmer("porter").stemWord(word))


@cache
def wordnet() -> Any | None:
    """Return nltk's WordNet if nltk and its data are on disk, else None. It is never downloaded."""
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
"""Words of a text that ROUGE compares. The library's table has the product of both lengths, so 100,000 words would
fill the memory."""


def words(text: str) -> list[str]:
    """Split into lowercase words without punctuation; a Chinese, Japanese or Korean character is one word.

    Hyphens and dots inside a word stay (`x-ray`, `3.5`), so a measurement is one token.
    """
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


@dataclass(frozen=True)
class Rouge:
    rouge1: float = 0.0
    rouge2: float = 0.0
    rougel: float = 0.0


def rouge(reference: str, hypothesis: str) -> Rouge:
    """Compute ROUGE-1, -2 and summary-level -L F of rouge 1.0.1: sentences split at full stops, n-grams as sets.

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
    """Raise the recursion limit, because rouge 1.0.1 recurses and fails at about 1,000 words per sentence
    (docs/benchmarks/medical.md, "ROUGE and long texts"). This is safe: since Python 3.11 frames are on the heap."""
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
    """Compute precision, recall and F1 of the sets of tokens; zeros if they share none."""
    wanted, given = set(reference), set(hypothesis)
    shared = len(wanted & given)
    if not shared:
        return Overlap()
    precision, recall = shared / len(given), shared / len(wanted)
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


_CIDER_SCALE = 10.0


def cider(references: Sequence[str], hypotheses: Sequence[str]) -> list[float]:
    """Compute CIDEr (not CIDEr-D) of each hypothesis: 10 times the mean cosine of tf-idf vectors of 1- to 4-grams.

    Vedantam, Zitnick and Parikh, https://arxiv.org/abs/1411.5726. Document frequencies come from these references,
    so a score depends on all texts, and a single text scores 0. Words are split at whitespace after lowercasing.
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
        / len(_ORDERS)
        for hypothesis, per_order in zip(hypotheses, ref_grams, strict=True)
    ]


def _grams(text: str) -> list[Counter[tuple[str, ...]]]:
    tokens = text.lower().split()
    return [ngrams(tokens, order) for order in _ORDERS]
