"""How a difference depends on the groups of the samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sketchmark.comparison.findings import Breakdown, Group
from sketchmark.runs.gains import Pair, Pairs
from sketchmark.stats import holm, trend

MOST_CATEGORIES = 40
"""A key with more values than this names samples, it does not sort them."""
MOST_LEVELS = 8
"""Difficulties with more levels are shown in ranges with about as many samples each."""
RANGES = 5
_LARGEST = 1e100
"""A number beyond is a name: it cannot be computed with."""


def breakdowns(pairs: Pairs, first: list[str]) -> tuple[Breakdown, ...]:
    """One for each group key that takes at least two values; the task's own `first`."""
    keys = dict.fromkeys([*first, *(key for pair in pairs.pairs for key in pair.groups)])
    found = (_breakdown(pairs, key) for key in keys if key != "cluster")
    return tuple(one for one in found if one is not None)


def _breakdown(pairs: Pairs, key: str) -> Breakdown | None:
    having = pairs.where(lambda pair: key in pair.groups)
    values = [pair.groups[key] for pair in having.pairs]
    names = sorted({str(value) for value in values})
    if len(names) < 2:
        return None
    levels = [value for value in values if isinstance(value, (int, float)) and abs(value) < _LARGEST]
    if len(levels) == len(values):
        differences = [pair.after - pair.before for pair in having.pairs]
        return Breakdown(
            key, "difficulty", _groups(having, _ranges(key, levels)), trend(levels, differences, having.clusters)
        )
    if len(names) > MOST_CATEGORIES:
        return None
    return Breakdown(key, "category", _groups(having, [(name, _is(key, name)) for name in names]), None)


def _groups(pairs: Pairs, parts: list[tuple[str, Callable[[Pair], bool]]]) -> tuple[Group, ...]:
    made = []
    for name, wanted in parts:
        part = pairs.where(wanted)
        made.append((name, *part.scores(), part.difference()))
    corrected = holm([difference.p for *_, difference in made])
    return tuple(
        Group(name, before, after, difference, p)
        for (name, before, after, difference), p in zip(made, corrected, strict=True)
    )


def _ranges(key: str, levels: list[int | float]) -> list[tuple[str, Callable[[Pair], bool]]]:
    distinct = sorted(set(levels))
    if len(distinct) <= MOST_LEVELS:
        return [(f"{level:g}", _between(key, level, level)) for level in distinct]
    ends = np.unique(np.quantile(levels, np.arange(1, RANGES + 1) / RANGES, method="inverted_cdf"))
    parts = []
    low = distinct[0]
    for end in ends.tolist():
        parts.append((f"{low:g}" if low == end else f"{low:g} to {end:g}", _between(key, low, end)))
        low = next((level for level in distinct if level > end), end)
    return parts


def _is(key: str, name: str) -> Callable[[Pair], bool]:
    return lambda pair: str(pair.groups[key]) == name


def _between(key: str, low: float, high: float) -> Callable[[Pair], bool]:
    return lambda pair: low <= float(pair.groups[key]) <= high
