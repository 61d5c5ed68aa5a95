"""The metrics of lmms-eval's registry that score a text against its target, and what tasks import beside them."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def mean(arr: Sequence[float]) -> float:
    return sum(arr) / len(arr)


def median(arr: Sequence[Item]) -> Item:
    """As lmms-eval has it: the middle of the list as it stands, which is not sorted first."""
    return arr[len(arr) // 2]


def levenshtein_distance(s1: str, s2: str) -> int:
    """How many letters to add, drop or replace."""
    row = list(range(len(s2) + 1))
    for i, one in enumerate(s1, start=1):
        corner, row[0] = row[0], i
        for j, other in enumerate(s2, start=1):
            corner, row[j] = row[j], corner if one == other else 1 + min(corner, row[j], row[j - 1])
    return row[-1]


def anls(
    references: Sequence[str], predictions: Sequence[str] | Sequence[Sequence[str]], thresh_hold: float = 0.5
) -> dict[str, float]:
    """Average normalised Levenshtein similarity (arXiv 1905.13648): the best reference's, 0 below the threshold.

    The length that it is measured by is that of the texts as they came, before spaces are evened out.
    """
    first = predictions[0]
    said = first if isinstance(first, str) else first[0]
    plain = " ".join(said.lower().split())
    best = max(1 - _distance(" ".join(one.lower().split()), plain, max(len(one), len(said))) for one in references)
    return {"anls": best if best >= thresh_hold else 0}


def _distance(one: str, other: str, length: int) -> float:
    return levenshtein_distance(one, other) / length if length else 0.0


def exact_match_hf_evaluate(
    predictions: Sequence[str],
    references: Sequence[str],
    regexes_to_ignore: Sequence[str] | None = None,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    ignore_numbers: bool = False,
) -> dict[str, float]:
    """The share of predictions that are their reference, after what is to be ignored is taken out of both."""
    dropped = string.punctuation * ignore_punctuation + string.digits * ignore_numbers

    def plain(text: str) -> str:
        for pattern in regexes_to_ignore or ():
            text = re.sub(pattern, "", text)
        return (text.lower() if ignore_case else text).translate(str.maketrans("", "", dropped))

    pairs = [plain(said) == plain(true) for said, true in zip(predictions, references, strict=True)]
    return {"exact_match": mean(pairs)}
