"""ROUGE, CIDEr and token overlap. BLEU and METEOR have files of their own.

rouge 1.0.1 is pinned because the published numbers have its arithmetic; it is imported on first use.
"""

from __future__ import annotations

import math
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from sketchmark.scoring.bleu import ngrams

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
