"""Sentence BLEU with the arithmetic of nltk 3.9.1, as published (docs/benchmarks/medical.md, "Open-answer metrics").

By hand because nltk brings five packages, 20 MB and a slow import into the base install, for two formulas.
The tests compare it with nltk. The paper: Papineni et al., https://aclanthology.org/P02-1040.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence

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
